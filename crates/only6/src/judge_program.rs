//! The verdict of each scenario, and what is wrong with a program, from all that was seen of it.
//!
//! Nothing else decides: whoever has the starts can compute both again.

use std::collections::BTreeMap;
use std::net::IpAddr;

use sixmark_units::family::Family;

use crate::app_finding::{AppFinding, AppFindingWeight, FINDINGS};
use crate::app_scenario::{AppScenario, NodeAccess, ScenarioTwist};
use crate::app_start::{AppStart, ProgramEnd};
use crate::app_wire::{AttemptFailure, WireAttempt};
use crate::client_findings::{AppClientStart, StartFinding};
use crate::only6_result::{BackendKind, ScenarioResult, ScenarioVerdict, name_scenario};
use crate::scenario_lab::{BACKEND, BACKEND_NAME, NAT64, SERVER, SITE, host_address};
use crate::server_findings::{BestAnswers, ServerStart, find_binding};
use crate::wire_reader::embedded_address;

/// What was seen in a scenario, not judged yet.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioStarts {
    /// The scenario.
    pub scenario: &'static AppScenario,
    /// The backend of a proxy.
    pub backend: Option<BackendKind>,
    /// Each start, in the order of time.
    pub starts: Vec<AppStart>,
}

/// Whose program is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgedSide {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// What is wrong with a program, by the code of the finding.
#[derive(Clone, Debug, Default)]
struct FindingList(BTreeMap<&'static str, (Vec<String>, String)>);

impl FindingList {
    fn add(&mut self, scenario: &str, (code, evidence): StartFinding) {
        let (scenarios, _) = self.0.entry(code).or_insert_with(|| (Vec::new(), evidence));
        if !scenarios.iter().any(|of| of == scenario) {
            scenarios.push(scenario.to_owned());
        }
    }

    fn has(&self, code: &str) -> bool {
        self.0.contains_key(code)
    }

    /// Notes that a finding explains a failure in a scenario.
    fn explain(&mut self, code: &'static str, scenario: &str) {
        self.add(scenario, (code, String::new()));
    }

    /// Returns the findings in the order of the table, faults first; the scenarios in the order of `order`.
    fn into_findings(mut self, order: &[String]) -> Vec<AppFinding> {
        let place = |name: &String| order.iter().position(|of| of == name);
        let finding = |kind: &crate::app_finding::FindingKind| {
            let (mut scenarios, evidence) = self.0.remove(kind.code)?;
            scenarios.sort_by_key(place);
            Some(AppFinding {
                code: kind.code.to_owned(),
                weight: kind.weight,
                scenarios,
                evidence,
            })
        };
        let mut all: Vec<AppFinding> = FINDINGS.iter().filter_map(finding).collect();
        all.sort_by_key(|of| of.weight);
        all
    }
}

/// Judges all scenarios.
pub fn judge_program(
    side: JudgedSide,
    seen: Vec<ScenarioStarts>,
) -> (Vec<ScenarioResult>, Vec<AppFinding>) {
    let result = |of: ScenarioStarts, verdict: ScenarioVerdict| ScenarioResult {
        scenario: of.scenario.name.to_owned(),
        backend: of.backend,
        verdict,
        starts: of.starts,
    };
    let (verdicts, list) = match side {
        JudgedSide::Client => judge_client(&seen),
        JudgedSide::Server => judge_server(&seen),
    };
    let results: Vec<ScenarioResult> =
        seen.into_iter().zip(verdicts).map(|(of, verdict)| result(of, verdict)).collect();
    let order: Vec<String> = results.iter().map(ScenarioResult::name).collect();
    (results, list.into_findings(&order))
}

/// Returns the verdict over all starts.
fn join_verdicts(all: &[ScenarioVerdict]) -> ScenarioVerdict {
    match all {
        [] => ScenarioVerdict::Fails,
        [first, rest @ ..] if rest.iter().all(|of| of == first) => *first,
        _ => ScenarioVerdict::Partly,
    }
}

fn judge_client(seen: &[ScenarioStarts]) -> (Vec<ScenarioVerdict>, FindingList) {
    let mut list = FindingList::default();
    let (mut open, mut verdicts, mut worked) = (Vec::new(), Vec::new(), Vec::new());
    for of in seen {
        let name = name_scenario(of.scenario.name, of.backend);
        let mut all = Vec::new();
        for kept in &of.starts {
            let start = client_start(of, kept);
            all.push(match (start.has_worked, start.wire.content_ms()) {
                (true, _) => ScenarioVerdict::Works,
                (false, Some(_)) => ScenarioVerdict::Partly,
                (false, None) => ScenarioVerdict::Fails,
            });
            if start.end.is_none() {
                // The user's server did not listen, so that no client was started.
                let end = kept.server.as_ref().map(ProgramEnd::words);
                list.add(&name, ("never-listens", end.unwrap_or_default()));
                continue;
            }
            let mut found = start.findings();
            if start.has_worked {
                worked.push(start);
            } else if let Some(bound) = find_server_binding(of.scenario, kept) {
                // The server explains what the client does not.
                found.push(bound);
            } else if !found.iter().any(is_fault) {
                open.push((name.clone(), start));
            }
            found.into_iter().for_each(|of| list.add(&name, of));
        }
        verdicts.push(join_verdicts(&all));
    }
    let works_over = |family: Family| {
        let gets = |of: &WireAttempt| of.family == family && of.content_ms.is_some();
        let with_both = |of: &&AppClientStart<'_>| has_both_stacks(of.access);
        worked.iter().filter(with_both).any(|of| of.wire.attempts.iter().any(gets))
    };
    for (name, start) in &open {
        explain_client(&mut list, name, start, &works_over);
    }
    (verdicts, list)
}

/// Returns what is wrong with the sockets of a user's server that refused the client's connection.
fn find_server_binding(scenario: &AppScenario, start: &AppStart) -> Option<StartFinding> {
    let at_server = |of: &WireAttempt| match embedded_address(NAT64, of.address) {
        Some(_) => Family::Ipv4,
        None => of.family,
    };
    let refuses = |family: Family| {
        let is_refused = |of: &WireAttempt| {
            at_server(of) == family && of.failed == Some(AttemptFailure::Refused)
        };
        // The router refuses what these scenarios break.
        let is_broken =
            matches!(scenario.twist, ScenarioTwist::SilentIpv6 | ScenarioTwist::RefusedIpv6);
        start.wire.attempts.iter().any(is_refused) && !(family == Family::Ipv6 && is_broken)
    };
    let [ipv6, ipv4] = Family::BOTH.map(refuses);
    let found = find_binding(scenario, &start.sockets, ipv4)?;
    let is_shown = if found.0 == "binds-ipv4" { ipv6 } else { ipv6 || ipv4 };
    (is_shown && start.wire.content_ms().is_none()).then_some(found)
}

fn has_both_stacks(access: NodeAccess) -> bool {
    Family::BOTH.into_iter().all(|of| access.has_stack(of))
}

/// Explains a start of a client that failed and shows no fault by itself.
fn explain_client(
    list: &mut FindingList,
    name: &str,
    start: &AppClientStart<'_>,
    works_over: &dyn Fn(Family) -> bool,
) {
    let is_missing = |family: Family| !start.access.has_stack(family);
    // Who uses sockets of IPv4 alone sends nothing, or queries alone, where there are none.
    let is_silent = start.wire.attempts.is_empty();
    let known = ["ipv4-literal", "asks-a-only"].into_iter().find(|code| list.has(code));
    match known {
        Some(code) if is_silent && !start.scenario.has_way(Family::Ipv4) => {
            list.explain(code, name);
        }
        _ if is_silent && is_missing(Family::Ipv4) && works_over(Family::Ipv6) => {
            list.add(name, ("needs-ipv4-stack", start.unexplained().1));
        }
        _ if is_silent && is_missing(Family::Ipv6) && works_over(Family::Ipv4) => {
            list.add(name, ("needs-ipv6-stack", start.unexplained().1));
        }
        _ => list.add(name, start.unexplained()),
    }
}

fn is_fault((code, _): &StartFinding) -> bool {
    FINDINGS.iter().any(|of| of.code == *code && of.weight == AppFindingWeight::Fault)
}

fn client_start<'a>(of: &ScenarioStarts, start: &'a AppStart) -> AppClientStart<'a> {
    let is_literal = of.scenario.twist == ScenarioTwist::Ipv6Literal;
    let end = start.client.as_ref();
    let is_content = start.wire.content_ms().is_some();
    let is_own = start.sockets.is_empty();
    AppClientStart {
        scenario: of.scenario,
        access: of.scenario.client,
        name: SITE,
        literal: is_literal.then(|| host_address(SERVER, Family::Ipv6)),
        wire: &start.wire,
        end,
        // Of sixmark's own server the whole content was seen, so that a browser may run on. Of another any answer
        // counts, and the client must say itself that it was the right one.
        has_worked: is_content
            && end.is_some_and(|of| of.is_success() || is_own && of.is_cut_off()),
        is_incomplete: start.is_incomplete(),
    }
}

/// Returns a proxy's start as that of a client of its backend; `None` of a server without a backend.
fn backend_start<'a>(
    of: &ScenarioStarts,
    start: &'a AppStart,
    has_worked: bool,
) -> Option<AppClientStart<'a>> {
    let literal: Option<IpAddr> =
        (of.backend? == BackendKind::Ipv6Literal).then(|| host_address(BACKEND, Family::Ipv6));
    Some(AppClientStart {
        scenario: of.scenario,
        access: of.scenario.server,
        name: BACKEND_NAME,
        literal,
        wire: &start.wire,
        end: None,
        has_worked,
        is_incomplete: start.is_incomplete(),
    })
}

fn judge_server(seen: &[ScenarioStarts]) -> (Vec<ScenarioVerdict>, FindingList) {
    let mut list = FindingList::default();
    let starts = seen.iter().flat_map(|of| &of.starts);
    let best = BestAnswers::of(starts.flat_map(|of| &of.probes));
    let best_in = |access: NodeAccess| {
        let same = seen.iter().filter(move |of| of.scenario.server == access);
        BestAnswers::of(same.flat_map(|of| &of.starts).flat_map(|of| &of.probes))
    };
    let mut open = Vec::new();
    let mut verdicts = Vec::new();
    for of in seen {
        let best_here = best_in(of.scenario.server);
        let name = name_scenario(of.scenario.name, of.backend);
        let mut all = Vec::new();
        for start in &of.starts {
            let has_backend = of.backend.is_some();
            let judged = ServerStart { scenario: of.scenario, start, best, best_here, has_backend };
            let worked = judged.has_worked();
            let of_backend = backend_start(of, start, worked).map(|of| of.findings());
            let of_backend = of_backend.unwrap_or_default().into_iter().filter(is_fault);
            let found: Vec<StartFinding> =
                judged.findings().into_iter().chain(of_backend).collect();
            if !worked && !found.iter().any(is_fault) {
                open.push((name.clone(), judged));
            }
            let rejects_host = found.iter().any(|of| of.0 == "rejects-ipv6-host");
            found.into_iter().for_each(|of| list.add(&name, of));
            all.push(match (worked, judged.has_failed()) {
                (true, _) if !rejects_host => ScenarioVerdict::Works,
                (false, true) => ScenarioVerdict::Fails,
                _ => ScenarioVerdict::Partly,
            });
        }
        verdicts.push(join_verdicts(&all));
    }
    let works_with_both = |family: Family| {
        let with_both = seen.iter().filter(|of| has_both_stacks(of.scenario.server));
        let mut probes = with_both.flat_map(|of| &of.starts).flat_map(|of| &of.probes);
        probes.any(|of| of.way.family_at_server() == family && best.has_answered(of))
    };
    for (name, start) in open {
        explain_server(&mut list, &name, &start, &works_with_both);
    }
    (verdicts, list)
}

/// Explains a start of a server that failed and shows no fault by itself.
fn explain_server(
    list: &mut FindingList,
    name: &str,
    start: &ServerStart<'_>,
    works_with_both: &dyn Fn(Family) -> bool,
) {
    let is_missing = |family: Family| !start.scenario.server.has_stack(family);
    // Who asks for one family alone has no other socket to listen on.
    let bound = [("binds-ipv4", Family::Ipv4), ("binds-ipv6", Family::Ipv6)];
    let known = bound.into_iter().find(|(code, family)| list.has(code) && is_missing(*family));
    match known {
        Some((code, _)) if !start.start.has_listened() => list.explain(code, name),
        // A proxy that does not find its backend.
        _ if start.start.has_listened() && list.has("asks-a-only") && is_missing(Family::Ipv4) => {
            list.explain("asks-a-only", name);
        }
        _ => list.add(name, start.unexplained(works_with_both)),
    }
}

#[cfg(test)]
mod tests;
