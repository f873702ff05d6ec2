//! The chart of the trials of a search for the highest rate.

use sixmark_result::find::{FindMax, FoundRate, Trial};
use sixmark_result::rate_decision::RateDecision;
use sixmark_sheet::chart::{Axis, Band, Chart, Mark, Role, Scale, Series, Unit, rounded};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write;
use sixmark_tally::metric::MetricKind;
use sixmark_units::family::Family;

use super::curves::LEAST_US;
use super::families::short;

/// One trial as a point of a chart.
struct TrialPoint {
    rate: f64,
    family: Family,
    /// Whether the rate holds, does not hold, or neither is known.
    result: PointResult,
    /// The value, or `None` if nothing was measured.
    value: Option<f64>,
}

/// What is known of the rate of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PointResult {
    Held,
    Failed,
    Undecided,
}

impl PointResult {
    const ALL: [PointResult; 3] = [PointResult::Held, PointResult::Failed, PointResult::Undecided];

    fn of(trial: &Trial) -> PointResult {
        match trial.known() {
            Some(RateDecision::Held) => PointResult::Held,
            Some(RateDecision::DidNotHold) => PointResult::Failed,
            Some(_) | None => PointResult::Undecided,
        }
    }

    fn words(self) -> &'static str {
        match self {
            PointResult::Held => "held",
            PointResult::Failed => "did not hold",
            PointResult::Undecided => "undecided",
        }
    }

    /// Returns the marker, and the number of its colour and shape.
    fn mark(self, family: Family) -> (Mark, usize) {
        let side = usize::from(family == Family::Ipv4);
        match self {
            PointResult::Held => (Mark::Dots, side),
            PointResult::Failed => (Mark::Hollow, side),
            PointResult::Undecided => (Mark::Hollow, side + 2),
        }
    }
}

impl TrialPoint {
    fn write(&self, write: fn(f64) -> String) -> String {
        self.value.map_or(NONE.to_owned(), write)
    }
}

/// The word for the value of a trial that measured none.
pub(super) const NONE: &str = "none";

/// Returns a chart of the metric of condition number `at` over the rate, with a marker for each
/// trial; `None` if there was no trial.
pub(super) fn rate_chart(found: &FindMax, at: usize) -> Option<Chart> {
    let condition = found.conditions.get(at)?;
    let points = points(found, at);
    if points.is_empty() {
        return None;
    }
    let limit = condition.limit();
    let values = points.iter().filter_map(|point| point.value).chain([limit]);
    let values: Vec<f64> = values.collect();
    let is_time = condition.metric().kind() == MetricKind::Time;
    let y = if is_time {
        with_room(Axis::durations("", LEAST_US, values.into_iter()))
    } else {
        Axis::from_zero("", Unit::Share, values.into_iter())
    };
    let write = if is_time { write::write_time } else { write::write_percent };
    let noun = write::capitalised(&short(condition.metric()));
    Some(Chart {
        title: format!("{noun} over the rate, a trial each"),
        about: describe_points(found, &points, &format!("{condition}"), write),
        table: points_table(&noun, &points, write),
        x: Axis::rates("requests/s, each family alone", points.iter().map(|point| point.rate)),
        y,
        labels: Vec::new(),
        xs: points.iter().map(|point| rounded(point.rate)).collect(),
        series: families_of(&points).flat_map(|family| by_result(&points, family)).collect(),
        bands: bands(found, format!("{condition}"), limit),
    })
}

/// Returns the axis with room for a whole marker at its upper end.
fn with_room(y: Axis) -> Axis {
    let to = if y.scale == Scale::Log { y.to * 1.2 } else { y.to };
    Axis { to, ..y }
}

/// Returns the trials with the metric of condition number `at`, in order of rate.
fn points(found: &FindMax, at: usize) -> Vec<TrialPoint> {
    let of = |(family, of): (Family, &FoundRate)| {
        let point = |trial: &Trial| {
            let value = trial.values.get(at).copied().flatten().map(rounded);
            TrialPoint { rate: trial.rate, family, result: PointResult::of(trial), value }
        };
        of.trials.iter().map(point).collect::<Vec<_>>()
    };
    let mut points: Vec<TrialPoint> = found.families.iter().flat_map(of).collect();
    points.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    points
}

fn families_of(points: &[TrialPoint]) -> impl Iterator<Item = Family> {
    Family::BOTH.into_iter().filter(|family| points.iter().any(|point| point.family == *family))
}

/// Returns the trials of a family at rates that hold, that do not and of which neither is known, as
/// series with filled and hollow markers.
fn by_result(points: &[TrialPoint], family: Family) -> impl Iterator<Item = Series> {
    let series = move |result: PointResult| {
        let is_of = |point: &&TrialPoint| point.family == family && point.result == result;
        points.iter().find(is_of)?;
        let (mark, side) = result.mark(family);
        let own = |point: &TrialPoint| Some(point.value).filter(|_| is_of(&point));
        let ys = points.iter().map(|point| own(point).flatten()).collect();
        let is_none = |point: &TrialPoint| own(point) == Some(None);
        let missing = if points.iter().any(is_none) {
            points.iter().map(|point| is_none(point).then_some(NONE)).collect()
        } else {
            Vec::new()
        };
        let name = format!("{family} {}", result.words());
        Some(Series { missing, ..Series::new(name, side, mark, ys) })
    };
    PointResult::ALL.map(series).into_iter().flatten()
}

/// Returns bands for the condition's limit, and for the bracket of each family that has one.
fn bands(found: &FindMax, condition: String, limit: f64) -> Vec<Band> {
    let bracket = |(family, of): (Family, &FoundRate)| {
        let role = match family {
            Family::Ipv6 => Role::Bracket6,
            Family::Ipv4 => Role::Bracket4,
        };
        let (from, to) = (of.holds?, of.fails?);
        let name = format!("{family}: {} to {}", write::per_s(from), write::per_s(to));
        Some(Band { name, role, from: rounded(from), to: rounded(to), at: None })
    };
    let brackets = found.families.iter().filter_map(bracket);
    let (from, to) = (rounded(limit), rounded(limit));
    let bound = Band { name: condition, role: Role::Bound, from, to, at: None };
    brackets.chain([bound]).collect()
}

fn describe_points(
    found: &FindMax,
    points: &[TrialPoint],
    condition: &str,
    write: fn(f64) -> String,
) -> String {
    let of = |family: Family| {
        let highest = |result: PointResult| {
            let those = points.iter().filter(|p| p.family == family && p.result == result);
            those.max_by(|a, b| a.rate.total_cmp(&b.rate))
        };
        let said = |point: &TrialPoint, words: &str| {
            format!("{words} {} requests/s with {}", write::per_s(point.rate), point.write(write))
        };
        let held = highest(PointResult::Held).map(|point| said(point, "held at most"));
        let failed = highest(PointResult::Failed).map(|point| said(point, "did not hold"));
        let both: Vec<String> = held.into_iter().chain(failed).collect();
        if both.is_empty() {
            format!("{family}: undecided.")
        } else {
            format!("{family} {}.", both.join(", "))
        }
    };
    let number = found.families.iter().map(|(_, of)| of.trials.len()).sum::<usize>();
    let families: Vec<String> = families_of(points).map(of).collect();
    format!("{number} trials with {condition}. {}", families.join(" "))
}

fn points_table(noun: &str, points: &[TrialPoint], write: fn(f64) -> String) -> Table {
    let families: Vec<Family> = families_of(points).collect();
    let is_of = |point: &TrialPoint, (family, result): (Family, PointResult)| {
        point.family == family && point.result == result
    };
    let columns: Vec<(Family, PointResult)> = families
        .into_iter()
        .flat_map(|family| PointResult::ALL.map(|result| (family, result)))
        .filter(|&column| points.iter().any(|point| is_of(point, column)))
        .collect();
    let row = |point: &TrialPoint| {
        let cell = |&column: &(Family, PointResult)| {
            if is_of(point, column) {
                point.value.map_or(NONE.into(), |of| SheetCell::Number(write(of), of))
            } else {
                SheetCell::none()
            }
        };
        let label = SheetCell::Number(write::per_s(point.rate), rounded(point.rate));
        Row::new(label, columns.iter().map(cell).collect())
    };
    let heads = columns
        .iter()
        .map(|(family, result)| Column::number(format!("{family} {}", result.words())));
    let heads = std::iter::once(Column::words("Requests/s")).chain(heads).collect();
    Table::new(format!("{noun} of each trial"), heads, points.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::found;
    use super::*;
    use sixmark_result::find::Limit;
    use sixmark_tally::family_result::Families;

    #[test]
    fn trials_are_drawn_over_the_rate_with_the_bracket_and_the_condition() {
        let conditions = vec!["response.p99 < 10ms".parse().unwrap()];
        let v6 = found(Some(41_200.0), Some(43_100.0), Limit::Condition);
        let families = Families { ipv6: Some(v6), ipv4: None };
        let chart = rate_chart(&FindMax::new(conditions, 2.0, families), 0).unwrap();
        assert_eq!(chart.title.replace('\u{a0}', " "), "Response p99 over the rate, a trial each");
        let names: Vec<_> = chart.series.iter().map(|of| (of.name.as_str(), of.mark)).collect();
        assert_eq!(names, [("IPv6 held", Mark::Dots), ("IPv6 did not hold", Mark::Hollow)]);
        assert_eq!(chart.series[0].ys, [Some(4_000.0), None, None, None]);
        let bands: Vec<_> = chart.bands.iter().map(|of| (of.role, of.from, of.to)).collect();
        assert_eq!(
            bands,
            [(Role::Bracket6, 41_200.0, 43_100.0), (Role::Bound, 10_000.0, 10_000.0)]
        );
    }

    #[test]
    fn a_trial_without_any_answer_is_drawn_as_none() {
        let conditions = vec!["response.p99 < 10ms".parse().unwrap()];
        let mut v6 = found(Some(41_200.0), Some(43_100.0), Limit::Failures);
        v6.trials[3].values = vec![None];
        let families = Families { ipv6: Some(v6), ipv4: None };
        let chart = rate_chart(&FindMax::new(conditions, 2.0, families), 0).unwrap();
        assert_eq!(chart.xs.len(), 4, "every trial");
        assert_eq!(chart.series[1].missing, [None, None, None, Some("none")]);
        assert!(chart.series[0].missing.is_empty(), "{:?}", chart.series[0]);
        assert_eq!(chart.table.groups[0].rows[3].cells[1].text(), "none");
    }

    #[test]
    fn draws_a_trial_by_the_final_decision_about_its_rate() {
        let conditions = vec!["response.p99 < 10ms".parse().unwrap()];
        let mut v6 = found(Some(300.0), Some(400.0), Limit::Condition);
        v6.trials[0].decision = Some(RateDecision::Undecided);
        let families = Families { ipv6: Some(v6), ipv4: None };
        let chart = rate_chart(&FindMax::new(conditions, 2.0, families), 0).unwrap();
        let names: Vec<&str> = chart.series.iter().map(|of| of.name.as_str()).collect();
        assert_eq!(names, ["IPv6 did not hold", "IPv6 undecided"]);
        assert!(!chart.about.contains("held at most"), "{}", chart.about);
    }
}
