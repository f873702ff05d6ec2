//! The gates of a document, and their results.

use sixmark_result::gate_result::GateResult;

use sixmark_sheet::table::{Column, Row, Table};
use sixmark_sheet::{Block, Part};

/// Returns a table with a row for each gate, or `None` if there are no gates.
pub fn gates_part(gates: &[GateResult]) -> Option<Part> {
    let row = |gate: &GateResult| {
        let met = if gate.failed { "✗ failed" } else { "✓ passed" };
        Row::new(gate.fail_if.as_str(), vec![met.into(), gate.because.as_str().into()])
    };
    let columns = ["Fails if", "Outcome", "Because"].map(Column::words).into();
    let rows = gates.iter().map(row).collect();
    let table = Table::new("Gates", columns, rows);
    let blocks = if gates.is_empty() { Vec::new() } else { vec![Block::Table(table)] };
    Part::new("Gates", blocks).map(Part::open)
}
