//! Plans of a peer: what is refused is told in one line, and what is read is carried so that it
//! reads the same.

use sixmark_plan::plan::wire_form::WirePlan;

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    let Ok(carried) = serde_json::from_slice::<WirePlan>(input) else { return };
    let plan = match carried.plan() {
        Ok(plan) => plan,
        Err(wrong) => return assert!(!wrong.contains(['\n', '\r']), "{wrong}"),
    };
    let written = serde_json::to_vec(&WirePlan::of(&plan)).unwrap_or_default();
    let again = serde_json::from_slice::<WirePlan>(&written).map(WirePlan::plan);
    let again = again.map_err(|error| error.to_string()).flatten();
    let sent = again.map(|again| (again.requests, again.load.pace));
    assert_eq!(sent, Ok((plan.requests, plan.load.pace)));
}
