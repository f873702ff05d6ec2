//! Whether this kernel has netem.

use std::io;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use sixmark_sys::netns::NetNs;

/// Whether the kernel has netem, tried out once in a namespace of its own. A kernel that keeps it in a
/// module loads that, where it may; nothing else of the machine changes.
///
/// # Errors
/// In a line: why that can't be told; `tc` is missing, or the right to make a namespace.
pub fn is_there() -> Result<bool, String> {
    static FOUND: OnceLock<Result<bool, String>> = OnceLock::new();
    FOUND.get_or_init(|| try_out().map_err(|error| error.to_string())).clone()
}

fn try_out() -> io::Result<bool> {
    NetNs::create()?.within(|| {
        let words = "qdisc add dev lo root netem delay 1ms";
        let mut tc = Command::new("tc");
        tc.args(words.split(' ')).env("LC_ALL", "C").stdin(Stdio::null());
        let output = tc.output().map_err(|error| missing(&error))?;
        if output.status.success() {
            return Ok(true);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        // The kernel's own words for a queueing discipline that it does not have.
        match said.contains("qdisc kind is unknown") || said.contains("No such file") {
            true => Ok(false),
            false => Err(io::Error::other(format!("tc {words}: {}", said.trim()))),
        }
    })
}

fn missing(error: &io::Error) -> io::Error {
    let line = format!("tc can't be started ({error}); it is in the package iproute2");
    io::Error::new(error.kind(), line)
}
