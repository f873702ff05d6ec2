//! `sixmark fleet status`.

use std::collections::BTreeMap;
use std::time::Duration;

use sixmark_fleet::engine::controller::list_agents;
use sixmark_fleet::engine::transport::ControllerSide;
use sixmark_fleet::messages::AgentCard;
use sixmark_fleet::names::LoadName;
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, terminal};
use sixmark_sys::command_error::CommandError;

use crate::cli::out::print;

/// How long agents may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Prints the agents, and the loads whose records are kept.
pub(super) fn show_status(side: &dyn ControllerSide) -> Result<u8, CommandError> {
    let agents = list_agents(side, PATIENCE)?;
    let cannot = |error: &dyn std::fmt::Display| CommandError::Measure(error.to_string());
    let noted = side.loads().map_err(|error| cannot(&error))?;
    let loads = loads_with_records(&agents, noted);
    let mut text = String::new();
    let blocks = vec![if agents.is_empty() {
        Block::Text("No agent answered.".to_owned())
    } else {
        Block::Table(table_of(&agents))
    }];
    Part::new("Agents", blocks).iter().for_each(|part| terminal::write_part(&mut text, part));
    let lines = loads.into_iter().map(Block::Text).collect();
    Part::new("Loads with records", lines)
        .iter()
        .for_each(|part| terminal::write_part(&mut text, part));
    print(&text).map(|()| 0)
}

/// Returns a line for each load of which someone keeps records. The server may have lost, or never
/// had, what agents keep.
fn loads_with_records(agents: &[AgentCard], noted: Vec<LoadName>) -> Vec<String> {
    let mut loads: BTreeMap<LoadName, (bool, Vec<String>)> = BTreeMap::new();
    for load in noted {
        loads.entry(load).or_default().0 = true;
    }
    for agent in agents {
        for load in &agent.kept {
            loads.entry(load.clone()).or_default().1.push(agent.name.to_string());
        }
    }
    let line = |(load, (noted, agents)): (LoadName, (bool, Vec<String>))| {
        let places = [noted.then(|| "the server".to_owned())].into_iter().flatten().chain(agents);
        format!("{load}: {}", places.collect::<Vec<_>>().join(", "))
    };
    loads.into_iter().map(line).collect()
}

fn table_of(agents: &[AgentCard]) -> Table {
    let columns = [
        Column::words("Agent"),
        Column::words("Host"),
        Column::words("Version"),
        Column::number("Cores"),
        Column::words("Load"),
        Column::words("May load"),
        Column::number("Unconfirmed"),
    ];
    let rows = agents.iter().map(|agent| {
        let allowed: Vec<String> = agent.allowed.iter().map(ToString::to_string).collect();
        let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
        let load = agent.busy.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
        let number = |of: usize| SheetCell::Number(of.to_string(), of as f64);
        let cells = vec![
            SheetCell::Text(agent.host.clone()),
            SheetCell::Text(agent.version.clone()),
            number(agent.environment.cores),
            SheetCell::Text(load),
            SheetCell::Text(allowed),
            number(agent.kept.len()),
        ];
        Row::new(agent.name.to_string(), cells)
    });
    Table::new("Agents that answered", columns.into(), rows.collect())
}
