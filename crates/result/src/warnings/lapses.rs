//! Warnings about sixmark's own effects on the times: it was stalled, or busy with some responses.

use crate::result::RunResult;
use sixmark_document::provenance::Warning;
use sixmark_units::quantity::duration_us;

use sixmark_document::provenance::warning;
use sixmark_units::quantity::counted;

/// The duration of the check of one response, in seconds, that gets a warning. Other exchanges wait
/// meanwhile.
const LONG_CHECK_S: f64 = 0.01;
/// The share of the workers' time spent on checks that gets a warning.
const MUCH: f64 = 0.1;

pub(super) fn stood_still(result: &RunResult) -> Option<Warning> {
    let generator = Some(&result.generator).filter(|generator| generator.stalls > 0)?;
    let exchanges = result.families.iter().map(|(_, figures)| figures.requests.stalled).sum();
    let times = counted(generator.stalls, "time", "times");
    let message = format!(
        "sixmark was stalled {times}, for {} in total (stopped, paused, or without a CPU): {} due \
         or in flight then; their times are not counted, their failures are this machine's, and rates \
         include the stalls",
        duration_us(generator.stalled_s * 1e6),
        counted(exchanges, "exchange was", "exchanges were"),
    );
    Some(warning("generator_stalled", message))
}

/// Warns about slow checks. A worker does nothing else while it decodes and checks a response.
pub(super) fn slow_checks(result: &RunResult) -> Option<Warning> {
    let generator = &result.generator;
    let all_s = result.elapsed_s * f64::from(generator.threads);
    let share = if all_s > 0.0 { generator.checking_s / all_s } else { 0.0 };
    (generator.longest_check_s >= LONG_CHECK_S || share >= MUCH).then(|| {
        let message = format!(
            "decoding and checking content took up to {} for one response, and {:.0} % of the \
             workers' time: other exchanges waited for it, and their times include that; check \
             less, or use more threads (-t)",
            duration_us(generator.longest_check_s * 1e6),
            (share * 100.0).min(100.0),
        );
        warning("slow_checks", message)
    })
}
