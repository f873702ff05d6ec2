//! Detection of netem in the kernel.

use std::sync::OnceLock;

use crate::traffic_control::try_tc;

/// Returns whether the kernel has netem. The result comes from a single trial in a separate network
/// namespace. A kernel with netem as a module may load it; nothing else on the machine changes.
///
/// # Errors
/// Returns one line that explains why the trial failed, for example because `tc` is missing or the
/// process may not create a namespace.
pub fn is_there() -> Result<bool, String> {
    static FOUND: OnceLock<Result<bool, String>> = OnceLock::new();
    let trial = || try_tc(&["qdisc add dev lo root netem delay 1ms"]);
    FOUND.get_or_init(|| trial().map_err(|error| error.to_string())).clone()
}
