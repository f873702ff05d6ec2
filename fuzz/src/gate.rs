//! Gates: no text uses up the stack or panics, what is refused is told in one line that points into
//! the text, and what is read is written so that it reads the same.

use sixmark_compare::gate::{Gate, GateNames, MOST_BYTES};
use sixmark_result::condition::Condition;
use sixmark_units::family::Family;

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let known = [
        GateNames::of_run(Family::BOTH),
        GateNames::of_run([Family::Ipv6]),
        GateNames::of_comparison("ipv6", "ipv4"),
        GateNames::of_comparison("s", "ms"),
    ];
    known.iter().for_each(|known| read(text, known));
    if let Ok(condition) = text.parse::<Condition>() {
        assert_eq!(condition.to_string().parse(), Ok(condition), "{condition}");
    }
}

fn read(text: &str, known: &GateNames) {
    let gate = match Gate::parse(text, known) {
        Ok(gate) => gate,
        Err(wrong) => {
            assert!((1..=text.chars().count() + 1).contains(&wrong.column), "{wrong}");
            assert!(!wrong.to_string().contains(['\n', '\r']), "{wrong}");
            return;
        }
    };
    // Blanks that were left out are written, so that it may become too long.
    let written = gate.to_string();
    if written.len() <= MOST_BYTES {
        let again = Gate::parse(&written, known);
        assert!(again.as_ref().is_ok_and(|again| again.means(&gate)), "{written}: {again:?}");
    }
}
