//! The comparison of the client's times with captured packets.

use sixmark_result::truth::{Beside, FamilyTruth, Truth, TruthCounts};
use sixmark_units::family::Family;

use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

type Phase = (&'static str, fn(&FamilyTruth) -> &Beside);

const PHASES: [Phase; 4] = [
    ("connect", |of| &of.connect),
    ("wait", |of| &of.wait),
    ("transfer", |of| &of.transfer),
    ("service", |of| &of.service),
];

type CountedTruth = (&'static str, fn(&FamilyTruth) -> &TruthCounts);

const COUNTED: [CountedTruth; 2] =
    [("connections", |of| &of.connections), ("exchanges", |of| &of.exchanges)];

/// Returns the medians by the packets, by how much the client's times are longer, and how many
/// connections and exchanges were found in both; `None` if the run captured no packets.
pub(super) fn truth_part(truth: Option<&Truth>) -> Option<Part> {
    let truth = truth?;
    let used: Vec<(Family, &FamilyTruth)> = truth.families.iter().collect();
    let times = PHASES.iter().flat_map(|phase| times(phase, &used)).collect();
    let counts = COUNTED.iter().map(|counted| matched(counted, &used)).collect();
    let group = |name: &str, rows| Group { name: Some(name.into()), rows };
    let groups = [group("Times", times), group("Found in both views", counts)];
    let names = used.iter().map(|(family, _)| Column::number(family.to_string()));
    let table = Table {
        caption: format!(
            "Packets on {} compared with the client’s clock",
            truth.interfaces.join(", ")
        ),
        columns: std::iter::once(Column::words("Figure")).chain(names).collect(),
        groups: groups.into_iter().filter(|group| !group.rows.is_empty()).collect(),
        scale: None,
    };
    let packets = match truth.dropped {
        0 => format!("{} packets were captured, none dropped.", write::write_count(truth.packets)),
        dropped => format!(
            "{} packets were captured, {} DROPPED.",
            write::write_count(truth.packets),
            write::write_count(dropped)
        ),
    };
    Part::new("Packets compared with the clock", vec![Block::Table(table), Block::Text(packets)])
}

/// Returns the rows of a phase; none if the packets show no times of it.
fn times((name, of): &Phase, used: &[(Family, &FamilyTruth)]) -> Vec<Row> {
    let all: Vec<&Beside> = used.iter().map(|(_, family)| of(family)).collect();
    if all.iter().all(|beside| beside.packets_us.count == 0) {
        return Vec::new();
    }
    let row = |end: &str, figure: fn(&Beside) -> Option<f64>, write: fn(f64) -> String| {
        let cell = |beside: &&Beside| {
            figure(beside).map_or_else(SheetCell::none, |us| SheetCell::Number(write(us), us))
        };
        Row::new(format!("{name}{end}"), all.iter().map(cell).collect())
    };
    vec![
        row(" by the packets, median", |beside| beside.packets_us.p50, write::write_time),
        row(", the client more by", Beside::longer_us, signed),
    ]
}

fn matched((name, of): &CountedTruth, used: &[(Family, &FamilyTruth)]) -> Row {
    let cell = |(_, family): &(Family, &FamilyTruth)| {
        let TruthCounts { client, matched, .. } = *of(family);
        let words = format!("{} of {}", write::write_count(matched), write::write_count(client));
        SheetCell::Number(words, matched as f64)
    };
    Row::new(*name, used.iter().map(cell).collect())
}

/// Formats a difference in microseconds, with its sign.
fn signed(us: f64) -> String {
    let sign = if us < 0.0 { "−" } else { "+" };
    format!("{sign}{}", write::write_time(us.abs()))
}
