//! The charts of a study: measured and published lines over a factor.

use super::facets::facets;
use super::line_sides::sides_of_lines;
use sixmark_design::levels::{LevelLabels, with_unit};
use sixmark_design::study_result::{At, Chart as Figure, ChartLine as Line, Dot};

use sixmark_sheet::chart::{Axis, Chart, Mark, Scale, Series, Unit, is_wide, rounded};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write::figure;
use sixmark_sheet::{Block, Part};

/// Returns the part of all charts; `None` if there are none. Each figure is over `repetitions`.
pub(super) fn charts_part(
    figures: &[Figure],
    labels: &LevelLabels,
    repetitions: u32,
) -> Option<Part> {
    let blocks = figures.iter().flat_map(|of| {
        let statistic = of.statistic.and_then(|statistic| statistic.over(repetitions));
        let named = statistic.map_or(of.title.clone(), |over| format!("{} ({over})", of.title));
        let of = Figure { title: named, ..of.clone() };
        let places = ChartPlaces::new(&of, labels);
        let charts = facets(&of, labels).iter().map(|one| chart(one, &of, &places)).collect();
        let notes = not_drawn(&of, &places).into_iter().chain(without_interval(&of));
        let notes: Vec<Block> = notes.map(Block::Text).collect();
        std::iter::once(Block::Charts(charts)).chain(notes)
    });
    Part::new("Charts", blocks.collect()).map(Part::off_terminal)
}

/// The places along the horizontal axis of a chart, and their labels.
struct ChartPlaces<'a> {
    labels: &'a LevelLabels,
    factor: &'a str,
    /// The unit of levels that are numbers.
    unit: &'a str,
    /// Whether the study asks for a logarithmic axis.
    logarithmic: bool,
    /// Each place, by its value and the name of its level.
    marks: Vec<(f64, String)>,
}

impl<'a> ChartPlaces<'a> {
    /// Returns the places at which any line has a point or lacks a figure.
    fn new(of: &'a Figure, labels: &'a LevelLabels) -> ChartPlaces<'a> {
        let unit = match labels.unit(&of.x.label) {
            "" => of.x.unit.as_str(),
            unit => unit,
        };
        let (factor, logarithmic) = (of.x.label.as_str(), of.x.logarithmic);
        ChartPlaces { labels, factor, unit, logarithmic, marks: marks(of) }
    }

    /// Returns the label of a level.
    fn label(&self, level: &str) -> String {
        let at = At { factor: self.factor.to_owned(), level: level.to_owned() };
        match level.parse::<f64>() {
            Ok(_) if self.labels.unit(self.factor).is_empty() => with_unit(level, self.unit),
            _ => self.labels.under_factor(&at),
        }
    }

    /// Returns true if all levels are numbers, so that a line between them has a meaning.
    fn is_numeric(&self) -> bool {
        self.marks.iter().all(|(_, level)| level.parse::<f64>().is_ok())
    }
}

/// Returns a note that names the points that are only in the table, with the reasons.
fn not_drawn(of: &Figure, places: &ChartPlaces<'_>) -> Option<String> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for dot in of.series.iter().flat_map(|line| &line.points) {
        let Some(why) = dot.unlike.as_deref() else { continue };
        match all.iter_mut().find(|(known, _)| *known == why) {
            Some((_, at)) if at.contains(&dot.label.as_str()) => {}
            Some((_, at)) => at.push(&dot.label),
            None => all.push((why, vec![&dot.label])),
        }
    }
    let one = |(why, at): &(&str, Vec<&str>)| {
        let at: Vec<String> = at.iter().map(|level| places.label(level)).collect();
        format!("{why} (at {} {})", places.labels.factor(places.factor), at.join(", "))
    };
    let said: Vec<String> = all.iter().map(one).collect();
    (!said.is_empty()).then(|| format!("Not drawn, not comparable: {}.", said.join("; ")))
}

/// Returns true if the interval or the range of a point is drawn. The lower end of an interval that
/// was clipped at 0 says nothing, and the bar would hide the rest of the chart.
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
    cut.then(|| "Points without a bar have an interval that begins at 0.".to_owned())
}

/// Returns true if a point is drawn, because it may be compared with the others.
fn drawn(dot: &&Dot) -> bool {
    dot.unlike.is_none()
}

/// Returns the chart of a part of a figure. The axes are those of the whole figure.
fn chart(of: &Figure, whole: &Figure, places: &ChartPlaces<'_>) -> Chart {
    let y = y_axis(whole);
    let sides = sides_of_lines(&of.series);
    let lines = of.series.iter().zip(sides);
    let series: Vec<Series> = lines.map(|(line, side)| series(line, side, places, &y)).collect();
    let marks = &places.marks;
    Chart {
        title: of.title.clone(),
        about: describe_chart(of, places),
        table: chart_table(of, places),
        x: x_axis(places),
        y,
        labels: marks.iter().map(|(_, level)| places.label(level)).collect(),
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

fn series(line: &Line, side: usize, places: &ChartPlaces<'_>, y: &Axis) -> Series {
    let marks = &places.marks;
    let at = |x: f64| line.points.iter().find(|dot| dot.x == x);
    let each = |of: fn(&Dot) -> Option<f64>| -> Vec<Option<f64>> {
        marks.iter().map(|(x, _)| at(*x).filter(drawn).and_then(of).map(rounded)).collect()
    };
    // A line between categories would have no meaning.
    let mark = match (places.is_numeric(), line.published) {
        (true, false) => Mark::Points,
        (true, true) => Mark::HollowPoints,
        (false, false) => Mark::Dots,
        (false, true) => Mark::Hollow,
    };
    let name = line.label.clone();
    // An interval may reach far below a logarithmic axis.
    let lows = each(|dot| dot.low.filter(|_| has_interval(dot)));
    let lows = lows.into_iter().map(|low| low.map(|low| low.max(y.from))).collect();
    let highs = each(|dot| dot.high.filter(|_| has_interval(dot)));
    let missing_at = |x: f64| line.missing.iter().find(|dot| dot.x == x);
    let missing = if line.missing.is_empty() {
        Vec::new()
    } else {
        marks.iter().map(|(x, _)| missing_at(*x).map(|dot| dot.why.words())).collect()
    };
    Series { name, side, mark, ys: each(|dot| dot.y), lows, highs, missing }
}

/// Creates the x axis, for numbers or for levels that are not numbers. Its numbers have their unit.
fn x_axis(places: &ChartPlaces<'_>) -> Axis {
    let marks = &places.marks;
    let (first, last) = (marks.first().map_or(0.0, |m| m.0), marks.last().map_or(1.0, |m| m.0));
    let scale = if places.logarithmic && first > 0.0 { Scale::Log } else { Scale::Linear };
    let (from, to) = match scale {
        Scale::Log => (first / 1.2, last * 1.2),
        Scale::Linear => {
            // Categories have half a place on either side, for their names.
            let edge = if places.is_numeric() { ((last - first) * 0.04).max(0.25) } else { 0.5 };
            (first - edge, last + edge)
        }
    };
    let label = places.labels.factor(places.factor).to_owned();
    Axis { label, unit: Unit::Label, suffix: String::new(), scale, from, to }
}

/// Creates the y axis of all lines of a figure. It is logarithmic if the study says so, and if the
/// points differ by a large factor, as published figures and measured ones do.
fn y_axis(of: &Figure) -> Axis {
    let dots = || of.series.iter().flat_map(|line| &line.points).filter(drawn);
    // A range that was published has no point, but two ends.
    let points = || dots().flat_map(|dot| dot.y.map_or([dot.low, dot.high], |y| [Some(y); 2]));
    let low = points().flatten().fold(f64::MAX, f64::min);
    let high = points().flatten().fold(0.0, f64::max);
    let ends = dots().filter(|dot| has_interval(dot)).flat_map(|dot| [dot.low, dot.high]);
    let all: Vec<f64> = points().chain(ends).flatten().collect();
    let label = match of.y.unit.as_str() {
        "" => of.y.label.clone(),
        unit => format!("{}, {unit}", of.y.label),
    };
    let linear = Axis::from_zero(&label, Unit::Plain, all.iter().copied());
    let linear = Axis { suffix: of.y.unit.clone(), ..linear };
    let is_log = low > 0.0 && low < f64::MAX && (of.y.logarithmic || is_wide(low, high));
    if !is_log {
        return linear;
    }
    let lowest = all.iter().copied().fold(low, f64::min).max(low / LONGEST_BELOW);
    Axis { scale: Scale::Log, from: lowest / 1.15, to: linear.to * 1.1, ..linear }
}

/// How many times below the lowest point a logarithmic axis begins at most, for intervals.
const LONGEST_BELOW: f64 = 4.0;

fn describe_chart(of: &Figure, places: &ChartPlaces<'_>) -> String {
    let unit = if of.y.unit.is_empty() { String::new() } else { format!(" {}", of.y.unit) };
    let said = of.series.iter().filter_map(|line| {
        let mut dots = line.points.iter().filter(drawn);
        let first = dots.next()?;
        let last = dots.next_back().unwrap_or(first);
        let (a, b) = (write_dot(first), write_dot(last));
        Some(format!(
            "{}: {a}{unit} at {} to {b}{unit} at {}.",
            line.label,
            places.label(&first.label),
            places.label(&last.label)
        ))
    });
    said.collect::<Vec<_>>().join(" ")
}

fn chart_table(of: &Figure, places: &ChartPlaces<'_>) -> Table {
    let columns = std::iter::once(Column::words(places.labels.factor(places.factor)))
        .chain(of.series.iter().map(|line| Column::number(&line.label)));
    let row = |(x, label): &(f64, String)| {
        let cell = |line: &Line| {
            if let Some(missing) = line.missing.iter().find(|dot| dot.x == *x) {
                return Some(missing.why.words().into());
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
        Row::new(SheetCell::Number(places.label(label), rounded(*x)), cells)
    };
    let caption = match of.y.unit.as_str() {
        "" => of.title.clone(),
        unit => format!("{}, {unit}", of.title),
    };
    Table::new(caption, columns.collect(), places.marks.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_design::study_result::{Axis as Asked, MissingDot, MissingFigure};
    use sixmark_units::family::Family;

    fn dot(label: &str, y: f64, unlike: Option<&str>) -> Dot {
        let x = label.parse().unwrap();
        let (y, unlike) = (Some(y), unlike.map(str::to_owned));
        Dot { x, label: label.into(), y, printed: None, low: None, high: None, unlike }
    }

    fn line(label: &str, published: bool, points: Vec<Dot>) -> Line {
        let (label, family) = (label.to_owned(), Some(Family::Ipv6));
        Line { label, family, at: Vec::new(), published, points, missing: Vec::new() }
    }

    fn figure(series: Vec<Line>) -> Figure {
        let axis = |label: &str| Asked { label: label.into(), ..Asked::default() };
        let (name, title) = ("f".to_owned(), "F".to_owned());
        Figure { name, title, x: axis("size"), y: axis("rate"), statistic: None, series }
    }

    fn drawn_chart(of: &Figure) -> Chart {
        chart(of, of, &ChartPlaces::new(of, &LevelLabels::default()))
    }

    #[test]
    fn lists_points_that_are_not_comparable_only_in_the_table() {
        let why = "IPv6 gives nothing but errors: 0 of 9 accepted";
        let points = vec![dot("1", 10.0, None), dot("2", 900.0, Some(why)), dot("3", 30.0, None)];
        let figure = figure(vec![line("IPv6", false, points)]);
        let drawn = drawn_chart(&figure);
        assert_eq!(drawn.series[0].ys, [Some(10.0), None, Some(30.0)]);
        assert!(drawn.y.to < 100.0, "the axis is for what is drawn: {}", drawn.y.to);
        let SheetCell::Number(said, _) = &drawn.table.groups[0].rows[1].cells[0] else { panic!() };
        assert_eq!(said, "≠ 900");
        let labels = LevelLabels::default();
        let places = ChartPlaces::new(&figure, &labels);
        let note = format!("Not drawn, not comparable: {why} (at size 2).");
        assert_eq!(not_drawn(&figure, &places), Some(note));
    }

    #[test]
    fn draws_published_points_hollow_and_far_points_on_a_log_axis() {
        let of = |published| {
            let near = line("IPv6", false, vec![dot("1000", 10.0, None), dot("2000", 20.0, None)]);
            drawn_chart(&figure(vec![near, line("published", true, vec![published])]))
        };
        let near = of(dot("1000", 30.0, None));
        assert_eq!(near.series[1].mark, Mark::HollowPoints);
        assert_eq!((near.y.scale, near.y.from), (Scale::Linear, 0.0));
        assert_eq!(near.labels, ["1,000", "2,000"]);
        let far = of(dot("1000", 1_000.0, None));
        assert_eq!(far.y.scale, Scale::Log);
        let low = Dot { low: Some(0.01), high: Some(2_000.0), ..dot("1000", 1_000.0, None) };
        let clipped = of(low);
        assert!(clipped.y.from > 2.0, "an interval does not fill the chart: {}", clipped.y.from);
        assert_eq!(clipped.series[1].lows[0], Some(clipped.y.from));
    }

    #[test]
    fn shows_a_stalled_point_as_none() {
        let mut one = line("IPv6", false, vec![dot("1", 10.0, None)]);
        let (x, label, why) = (2.0, "2".to_owned(), MissingFigure::Stalled);
        one.missing.push(MissingDot { x, label, why });
        let drawn = drawn_chart(&figure(vec![one]));
        assert_eq!(drawn.series[0].missing, [None, Some("none (stalled)")]);
        assert_eq!(drawn.table.groups[0].rows[1].cells[0].text(), "none (stalled)");
    }
}
