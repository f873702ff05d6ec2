//! The charts of the kernels' figures over time.

use super::name_of_end;
use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::{CellResult, FamilyOverTime, KernelOverTime, StudyResult};
use sixmark_units::family::{Family, PerFamily};
use sixmark_vitals::time_chart::{TimeChart, TimeLine, time_chart};

use sixmark_sheet::BOTH_PLACE;
use sixmark_sheet::chart::{Chart, Unit};
use sixmark_sheet::{Block, write};

/// The colours of softirqs, and of the server's processes.
const SOFTIRQ_PLACE: usize = 2;
const SERVER_PLACE: usize = 3;

/// Returns the charts of the combinations whose figures over time are kept, each hidden until the
/// reader opens it.
pub(super) fn over_time(study: &StudyResult, labels: &LevelLabels) -> Vec<Block> {
    let mut cells: Vec<&CellResult> = study.cells.iter().collect();
    cells.sort_by_key(|cell| (cell.cell, cell.repetition));
    let ends = cells.iter().flat_map(|cell| {
        let kernel = cell.instruments.iter().flat_map(|of| &of.kernel);
        kernel.filter_map(|kernel| {
            Some((name_of_end(cell, kernel, labels), kernel.over_time.as_ref()?))
        })
    });
    // A line needs two points.
    let ends = ends.filter(|(_, of)| of.begins_s.len() > 1);
    ends.map(|(name, of)| {
        Block::Folded(format!("Over time, {name}"), vec![Block::Charts(charts(of))])
    })
    .collect()
}

fn charts(of: &KernelOverTime) -> Vec<Chart> {
    let chart = |title, unit, kind, write, lines: Vec<TimeLine>| {
        time_chart(&TimeChart { title, unit, kind, write }, &of.begins_s, &lines)
    };
    let count = |number: f64| write::write_count(number as u64);
    let sockets = |title, figure: fn(&FamilyOverTime) -> &[Option<u64>]| {
        let lines = by_family(&of.families, |family| {
            figure(family).iter().map(|number| number.map(|n| n as f64)).collect()
        });
        let any = lines.iter().flat_map(|line| &line.values).flatten().any(|n| *n > 0.0);
        any.then(|| chart(title, "", Unit::Count, count, lines))
    };
    let packets = |title, figure: fn(&FamilyOverTime) -> &[f64]| {
        let lines = by_family(&of.families, |family| all_known(figure(family)));
        chart(title, "packets/s", Unit::PerS, write::per_s, lines)
    };
    let memory: Vec<f64> = of.memory_bytes.iter().map(|bytes| *bytes as f64).collect();
    let memory = vec![line("the machine", BOTH_PLACE, all_known(&memory))];
    [
        Some(chart("Processors busy", "", Unit::Share, write::write_percent, processors(of))),
        Some(chart("Memory used", "", Unit::Bytes, write::write_bytes, memory)),
        sockets("Sockets established", |of| &of.established),
        sockets("Sockets in TIME-WAIT", |of| &of.time_wait),
        Some(packets("Packets in", |of| &of.packets_in_per_s)),
        Some(packets("Packets out", |of| &of.packets_out_per_s)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn processors(of: &KernelOverTime) -> Vec<TimeLine> {
    let mut lines = vec![
        line("the machine", BOTH_PLACE, all_known(&of.busy_share)),
        line("its softirqs", SOFTIRQ_PLACE, all_known(&of.softirq_share)),
    ];
    if of.server_share.iter().any(Option::is_some) {
        lines.push(line("the server", SERVER_PLACE, of.server_share.clone()));
    }
    lines
}

fn line(name: &str, side: usize, values: Vec<Option<f64>>) -> TimeLine {
    TimeLine { name: name.to_owned(), side, values }
}

fn all_known(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

fn by_family(
    of: &PerFamily<FamilyOverTime>,
    values: impl Fn(&FamilyOverTime) -> Vec<Option<f64>>,
) -> Vec<TimeLine> {
    let line_of = |family: Family| {
        line(&family.to_string(), usize::from(family == Family::Ipv4), values(&of[family]))
    };
    Family::BOTH.map(line_of).into()
}
