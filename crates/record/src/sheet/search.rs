//! The result of a search for the highest rate.

use crate::condition::Condition;
use crate::find::{FindMax, FoundRate, Trial};
use sixmark_units::family::Family;

use crate::metric::{Metric, Quantity};
use crate::pace::Pace;
use crate::plan::Plan;

use crate::sheet::search_text as find;

use super::search_chart::{NONE, rate_chart};
use sixmark_sheet::chart::Chart;
use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Tile, write};

/// The note if both families have a rate that held and one that did not, but there is no ratio.
const NO_RATIO: &str = "IPv6 vs IPv4: no ratio, since the server did not limit both rates.";

/// Describes the result in a sentence.
pub(super) fn describe_search(found: &FindMax) -> String {
    let of = |(family, found): (Family, &FoundRate)| match (found.holds, found.fails) {
        (Some(holds), Some(fails)) => {
            format!(
                "{family} held {} requests/s and did not hold {}",
                write::per_s(holds),
                write::per_s(fails)
            )
        }
        (Some(holds), None) => {
            format!(
                "{family} held {} requests/s, and no higher rate was tested to the end",
                write::per_s(holds)
            )
        }
        (None, Some(fails)) => {
            format!("{family} did not hold even {} requests/s", write::per_s(fails))
        }
        (None, None) => format!("no result for {family}"),
    };
    let families: Vec<String> = found.families.iter().map(of).collect();
    format!("With {}: {}.", conditions(found), families.join("; "))
}

/// Returns short phrases about a search: how long it took, its trials, and their load.
pub(super) fn about_search(found: &FindMax, plan: &Plan) -> Vec<String> {
    let took = found.took_s.map_or(String::new(), |s| format!("{s:.1} s"));
    let trials = format!("{} trials of {} s", write::write_count(found.trials()), found.trial_s);
    let in_flight = write::write_count(plan.in_flight());
    let pace = match &plan.load.pace {
        Pace::Closed => String::new(),
        Pace::Open(open) => format!(
            "open loop, {}, the first at {}, at most {in_flight} in flight",
            open.arrivals,
            open.first_rate()
        ),
    };
    let requests = format!("{} requests", write::write_count(found.sent()));
    vec![took, trials, requests, pace, "each family alone".to_owned()]
}

/// Returns the tiles of a search: the rate that was found in the place of the rate of the trial that
/// the other figures are of.
pub(super) fn search_tiles(found: &FindMax, all: Vec<Tile>) -> Vec<Tile> {
    let side = |(family, of): (Family, &FoundRate)| {
        let held = of.holds.map_or(NONE.to_owned(), write::per_s);
        (usize::from(family == Family::Ipv4), family.to_string(), held)
    };
    let label = "Highest rate held, requests/s";
    let sides = found.families.iter().map(side).collect();
    let first = Tile { label, metric: None, sides, change: String::new() };
    let rate = Metric::Quantity(Quantity::RequestsPerS).to_string();
    let others = all.into_iter().filter(|tile| tile.metric.as_ref() != Some(&rate));
    std::iter::once(first).chain(others).collect()
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

fn brackets(found: &FindMax) -> Table {
    let number = |per_s: Option<f64>| {
        per_s.map_or_else(SheetCell::none, |per_s| SheetCell::Number(write::per_s(per_s), per_s))
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
        let label = SheetCell::Number(write::per_s(trial.rate), trial.rate);
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
        found.shown().map(|trial| format!("{family} at {} requests/s", write::per_s(trial.rate)))
    };
    let trials: Vec<String> = found.families.iter().filter_map(of).collect();
    (!trials.is_empty())
        .then(|| format!("Other figures are of one trial each, {}.", trials.join(", ")))
}

fn conditions(found: &FindMax) -> String {
    found.conditions.iter().map(Condition::to_string).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
pub(super) mod tests {
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

    pub(in super::super) fn found(
        holds: Option<f64>,
        fails: Option<f64>,
        reason: Limit,
    ) -> FoundRate {
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
    fn a_search_is_described_by_all_of_its_trials() {
        let both = || found(Some(41_200.0), Some(43_100.0), Limit::Condition);
        let families = Families { ipv6: Some(both()), ipv4: Some(both()) };
        let found = FindMax { took_s: Some(21.34), ..FindMax::new(Vec::new(), 2.0, families) };
        let said = "8 trials of 2 s in 21.3 s, 8,000 requests";
        assert_eq!(find::write_amount_of_search(&found), said);
        let about = about_search(&found, &crate::fixture::run().plan);
        assert_eq!(about[..3], ["21.3 s", "8 trials of 2 s", "8,000 requests"]);
        let tiles = search_tiles(&found, Vec::new());
        assert_eq!(tiles[0].sides[1], (1, "IPv4".to_owned(), "41,200".to_owned()));
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
