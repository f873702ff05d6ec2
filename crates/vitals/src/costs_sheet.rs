//! The processor time that a run cost each machine.

use crate::cost::{Cost, CostMethod, FamilyCost};
use crate::section::{MachineRole, Vitals};
use sixmark_units::family::Family;

use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// Returns a table with a row for each machine, or `None` if no cost is known.
pub fn costs_part(vitals: Option<&Vitals>) -> Option<Part> {
    let vitals = vitals?;
    let client = cost_row("client", &vitals.client);
    let server = vitals.server.as_ref().and_then(|server| cost_row("server", server));
    let rows: Vec<Row> = client.into_iter().chain(server).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = ["per IPv6 request", "per IPv4 request", "per request", "per GB"];
    let columns = std::iter::once(Column::words("Of"))
        .chain(columns.map(Column::number))
        .chain([Column::words("Counted")]);
    let caption = "CPU time per request and per GB of content";
    let table = Table::new(caption, columns.collect(), rows);
    Part::new("CPU time", vec![Block::Table(table)])
}

fn cost_row(whose: &str, place: &MachineRole) -> Option<Row> {
    let cost = place.cost()?;
    let time = |us: f64| SheetCell::Number(write::write_time(us), us);
    let all = time(cost.us_per_request?);
    let what = if place.processes.is_some() { "processes" } else { "the machine" };
    let gb = cost.s_per_gb.map_or_else(SheetCell::none, |s| time(s * 1e6));
    let families = Family::BOTH.map(|family| {
        cost.families.of(family).map_or_else(SheetCell::none, |of| of_family(cost, of))
    });
    let cells = families.into_iter().chain([all, gb, what.into()]).collect();
    Some(Row::new(whose, cells))
}

/// Formats a family's cost, with half the width of its interval if it is an estimate.
fn of_family(cost: &Cost, of: &FamilyCost) -> SheetCell {
    let half = of.interval_us.map_or(0.0, |[low, high]| (high - low) / 2.0);
    let words = match cost.method {
        Some(CostMethod::Regression) => {
            format!("{} ± {}", write::write_time(of.us_per_request), write::write_time(half))
        }
        _ => write::write_time(of.us_per_request),
    };
    SheetCell::Number(words, of.us_per_request)
}
