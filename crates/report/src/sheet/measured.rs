//! The parts that reports of runs and of watches have in common.

use sixmark_result::measurement::Measurement;

use super::side::Sides;
use super::{account, figures, gates, outcomes, path, phases, requests, seconds, steps};
use sixmark_sheet::Part;

/// Returns gates, charts over time, and the figures of each family.
pub fn measured_parts(of: &dyn Measurement, sides: &Sides<'_>) -> Vec<Part> {
    let parts = [
        // A terminal has a line for each gate, below everything else.
        gates::gates_part(of.gates()).map(Part::off_terminal),
        seconds::seconds_part(of, sides),
        phases::phases_part(sides),
        figures::figures_part(sides),
        account::account_part(sides),
        requests::requests_part(sides),
        steps::steps_part(of, sides),
        outcomes::outcomes_part(sides),
        path::path_part(sides),
    ];
    parts.into_iter().flatten().collect()
}
