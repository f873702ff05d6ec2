//! What travels to the agents, and what their checks return together.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sixmark_document::provenance::RouteTaken;
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::wire_form::WirePlan;
use sixmark_sys::command_error::CommandError;

use crate::messages::{WireFile, WireLoad};

/// Returns the plan with the files that it names, as agents get it.
pub(super) fn wire_load(plan: &Plan) -> Result<WireLoad, CommandError> {
    let named = plan.tls.as_ref().map(|tls| tls.files()).unwrap_or_default();
    let read = |name: &str| match std::fs::read(name) {
        Ok(content) => Ok(WireFile { name: name.to_owned(), base64: STANDARD.encode(content) }),
        Err(error) => Err(CommandError::Usage(format!("can't read '{name}': {error}"))),
    };
    let files = named.into_iter().map(read).collect::<Result<_, _>>()?;
    Ok(WireLoad { plan: WirePlan::of(plan), files })
}

/// Returns the routes of all agents, each target once: from different places, only the lowest path
/// MTU is common to all.
pub(super) fn routes_of_all(routes: &[Vec<RouteTaken>]) -> Vec<RouteTaken> {
    let mut each: BTreeMap<SocketAddr, RouteTaken> = BTreeMap::new();
    for route in routes.iter().flatten() {
        let known = each.entry(route.to).or_insert_with(|| route.clone());
        known.mtu = [known.mtu, route.mtu].into_iter().flatten().min();
        known.from = known.from.filter(|from| Some(*from) == route.from);
    }
    each.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_agent_routes_to_a_target_and_keeps_the_smallest_mtu() {
        let to = "[2001:db8::1]:80".parse().unwrap();
        let route = |from: &str, mtu| RouteTaken { to, from: from.parse().ok(), mtu: Some(mtu) };
        let all = [vec![route("::1", 1500)], vec![route("::2", 1400)], vec![]];
        let found = routes_of_all(&all);
        assert_eq!((found.len(), found[0].mtu, found[0].from), (1, Some(1400), None));
    }
}
