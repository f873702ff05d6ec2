//! The results of `--fail-if`, one line each.

use std::fmt::Write as _;

use sixmark_result::gate_result::GateResult;

/// Formats every gate with the figures that decided it; empty if there are no gates.
pub fn gate_lines(gates: &[GateResult]) -> String {
    let mut text = String::new();
    for gate in gates {
        let _ = writeln!(text, "{}", gate_line(gate));
    }
    text
}

/// Formats one gate: `FAILED: --fail-if 'a.response.p99 > 10ms': a.response.p99 is 12.3 ms`.
pub fn gate_line(gate: &GateResult) -> String {
    let result = if gate.failed { "FAILED" } else { "passed" };
    format!("{result}: --fail-if '{}': {}", gate.fail_if, gate.because)
}
