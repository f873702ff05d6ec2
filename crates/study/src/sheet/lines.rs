//! The charts of a study: measured and published lines over a factor.

use crate::study_result::{Axis as Asked, Chart as Figure, ChartLine as Line, Dot};
use sixmark_units::family::Family;

use sixmark_sheet::chart::{Axis, Chart, Mark, Scale, Series, Unit, rounded};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write::figure;
use sixmark_sheet::{Block, Part};

/// Returns the part of all charts; `None` if there are none.
pub(super) fn charts_part(figures: &[Figure]) -> Option<Part> {
    let blocks = figures.iter().flat_map(|of| {
        let notes = not_drawn(of).into_iter().chain(without_interval(of));
        std::iter::once(Block::Charts(vec![chart(of)])).chain(notes.map(Block::Text))
    });
    Part::new("Charts", blocks.collect()).map(Part::off_terminal)
}

/// Returns a note that names the points that are only in the table, with the reasons.
fn not_drawn(of: &Figure) -> Option<String> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for dot in of.series.iter().flat_map(|line| &line.points) {
        let Some(why) = dot.unlike.as_deref() else { continue };
        match all.iter_mut().find(|(known, _)| *known == why) {
            Some((_, at)) if at.contains(&dot.label.as_str()) => {}
            Some((_, at)) => at.push(&dot.label),
            None => all.push((why, vec![&dot.label])),
        }
    }
    let one =
        |(why, at): &(&str, Vec<&str>)| format!("{why} (at {} {})", of.x.label, at.join(", "));
    let said: Vec<String> = all.iter().map(one).collect();
    (!said.is_empty()).then(|| format!("Not drawn, not comparable: {}.", said.join("; ")))
}

/// Returns true if the interval or the range of a point is drawn. An interval that was clipped at 0
/// shows only that there are too few repetitions, and would hide the rest of the chart.
fn has_interval(dot: &Dot) -> bool {
    dot.low.is_some_and(|low| low > 0.0 || dot.y.is_none_or(|y| y <= 0.0))
}

/// Formats the figure of a point: a published one as it was printed.
fn write_dot(dot: &Dot) -> String {
    let measured = || dot.y.map_or_else(String::new, figure);
    dot.printed.clone().unwrap_or_else(measured)
}

fn without_interval(of: &Figure) -> Option<String> {
    let mut dots = of.series.iter().flat_map(|line| &line.points).filter(drawn);
    let cut = dots.any(|dot| dot.low.is_some() && !has_interval(dot));
    cut.then(|| "Points without a bar have too few repetitions for an interval.".to_owned())
}

/// Returns true if all levels along x are numbers, so that a line between them has a meaning.
fn is_numeric(marks: &[(f64, String)]) -> bool {
    marks.iter().all(|(_, label)| label.parse::<f64>().is_ok())
}

/// Returns true if a point is drawn, because it may be compared with the others.
fn drawn(dot: &&Dot) -> bool {
    dot.unlike.is_none()
}

fn chart(of: &Figure) -> Chart {
    let marks = marks(of);
    let series: Vec<Series> = of
        .series
        .iter()
        .zip(sides_of_lines(&of.series))
        .map(|(line, side)| series(line, side, &marks))
        .collect();
    let ys = of.series.iter().flat_map(|line| &line.points).filter(drawn);
    let ys = ys.flat_map(|dot| match has_interval(dot) {
        true => [dot.y, dot.low, dot.high],
        false => [dot.y, None, None],
    });
    let ys = ys.flatten();
    Chart {
        title: of.title.clone(),
        about: describe_chart(of),
        table: chart_table(of, &marks),
        x: x_axis(&of.x, &marks),
        y: axis(&of.y, ys.collect()),
        labels: marks.iter().map(|(_, label)| label.clone()).collect(),
        xs: marks.iter().map(|(x, _)| rounded(*x)).collect(),
        series,
        bands: Vec::new(),
    }
}

/// Returns the x values at which any line has a point or lacks a figure, with their labels.
fn marks(of: &Figure) -> Vec<(f64, String)> {
    let dots = of.series.iter().flat_map(|line| &line.points).map(|dot| (dot.x, &dot.label));
    let missing = of.series.iter().flat_map(|line| &line.missing).map(|dot| (dot.x, &dot.label));
    let mut all: Vec<(f64, String)> =
        dots.chain(missing).map(|(x, label)| (x, label.clone())).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.dedup_by(|a, b| a.0 == b.0);
    all
}

/// Returns the number of each line's colour and marker. If each family has at most one measured and
/// one published line, these are the family's own; otherwise lines are numbered one after the other.
/// A published line has the number of the measured line of the same family and levels.
fn sides_of_lines(lines: &[Line]) -> Vec<usize> {
    let of_family = |family: Family, published: bool| {
        let of = |line: &&Line| line.family == Some(family) && line.published == published;
        lines.iter().filter(of).count()
    };
    let is_alone =
        |family: Family| [false, true].iter().all(|&published| of_family(family, published) <= 1);
    let own = Family::BOTH.into_iter().all(is_alone)
        && lines.iter().all(|line| line.published || line.family.is_some());
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
        marks.iter().map(|(x, _)| at(*x).filter(drawn).and_then(of).map(rounded)).collect()
    };
    let mark = match (is_numeric(marks), line.published) {
        (true, false) => Mark::Points,
        (true, true) => Mark::FaintPoints,
        (false, false) => Mark::Dots,
        (false, true) => Mark::FaintDots,
    };
    let name = line.label.clone();
    let lows = each(|dot| dot.low.filter(|_| has_interval(dot)));
    let highs = each(|dot| dot.high.filter(|_| has_interval(dot)));
    let missing_at = |x: f64| line.missing.iter().find(|dot| dot.x == x);
    let missing = match line.missing.is_empty() {
        true => Vec::new(),
        false => marks.iter().map(|(x, _)| missing_at(*x).map(|dot| dot.why.word())).collect(),
    };
    Series { name, side, mark, ys: each(|dot| dot.y), lows, highs, missing }
}

/// Creates the x axis, for numbers or for levels that are not numbers.
fn x_axis(asked: &Asked, marks: &[(f64, String)]) -> Axis {
    let (first, last) = (marks.first().map_or(0.0, |m| m.0), marks.last().map_or(1.0, |m| m.0));
    let scale = if asked.logarithmic && first > 0.0 { Scale::Log } else { Scale::Linear };
    let (from, to) = match scale {
        Scale::Log => (first / 1.2, last * 1.2),
        Scale::Linear => {
            // Categories have half a place on either side, for their names.
            let edge = match is_numeric(marks) {
                true => ((last - first) * 0.04).max(0.25),
                false => 0.5,
            };
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

fn describe_chart(of: &Figure) -> String {
    let unit = if of.y.unit.is_empty() { String::new() } else { format!(" {}", of.y.unit) };
    let said = of.series.iter().filter_map(|line| {
        let mut dots = line.points.iter().filter(drawn);
        let first = dots.next()?;
        let last = dots.next_back().unwrap_or(first);
        let (a, b) = (write_dot(first), write_dot(last));
        Some(format!(
            "{}: {a}{unit} at {} to {b}{unit} at {}.",
            line.label, first.label, last.label
        ))
    });
    said.collect::<Vec<_>>().join(" ")
}

fn chart_table(of: &Figure, marks: &[(f64, String)]) -> Table {
    let columns = std::iter::once(Column::words(&of.x.label))
        .chain(of.series.iter().map(|line| Column::number(&line.label)));
    let row = |(x, label): &(f64, String)| {
        let cell = |line: &Line| {
            if let Some(missing) = line.missing.iter().find(|dot| dot.x == *x) {
                return Some(missing.why.word().into());
            }
            let dot = line.points.iter().find(|dot| dot.x == *x)?;
            let mark = if drawn(&dot) { "" } else { "≠ " };
            let text = format!("{mark}{}", write_dot(dot));
            Some(match dot.y {
                Some(y) => SheetCell::Number(text, rounded(y)),
                None => text.into(),
            })
        };
        let cells =
            of.series.iter().map(|line| cell(line).unwrap_or_else(SheetCell::none)).collect();
        Row::new(SheetCell::Number(label.clone(), rounded(*x)), cells)
    };
    let caption = match of.y.unit.as_str() {
        "" => of.title.clone(),
        unit => format!("{}, {unit}", of.title),
    };
    Table::new(caption, columns.collect(), marks.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(label: &str, y: f64, unlike: Option<&str>) -> Dot {
        let x = label.parse().unwrap();
        let (y, unlike) = (Some(y), unlike.map(str::to_owned));
        Dot { x, label: label.into(), y, printed: None, low: None, high: None, unlike }
    }

    #[test]
    fn a_point_that_must_not_be_read_beside_others_is_in_the_table_alone() {
        let axis =
            |label: &str| Asked { label: label.into(), unit: String::new(), logarithmic: false };
        let why = "IPv6 gives nothing but errors: 0 of 9 accepted";
        let points = vec![dot("1", 10.0, None), dot("2", 900.0, Some(why)), dot("3", 30.0, None)];
        let (label, family) = ("IPv6".to_owned(), Some(Family::Ipv6));
        let line =
            Line { label, family, at: Vec::new(), published: false, points, missing: Vec::new() };
        let (name, title) = ("f".to_owned(), "F".to_owned());
        let figure = Figure { name, title, x: axis("size"), y: axis("rate"), series: vec![line] };
        let drawn = chart(&figure);
        assert_eq!(drawn.series[0].ys, [Some(10.0), None, Some(30.0)]);
        assert!(drawn.y.to < 100.0, "the axis is for what is drawn: {}", drawn.y.to);
        let SheetCell::Number(said, _) = &drawn.table.groups[0].rows[1].cells[0] else { panic!() };
        assert_eq!(said, "≠ 900");
        let note = format!("Not drawn, not comparable: {why} (at size 2).");
        assert_eq!(not_drawn(&figure), Some(note));
    }
}
