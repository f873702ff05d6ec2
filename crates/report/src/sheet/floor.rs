//! The noise floor: differences between families that come from the generator and chance alone.

use sixmark_document::timing::Summary;
use sixmark_result::calibration::{Calibration, Difference, Floor, Leg};
use sixmark_units::family::Family;

use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

type FloorPhase = (&'static str, fn(&Floor) -> &Summary, fn(&Difference) -> Option<f64>);

const PHASES: [FloorPhase; 3] = [
    ("connect", |floor| &floor.connect_us, |apart| apart.connect),
    ("wait", |floor| &floor.wait_us, |apart| apart.wait),
    ("response", |floor| &floor.response_us, |apart| apart.response),
];

/// Returns the noise floor of a run, or `None` if it was not measured.
pub(super) fn floor_part(calibration: Option<&Calibration>) -> Option<Part> {
    let groups: Vec<Group> = calibration?.legs.iter().map(group).collect();
    let columns = std::iter::once(Column::words("Phase"))
        .chain(["IPv6", "IPv4", "Difference"].map(Column::number))
        .collect();
    let caption = "Both families against sixmark’s own server, over loopback".to_owned();
    let table = Block::Table(Table { caption, columns, groups, scale: None });
    let text = "Over loopback the families should be equal. A difference there comes from the \
                generator and chance: in the results, a smaller one is not distinguishable from \
                noise.";
    Part::new("Noise floor", vec![Block::Aside(text.into()), table])
}

fn group(leg: &Leg) -> Group {
    let time = |us: Option<f64>| {
        us.map_or_else(SheetCell::none, |us| SheetCell::Number(write::write_time(us), us))
    };
    let both = |figure: &dyn Fn(&Floor) -> Option<f64>| {
        Family::BOTH.map(|family| time(leg.families.of(family).and_then(figure)))
    };
    let rows = |(name, of, apart): &FloorPhase| {
        let [v6, v4] = both(&|floor| of(floor).p50);
        let median = vec![v6, v4, time(apart(&leg.difference_us))];
        let tail = |quantile: fn(&Summary) -> Option<f64>| {
            let [v6, v4] = both(&|floor| quantile(of(floor)));
            vec![v6, v4, SheetCell::none()]
        };
        // Documents of an earlier version lack p95.
        let is_known = |floor: &Floor| of(floor).p95.is_some();
        let known = Family::BOTH.map(|family| leg.families.of(family).is_some_and(is_known));
        let p95 = known
            .contains(&true)
            .then(|| Row::new(format!("{name}, p95"), tail(|summary| summary.p95)));
        let p99 = Row::new(format!("{name}, p99"), tail(|summary| summary.p99));
        [Some(Row::new(format!("{name}, median"), median)), p95, Some(p99)].into_iter().flatten()
    };
    let in_flight = write::write_count(u64::from(leg.connections));
    Group {
        name: Some(format!("{in_flight} in flight")),
        rows: PHASES.iter().flat_map(rows).collect(),
    }
}
