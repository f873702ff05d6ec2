//! Warnings that follow from vitals.

use crate::VitalsSample;
use crate::cost::Work;
use crate::section::MachineRole;
use crate::symptoms::{VitalsDoubt, doubts_of_change};
use sixmark_document::provenance::Warning;

use sixmark_document::provenance::warning;

/// The share of the measured time (0 to 1) that vitals must cover to need no warning.
const COVERED: f64 = 0.9;

/// Returns warnings about the machine that generates the load.
pub(crate) fn warn_of_client(place: &MachineRole) -> Vec<Warning> {
    // A load generator is expected to be busy, which has a warning of its own, and it does not
    // listen.
    let is_its = |doubt: &VitalsDoubt| {
        matches!(
            doubt,
            VitalsDoubt::Stolen(_) | VitalsDoubt::SoftnetDrops(_) | VitalsDoubt::InterfaceDrops(..)
        )
    };
    let found = place.change.iter().flat_map(doubts_of_change).filter(is_its);
    found.map(|doubt| warning_of_doubt("the client", &doubt)).collect()
}

/// Returns warnings about the server.
pub(crate) fn warn_of_server(
    place: &MachineRole,
    work: &Work,
    problem: Option<&str>,
) -> Vec<Warning> {
    let mut found: Vec<Warning> = match &place.change {
        Some(change) => doubts_of_change(change)
            .iter()
            .map(|doubt| warning_of_doubt("the server", doubt))
            .collect(),
        None => {
            let full = place.machine.iter().map(|cost| cost.busy_share).find(|share| *share > 0.95);
            full.map(|share| warning_of_doubt("the server", &VitalsDoubt::CpuFull(share)))
                .into_iter()
                .collect()
        }
    };
    found.extend(partly_covered(place, work, problem));
    found
}

/// Returns the warnings of the document of `sixmark vitals`.
pub fn warn_of_change(change: &VitalsSample) -> Vec<Warning> {
    doubts_of_change(change).iter().map(|doubt| warning_of_doubt("this machine", doubt)).collect()
}

fn warning_of_doubt(whose: &str, doubt: &VitalsDoubt) -> Warning {
    let line = format!("{whose}: {doubt}");
    match doubt {
        VitalsDoubt::CpuFull(_) => warning("cpu_full", line),
        VitalsDoubt::Stolen(_) => warning("steal", line),
        VitalsDoubt::SoftnetDrops(_) => warning("softnet_drops", line),
        VitalsDoubt::InterfaceDrops(..) => warning("interface_drops", line),
        VitalsDoubt::ListenOverflows(_) => warning("listen_overflows", line),
        VitalsDoubt::Retransmissions(..) => warning("family_retransmissions", line),
        VitalsDoubt::ConntrackFull(_) => warning("conntrack_full", line),
    }
}

/// Warns if the vitals do not cover the measured time.
fn partly_covered(place: &MachineRole, work: &Work, problem: Option<&str>) -> Option<Warning> {
    let measured_s = work.to_us.saturating_sub(work.from_us) as f64 / 1e6;
    let name = place.name.as_deref().unwrap_or("the server");
    let why = problem.map_or_else(String::new, |why| format!(": {why}"));
    (place.covered_s < COVERED * measured_s).then(|| {
        let message = format!(
            "{name} covers {:.1} of {measured_s:.1} s measured{why}; was `sixmark vitals` running \
             all the time, and do both clocks agree?",
            place.covered_s
        );
        warning("vitals_apart", message)
    })
}
