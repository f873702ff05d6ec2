//! Why a family or a side gave no usable response: what happened most often, and what to do about
//! it. Runs, searches, comparisons and studies all say it in these words.

mod advice;

use sixmark_document::provenance::Ended;
use sixmark_units::family::{Family, spoken};
use sixmark_units::quantity::counted;

use crate::fleet::FleetSection;
use crate::result::RunResult;
use crate::warnings::most_failed;
use sixmark_plan::plan::Plan;
use sixmark_tally::family_result::{FailureCount, FamilyResult};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tls::{Cause, Reason};

use advice::Case;

/// The figures of a family or a side, and the load that they are of.
#[derive(Clone, Copy, Debug)]
pub struct LoadedSide<'a> {
    /// Its name: `ipv6`, `ipv4`, or that of a side of a comparison.
    pub name: &'a str,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its figures.
    pub figures: &'a FamilyResult,
    /// Why its load ended.
    pub ended: Ended,
    /// Whether its load was a run or the blocks of a comparison, which have other options.
    pub kind: LoadKind,
}

/// What a load belonged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadKind {
    /// A run, or a trial of a search.
    Run,
    /// The blocks of a comparison.
    Blocks,
}

/// Why a family or a side gave no usable response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer {
    form: Form,
    /// What happened most often, after what `form` puts before it.
    what: String,
    /// What to do about it; empty if nothing is to be said.
    advice: String,
}

/// The ways in which nothing usable came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// No complete response.
    Nothing,
    /// No exchange that began in a block, because those of the warm-up lasted longer.
    NotBegun,
    /// Responses of which none passed its checks.
    Unwanted,
    /// Responses of which none has an accepted status.
    Errors,
}

impl NoAnswer {
    /// Returns what happened, as a clause: `no answer over IPv6 ([::1]:80): connection refused`.
    pub fn what(&self) -> String {
        let before = if self.form == Form::Nothing { "no answer " } else { "" };
        format!("{before}{}", self.what)
    }

    /// Returns what to do about it, as a clause.
    pub fn advice(&self) -> &str {
        &self.advice
    }
}

/// Returns why a family or a side gave no response of an accepted status; `None` if it gave one.
pub fn explain_no_answer(side: &LoadedSide<'_>) -> Option<NoAnswer> {
    let figures = side.figures;
    (figures.accepted() == 0).then(|| match figures.requests.completed {
        0 if !figures.content.is_empty() => NoAnswer {
            form: Form::Unwanted,
            what: no_good_content(&[side], &format!(" {}", whence(side.name))),
            advice: String::new(),
        },
        0 => nothing(side),
        _ => only_errors(side),
    })
}

/// Returns one line about the families or sides that gave no response of an accepted status: what
/// happened most often over each, and what to do. `None` if all gave one.
pub fn describe_no_answers(sides: &[LoadedSide<'_>]) -> Option<String> {
    let found: Vec<_> =
        sides.iter().filter_map(|side| Some((side, explain_no_answer(side)?))).collect();
    let mut clauses = Vec::new();
    for form in [Form::Nothing, Form::NotBegun, Form::Unwanted, Form::Errors] {
        let of: Vec<_> = found.iter().filter(|(_, of)| of.form == form).collect();
        let whats: Vec<&str> = of.iter().map(|(_, of)| of.what.as_str()).collect();
        match (form, whats.as_slice()) {
            (_, []) => continue,
            (Form::Nothing, whats) => clauses.push(format!("no answer {}", whats.join(", nor "))),
            (Form::Unwanted, [_, _, ..]) => {
                clauses.push(no_good_content(
                    &of.iter().map(|(side, _)| *side).collect::<Vec<_>>(),
                    "",
                ));
            }
            (_, whats) => clauses.extend(whats.iter().map(|what| (*what).to_owned())),
        }
        for advice in of.iter().map(|(_, of)| &of.advice) {
            if !advice.is_empty() && !clauses.contains(advice) {
                clauses.push(advice.clone());
            }
        }
    }
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

impl RunResult {
    /// Returns one line about the families without any response of an accepted status: what
    /// happened most often over each, and what to do. `None` if there is no such family.
    pub fn describe_no_answers(&self) -> Option<String> {
        if let Some(line) = self.fleet.as_ref().and_then(FleetSection::describe_no_counts) {
            return Some(line);
        }
        let (plan, ended, kind) = (&self.plan, self.ended, LoadKind::Run);
        let side = |(family, figures): (Family, _)| LoadedSide {
            name: family.word(),
            plan,
            figures,
            ended,
            kind,
        };
        describe_no_answers(&self.families_tried().map(side).collect::<Vec<_>>())
    }
}

/// Returns `over IPv6` for a family, and `from head` for another side.
fn whence(name: &str) -> String {
    match name {
        "ipv6" | "ipv4" => format!("over {}", spoken(name)),
        other => format!("from {other}"),
    }
}

/// Says that all responses of these sides failed a check; `of` follows their number.
fn no_good_content(sides: &[&LoadedSide<'_>], of: &str) -> String {
    let failed = |side: &LoadedSide<'_>| -> u64 {
        side.figures.content.iter().map(|check| check.count).sum()
    };
    let total: u64 = sides.iter().map(|side| failed(side)).sum();
    let most = sides.iter().max_by_key(|side| failed(side));
    let most = most.and_then(|side| most_failed(&side.figures.content)).unwrap_or_default();
    let all = if total == 1 { "the only" } else { "all" };
    format!("{all} {}{of} failed a check, {most}", counted(total, "response", "responses"))
}

/// Explains that no complete response has an accepted status.
fn only_errors(side: &LoadedSide<'_>) -> NoAnswer {
    let (over, figures) = (spoken(side.name), side.figures);
    let most = figures.status.iter().max_by_key(|&(_, times)| times);
    let most = most.map_or(String::new(), |(status, _)| status.to_string());
    // Exchanges that the end of the load cut off are neither responses nor failures.
    let (errors, sent) = (figures.requests.completed, figures.ended());
    let what = match (errors == sent, figures.status.len()) {
        (true, 1) => format!("{over} answers {most} to every request ({sent} of {sent})"),
        (_, 1) => format!("{over} answers {most} or not at all ({errors} and {})", sent - errors),
        _ => format!("{over} answers only errors, most of them {most}"),
    };
    let advice = format!("if that is intended, use --accept-status {most}");
    NoAnswer { form: Form::Errors, what, advice }
}

/// Explains that there was no complete response.
fn nothing(side: &LoadedSide<'_>) -> NoAnswer {
    let (figures, plan) = (side.figures, side.plan);
    let to = figures.addresses.first().map_or(String::new(), |address| format!(" ({address})"));
    let of = format!("{}{to}", whence(side.name));
    let Some(FailureCount { failure, .. }) = usual_failure(figures) else {
        return not_begun(side, &of);
    };
    let cause = tls_cause(figures).filter(|_| failure.outcome == Outcome::Tls);
    let cause = cause.filter(|cause| cause.reason != Reason::Alert);
    let breach = figures.breaches.iter().max_by_key(|breach| breach.count);
    let breach = breach.map(|breach| breach.what.as_str());
    let (http, tls) = (plan.http, plan.tls.as_ref());
    let (interrupted, longer) = (side.ended == Ended::Interrupted, side.longer());
    let acknowledged = acknowledges_data(figures);
    let case = Case { failure, cause, breach, http, tls, acknowledged, interrupted, longer };
    let (how, advice) = match case.certificate() {
        Some((why, way)) => (format!("the certificate is not accepted: {why}"), way.to_owned()),
        // What is advised is what happened.
        None if failure.outcome == Outcome::Protocol => (case.advice(), String::new()),
        None => {
            // The peer's own code tells more than any words: it is what its log has.
            let code = failure.spoken_code(plan.http.version);
            let code = code.map_or(String::new(), |code| format!(" ({code})"));
            (failure.spoken(Some(plan.load.timeout)) + &code, case.advice())
        }
    };
    let what = match how.strip_prefix("no answer ") {
        // "No answer" is said before it.
        Some(when) => format!("{of} {when}"),
        None => format!("{of}: {how}"),
    };
    NoAnswer { form: Form::Nothing, what, advice }
}

/// Explains that no exchange ended, and none began that was measured.
fn not_begun(side: &LoadedSide<'_>, of: &str) -> NoAnswer {
    let (interrupted, longer) = (side.ended == Ended::Interrupted, side.longer());
    let begun = side.figures.requests.warm_up;
    let exchanges = counted(begun, "exchange", "exchanges");
    let (form, what) = match (begun, side.kind) {
        (0, _) => (Form::Nothing, format!("{of}, because no request was sent")),
        (_, LoadKind::Run) => (
            Form::Nothing,
            format!(
                "{of}, because no exchange began after the warm-up: {exchanges} of it were in flight \
                 to the end"
            ),
        ),
        (_, LoadKind::Blocks) => (
            Form::NotBegun,
            format!(
                "no exchange {} began within a block: {exchanges} of the warm-up were in flight for \
                 longer",
                whence(side.name)
            ),
        ),
    };
    let advice = match side.kind {
        _ if interrupted => "a signal ended the run first".to_owned(),
        LoadKind::Blocks => format!("use a longer {longer}"),
        LoadKind::Run => "the run ended first: use more requests (-n) or a longer -d".to_owned(),
    };
    NoAnswer { form, what, advice }
}

impl LoadedSide<'_> {
    /// Returns the option with which its load would last longer.
    fn longer(&self) -> &'static str {
        match self.kind {
            LoadKind::Run => "-d",
            LoadKind::Blocks => "--block",
        }
    }
}

/// Returns the most frequent failure. What the end of the load cut off is one only if there is no
/// other.
fn usual_failure(figures: &FamilyResult) -> Option<&FailureCount> {
    let is_cut_off = |of: &FailureCount| of.failure.outcome == Outcome::Abandoned;
    figures.failures.iter().max_by_key(|failed| (!is_cut_off(failed), failed.count))
}

/// Returns true if the server's TCP acknowledged more than the SYN of each connection.
fn acknowledges_data(figures: &FamilyResult) -> bool {
    figures.tcp.delivered.is_some_and(|segments| segments > figures.tcp.read)
}

/// Returns the most frequent cause of TLS failures.
fn tls_cause(figures: &FamilyResult) -> Option<Cause> {
    let failures = &figures.tls.as_ref()?.failures;
    failures.iter().max_by_key(|failure| failure.count).map(|failure| failure.cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::fleet::AgentResult;
    use sixmark_tally::outcome::{Failure, FailurePhase};

    /// Returns a run over both families whose exchanges over IPv6 failed so.
    fn failing(failures: &[(Outcome, FailurePhase, u64)]) -> RunResult {
        let mut run = fixture::run();
        let mut v6 = fixture::silent();
        let count = |&(outcome, phase, count): &(Outcome, FailurePhase, u64)| FailureCount {
            failure: Failure::new(outcome, phase),
            count,
        };
        v6.failures = failures.iter().map(count).collect();
        v6.requests.sent = failures.iter().map(|(_, _, count)| count).sum();
        v6.addresses = vec!["[::1]:80".parse().unwrap()];
        run.families.ipv6 = Some(v6);
        run
    }

    fn said(run: &RunResult, kind: LoadKind) -> Option<String> {
        let (plan, ended) = (&run.plan, run.ended);
        let side = |(family, figures): (Family, _)| LoadedSide {
            name: family.word(),
            plan,
            figures,
            ended,
            kind,
        };
        describe_no_answers(&run.families.iter().map(side).collect::<Vec<_>>())
    }

    #[test]
    fn explains_a_family_without_answers_by_its_most_common_failure() {
        let refused = (Outcome::Refused, FailurePhase::Connect, 50);
        let mut run = failing(&[refused, (Outcome::Abandoned, FailurePhase::Connect, 70)]);
        let one = "no answer over IPv6 ([::1]:80): connection refused; nothing listens there: start \
                   the server, or check address and port";
        assert_eq!(said(&run, LoadKind::Run).as_deref(), Some(one));
        run.families.ipv4 = run.families.ipv6.clone();
        let both =
            one.replace("refused;", "refused, nor over IPv4 ([::1]:80): connection refused;");
        assert_eq!(said(&run, LoadKind::Run), Some(both));
        assert_eq!(said(&fixture::run(), LoadKind::Run), None);
    }

    #[test]
    fn explains_missing_counts_by_the_reason_that_the_agents_gave() {
        let mut run = failing(&[]);
        let lost = |name: &str, why: &str| AgentResult {
            incomplete_from: Some(0),
            lost_because: Some(why.to_owned()),
            ..fixture::agent(name, 0.0)
        };
        let agents = vec![lost("a", "the disk is full"), lost("b", "the disk is full")];
        run.fleet = Some(FleetSection { agents, ..FleetSection::default() });
        let line = "no counts of any agent arrived: the disk is full";
        assert_eq!(run.describe_no_answers().as_deref(), Some(line));
        run.fleet.as_mut().unwrap().agents[1].incomplete_from = None;
        assert_ne!(run.describe_no_answers().as_deref(), Some(line));
    }

    #[test]
    fn suggests_the_duration_option_of_the_command_for_cut_off_loads() {
        let run = failing(&[(Outcome::Unanswered, FailurePhase::Wait, 50)]);
        for (kind, option) in [(LoadKind::Run, "use a longer -d"), (LoadKind::Blocks, "--block")] {
            let said = said(&run, kind).unwrap();
            assert!(
                said.contains(" by the end of the load; use a longer ") && said.ends_with(option),
                "{said}"
            );
        }
        let mut run = failing(&[]);
        run.families.ipv6.as_mut().unwrap().requests.warm_up = 2;
        assert_eq!(
            said(&run, LoadKind::Blocks).unwrap(),
            "no exchange over IPv6 began within a block: 2 exchanges of the warm-up were in flight \
             for longer; use a longer --block"
        );
    }

    #[test]
    fn names_the_status_of_a_family_that_answers_only_errors() {
        let mut run = fixture::run();
        let figures = run.families.ipv6.as_mut().unwrap();
        let completed = figures.requests.completed;
        (figures.requests.unaccepted, figures.status) = (completed, [(503, completed)].into());
        let said = said(&run, LoadKind::Run).unwrap();
        assert!(said.starts_with("IPv6 answers 503"), "{said}");
        assert!(said.ends_with("; if that is intended, use --accept-status 503"), "{said}");
    }
}
