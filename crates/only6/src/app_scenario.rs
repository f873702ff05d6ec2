//! The scenarios in which a program is run: what client and server have, and what is wrong with the network.
//!
//! The first ten are those of draft-ietf-v6ops-ipv6-app-testing-05, Table 1, in its order. The others are
//! from its sections 3.2 and 3.3, or from RFC 6877.

use sixmark_units::family::Family;

/// What a node of a scenario has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeAccess {
    /// IPv4 alone. Its system has no stack of IPv6.
    Ipv4Only,
    /// Both families.
    DualStack,
    /// IPv6 alone, with NAT64. A client has DNS64 too; a server has an IPv4 address at the translator
    /// (SIIT-DC, RFC 7755). Its system has no stack of IPv4.
    Nat64,
    /// IPv6 alone, without translation. Its system has no stack of IPv4.
    Ipv6Strict,
    /// IPv6 with NAT64, and IPv4 by a CLAT in the node (464XLAT, RFC 6877), as in an IPv6-mostly network.
    Clat,
}

impl NodeAccess {
    /// Returns true if programs of the node can open sockets of a family.
    pub fn has_stack(self, family: Family) -> bool {
        matches!(
            (self, family),
            (NodeAccess::DualStack | NodeAccess::Clat, _)
                | (NodeAccess::Ipv4Only, Family::Ipv4)
                | (NodeAccess::Nat64 | NodeAccess::Ipv6Strict, Family::Ipv6)
        )
    }

    /// Returns true if the node has an address of a family on its link.
    pub fn has_address(self, family: Family) -> bool {
        match self {
            NodeAccess::Clat => family == Family::Ipv6,
            other => other.has_stack(family),
        }
    }

    /// Returns its name, in the words of the draft.
    pub fn words(self) -> &'static str {
        match self {
            NodeAccess::Ipv4Only => "IPv4-only",
            NodeAccess::DualStack => "dual-stack",
            NodeAccess::Nat64 => "IPv6-only with NAT64",
            NodeAccess::Ipv6Strict => "IPv6-only-strict",
            NodeAccess::Clat => "464XLAT",
        }
    }
}

/// How the draft classifies a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioClass {
    /// It covers a major code path.
    Base,
    /// A data centre of IPv6 alone.
    Ipv6OnlyDc,
    /// It seldom shows more than the base.
    Extended,
    /// Not in the draft's table.
    Beyond,
}

impl ScenarioClass {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            ScenarioClass::Base => "base",
            ScenarioClass::Ipv6OnlyDc => "IPv6-only-DC",
            ScenarioClass::Extended => "extended",
            ScenarioClass::Beyond => "beyond",
        }
    }
}

/// What is different in a scenario beside the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioTwist {
    /// Nothing.
    Plain,
    /// Packets to the server's IPv6 address are lost.
    SilentIpv6,
    /// The server's name has an IPv6 address at which nobody listens.
    RefusedIpv6,
    /// The client's URL has the server's IPv6 address instead of its name.
    Ipv6Literal,
}

/// Whose program is run in a scenario, if it is one of the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioSide {
    /// Client or server.
    Either,
    /// A client, or a server as the client of its backend.
    ClientOnly,
}

/// A scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppScenario {
    /// Its name.
    pub name: &'static str,
    /// What the client has.
    pub client: NodeAccess,
    /// What the server has.
    pub server: NodeAccess,
    /// What is different beside these.
    pub twist: ScenarioTwist,
    /// How the draft classifies it.
    pub class: ScenarioClass,
    /// The programs that it is for.
    pub side: ScenarioSide,
    /// What it is, for people.
    pub about: &'static str,
}

impl AppScenario {
    /// Returns the scenario of this name.
    pub fn named(name: &str) -> Option<&'static AppScenario> {
        SCENARIOS.iter().find(|of| of.name == name)
    }

    /// Returns true if it is one of those that `--quick` runs: the base of the draft and its data centre.
    pub fn is_quick(&self) -> bool {
        matches!(self.class, ScenarioClass::Base | ScenarioClass::Ipv6OnlyDc)
            || self.twist == ScenarioTwist::Ipv6Literal
    }

    /// Returns the families of the addresses that the server's name has for the client, without translation.
    pub fn served_families(&self) -> Vec<Family> {
        Family::BOTH.into_iter().filter(|of| self.server.has_address(*of)).collect()
    }

    /// Returns true if a client without faults gets an answer from the server over a family of its own stack.
    pub fn has_way(&self, family: Family) -> bool {
        let has_both = self.client.has_stack(family) && self.server.has_address(family);
        let is_translated = match (self.client, family) {
            (NodeAccess::Nat64, Family::Ipv6) => self.server.has_address(Family::Ipv4),
            (NodeAccess::Ipv4Only, Family::Ipv4) => self.server == NodeAccess::Nat64,
            _ => false,
        };
        let is_dead = family == Family::Ipv6
            && matches!(self.twist, ScenarioTwist::SilentIpv6 | ScenarioTwist::RefusedIpv6);
        (has_both || is_translated) && !is_dead
    }
}

const fn scenario(
    name: &'static str,
    client: NodeAccess,
    server: NodeAccess,
    class: ScenarioClass,
    about: &'static str,
) -> AppScenario {
    let (twist, side) = (ScenarioTwist::Plain, ScenarioSide::Either);
    AppScenario { name, client, server, twist, class, side, about }
}

const fn twisted(
    name: &'static str,
    client: NodeAccess,
    twist: ScenarioTwist,
    about: &'static str,
) -> AppScenario {
    AppScenario {
        name,
        client,
        server: NodeAccess::DualStack,
        twist,
        class: ScenarioClass::Beyond,
        side: ScenarioSide::ClientOnly,
        about,
    }
}

use NodeAccess::{Clat, DualStack, Ipv4Only, Ipv6Strict, Nat64};
use ScenarioClass::{Base, Beyond, Extended, Ipv6OnlyDc};

/// All scenarios.
pub const SCENARIOS: [AppScenario; 14] = [
    scenario(
        "dual-to-ipv4",
        DualStack,
        Ipv4Only,
        Base,
        "a dual-stack client, a server with IPv4 alone",
    ),
    scenario(
        "dual-to-ipv6",
        DualStack,
        Ipv6Strict,
        Base,
        "a dual-stack client, a server with IPv6 alone",
    ),
    scenario("ipv4-to-dual", Ipv4Only, DualStack, Base, "a client with IPv4 alone"),
    scenario(
        "nat64-to-ipv4",
        Nat64,
        Ipv4Only,
        Base,
        "a client with IPv6 alone, NAT64 and DNS64; a server with IPv4 alone",
    ),
    scenario(
        "ipv6-to-dual",
        Ipv6Strict,
        DualStack,
        Base,
        "a client with IPv6 alone and no translation",
    ),
    scenario(
        "ipv4-to-ipv6-dc",
        Ipv4Only,
        Nat64,
        Ipv6OnlyDc,
        "a client with IPv4 alone, a server with IPv6 alone behind SIIT-DC",
    ),
    scenario("dual-to-dual", DualStack, DualStack, Extended, "both with both families"),
    scenario("ipv4-to-ipv4", Ipv4Only, Ipv4Only, Extended, "both with IPv4 alone"),
    scenario(
        "nat64-to-ipv6",
        Nat64,
        Ipv6Strict,
        Extended,
        "a client with IPv6 alone, NAT64 and DNS64; a server with IPv6 alone",
    ),
    scenario(
        "ipv6-to-ipv6",
        Ipv6Strict,
        Ipv6Strict,
        Extended,
        "both with IPv6 alone and no translation",
    ),
    scenario(
        "clat-to-ipv4",
        Clat,
        Ipv4Only,
        Beyond,
        "a client in an IPv6-mostly network with 464XLAT, a server with IPv4 alone",
    ),
    twisted(
        "broken-to-dual",
        DualStack,
        ScenarioTwist::SilentIpv6,
        "a dual-stack client whose packets to the server's IPv6 address are lost",
    ),
    twisted(
        "refused-to-dual",
        DualStack,
        ScenarioTwist::RefusedIpv6,
        "a server that refuses connections to the IPv6 address of its name",
    ),
    twisted(
        "literal-to-dual",
        DualStack,
        ScenarioTwist::Ipv6Literal,
        "a URL with the server's IPv6 address in brackets",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_scenario_has_a_name_of_its_own_and_a_way() {
        let names: BTreeSet<&str> = SCENARIOS.iter().map(|of| of.name).collect();
        assert_eq!(names.len(), SCENARIOS.len());
        for of in SCENARIOS {
            assert!(Family::BOTH.iter().any(|family| of.has_way(*family)), "{}", of.name);
            assert_eq!(AppScenario::named(of.name), Some(&of));
        }
    }

    #[test]
    fn ways_are_those_of_stacks_and_translators() {
        let ways = |name: &str| {
            let of = AppScenario::named(name).unwrap();
            Family::BOTH.map(|family| of.has_way(family))
        };
        assert_eq!(ways("dual-to-dual"), [true, true]);
        assert_eq!(ways("dual-to-ipv6"), [true, false]);
        assert_eq!(ways("nat64-to-ipv4"), [true, false]);
        assert_eq!(ways("ipv4-to-ipv6-dc"), [false, true]);
        assert_eq!(ways("clat-to-ipv4"), [false, true]);
        assert_eq!(ways("broken-to-dual"), [false, true]);
    }
}
