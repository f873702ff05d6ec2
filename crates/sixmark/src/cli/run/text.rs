//! Messages about a run without any usable response.

mod advice;

use sixmark_document::provenance::{Ended, Warning};
use sixmark_record::family_result::{FailureCount, FamilyResult, RequestCounts};
use sixmark_record::outcome::Outcome;
use sixmark_record::plan::Plan;
use sixmark_record::result::RunResult;
use sixmark_record::tls::{Cause, Reason};
use sixmark_units::family::Family;
use sixmark_units::quantity::write_count;

use advice::Case;
use sixmark_record::warnings::most_failed;
use sixmark_units::quantity::counted;

/// Returns the warnings to print after the first `shown`, without those that repeat what
/// [`nothing_normal`] says.
pub(super) fn new_doubts(result: &RunResult, shown: usize) -> impl Iterator<Item = &Warning> {
    let answered = result.total.accepted() > 0;
    let new = result.warnings.iter().skip(shown);
    new.filter(move |warning| answered && warning.code != "family_fell_away")
}

/// Returns one line about the families without any response of an accepted status: what happened
/// most often over each, and what to do. `None` if there is no such family.
pub(super) fn nothing_normal(result: &RunResult) -> Option<String> {
    if let Some(line) = interrupted_before(result) {
        return Some(line);
    }
    let without = result.families.iter().filter(|(_, figures)| figures.accepted() == 0);
    let (answered, silent): (Vec<_>, Vec<_>) = without
        .partition(|(_, figures)| !figures.content.is_empty() && figures.requests.completed == 0);
    let (errors, silent): (Vec<_>, Vec<_>) =
        silent.into_iter().partition(|(_, figures)| figures.requests.completed > 0);
    let errors = errors.iter().map(|(family, of)| only_errors(&family.to_string(), of));
    let errors = errors.collect::<Vec<_>>();
    let errors = (!errors.is_empty()).then(|| errors.join("; "));
    let lines = [no_answer(result, &silent), all_failed(result, &answered), errors];
    let lines: Vec<_> = lines.into_iter().flatten().collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// Returns a message if the run was interrupted before all connections of `--preopen` were open.
fn interrupted_before(result: &RunResult) -> Option<String> {
    let plan = Some(&result.plan).filter(|plan| plan.connection.preopen)?;
    let nothing = result.ended == Ended::Interrupted && result.total.requests.sent == 0;
    // If all of them were open, the interruption came during the warm-up.
    let missing = result.total.connections.opened < u64::from(plan.load.connections.get());
    (nothing && missing).then(|| {
        format!(
            "interrupted before the load began, with {} of {} connections open; if no more could \
             be opened, the server has reached its limit on open files or connections: lower -c, \
             or raise that limit",
            write_count(result.total.connections.opened),
            write_count(plan.load.connections.get().into()),
        )
    })
}

fn no_answer(result: &RunResult, silent: &[(Family, &FamilyResult)]) -> Option<String> {
    let plan = &result.plan;
    let (mut causes, mut advices) = (Vec::new(), Vec::new());
    for &(family, figures) in silent {
        let (cause, advice) = explain(plan, &family.to_string(), figures, result.ended);
        causes.push(cause);
        if !advices.contains(&advice) {
            advices.push(advice);
        }
    }
    (!causes.is_empty())
        .then(|| format!("no answer {}; {}", causes.join(" nor "), advices.join("; ")))
}

/// Returns the message for families that gave responses of which none passed the checks.
fn all_failed(result: &RunResult, answered: &[(Family, &FamilyResult)]) -> Option<String> {
    let (figures, over) = match answered {
        [] => return None,
        [(family, figures)] => (*figures, format!(" over {family}")),
        _ => (&result.total, String::new()),
    };
    let failed: u64 = figures.content.iter().map(|check| check.count).sum();
    let all = if failed == 1 { "the only" } else { "all" };
    let responses = counted(failed, "response", "responses");
    let most = most_failed(&figures.content)?;
    Some(format!("{all} {responses}{over} failed a check, {most}"))
}

/// Returns the message for a family or a side whose complete responses all have a status that is
/// not accepted.
fn only_errors(over: &str, figures: &FamilyResult) -> String {
    let most = figures.status.iter().max_by_key(|&(_, times)| times);
    let most = most.map_or(String::new(), |(status, _)| status.to_string());
    // Exchanges that the end of the load cut off are neither responses nor failures.
    let (errors, sent) = (figures.requests.completed, figures.ended());
    let what = match (errors == sent, figures.status.len()) {
        (true, 1) => format!("{over} answers {most} to every request ({sent} of {sent})"),
        (_, 1) => format!("{over} answers {most} or not at all ({errors} and {})", sent - errors),
        _ => format!("{over} answers only errors, most of them {most}"),
    };
    format!("{what}; if that is intended, use --accept-status {most}")
}

/// Returns one line about a side of a comparison without any response of an accepted status.
pub(in crate::cli) fn silent(
    name: &str,
    plan: &Plan,
    figures: &FamilyResult,
    ended: Ended,
) -> String {
    if figures.requests.completed > 0 {
        return only_errors(name, figures);
    }
    let RequestCounts { sent: 0, warm_up: begun @ 1.., .. } = figures.requests else {
        return no_response(plan, name, figures, ended);
    };
    format!(
        "no exchange over {name} began within a block: {} of the warm-up were in flight for longer; use \
         a longer --block",
        counted(begun, "exchange", "exchanges")
    )
}

/// Returns one line about a side of a comparison without any complete response.
fn no_response(plan: &Plan, name: &str, figures: &FamilyResult, ended: Ended) -> String {
    let (cause, advice) = explain(plan, name, figures, ended);
    match most_failed(&figures.content) {
        Some(most) => format!("all responses over {name} failed a check, {most}"),
        None => format!("no answer {cause}; {advice}"),
    }
}

fn explain(plan: &Plan, over: &str, figures: &FamilyResult, ended: Ended) -> (String, String) {
    let interrupted = ended == Ended::Interrupted;
    let to = figures.addresses.first().map_or(String::new(), |address| format!(" ({address})"));
    let most = figures.failures.iter().max_by_key(|failed| failed.count);
    let Some(FailureCount { failure, .. }) = most else {
        let cause = match figures.requests.warm_up {
            0 => format!("over {over}{to}, because no request was sent"),
            begun => format!(
                "over {over}{to}, because no exchange began after the warm-up: {} of it were in \
                 flight to the end",
                counted(begun, "exchange", "exchanges")
            ),
        };
        let advice = match interrupted {
            true => "a signal ended the run first",
            false => "the run ended first: use more requests (-n) or a longer -d",
        };
        return (cause, advice.to_owned());
    };
    let cause = tls_cause(figures).filter(|_| failure.outcome == Outcome::Tls);
    let cause = cause.filter(|cause| cause.reason != Reason::Alert);
    let breach = figures.breaches.iter().max_by_key(|breach| breach.count);
    let breach = breach.map(|breach| breach.what.as_str());
    let named = match cause {
        Some(cause) => Some(cause.reason.to_string()),
        None => failure.cause.map(|cause| cause.text().to_owned()),
    };
    let named = match named {
        None => failure.spoken_code(plan.http.version),
        named => named,
    };
    let named = named.map_or(String::new(), |named| format!(" ({named})"));
    let (http, tls) = (plan.http, plan.tls.as_ref());
    let case = Case { failure, cause, breach, http, tls, interrupted };
    let (outcome, phase) = (failure.outcome, failure.phase);
    (format!("over {over}{to}: {outcome} in {phase}{named}"), case.advice())
}

/// Returns the most frequent cause of TLS failures.
fn tls_cause(figures: &FamilyResult) -> Option<Cause> {
    let failures = &figures.tls.as_ref()?.failures;
    failures.iter().max_by_key(|failure| failure.count).map(|failure| failure.cause)
}
