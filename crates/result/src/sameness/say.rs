//! Describes differences in words.

use std::cmp::Reverse;

use super::answers::OTHERS;
use super::{TargetAnswers, Trait, Unlike};
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_units::family::spoken;
use sixmark_units::quantity::write_count;

/// The share from which on a description says "every request".
const EVERY: f64 = 0.9995;

/// Describes the sides that returned no complete response, one or both. Returns `None` if there is
/// none.
pub(super) fn silent(
    names: (&str, &str),
    (a, b): (&TargetAnswers, &TargetAnswers),
) -> Option<String> {
    let sides = [(names.0, a), (names.1, b)].into_iter();
    let silent = sides.filter(|(_, given)| given.completed() == 0 && given.without_response() > 0);
    let lines = silent.map(|(name, given)| format!("{} {}", spoken(name), gives_nothing(given)));
    lines.reduce(|lines, line| format!("{lines}; {line}"))
}

/// Describes both sides if neither returned an accepted response, because the speed of errors is
/// not the speed of the service. Returns `None` otherwise.
pub(super) fn errors(
    names: (&str, &str),
    (a, b): (&TargetAnswers, &TargetAnswers),
) -> Option<String> {
    Some(format!("{}; {}", a.only_errors(names.0)?, b.only_errors(names.1)?))
}

impl TargetAnswers {
    /// Returns `IPv6 returns only errors: 0 of 96 accepted` for a side named `name`, or `None` if a
    /// response was accepted or nothing was requested.
    pub fn only_errors(&self, name: &str) -> Option<String> {
        let none = self.ended() > 0 && self.completed() == self.unaccepted;
        let ended = write_count(self.ended());
        none.then(|| format!("{} returns only errors: 0 of {ended} accepted", spoken(name)))
    }
}

/// Returns text such as `does not answer: 0 of 96, connection refused`.
fn gives_nothing(given: &TargetAnswers) -> String {
    let sent = write_count(given.without_response());
    let Some(most) = most_failed(given) else { return format!("does not answer: 0 of {sent}") };
    let how = match (most.outcome, most.phase) {
        (Outcome::Content, _) => "returns no response that passes its checks",
        (_, FailurePhase::Transfer) => "returns no complete response",
        _ => "does not answer",
    };
    format!("{how}: 0 of {sent}, {}", most.spoken(None))
}

fn most_failed(given: &TargetAnswers) -> Option<Failure> {
    let sorted = given.failures.sorted().into_iter();
    let sorted = sorted.filter(|(of, _)| of.outcome != Outcome::Abandoned);
    sorted.min_by_key(|&(_, times)| Reverse(times)).map(|(failure, _)| failure)
}

/// Describes `first`, the most important of the differences `all`, from the responses of both sides
/// for its target.
pub(super) fn difference(
    names: (&str, &str),
    first: &Unlike,
    all: &[Unlike],
    (a, b): (&TargetAnswers, &TargetAnswers),
) -> String {
    let matter = all.iter().filter(|of| of.matters && of.target.is_some());
    let mut targets: Vec<_> = matter.filter_map(|of| of.target.as_deref()).collect();
    targets.sort_unstable();
    targets.dedup();
    let others = targets.iter().filter(|path| Some(**path) != first.target.as_deref()).count();
    let of = match (&first.target, others) {
        (Some(path), 1) => format!(" (of {path}, and 1 more target)"),
        (Some(path), 2..) => format!(" (of {path}, and {others} more targets)"),
        (Some(path), 0) if first.what == Trait::Size && path != OTHERS => format!(" (of {path})"),
        _ => String::new(),
    };
    let sides = [
        NamedSide { name: spoken(names.0), given: a },
        NamedSide { name: spoken(names.1), given: b },
    ];
    let said = match first.what {
        Trait::Size => sizes(&sides, first),
        Trait::Silence => describe_silence(&sides, first),
        _ => describe_shares(sides, first),
    };
    said + &of
}

struct NamedSide<'a> {
    name: String,
    given: &'a TargetAnswers,
}

/// Returns text such as `IPv6 sends 20 bytes per response; IPv4 20,480`.
fn sizes([a, b]: &[NamedSide<'_>; 2], unlike: &Unlike) -> String {
    let bytes = |mean: f64| write_count(mean.round() as u64);
    let [of_a, of_b] = [bytes(unlike.a), bytes(unlike.b)];
    format!("{} sends {of_a} bytes per response; {} {of_b}", a.name, b.name)
}

/// Returns text such as `IPv6 gave no response in 20.0 % of the time of its connections (no answer
/// in time); IPv4 in none`. The side with less response comes first.
fn describe_silence([a, b]: &[NamedSide<'_>; 2], unlike: &Unlike) -> String {
    let (sick, share, fine, other) =
        if unlike.a > unlike.b { (a, unlike.a, b, unlike.b) } else { (b, unlike.b, a, unlike.a) };
    let how =
        most_failed(sick.given).map_or(String::new(), |most| format!(" ({})", most.spoken(None)));
    let rest = if other > 0.0 { describe_percent(other) } else { "none".to_owned() };
    let share = describe_percent(share);
    format!(
        "{} gave no response in {share} of the time of its connections{how}; {} in {rest}",
        sick.name, fine.name
    )
}

/// Returns text such as `IPv6 answers 503 to every request; IPv4 200`. The side with more failures
/// comes first.
fn describe_shares([a, b]: [NamedSide<'_>; 2], unlike: &Unlike) -> String {
    // A redirect counts as worse than a 2xx response and better than a failure.
    let bad = |side: &NamedSide<'_>| {
        let given = side.given;
        let fine = given.status.iter().filter(|(status, _)| (200..300).contains(status));
        let others = given.ended() - fine.map(|(_, count)| count).sum::<u64>();
        let failed = given.without_response() + given.unaccepted;
        (2 * failed + others) as f64 / given.ended().max(1) as f64
    };
    let has_more = match bad(&a).total_cmp(&bad(&b)) {
        std::cmp::Ordering::Equal => unlike.a >= unlike.b,
        order => order.is_gt(),
    };
    let (sick, fine) = if has_more { (a, b) } else { (b, a) };
    // The text names what this side has more of: its 503 responses say more than its missing 200
    // responses.
    let what = most_more(sick.given, fine.given).unwrap_or(unlike.what);
    let (of_sick, of_fine) = (share_of_trait(sick.given, what), share_of_trait(fine.given, what));
    let first = format!("{} {}", sick.name, does(what, of_sick, sick.given));
    let second = match (always(fine.given), what) {
        (Some(status), Trait::Status(_)) if of_sick >= EVERY => status.to_string(),
        (_, Trait::Status(_)) if of_fine > 0.0 => format!("to {}", describe_percent(of_fine)),
        (_, Trait::Status(_)) => "to none".to_owned(),
        _ if of_fine > 0.0 => describe_percent(of_fine),
        _ => "none".to_owned(),
    };
    format!("{first}; {} {second}", fine.name)
}

/// Returns text such as `answers 503 to 50.0 % of requests`, or how requests fail.
fn does(what: Trait, share: f64, given: &TargetAnswers) -> String {
    let of = if share >= EVERY {
        "every request".into()
    } else {
        describe_percent(share) + " of requests"
    };
    match what {
        Trait::Status(status) => format!("answers {status} to {of}"),
        Trait::Outcome(outcome) => {
            let failures = given.failures.sorted().into_iter();
            let of_it = failures.filter(|(failure, _)| failure.outcome == outcome);
            let most = of_it.min_by_key(|&(_, times)| Reverse(times));
            let how = most.map_or(String::new(), |(most, _)| format!(" ({})", most.spoken(None)));
            format!("fails {of}{how}")
        }
        Trait::Silence => "gave no response".to_owned(),
        Trait::Size => "sends content of another size".to_owned(),
    }
}

/// Returns the status or failure whose share exceeds that of the other side by most.
fn most_more(sick: &TargetAnswers, fine: &TargetAnswers) -> Option<Trait> {
    let statuses = sick.status.iter().map(|(status, _)| Trait::Status(status));
    let failures = sick.failures.iter().map(|(of, _)| of.outcome);
    let failures = failures.filter(|of| *of != Outcome::Abandoned).map(Trait::Outcome);
    let more = |what: &Trait| share_of_trait(sick, *what) - share_of_trait(fine, *what);
    statuses.chain(failures).max_by(|one, two| more(one).total_cmp(&more(two)))
}

fn share_of_trait(given: &TargetAnswers, what: Trait) -> f64 {
    let part: u64 = match what {
        Trait::Status(of) => given.status.iter().filter(|(s, _)| *s == of).map(|(_, n)| n).sum(),
        Trait::Outcome(of) => {
            given.failures.iter().filter(|(f, _)| f.outcome == of).map(|(_, n)| n).sum()
        }
        Trait::Silence | Trait::Size => 0,
    };
    part as f64 / given.ended().max(1) as f64
}

/// Returns the status that every exchange has, if there is one.
fn always(given: &TargetAnswers) -> Option<u16> {
    given
        .status
        .iter()
        .map(|(of, _)| of)
        .find(|of| share_of_trait(given, Trait::Status(*of)) >= EVERY)
}

/// Formats a share in percent, with two decimals below 1 % and one above.
fn describe_percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        ..1.0 => format!("{percent:.2} %"),
        _ => format!("{percent:.1} %"),
    }
}
