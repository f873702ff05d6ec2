//! A study's figures: lines over a factor, measured and published.

use sixmark_model::study::result::{Axis as Asked, Chart as Figure, Dot, Series as Line};
use sixmark_units::family::Family;

use super::chart::{Axis, Chart, Mark, Scale, Series, Unit, rounded};
use super::table::{Cell, Column, Row, Table};
use super::write::figure;
use super::{Block, Part};

/// All of them.
pub(super) fn part(figures: &[Figure]) -> Option<Part> {
    let charts: Vec<Chart> = figures.iter().map(chart).collect();
    Part::new("Charts", charts.into_iter().map(|chart| Block::Charts(vec![chart])).collect())
}

fn chart(of: &Figure) -> Chart {
    let marks = marks(of);
    let series: Vec<Series> = of
        .series
        .iter()
        .zip(sides(&of.series))
        .map(|(line, side)| series(line, side, &marks))
        .collect();
    let ys = of.series.iter().flat_map(|line| &line.points);
    let ys = ys.flat_map(|dot| [Some(dot.y), dot.low, dot.high]).flatten();
    Chart {
        title: of.title.clone(),
        about: about(of),
        table: table(of, &marks),
        x: x_axis(&of.x, &marks),
        y: axis(&of.y, ys.collect()),
        labels: marks.iter().map(|(_, label)| label.clone()).collect(),
        xs: marks.iter().map(|(x, _)| rounded(*x)).collect(),
        series,
        bands: Vec::new(),
    }
}

/// Where along x there is any point, and what it is called.
fn marks(of: &Figure) -> Vec<(f64, String)> {
    let dots = of.series.iter().flat_map(|line| &line.points);
    let mut all: Vec<(f64, String)> = dots.map(|dot| (dot.x, dot.label.clone())).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.dedup_by(|a, b| a.0 == b.0);
    all
}

/// A colour and a marker for each: the families' own where each family has one line, else one
/// after the other. What was published has those of what was measured of the same.
fn sides(lines: &[Line]) -> Vec<usize> {
    let measured: Vec<&Line> = lines.iter().filter(|line| !line.published).collect();
    let of_family =
        |family: Family| measured.iter().filter(|line| line.family == Some(family)).count();
    let own = Family::BOTH.into_iter().all(|family| of_family(family) <= 1)
        && measured.iter().all(|line| line.family.is_some());
    let mut seen: Vec<&Line> = Vec::new();
    let side = |line: &'_ Line, seen: &Vec<&Line>| {
        seen.iter().position(|other| other.family == line.family && other.at == line.at)
    };
    let mut sides = Vec::new();
    for line in lines {
        if let (true, Some(family)) = (own, line.family) {
            sides.push(usize::from(family == Family::Ipv4));
            continue;
        }
        sides.push(side(line, &seen).unwrap_or_else(|| {
            seen.push(line);
            seen.len() - 1
        }));
    }
    sides
}

fn series(line: &Line, side: usize, marks: &[(f64, String)]) -> Series {
    let at = |x: f64| line.points.iter().find(|dot| dot.x == x);
    let each = |of: fn(&Dot) -> Option<f64>| -> Vec<Option<f64>> {
        marks.iter().map(|(x, _)| at(*x).and_then(of).map(rounded)).collect()
    };
    let mark = if line.published { Mark::FaintPoints } else { Mark::Points };
    let name = line.label.clone();
    let (lows, highs) = (each(|dot| dot.low), each(|dot| dot.high));
    Series { name, side, mark, ys: each(|dot| Some(dot.y)), lows, highs }
}

/// Along numbers, or along levels that are none.
fn x_axis(asked: &Asked, marks: &[(f64, String)]) -> Axis {
    let (first, last) = (marks.first().map_or(0.0, |m| m.0), marks.last().map_or(1.0, |m| m.0));
    let scale = if asked.logarithmic && first > 0.0 { Scale::Log } else { Scale::Linear };
    let (from, to) = match scale {
        Scale::Log => (first / 1.2, last * 1.2),
        Scale::Linear => {
            let edge = ((last - first) * 0.04).max(0.25);
            (first - edge, last + edge)
        }
    };
    let label = if asked.unit.is_empty() { asked.label.clone() } else { labelled(asked) };
    Axis { label, unit: Unit::Label, suffix: String::new(), scale, from, to }
}

fn labelled(asked: &Asked) -> String {
    format!("{}, {}", asked.label, asked.unit)
}

fn axis(asked: &Asked, values: Vec<f64>) -> Axis {
    let low = values.iter().copied().fold(f64::MAX, f64::min);
    let linear = Axis::from_zero(&labelled(asked), Unit::Plain, values.iter().copied());
    let linear = Axis { suffix: asked.unit.clone(), ..linear };
    match asked.logarithmic && low > 0.0 && low < f64::MAX {
        true => Axis { scale: Scale::Log, from: low / 1.15, ..linear },
        false => linear,
    }
}

fn about(of: &Figure) -> String {
    let unit = if of.y.unit.is_empty() { String::new() } else { format!(" {}", of.y.unit) };
    let said = of.series.iter().filter_map(|line| {
        let (first, last) = (line.points.first()?, line.points.last()?);
        let (a, b) = (figure(first.y), figure(last.y));
        Some(format!(
            "{}: {a}{unit} at {} to {b}{unit} at {}.",
            line.label, first.label, last.label
        ))
    });
    said.collect::<Vec<_>>().join(" ")
}

fn table(of: &Figure, marks: &[(f64, String)]) -> Table {
    let columns = std::iter::once(Column::words(&of.x.label))
        .chain(of.series.iter().map(|line| Column::number(&line.label)));
    let row = |(x, label): &(f64, String)| {
        let dot = |line: &Line| line.points.iter().find(|dot| dot.x == *x).map(|dot| dot.y);
        let cell =
            |y: Option<f64>| y.map_or_else(Cell::none, |y| Cell::Number(figure(y), rounded(y)));
        let cells = of.series.iter().map(|line| cell(dot(line))).collect();
        Row::new(Cell::Number(label.clone(), rounded(*x)), cells)
    };
    let caption = match of.y.unit.as_str() {
        "" => of.title.clone(),
        unit => format!("{}, {unit}", of.title),
    };
    Table::new(caption, columns.collect(), marks.iter().map(row).collect())
}
