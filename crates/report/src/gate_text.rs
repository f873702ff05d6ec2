//! The results of `--fail-if`, one line each.

use std::fmt::Write as _;

use sixmark_result::gate_result::GateResult;

/// Writes an empty line and a line for each gate, with the figures that decided it; nothing if there
/// are no gates.
pub fn write_gates(text: &mut String, gates: &[GateResult]) {
    for (at, gate) in gates.iter().enumerate() {
        let apart = if at == 0 { "\n" } else { "" };
        let _ = writeln!(text, "{apart}{}", gate_line(gate));
    }
}

/// Formats one gate: `FAILED: --fail-if 'a.response.p99 > 10ms': a.response.p99 is 12.3 ms`.
pub fn gate_line(gate: &GateResult) -> String {
    let result = if gate.failed { "FAILED" } else { "passed" };
    format!("{result}: --fail-if '{}': {}", gate.fail_if, gate.because)
}
