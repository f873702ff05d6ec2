//! Charts of a comparison's blocks in their order: throughput and response times.

use crate::comparison_result::{Block as Measured, ComparisonResult, SideName};
use sixmark_tally::family_result::FamilyResult;

use sixmark_report::sheet::side::shown;
use sixmark_sheet::chart::{Axis, Band, Chart, Mark, Role, Series, Unit, rounded};
use sixmark_sheet::chart::{describe_series, values};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// Returns charts of the throughput and the response times of each block, or `None` if there are
/// fewer than two blocks.
pub(super) fn blocks_part(result: &ComparisonResult) -> Option<Part> {
    if result.blocks.len() < 2 {
        return None;
    }
    let charts = vec![throughput(result), times(result)];
    Part::new("Block by block", vec![Block::Charts(charts)]).map(Part::off_terminal)
}

/// A line of a chart: the end of its name, how it is drawn, and its value for a block.
type BlockLine = (&'static str, Mark, fn(&FamilyResult) -> Option<f64>);

const RATE: [BlockLine; 1] = [("", Mark::Points, |f| Some(f.requests_per_s))];
const TIMES: [BlockLine; 3] = [
    (" median", Mark::Points, |f| f.response_us.p50),
    (" p95", Mark::Faint, |f| f.response_us.p95),
    (" p99", Mark::FaintPoints, |f| f.response_us.p99),
];

fn throughput(result: &ComparisonResult) -> Chart {
    let series = series(result, &RATE);
    let y = Axis::from_zero("requests/s", Unit::PerS, values(&series));
    chart(result, "Throughput", "requests/s", y, series, write::per_s)
}

fn times(result: &ComparisonResult) -> Chart {
    let series = series(result, &TIMES);
    let all: Vec<f64> = values(&series).collect();
    let y = Axis::durations("response", 0.1, all.into_iter());
    chart(result, "Response times", "", y, series, write::write_time)
}

fn series(result: &ComparisonResult, lines: &[BlockLine]) -> Vec<Series> {
    let names = [(SideName::A, &result.comparison.a), (SideName::B, &result.comparison.b)];
    let of = |&(end, mark, of): &BlockLine| {
        names
            .iter()
            .enumerate()
            .map(move |(side, (which, name))| {
                let at = |block: &Measured| {
                    (block.side == *which).then(|| of(&block.figures)).flatten().map(rounded)
                };
                let ys = result.blocks.iter().map(at).collect();
                Series::new(format!("{}{end}", shown(name)), side, mark, ys)
            })
            .collect::<Vec<_>>()
    };
    lines.iter().flat_map(of).collect()
}

fn chart(
    result: &ComparisonResult,
    title: &str,
    unit: &str,
    y: Axis,
    series: Vec<Series>,
    write: impl Fn(f64) -> String,
) -> Chart {
    let xs: Vec<f64> = (1..=result.blocks.len()).map(|at| at as f64).collect();
    Chart {
        title: format!("{title} of each block"),
        about: describe_series(&series, unit, &write),
        table: blocks_table(result, title, &series, &write),
        x: Axis::linear("block, in order", Unit::Count, 0.5, xs.len() as f64 + 0.5),
        y,
        labels: Vec::new(),
        xs,
        series,
        bands: warm_up(result).into_iter().collect(),
    }
}

/// Returns the range of the warm-up blocks at the beginning, which are not compared.
fn warm_up(result: &ComparisonResult) -> Option<Band> {
    let dropped = result.blocks.iter().take_while(|block| block.pair.is_none()).count();
    let to = dropped as f64 + 0.5;
    let name = "warm-up, not compared".to_owned();
    (dropped > 0).then_some(Band { name, role: Role::Warmup, from: 0.5, to, at: None })
}

fn blocks_table(
    result: &ComparisonResult,
    title: &str,
    series: &[Series],
    write: impl Fn(f64) -> String,
) -> Table {
    let columns = ["Block", "Pair"].map(Column::words).into_iter();
    let columns = columns.chain(series.iter().map(|series| Column::number(&series.name)));
    let row = |(at, block): (usize, &Measured)| {
        let pair = block.pair.map_or("warm-up".into(), |pair| (pair + 1).to_string());
        let values = series.iter().map(|series| series.ys.get(at).copied().flatten());
        let cells =
            values.map(|y| y.map_or_else(SheetCell::none, |y| SheetCell::Number(write(y), y)));
        let cells = std::iter::once(SheetCell::Text(pair)).chain(cells).collect();
        Row::new(SheetCell::Number((at + 1).to_string(), (at + 1) as f64), cells)
    };
    let rows = result.blocks.iter().enumerate().map(row).collect();
    Table::new(format!("{title} of each block"), columns.collect(), rows)
}
