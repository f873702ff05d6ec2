//! Charts: measured and published lines over a factor.

use super::missing::why_missing;
use super::{Beside, combinations, family_of_level, measured_value};
use crate::levels::label_levels;
use crate::observation::Observation;
use crate::spec::{ChartSpec, FAMILY, PublishedFigures, PublishedOf, Study};
use crate::study_result::{At, Axis, Chart, ChartLine, Dot, MARGIN_PERCENT, MissingDot};
use crate::unlike;

pub(super) fn chart(
    study: &Study,
    spec: &ChartSpec,
    seen: &[Observation<'_>],
    published: Option<&PublishedFigures>,
) -> Chart {
    let beside = Beside::new(published, spec.published.as_ref());
    let mut series = Vec::new();
    for at in combinations(study, &spec.series) {
        let here: Vec<At> = spec.only.iter().cloned().chain(at.iter().cloned()).collect();
        let unlike =
            |at: &[At]| spec.y.measure.is_of_speed().then(|| unlike_at(seen, at)).flatten();
        let line = make_line(study, spec, &here, &at, |at| {
            let scale = spec.y.unit.scale;
            let found = measured_value(seen, at, spec.y.measure, spec.statistic)?;
            let interval = found.interval.map(|(low, high)| (low / scale, high / scale));
            Some(PointFigure { y: found.value / scale, interval, unlike: unlike(at) })
        });
        series.push(ChartLine { missing: missing_dots(study, spec, &here, seen), ..line });
        if let Some(beside) = &beside {
            let label = spec.published.as_ref().map_or(String::new(), PublishedOf::label);
            let families: Vec<At> = at.iter().filter(|at| at.factor == FAMILY).cloned().collect();
            let known =
                series.iter().any(|series: &ChartLine| series.published && series.at == families);
            if !known {
                let line = make_line(study, spec, &here, &families, |at| {
                    let (found, scale) = (beside.found(at, spec.y.measure)?, spec.y.unit.scale);
                    let range = found.range.map(|[low, high]| (low / scale, high / scale));
                    Some(PointFigure { y: found.value / scale, interval: range, unlike: None })
                });
                let label = format!("published: {label} {}", label_levels(&families));
                series.push(ChartLine { label, published: true, ..line });
            }
        }
    }
    series.retain(|series| !series.points.is_empty() || !series.missing.is_empty());
    let x =
        Axis { label: spec.x.clone(), unit: spec.x_unit.clone(), logarithmic: spec.logarithmic[0] };
    let (label, unit) = (spec.y.label.clone(), spec.y.unit.name.to_owned());
    let y = Axis { label, unit, logarithmic: spec.logarithmic[1] };
    Chart { name: spec.name.clone(), title: spec.title.clone(), x, y, series }
}

/// The figure of a point of a line.
struct PointFigure {
    y: f64,
    interval: Option<(f64, f64)>,
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
        let PointFigure { y, interval, unlike } = figure(&at)?;
        let [low, high] = [interval.map(|(low, _)| low), interval.map(|(_, high)| high)];
        Some(Dot { x, label: level.to_owned(), y, low, high, unlike })
    };
    let mut points: Vec<Dot> = places(study, spec, here).filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let family = of.iter().find(|at| at.factor == FAMILY).and_then(|at| family_of_level(&at.level));
    let (label, at, missing) = (label_levels(of), of.to_vec(), Vec::new());
    ChartLine { label, family, at, published: false, points, missing }
}
