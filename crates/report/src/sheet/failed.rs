//! What failed altogether: gates, and all requests of a side.

use sixmark_result::gate_result::GateResult;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::outcome::Outcome;

use super::side::{Side, Sides};
use sixmark_sheet::write;
use sixmark_units::quantity::counted;

/// The most failed gates that are named.
const MOST_GATES: usize = 3;

/// Returns what failed altogether, in words that follow "failed: ": each failed gate with the
/// figures that decided it, and each side of which every request failed.
pub fn failed_altogether(sides: &Sides<'_>, gates: &[GateResult]) -> Vec<String> {
    failed_gates(gates).into_iter().chain(failed_sides(sides)).collect()
}

/// Returns the failed gates, in the same words.
pub fn failed_gates(gates: &[GateResult]) -> Vec<String> {
    describe_failed(gates, |gate| format!("gate `{}`: {}", gate.fail_if, gate.because))
}

/// Returns a note that names the failed gates, where the headline says why they can't be determined:
/// the other ones with the figures that decided them. `None` if none failed.
pub fn name_failed_gates(gates: &[GateResult]) -> Option<String> {
    let named = describe_failed(gates, |gate| {
        if gate.is_determined() {
            format!("`{}`: {}", gate.fail_if, gate.because)
        } else {
            format!("`{}`", gate.fail_if)
        }
    });
    (!named.is_empty()).then(|| format!("Failed gates: {}.", named.join("; ")))
}

/// Describes the first failed gates, and counts the others.
fn describe_failed(gates: &[GateResult], describe: impl Fn(&GateResult) -> String) -> Vec<String> {
    let failed: Vec<&GateResult> = gates.iter().filter(|gate| gate.failed).collect();
    let shown = failed.iter().take(MOST_GATES).map(|gate| describe(gate));
    let more = failed.len().saturating_sub(MOST_GATES);
    let more = (more > 0).then(|| counted(more as u64, "more gate", "more gates"));
    shown.chain(more).collect()
}

fn failed_sides(sides: &Sides<'_>) -> Vec<String> {
    let all_failed = |side: &&Side<'_>| {
        side.figures.ended() > 0 && side.figures.failed() >= side.figures.ended()
    };
    let said = |side: &Side<'_>| {
        let number = match side.figures.ended() {
            1 => "the only request".to_owned(),
            ended => format!("all {} requests", write::write_count(ended)),
        };
        let how = usual_failure(side.figures).map_or(String::new(), |how| format!(" ({how})"));
        format!("{number} over {}{how}", side.name)
    };
    sides.all.iter().filter(all_failed).map(said).collect()
}

/// Returns the most frequent failure of figures in words, or a status.
fn usual_failure(of: &FamilyResult) -> Option<String> {
    let others = of.failures.iter().filter(|of| of.failure.outcome != Outcome::Abandoned);
    let kinds = others.map(|of| (of.count, of.failure.spoken(None)));
    let status = of.status.iter().max_by_key(|(_, count)| **count);
    let status = status.map(|(code, count)| (*count, format!("status {code}")));
    kinds.chain(status).max_by_key(|(count, _)| *count).map(|(_, how)| how)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_result::fixture;

    fn gate(failed: bool) -> GateResult {
        let because = "response.p99 is 12.0 ms".to_owned();
        GateResult { fail_if: "response.p99 > 1ms".to_owned(), failed, because }
    }

    #[test]
    fn failed_gates_are_named_with_their_figures() {
        let said = "gate `response.p99 > 1ms`: response.p99 is 12.0 ms";
        assert_eq!(failed_gates(&[gate(false), gate(true)]), [said]);
        assert!(failed_gates(&[gate(false)]).is_empty());
        let many = failed_gates(&vec![gate(true); 5]);
        assert_eq!((many.len(), many[3].as_str()), (4, "2 more gates"));
    }

    #[test]
    fn names_a_side_whose_requests_all_failed_and_the_main_failure() {
        let mut run = fixture::run();
        assert!(failed_altogether(&Sides::of_families(&run), &run.gates).is_empty());
        let figures = run.families.ipv6.as_mut().unwrap();
        (figures.requests.unaccepted, figures.status) = (990, [(503, 990)].into());
        let said = failed_altogether(&Sides::of_families(&run), &[gate(true)]);
        let gate = "gate `response.p99 > 1ms`: response.p99 is 12.0 ms";
        assert_eq!(said, [gate, "all 1,000 requests over IPv6 (status 503)"]);
        run.families.ipv6 = Some(fixture::silent());
        assert!(failed_altogether(&Sides::of_families(&run), &[]).is_empty());
    }
}
