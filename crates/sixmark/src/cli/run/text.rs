//! What to tell a person whose run gave nothing.

use sixmark_core::family::Family;
use sixmark_core::outcome::Outcome;
use sixmark_core::result::{FamilyResult, RunResult, Warning};
use sixmark_core::tls::Reason;

use crate::warning::{counted, most_failed};

/// The warnings worth a line after the first `told`, and besides what [`nothing_normal`] says.
pub(super) fn doubts(result: &RunResult, told: usize) -> impl Iterator<Item = &Warning> {
    let answered = result.total.requests.completed > 0;
    let untold = result.warnings.iter().skip(told);
    untold.filter(move |warning| answered && warning.code != "family_fell_away")
}

/// One line on the families without a single response that is as it was to be, where there are any:
/// what happened most over each, and what to do.
pub(super) fn nothing_normal(result: &RunResult) -> Option<String> {
    let without = result.families.iter().filter(|(_, figures)| figures.requests.completed == 0);
    let (answered, silent): (Vec<_>, Vec<_>) =
        without.partition(|(_, figures)| !figures.content.is_empty());
    let lines = [no_answer(&silent), all_failed(result, &answered)];
    let lines: Vec<_> = lines.into_iter().flatten().collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

fn no_answer(silent: &[(Family, &FamilyResult)]) -> Option<String> {
    let (mut causes, mut advices) = (Vec::new(), Vec::new());
    for &(family, figures) in silent {
        let (cause, advice) = explain(family, figures);
        causes.push(cause);
        if !advices.contains(&advice) {
            advices.push(advice);
        }
    }
    (!causes.is_empty())
        .then(|| format!("no answer {}; {}", causes.join(" nor "), advices.join("; ")))
}

/// There were answers, and none passed the checks.
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

fn explain(family: Family, figures: &FamilyResult) -> (String, &'static str) {
    let to = figures.addresses.first().map_or(String::new(), |address| format!(" ({address})"));
    let most = figures.failures.iter().max_by_key(|failed| failed.count);
    let Some(most) = most else {
        let cause = format!("over {family}{to}, for no request was sent");
        return (cause, "the run ended before its turn: give it more requests (-n) or time (-d)");
    };
    let (outcome, phase) = (most.failure.outcome, most.failure.phase);
    let reason = tls_reason(figures).filter(|_| outcome == Outcome::Tls);
    let named = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    (format!("over {family}{to}: {outcome} in {phase}{named}"), advice(outcome, reason))
}

/// What TLS failed by most often.
fn tls_reason(figures: &FamilyResult) -> Option<Reason> {
    let failures = &figures.tls.as_ref()?.failures;
    failures.iter().max_by_key(|failure| failure.count).map(|failure| failure.cause.reason)
}

fn tls_advice(reason: Option<Reason>) -> &'static str {
    match reason {
        Some(Reason::CertificateIssuer) => {
            "give who issued the certificate with --cacert, or accept any with --insecure"
        }
        Some(Reason::CertificateName) => {
            "the certificate is for another name: give that with --sni"
        }
        Some(Reason::CertificateDate) => "check the certificate's dates and this host's clock",
        Some(Reason::Alert) => {
            "the server said no, its alert is in the result: it may want a certificate (--cert), or \
             --tls 1.2"
        }
        _ => "see tls.failures in the result: perhaps what listens there does not speak TLS",
    }
}

fn advice(outcome: Outcome, reason: Option<Reason>) -> &'static str {
    match outcome {
        Outcome::Refused => "nothing listens there: start the server, or check address and port",
        Outcome::Timeout => "check that a firewall lets it through, or give it longer (--timeout)",
        Outcome::Unreachable => "check the route",
        Outcome::NoPort => "give more local addresses with --source",
        Outcome::Local => "this host refused: see the errno in the table",
        Outcome::Tls => tls_advice(reason),
        Outcome::Protocol => "what listens there does not speak the HTTP that was asked for",
        Outcome::Content => "what came is not what was to be expected",
        Outcome::Reset | Outcome::Truncated => "the server ends connections without answering",
        Outcome::Abandoned | Outcome::Normal => "the run ended first: give it longer (-d)",
    }
}
