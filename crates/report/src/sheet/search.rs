//! The result of a search for the highest rate.

use sixmark_result::condition::Condition;
use sixmark_result::find::{FindMax, FoundRate, SearchEnd, Trial};
use sixmark_units::family::Family;

use sixmark_plan::pace::Pace;
use sixmark_plan::plan::Plan;
use sixmark_tally::metric::{Metric, Quantity};

use crate::sheet::search_text as find;

use super::search_chart::{NONE, rate_chart};
use super::search_doubt::describe_other_trials;
use sixmark_sheet::chart::Chart;
use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Tile, write};

/// The note if both families have a rate that held and one that did not, but there is no ratio.
const NO_RATIO: &str = "IPv6 vs IPv4: no ratio, since the server did not limit both rates.";

/// Describes the result in a sentence.
pub(super) fn describe_search(found: &FindMax) -> String {
    let of = |(family, of): (Family, &FoundRate)| describe_family(family, of);
    let families: Vec<String> = found.families.iter().map(of).collect();
    let confirmed = found.families.iter().any(|(_, of)| of.is_confirmed());
    let confidence = found.confidence.filter(|_| confirmed).map(write_confidence);
    let confidence = confidence.map_or(String::new(), |said| format!(" ({said})"));
    format!("With {}: {}{confidence}.", conditions(found), families.join("; "))
}

fn write_confidence(share: f64) -> String {
    format!("{:.0} % confidence", share * 100.0)
}

/// Describes what was found for one family, and trials that showed something else.
fn describe_family(family: Family, of: &FoundRate) -> String {
    let found = describe_bracket(family, of);
    match describe_other_trials(of) {
        Some(others) => format!("{found}, although {others}"),
        None => found,
    }
}

fn describe_bracket(family: Family, of: &FoundRate) -> String {
    let [holds, fails] = [of.holds, of.fails].map(|rate| rate.map(write::per_s));
    match (of.ended, holds, fails) {
        (Some(SearchEnd::Confirmed), Some(holds), Some(fails)) if of.steady != Some(false) => {
            format!("{family}'s highest rate is {holds} to {fails} requests/s")
        }
        (Some(SearchEnd::Confirmed), Some(holds), Some(fails)) => format!(
            "{family}'s highest rate changed during the search, or varies: between {holds} and \
             {fails} requests/s"
        ),
        (Some(SearchEnd::Generator), holds, _) => {
            let least = holds.map_or("no rate was shown to hold".to_owned(), |holds| {
                format!("at least {holds} requests/s")
            });
            format!("no limit of the server found over {family}: sixmark was the limit ({least})")
        }
        (Some(SearchEnd::NoAnswer), ..) => format!("no usable answer over {family}"),
        (_, Some(holds), Some(fails)) => {
            format!("{family} held {holds} requests/s and did not hold {fails}{}", unfinished(of))
        }
        (_, Some(holds), None) => {
            format!("{family} held {holds} requests/s, and {}", nothing_above(of))
        }
        (Some(SearchEnd::Open), None, Some(fails)) => {
            format!("{family} did not hold {fails} requests/s, and no lower rate was shown to hold")
        }
        (_, None, Some(fails)) => format!("{family} did not hold even {fails} requests/s"),
        (Some(SearchEnd::Open), None, None) => {
            format!("no rate over {family} was shown to hold or not to hold")
        }
        (_, None, None) => format!("no result for {family}"),
    }
}

/// Says that a bracket was not confirmed.
fn unfinished(of: &FoundRate) -> &'static str {
    match of.ended {
        Some(SearchEnd::Budget) => ", not confirmed before the time was over (--at-most)",
        Some(SearchEnd::Pauses) => {
            ", not confirmed: in a trial most of what was slow or failed came at once, which trials of \
             this length may miss (use a longer -d)"
        }
        Some(SearchEnd::Interrupted) => ", not confirmed before the interruption",
        Some(SearchEnd::Stopped) => ", not confirmed, since a trial could not be run",
        _ => "",
    }
}

/// Says why no rate above the one that held is known not to.
fn nothing_above(of: &FoundRate) -> &'static str {
    match of.ended {
        Some(SearchEnd::Open) => "no higher rate was shown not to hold",
        Some(SearchEnd::Budget) => "the time was over (--at-most)",
        Some(SearchEnd::Stopped) => "a trial could not be run",
        _ => "no higher rate was tested to the end",
    }
}

/// Returns short phrases about a search: how long it took, its trials, and their load.
pub(super) fn about_search(found: &FindMax, plan: &Plan) -> Vec<String> {
    let took = found.took_s.map_or(String::new(), |s| format!("{s:.1} s"));
    let trials =
        format!("{} trials of {}", write::write_count(found.trials()), find::write_lengths(found));
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
    // A note of the headline says why there was no answer.
    let told = [None, Some(SearchEnd::NoAnswer)];
    let doubtful = |(_, of): &(Family, &FoundRate)| {
        !told.contains(&of.ended) && (!of.is_confirmed() || of.steady == Some(false))
    };
    let doubts = found.families.iter().filter(doubtful);
    blocks.extend(doubts.map(|(family, of)| {
        Block::Text(format!("{}.", write::capitalised(&describe_family(family, of))))
    }));
    if let Some([least, most]) = found.ratio {
        let confidence = found.confidence.map(write_confidence);
        let confidence = confidence.map_or(String::new(), |said| format!(" ({said})"));
        let line =
            format!("IPv6’s highest rate is {least:.2} to {most:.2} times IPv4’s{confidence}.");
        blocks.push(Block::Text(line));
    } else if found.has_ratio_of_limits()
        && found.families.iter().all(|(_, of)| of.ended.is_none() || of.is_confirmed())
    {
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
            (None, _) if of.ended == Some(SearchEnd::Generator) => {
                "sixmark was the limit".to_owned()
            }
            (None, _) if of.ended == Some(SearchEnd::NoAnswer) => "no usable answer".to_owned(),
            (None, Some(_)) => nothing_above(of).to_owned(),
            (None, None) if of.ended == Some(SearchEnd::Open) => {
                "undecided at each rate".to_owned()
            }
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
        "Highest rate with {}, each family alone, trials of {}",
        conditions(found),
        find::write_lengths(found)
    );
    Table::new(caption, columns, found.families.iter().map(row).collect())
}

fn trials(found: &FindMax) -> Table {
    let row = |trial: &Trial| {
        let label = SheetCell::Number(write::per_s(trial.rate), trial.rate);
        let seconds = trial.length_s.unwrap_or(found.trial_s);
        let seconds = SheetCell::Number(format!("{seconds}"), seconds);
        Row::new(
            label,
            vec![
                seconds,
                trial.result().into(),
                find::why_not_held(&found.conditions, trial).into(),
            ],
        )
    };
    let groups = found.families.iter().map(|(family, of)| Group {
        name: Some(family.to_string()),
        rows: of.trials.iter().map(row).collect(),
    });
    let words = Column::words;
    let columns = vec![words("Requests/s"), Column::number("Seconds"), words(""), words("Because")];
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
    use sixmark_result::find::Limit;
    use sixmark_result::rate_decision::RateDecision;
    use sixmark_tally::family_result::{FailureCount, Families};
    use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
    use sixmark_tally::tally::RequestCounts;

    fn made(rate: f64, reason: Option<Limit>, p99_us: f64) -> Trial {
        let requests =
            RequestCounts { sent: 1_000, completed: 900, unsent: 7, ..RequestCounts::default() };
        let values = vec![Some(p99_us)];
        let held = reason.is_none();
        let (in_flight, length_s, elapsed_s) = (Some(50), Some(2.0), 2.0);
        let decision = None;
        Trial { rate, in_flight, length_s, held, reason, decision, values, elapsed_s, requests }
    }

    pub(in super::super) fn found(
        holds: Option<f64>,
        fails: Option<f64>,
        reason: Limit,
    ) -> FoundRate {
        let held = holds.map(|rate| made(rate, None, 4_000.0));
        let failed = fails.map(|rate| vec![made(rate, Some(reason), 12_300.0); 3]);
        let trials = held.into_iter().chain(failed.into_iter().flatten()).collect();
        let ended = match (holds, fails, reason) {
            (.., Limit::Generator) => SearchEnd::Generator,
            (Some(_), Some(_), _) => SearchEnd::Confirmed,
            _ => SearchEnd::Open,
        };
        let limited_by = fails.map(|_| reason);
        let (ended, steady, shown) = (Some(ended), Some(true), Some(0));
        FoundRate { holds, fails, limited_by, ended, steady, shown, trials }
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
IPv6's highest rate is 0.98 to 1.08 times IPv4's (95 % confidence).
Other figures are of one trial each, IPv6 at 41,200 requests/s, IPv4 at 40,000
requests/s.
";
        assert_eq!(text, expected);
    }

    #[test]
    fn describes_a_search_by_its_time_trials_and_requests() {
        let both = || found(Some(41_200.0), Some(43_100.0), Limit::Condition);
        let families = Families { ipv6: Some(both()), ipv4: Some(both()) };
        let found = FindMax { took_s: Some(21.34), ..FindMax::new(Vec::new(), 2.0, families) };
        let said = "8 trials of 2 s in 21.3 s, 8,000 requests";
        assert_eq!(find::write_amount_of_search(&found), said);
        let about = about_search(&found, &sixmark_result::fixture::run().plan);
        assert_eq!(about[..3], ["21.3 s", "8 trials of 2 s", "8,000 requests"]);
        let tiles = search_tiles(&found, Vec::new());
        assert_eq!(tiles[0].sides[1], (1, "IPv4".to_owned(), "41,200".to_owned()));
    }

    #[test]
    fn shows_no_ratio_if_the_connections_were_the_limit() {
        let text = of(
            found(Some(41_200.0), Some(43_100.0), Limit::Condition),
            found(Some(40_000.0), Some(42_000.0), Limit::Connections),
        );
        assert!(text.contains("42,000  all 50 in flight: raise -c\n"), "{text}");
        assert!(text.contains(NO_RATIO) && !text.contains("0.98"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }

    #[test]
    fn explains_in_a_note_why_a_family_gave_no_answer() {
        let mut run = sixmark_result::fixture::run();
        let mut v6 = sixmark_result::fixture::silent();
        let failure = Failure::new(Outcome::Refused, FailurePhase::Connect);
        v6.failures = vec![FailureCount { failure, count: 50 }];
        run.families.ipv6 = Some(v6);
        let none = FoundRate {
            ended: Some(SearchEnd::NoAnswer),
            ..found(None, Some(125.0), Limit::Failures)
        };
        let families = Families {
            ipv6: Some(none),
            ipv4: Some(found(Some(40.0), Some(42.0), Limit::Condition)),
        };
        run.find_max = Some(FindMax::new(Vec::new(), 2.0, families));
        let headline = super::super::run::run_sheet("", &run).headline;
        assert!(headline.sentence.contains("no usable answer over IPv6"), "{headline:?}");
        let why = "No answer over IPv6: connection refused; nothing listens there: start the \
                   server, or check address and port.";
        assert_eq!(headline.notes, [why]);
    }

    #[test]
    fn states_which_limits_are_unknown_or_unconfirmed() {
        let text =
            of(found(None, Some(5.0), Limit::Failures), found(Some(100.0), None, Limit::Condition));
        assert!(text.contains("5.0  100 of 1,000 failed\n"), "{text}");
        assert!(text.contains("no higher rate was shown not to hold\n"), "{text}");
        assert!(text.contains("5.0 requests/s, and no lower rate was shown to hold."), "{text}");
        assert!(!text.contains("IPv6's highest"), "{text}");
        let text =
            of(found(None, None, Limit::Condition), found(Some(183.0), None, Limit::Generator));
        assert!(text.contains("undecided at each rate\n"), "{text}");
        assert!(text.contains("sixmark was the limit (at least 183\nrequests/s)."), "{text}");
        assert!(text.contains("No limit of the server found over IPv4: "), "{text}");
        let busy = describe_family(Family::Ipv6, &found(None, None, Limit::Generator));
        assert!(busy.ends_with("sixmark was the limit (no rate was shown to hold)"), "{busy}");
        let over = FoundRate {
            ended: Some(SearchEnd::Budget),
            ..found(Some(5.0), Some(6.0), Limit::Condition)
        };
        let over = describe_family(Family::Ipv4, &over);
        assert!(over.ends_with("not confirmed before the time was over (--at-most)"), "{over}");
        let pauses = found(Some(5.0), Some(6.0), Limit::Condition);
        let pauses = FoundRate { ended: Some(SearchEnd::Pauses), ..pauses };
        assert!(!pauses.is_confirmed(), "{pauses:?}");
        let pauses = describe_family(Family::Ipv4, &pauses);
        assert!(pauses.ends_with("may miss (use a longer -d)"), "{pauses}");
        let varies = found(Some(5.0), Some(9.0), Limit::Condition);
        let varies = describe_family(Family::Ipv4, &FoundRate { steady: Some(false), ..varies });
        assert!(varies.ends_with("or varies: between 5.0 and 9.0 requests/s"), "{varies}");
    }

    /// A short trial at 300/s held, and longer ones left that undecided.
    #[test]
    fn trial_list_and_headline_agree_about_a_rate() {
        let mut of = found(Some(300.0), Some(400.0), Limit::Condition);
        of.trials.push(made(300.0, Some(Limit::Undecided), 9_000.0));
        (of.holds, of.ended) = (None, Some(SearchEnd::Open));
        let at = |trial: &Trial| match trial.rate {
            300.0 => RateDecision::Undecided,
            _ => RateDecision::DidNotHold,
        };
        of.trials.iter_mut().for_each(|trial| trial.decision = Some(at(trial)));
        let families = Families { ipv6: Some(of), ipv4: None };
        let found = FindMax::new(vec!["response.p99 < 10ms".parse().unwrap()], 2.0, families);
        let said = "With response.p99 < 10ms: IPv6 did not hold 400 requests/s, and no lower rate \
                    was shown to hold, although 300 requests/s held at first: later trials left \
                    that undecided.";
        assert_eq!(describe_search(&found), said);
        let table = trials(&found);
        let results: Vec<&str> =
            table.groups[0].rows.iter().map(|row| row.cells[1].text()).collect();
        let first = "held alone, undecided with other trials";
        let failed = "did not hold";
        assert_eq!(results, [first, failed, failed, failed, "undecided"]);
    }

    #[test]
    fn warns_that_a_search_ended_early_and_why() {
        let stopped = |holds, fails| {
            let ended = Some(SearchEnd::Stopped);
            let of = FoundRate { ended, ..found(holds, fails, Limit::Condition) };
            describe_family(Family::Ipv6, &of)
        };
        let both = stopped(Some(5.0), Some(6.0));
        assert!(both.ends_with("not confirmed, since a trial could not be run"), "{both}");
        let lower = stopped(Some(5.0), None);
        assert_eq!(lower, "IPv6 held 5.0 requests/s, and a trial could not be run");
        let mut run = sixmark_result::fixture::run();
        let stopped_by = Some("no memory".to_owned());
        let found = FindMax::new(Vec::new(), 2.0, Families::default());
        run.find_max = Some(FindMax { stopped_by, ..found });
        let warnings = sixmark_result::warnings::of_result(&run);
        let found = warnings.iter().find(|of| of.code == "search_stopped").unwrap();
        assert_eq!(found.message, "the search ended early: no memory");
    }

    #[test]
    fn a_bracket_of_an_older_version_has_no_confidence() {
        let old = FoundRate { ended: None, ..found(Some(5.0), Some(6.0), Limit::Condition) };
        let families = Families { ipv6: Some(old), ipv4: None };
        let conditions = vec!["response.p99 < 10ms".parse().unwrap()];
        let found = FindMax { confidence: None, ..FindMax::new(conditions, 2.0, families) };
        let said = "With response.p99 < 10ms: IPv6 held 5.0 requests/s and did not hold 6.0.";
        assert_eq!(describe_search(&found), said);
    }
}
