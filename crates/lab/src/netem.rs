//! Detection of netem in the kernel.

use std::io;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use sixmark_sys::netns::NetNs;

use crate::needs::TC;

/// Returns whether the kernel has netem. The result comes from a single trial in a separate network
/// namespace. A kernel with netem as a module may load it; nothing else on the machine changes.
///
/// # Errors
/// Returns one line that explains why the trial failed, for example because `tc` is missing or the
/// process may not create a namespace.
pub fn is_there() -> Result<bool, String> {
    static FOUND: OnceLock<Result<bool, String>> = OnceLock::new();
    FOUND.get_or_init(|| try_out().map_err(|error| error.to_string())).clone()
}

fn try_out() -> io::Result<bool> {
    NetNs::create()?.within(|| {
        let words = "qdisc add dev lo root netem delay 1ms";
        let mut tc = Command::new(TC.0);
        tc.args(words.split(' ')).env("LC_ALL", "C").stdin(Stdio::null());
        let output = tc.output().map_err(|error| missing(&error))?;
        if output.status.success() {
            return Ok(true);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        // The messages of the kernel for an unknown queueing discipline.
        match said.contains("qdisc kind is unknown") || said.contains("No such file") {
            true => Ok(false),
            false => Err(io::Error::other(format!("tc {words}: {}", said.trim()))),
        }
    })
}

fn missing(error: &io::Error) -> io::Error {
    let (program, package) = TC;
    let line = format!("{program} can't be started ({error}); it is in the package {package}");
    io::Error::new(error.kind(), line)
}
