//! Reasons to doubt what was found of a program.

use sixmark_document::provenance::{Ended, Warning, warning};
use sixmark_units::quantity::counted;

use crate::app_start::{AppStart, ProbeAnswer, ServerWay};
use crate::only6_result::ScenarioResult;

/// The codes of the warnings that the starts do not show.
pub const RUN_WARNINGS: [&str; 2] = ["ended_early", "way_not_compared"];
/// The least status that is no success (RFC 9110, 15.5).
const CLIENT_ERROR: u16 = 400;

/// Returns what is to be said of all scenarios.
pub fn only6_warnings(scenarios: &[ScenarioResult]) -> Vec<Warning> {
    let starts = || scenarios.iter().flat_map(|of| &of.starts);
    let mut warnings = Vec::new();
    let incomplete = starts().filter(|of| of.is_incomplete()).count();
    if incomplete > 0 {
        let count = counted(incomplete as u64, "start", "starts");
        warnings.push(warning(
            "capture_dropped",
            format!("packets of {count} were lost or not kept: what they would show is not judged"),
        ));
    }
    let is_silent = |of: &AppStart| of.client.is_some() && of.wire.is_empty();
    if starts().any(|of| of.client.is_some()) && starts().all(is_silent) {
        warnings.push(warning(
            "client_silent",
            "the client sent no packet in any scenario: does it open the URL that it was given?"
                .to_owned(),
        ));
    }
    let answers = || starts().flat_map(|of| &of.probes).map(|of| &of.answer);
    let best = answers().min_by_key(|of| of.grade());
    match best {
        Some(ProbeAnswer::Status(status)) if *status >= CLIENT_ERROR => warnings.push(warning(
            "no_success",
            format!(
                "the server's best answer is status {status}, which counts as working: use --path to ask for another path"
            ),
        )),
        Some(ProbeAnswer::NoAnswer) => warnings.push(warning(
            "not_http",
            "the server took connections and answered no request in time: it does not use HTTP, or needs more \
             --patience"
                .to_owned(),
        )),
        Some(ProbeAnswer::NotHttp) => warnings.push(warning(
            "not_http",
            "the server does not use HTTP: connections were made, and no answer was judged".to_owned(),
        )),
        _ => {}
    }
    warnings
}

/// Returns what is to be said of a way that could not be compared.
pub fn warn_of_uncompared(way: ServerWay, why: &str) -> Warning {
    warning("way_not_compared", format!("{} was not compared with native IPv6: {why}", way.words()))
}

/// Returns what is to be said if fewer starts were watched than were asked for.
pub fn warn_of_early_end(
    ended: Ended,
    failure: Option<String>,
    seen: usize,
    asked: usize,
) -> Option<Warning> {
    let why = match (ended, failure) {
        (Ended::Complete, _) => return None,
        (_, Some(failure)) => failure,
        (Ended::Interrupted, None) => "it was interrupted".to_owned(),
        (Ended::Hopeless, None) => "it was given up".to_owned(),
    };
    Some(warning("ended_early", format!("{seen} of {asked} starts were watched: {why}")))
}
