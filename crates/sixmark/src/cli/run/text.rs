//! What to tell a person whose run gave nothing.

use sixmark_core::family::Family;
use sixmark_core::outcome::Outcome;
use sixmark_core::result::FamilyResult;

/// One line on a family without a single response: what happened most, and what to do.
pub(super) fn no_answer(family: Family, figures: &FamilyResult) -> String {
    let most = figures.failures.iter().max_by_key(|failed| failed.count);
    let Some(most) = most else {
        return format!("no request over {family} was sent: the run ended before its turn");
    };
    let to = figures.addresses.first().map_or(String::new(), |address| format!(" ({address})"));
    let (outcome, phase) = (most.failure.outcome, most.failure.phase);
    format!("no answer over {family}{to}: {outcome} in {phase}; {}", advice(outcome))
}

fn advice(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Refused => "nothing listens there: start the server, or check address and port",
        Outcome::Timeout => "check that a firewall lets it through, or give it longer (--timeout)",
        Outcome::Unreachable => "check the route",
        Outcome::NoPort => "give more local addresses with --source",
        Outcome::Local => "this host refused: see the errno in the table",
        Outcome::Protocol => "what listens there does not speak HTTP/1.1",
        Outcome::Reset | Outcome::Truncated => "the server ends connections without answering",
        Outcome::Abandoned | Outcome::Normal => "the run ended first: give it longer (-d)",
    }
}
