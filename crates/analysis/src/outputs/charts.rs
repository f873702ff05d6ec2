//! Charts: measured and published lines over a factor.

use super::missing::why_missing;
use super::{Beside, combinations, family_of_level, labelled, measured_value};
use crate::observation::Observation;
use crate::unlike;
use sixmark_design::spec::{ChartSpec, FAMILY, PublishedFigures, Study};
use sixmark_design::study_result::{
    At, Axis, Chart, ChartLine, Dot, MARGIN_PERCENT, MissingDot, PrintedFigure,
};

pub(super) fn chart(
    study: &Study,
    spec: &ChartSpec,
    seen: &[Observation<'_>],
    published: Option<&PublishedFigures>,
) -> Chart {
    let beside = Beside::new(study, published, &spec.published);
    let mut series = Vec::new();
    for at in combinations(study, &labelled(study, &spec.series)) {
        let here: Vec<At> = spec.only.iter().cloned().chain(at.iter().cloned()).collect();
        let line = make_line(study, spec, &here, &at, |at| {
            let scale = spec.y.unit.scale;
            let found = measured_value(seen, at, spec.y.measure, spec.statistic)?;
            let [low, high] =
                [0, 1].map(|end| found.interval.map(|(low, high)| [low, high][end] / scale));
            let is_speed = spec.y.measure.is_of_speed();
            let unlike = is_speed.then(|| unlike_at(seen, at)).flatten();
            Some(PointFigure { y: Some(found.value / scale), low, high, printed: None, unlike })
        });
        series.push(ChartLine { missing: missing_dots(study, spec, &here, seen), ..line });
    }
    series.extend(published_lines(study, spec, &beside));
    series.retain(|series| !series.points.is_empty() || !series.missing.is_empty());
    let x =
        Axis { label: spec.x.clone(), unit: spec.x_unit.clone(), logarithmic: spec.logarithmic[0] };
    let (label, unit) = (spec.y.label.clone(), spec.y.unit.name.to_owned());
    let y = Axis { label, unit, logarithmic: spec.logarithmic[1] };
    let (name, title, statistic) = (spec.name.clone(), spec.title.clone(), Some(spec.statistic));
    Chart { name, title, x, y, statistic, series }
}

/// Returns a line of published figures for each combination of levels that the published study has:
/// of the chart's own factors, and of those that only the published study varied.
fn published_lines(study: &Study, spec: &ChartSpec, beside: &Beside) -> Vec<ChartLine> {
    let (measure, unit) = (spec.y.measure, spec.y.unit);
    let mut lines: Vec<ChartLine> = Vec::new();
    for at in combinations(study, &labelled(study, &spec.series)) {
        let here: Vec<At> = spec.only.iter().chain(&at).cloned().collect();
        let own = at.iter().filter(|at| beside.has_factor(&at.factor, measure));
        let own: Vec<At> = own.cloned().collect();
        for free in beside.free() {
            // Of the factor of imports, the published study has levels that were not imported.
            let is_free = |at: &&At| free.iter().any(|free| free.factor == at.factor);
            let own = own.iter().filter(|at| !is_free(at));
            let of: Vec<At> = free.iter().chain(own).cloned().collect();
            if lines.iter().any(|line| line.at == of) {
                continue;
            }
            let line = make_line(study, spec, &here, &of, |at| {
                let found = beside.found(at, free, measure)?.shown_in(unit.name, unit.scale);
                let printed = Some(found.shown());
                let PrintedFigure { value: y, low, high, .. } = found;
                Some(PointFigure { y, low, high, printed, unlike: None })
            });
            let label = format!("published: {}", study.labels.levels(&of));
            lines.push(ChartLine { label, published: true, ..line });
        }
    }
    lines
}

/// The figure of a point of a line.
struct PointFigure {
    y: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    printed: Option<String>,
    unlike: Option<String>,
}

/// Returns why the speed at these levels must not be compared with the other family's; `None` if it
/// may be. If only the other family gave nothing but errors, this family's point remains.
fn unlike_at(seen: &[Observation<'_>], at: &[At]) -> Option<String> {
    let place: Vec<At> = at.iter().filter(|at| at.factor != FAMILY).cloned().collect();
    let there: Vec<&Observation<'_>> = seen.iter().filter(|one| one.is_at(&place)).collect();
    let (here, other): (Vec<_>, Vec<_>) = there.iter().copied().partition(|one| one.is_at(at));
    match (unlike::only_errors(&here), unlike::only_errors(&other)) {
        (None, None) => unlike::unlike_families(&there, MARGIN_PERCENT / 100.0),
        (sick, _) => sick,
    }
}

/// Returns for each level of the chart's factor its x value, its name, and all levels of a line
/// there. The x values are the levels if all are numbers, else their indices from 0.
fn places<'a>(
    study: &'a Study,
    spec: &'a ChartSpec,
    here: &'a [At],
) -> impl Iterator<Item = (f64, &'a str, Vec<At>)> {
    let levels = study.level_names(&spec.x);
    let numbers: Option<Vec<f64>> = levels.iter().map(|level| level.parse().ok()).collect();
    let xs = numbers.unwrap_or_else(|| (0..levels.len()).map(|number| number as f64).collect());
    xs.into_iter().zip(levels).map(|(x, level)| {
        let at = At { factor: spec.x.clone(), level: level.to_owned() };
        (x, level, here.iter().cloned().chain([at]).collect())
    })
}

/// Returns the places of a line that have no figure although exchanges were sent, by rising x.
fn missing_dots(
    study: &Study,
    spec: &ChartSpec,
    here: &[At],
    seen: &[Observation<'_>],
) -> Vec<MissingDot> {
    let missing = |(x, level, at): (f64, &str, Vec<At>)| {
        if measured_value(seen, &at, spec.y.measure, spec.statistic).is_some() {
            return None;
        }
        let why = why_missing(seen, &at, spec.y.measure)?;
        Some(MissingDot { x, label: level.to_owned(), why })
    };
    let mut all: Vec<MissingDot> = places(study, spec, here).filter_map(missing).collect();
    all.sort_by(|a, b| a.x.total_cmp(&b.x));
    all
}

/// Creates the line at the levels `here`. It is named after the levels `of`.
fn make_line(
    study: &Study,
    spec: &ChartSpec,
    here: &[At],
    of: &[At],
    figure: impl Fn(&[At]) -> Option<PointFigure>,
) -> ChartLine {
    let point = |(x, level, at): (f64, &str, Vec<At>)| {
        let PointFigure { y, low, high, printed, unlike } = figure(&at)?;
        Some(Dot { x, label: level.to_owned(), y, printed, low, high, unlike })
    };
    let mut points: Vec<Dot> = places(study, spec, here).filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let family = of.iter().find(|at| at.factor == FAMILY).and_then(|at| family_of_level(&at.level));
    let (label, at, missing) = (study.labels.levels(of), of.to_vec(), Vec::new());
    ChartLine { label, family, at, published: false, points, missing }
}
