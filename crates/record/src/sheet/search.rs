//! The result of a search for the highest rate.

use crate::condition::Condition;
use crate::find::{FindMax, FoundRate, Trial};
use sixmark_units::family::Family;

use crate::metric::MetricKind;

use crate::sheet::search_text as find;

use super::families::short;
use sixmark_sheet::chart::{Axis, Band, Chart, Mark, Role, Series, Unit, rounded};
use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// The note if both families have a rate that held and one that did not, but there is no ratio.
const NO_RATIO: &str = "IPv6 vs IPv4: no ratio, since the server did not limit both rates.";

/// Describes the result in a sentence.
pub(super) fn describe_search(found: &FindMax) -> String {
    let of = |(family, found): (Family, &FoundRate)| match (found.holds, found.fails) {
        (Some(holds), Some(fails)) => {
            format!(
                "{family} held {} requests/s and did not hold {}",
                write_rate(holds),
                write_rate(fails)
            )
        }
        (Some(holds), None) => {
            format!(
                "{family} held {} requests/s, and no higher rate was tested to the end",
                write_rate(holds)
            )
        }
        (None, Some(fails)) => {
            format!("{family} did not hold even {} requests/s", write_rate(fails))
        }
        (None, None) => format!("no result for {family}"),
    };
    let families: Vec<String> = found.families.iter().map(of).collect();
    format!("With {}: {}.", conditions(found), families.join("; "))
}

/// Returns the bracket of each family, their ratio, and all trials.
pub(super) fn search_part(found: &FindMax) -> Option<Part> {
    let charts: Vec<Chart> =
        (0..found.conditions.len()).filter_map(|at| rate_chart(found, at)).collect();
    let mut blocks = Vec::new();
    if !charts.is_empty() {
        blocks.push(Block::Charts(charts));
    }
    blocks.push(Block::Table(brackets(found)));
    if let Some([least, most]) = found.ratio {
        let line = format!("IPv6’s highest rate is {least:.2} to {most:.2} times IPv4’s.");
        blocks.push(Block::Text(line));
    } else if found.has_ratio_of_limits() {
        blocks.push(Block::Text(NO_RATIO.to_owned()));
    }
    blocks.push(Block::Folded("All trials".into(), vec![Block::Table(trials(found))]));
    blocks.extend(figures_of(found).map(Block::Text));
    Part::new("The highest rate", blocks).map(Part::open)
}

/// One trial as a point of a chart.
struct TrialPoint {
    rate: f64,
    family: Family,
    held: bool,
    value: f64,
}

/// Returns a chart of the metric of condition number `at` over the rate, with a marker for each
/// trial; `None` if no trial measured it.
fn rate_chart(found: &FindMax, at: usize) -> Option<Chart> {
    let condition = found.conditions.get(at)?;
    let points = points(found, at);
    if points.is_empty() {
        return None;
    }
    let limit = condition.limit();
    let values = points.iter().map(|point| point.value).chain([limit]);
    let values: Vec<f64> = values.collect();
    let is_time = condition.metric().kind() == MetricKind::Time;
    let y = match is_time {
        true => Axis::durations("", LEAST_US, values.into_iter()),
        false => Axis::from_zero("", Unit::Share, values.into_iter()),
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
        series: families_of(&points).flat_map(|family| held_and_not(&points, family)).collect(),
        bands: bands(found, format!("{condition}"), limit),
    })
}

/// The shortest time on a logarithmic axis, in microseconds. Shorter ones are drawn there.
const LEAST_US: f64 = 0.1;

/// Returns the trials that measured the metric of condition number `at`, in order of rate.
fn points(found: &FindMax, at: usize) -> Vec<TrialPoint> {
    let of = |(family, of): (Family, &FoundRate)| {
        let point = |trial: &Trial| {
            let value = rounded(trial.values.get(at).copied().flatten()?);
            Some(TrialPoint { rate: trial.rate, family, held: trial.held, value })
        };
        of.trials.iter().filter_map(point).collect::<Vec<_>>()
    };
    let mut points: Vec<TrialPoint> = found.families.iter().flat_map(of).collect();
    points.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    points
}

fn families_of(points: &[TrialPoint]) -> impl Iterator<Item = Family> {
    Family::BOTH.into_iter().filter(|family| points.iter().any(|point| point.family == *family))
}

/// Returns the trials of a family that held, and those that did not, as series with filled and
/// hollow markers.
fn held_and_not(points: &[TrialPoint], family: Family) -> impl Iterator<Item = Series> {
    let both = [(true, "held", Mark::Dots), (false, "did not hold", Mark::Hollow)];
    let series = move |(held, words, mark): (bool, &str, Mark)| {
        let of = |point: &TrialPoint| {
            (point.family == family && point.held == held).then_some(point.value)
        };
        let ys: Vec<Option<f64>> = points.iter().map(of).collect();
        let any = ys.iter().any(Option::is_some);
        let side = usize::from(family == Family::Ipv4);
        any.then(|| Series::new(format!("{family} {words}"), side, mark, ys))
    };
    both.map(series).into_iter().flatten()
}

/// Returns bands for the condition's limit, and for the bracket of each family that has one.
fn bands(found: &FindMax, condition: String, limit: f64) -> Vec<Band> {
    let bracket = |(family, of): (Family, &FoundRate)| {
        let role = match family {
            Family::Ipv6 => Role::Bracket6,
            Family::Ipv4 => Role::Bracket4,
        };
        let (from, to) = (of.holds?, of.fails?);
        let name = format!("{family}: {} to {}", write_rate(from), write_rate(to));
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
        let highest = |held: bool| {
            let those = points.iter().filter(|p| p.family == family && p.held == held);
            those.max_by(|a, b| a.rate.total_cmp(&b.rate))
        };
        let said = |point: &TrialPoint, words: &str| {
            format!("{words} {} requests/s with {}", write_rate(point.rate), write(point.value))
        };
        let held = highest(true).map(|point| said(point, "held at most"));
        let failed = highest(false).map(|point| said(point, "did not hold"));
        let both: Vec<String> = held.into_iter().chain(failed).collect();
        format!("{family} {}.", both.join(", "))
    };
    let number = found.families.iter().map(|(_, of)| of.trials.len()).sum::<usize>();
    let families: Vec<String> = families_of(points).map(of).collect();
    format!("{number} trials with {condition}. {}", families.join(" "))
}

fn points_table(noun: &str, points: &[TrialPoint], write: fn(f64) -> String) -> Table {
    let families: Vec<Family> = families_of(points).collect();
    let columns: Vec<(Family, bool)> = families
        .into_iter()
        .flat_map(|family| [(family, true), (family, false)])
        .filter(|(family, held)| points.iter().any(|p| p.family == *family && p.held == *held))
        .collect();
    let row = |point: &TrialPoint| {
        let cell =
            |&(family, held): &(Family, bool)| match point.family == family && point.held == held {
                true => SheetCell::Number(write(point.value), point.value),
                false => SheetCell::none(),
            };
        let label = SheetCell::Number(write_rate(point.rate), rounded(point.rate));
        Row::new(label, columns.iter().map(cell).collect())
    };
    let heads = columns.iter().map(|(family, held)| {
        let words = if *held { "held" } else { "did not hold" };
        Column::number(format!("{family} {words}"))
    });
    let heads = std::iter::once(Column::words("Requests/s")).chain(heads).collect();
    Table::new(format!("{noun} of each trial"), heads, points.iter().map(row).collect())
}

fn brackets(found: &FindMax) -> Table {
    let number = |per_s: Option<f64>| {
        per_s.map_or_else(SheetCell::none, |per_s| SheetCell::Number(write_rate(per_s), per_s))
    };
    let row = |(family, of): (Family, &FoundRate)| {
        let why = match (of.failing(), of.holds) {
            (Some(failing), _) => find::why_not_held(&found.conditions, failing),
            (None, Some(_)) => "no higher rate was tested to the end".to_owned(),
            (None, None) => "no rate was tested to the end".to_owned(),
        };
        Row::new(family.to_string(), vec![number(of.holds), number(of.fails), why.into()])
    };
    let columns = vec![
        Column::words("Requests/s"),
        Column::number("Held"),
        Column::number("Did not hold"),
        Column::words("Because"),
    ];
    let caption = format!(
        "Highest rate with {}, each family alone, trials of {} s",
        conditions(found),
        found.trial_s
    );
    Table::new(caption, columns, found.families.iter().map(row).collect())
}

fn trials(found: &FindMax) -> Table {
    let row = |trial: &Trial| {
        let held = if trial.held { "held" } else { "did not hold" };
        let label = SheetCell::Number(write_rate(trial.rate), trial.rate);
        Row::new(label, vec![held.into(), find::why_not_held(&found.conditions, trial).into()])
    };
    let groups = found.families.iter().map(|(family, of)| Group {
        name: Some(family.to_string()),
        rows: of.trials.iter().map(row).collect(),
    });
    let columns = ["Requests/s", "", "Because"].map(Column::words).into();
    let caption = "Trials, in order".to_owned();
    Table { caption, columns, groups: groups.collect(), scale: None }
}

/// Names the trials that the other figures of the report come from.
fn figures_of(found: &FindMax) -> Option<String> {
    let of = |(family, found): (Family, &FoundRate)| {
        found.shown().map(|trial| format!("{family} at {} requests/s", write_rate(trial.rate)))
    };
    let trials: Vec<String> = found.families.iter().filter_map(of).collect();
    (!trials.is_empty())
        .then(|| format!("Other figures are of one trial each, {}.", trials.join(", ")))
}

fn conditions(found: &FindMax) -> String {
    found.conditions.iter().map(Condition::to_string).collect::<Vec<_>>().join(" and ")
}

fn write_rate(per_s: f64) -> String {
    write::per_s(per_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family_result::{Families, RequestCounts};
    use crate::find::Limit;
    use crate::search::Bracket;

    fn made(rate: f64, reason: Option<Limit>, p99_us: f64) -> Trial {
        let requests =
            RequestCounts { sent: 1_000, completed: 900, unsent: 7, ..RequestCounts::default() };
        let values = vec![Some(p99_us)];
        let held = reason.is_none();
        Trial { rate, in_flight: Some(50), held, reason, values, elapsed_s: 2.0, requests }
    }

    fn found(holds: Option<f64>, fails: Option<f64>, reason: Limit) -> FoundRate {
        let held = holds.map(|rate| made(rate, None, 4_000.0));
        let failed = fails.map(|rate| vec![made(rate, Some(reason), 12_300.0); 3]);
        let trials = held.into_iter().chain(failed.into_iter().flatten()).collect();
        FoundRate::new(Bracket { holds, fails }, trials, Some(0))
    }

    fn of(v6: FoundRate, v4: FoundRate) -> String {
        let conditions = vec!["response.p99 < 10ms".parse().unwrap()];
        let families = Families { ipv6: Some(v6), ipv4: Some(v4) };
        let mut text = String::new();
        let part = search_part(&FindMax::new(conditions, 2.0, families)).unwrap();
        sixmark_sheet::terminal::write_part(&mut text, &part);
        text
    }

    #[test]
    fn both_brackets_and_their_ratio_are_shown() {
        let text = of(
            found(Some(41_200.0), Some(43_100.0), Limit::Condition),
            found(Some(40_000.0), Some(42_000.0), Limit::Failures),
        );
        let expected = "
THE HIGHEST RATE
Highest rate with response.p99 < 10ms, each family alone, trials of 2 s
Requests/s    Held  Did not hold  Because
IPv6        41,200        43,100  response.p99 12.3 ms
IPv4        40,000        42,000  100 of 1,000 failed
IPv6's highest rate is 0.98 to 1.08 times IPv4's.
Other figures are of one trial each, IPv6 at 41,200 requests/s, IPv4 at 40,000
requests/s.
";
        assert_eq!(text, expected);
    }

    #[test]
    fn trials_are_drawn_over_the_rate_with_the_bracket_and_the_condition() {
        let conditions = vec!["response.p99 < 10ms".parse().unwrap()];
        let v6 = found(Some(41_200.0), Some(43_100.0), Limit::Condition);
        let families = Families { ipv6: Some(v6), ipv4: None };
        let part = search_part(&FindMax::new(conditions, 2.0, families)).unwrap();
        let Some(Block::Charts(charts)) = part.blocks.first() else { panic!("{part:?}") };
        let chart = &charts[0];
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
    fn where_connections_were_the_limit_there_is_no_ratio_and_that_is_said() {
        let text = of(
            found(Some(41_200.0), Some(43_100.0), Limit::Condition),
            found(Some(40_000.0), Some(42_000.0), Limit::Connections),
        );
        assert!(text.contains("42,000  all 50 in flight: raise -c\n"), "{text}");
        assert!(text.contains(NO_RATIO) && !text.contains("0.98"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }

    #[test]
    fn what_is_not_known_is_said() {
        let text =
            of(found(None, Some(5.0), Limit::Failures), found(Some(100.0), None, Limit::Condition));
        assert!(text.contains("5.0  100 of 1,000 failed\n"), "{text}");
        assert!(text.contains("no higher rate was tested to the end\n"), "{text}");
        assert!(!text.contains("IPv6's highest"), "{text}");
        let text =
            of(found(None, None, Limit::Condition), found(Some(5.0), Some(6.0), Limit::Generator));
        assert!(text.contains("no rate was tested to the end\n"), "{text}");
        assert!(text.contains("6.0  sixmark itself was late or busy\n"), "{text}");
    }
}
