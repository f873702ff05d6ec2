//! Warnings about the comparison with packets (`--truth`).

use sixmark_model::plan::Plan;
use sixmark_model::provenance::Warning;
use sixmark_model::truth::{Truth, TruthCounts};

use super::{counted, warning};

/// Returns why the packets do not show everything, after a run.
pub(super) fn of_truth(plan: &Plan, truth: &Truth) -> Vec<Warning> {
    [connect_only(plan), incomplete(truth)].into_iter().flatten().collect()
}

fn connect_only(plan: &Plan) -> Option<Warning> {
    let hidden = plan.targets.iter().any(|target| target.secure());
    (hidden || !plan.http.version.is_http1()).then(|| {
        let message = "--truth: packets of TLS and HTTP/2 don't show exchanges: only connect is \
                       compared there";
        warning("truth_connect_only", message.to_owned())
    })
}

fn incomplete(truth: &Truth) -> Option<Warning> {
    let missing = |of: &TruthCounts| of.untold + of.client - of.matched;
    let families = || truth.families.iter().map(|(_, family)| family);
    let connections: u64 = families().map(|family| missing(&family.connections)).sum();
    let exchanges: u64 = families().map(|family| missing(&family.exchanges)).sum();
    let why = [
        (truth.dropped > 0)
            .then(|| format!("the kernel dropped {}", counted(truth.dropped, "packet", "packets"))),
        (!truth.settled).then(|| "connections were still active".to_owned()),
        (connections > 0).then(|| {
            let connections = counted(connections, "connection was", "connections were");
            format!("{connections} not found among the packets")
        }),
        (exchanges > 0).then(|| {
            let exchanges = counted(exchanges, "exchange was", "exchanges were");
            format!("{exchanges} not found among the packets")
        }),
    ];
    let why: Vec<String> = why.into_iter().flatten().collect();
    (!why.is_empty()).then(|| warning("truth_incomplete", format!("--truth: {}", why.join("; "))))
}
