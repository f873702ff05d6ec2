//! Runs `tc`, and finds out which of its kinds the kernel has.

use std::io;

use crate::needs::TC;
use sixmark_sys::netns::NetNs;
use sixmark_sys::program::{command_of, find_program};

/// Messages of the kernel for a queueing discipline, a filter and an action that it does not have,
/// and that of kernels that had one for all.
const UNKNOWN: [&str; 4] =
    ["qdisc kind is unknown", "classifier not found", "TC action module", "No such file"];

/// Runs `tc` with these words in the calling thread's namespace.
///
/// # Errors
/// Fails if it is not installed or refuses; the message includes its output.
pub(super) fn run_tc(words: &[&str]) -> io::Result<()> {
    let (program, package) = TC;
    let absent =
        || io::Error::other(format!("{program} is missing: install the Debian package {package}"));
    let output = command_of(&find_program(program).ok_or_else(absent)?).args(words).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).trim().replace('\n', "; ");
    Err(io::Error::other(format!("{program} {}: {said}", words.join(" "))))
}

/// Returns whether the kernel accepts these lines of `tc`. They are tried in a separate network
/// namespace. A kernel that has what they need as modules may load these; nothing else on the
/// machine changes.
///
/// # Errors
/// Fails if the trial itself failed, for example because `tc` is missing or the process may not
/// create a namespace.
pub(super) fn try_tc(lines: &[&str]) -> io::Result<bool> {
    let all = || lines.iter().try_for_each(|line| run_tc(&line.split(' ').collect::<Vec<_>>()));
    match NetNs::create()?.within(all) {
        Ok(()) => Ok(true),
        Err(error) if is_unknown(&error.to_string()) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_unknown(said: &str) -> bool {
    UNKNOWN.iter().any(|message| said.contains(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_missing_kernel_support_from_other_tc_errors() {
        for said in [
            "Error: Specified qdisc kind is unknown.",
            "Error: TC classifier not found.; We have an error talking to the kernel",
            "Error: Failed to load TC action module.; We have an error talking to the kernel",
            "RTNETLINK answers: No such file or directory",
        ] {
            assert!(is_unknown(said), "{said}");
        }
        for said in ["RTNETLINK answers: Operation not permitted", "Cannot find device \"lo\""] {
            assert!(!is_unknown(said), "{said}");
        }
    }
}
