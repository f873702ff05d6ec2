//! What became of `--fail-if`, a line each.

use std::fmt::Write as _;

use crate::gate_result::GateResult;

/// Every gate with the figures that decided it; nothing of none.
pub fn gate_lines(gates: &[GateResult]) -> String {
    let mut text = String::new();
    for gate in gates {
        let _ = writeln!(text, "{}", gate_line(gate));
    }
    text
}

/// `FAILED: a.response.p99 > 10ms: a.response.p99 is 12.3 ms`.
pub fn gate_line(gate: &GateResult) -> String {
    let result = if gate.failed { "FAILED" } else { "passed" };
    format!("{result}: --fail-if '{}': {}", gate.fail_if, gate.because)
}
