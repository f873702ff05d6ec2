//! The network of a scenario, as the file of a lab: a client, a router that translates and answers queries, a
//! server, and the backend of a proxy.
//!
//! Addresses are those of documentation (RFC 3849, RFC 5737).

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sixmark_units::family::Family;

use crate::app_scenario::{AppScenario, NodeAccess, ScenarioTwist};
use crate::app_start::ServerWay;

/// The server's name.
pub const SITE: &str = "www.test";
/// The name of the backend.
pub const BACKEND_NAME: &str = "backend.test";
/// The host of the client.
pub const CLIENT: &str = "client";
/// The host of the router.
pub const ROUTER: &str = "router";
/// The host of the server.
pub const SERVER: &str = "server";
/// The host of the backend.
pub const BACKEND: &str = "backend";
/// The prefix of the NAT64.
pub const NAT64: Ipv6Addr = Ipv6Addr::new(0xfd64, 0, 0, 0, 0, 0, 0, 0);
/// The prefix of the client's CLAT.
pub const CLAT: Ipv6Addr = Ipv6Addr::new(0xfd46, 0, 0, 0, 0, 0, 0, 0);
/// The IPv4 address of a server with IPv6 alone, at the translator.
pub const AT_TRANSLATOR: Ipv4Addr = Ipv4Addr::new(192, 168, 255, 80);

/// The network of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioNetwork {
    /// The scenario.
    pub scenario: &'static AppScenario,
    /// What the backend of a proxy has; `None` without one.
    pub backend: Option<NodeAccess>,
}

/// A host of the network: its name, what it has, and the number of its link.
#[derive(Clone, Copy, Debug)]
struct ScenarioNode {
    name: &'static str,
    access: NodeAccess,
    link: u16,
}

/// Returns the address of a host's end of its link.
pub fn host_address(host: &str, family: Family) -> IpAddr {
    link_address(link_number(host), family, 80)
}

/// Returns the addresses that a host with this access has on its link.
pub fn link_addresses(host: &str, access: NodeAccess) -> Vec<IpAddr> {
    let own = Family::BOTH.into_iter().filter(|of| access.has_address(*of));
    own.map(|of| host_address(host, of)).collect()
}

/// Returns the IPv6 address that stands for an IPv4 address behind the NAT64 (RFC 6052, 2.2).
pub fn translated(address: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from(u128::from(NAT64) | u128::from(u32::from(address)))
}

impl ScenarioNetwork {
    /// Returns the addresses of the server's name: those of the server or, if IPv4 reaches it through a
    /// translator, with that of the translator.
    pub fn site_addresses(&self) -> Vec<IpAddr> {
        let mut all = link_addresses(SERVER, self.scenario.server);
        if self.scenario.server == NodeAccess::Nat64 {
            all.push(AT_TRANSLATOR.into());
        }
        all
    }

    /// Returns the ways from the client to the server, each with the address to which the client connects.
    pub fn server_ways(&self) -> Vec<(ServerWay, IpAddr)> {
        let AppScenario { client, server, .. } = *self.scenario;
        let native = |family| host_address(SERVER, family);
        let is_native = |family| client.has_stack(family) && server.has_address(family);
        let mut ways = Vec::new();
        if is_native(Family::Ipv6) {
            ways.push((ServerWay::Ipv6, native(Family::Ipv6)));
        }
        match (client, server) {
            (NodeAccess::Clat, _) if is_native(Family::Ipv4) => {
                ways.push((ServerWay::Clat, native(Family::Ipv4)));
            }
            _ if is_native(Family::Ipv4) => ways.push((ServerWay::Ipv4, native(Family::Ipv4))),
            (NodeAccess::Ipv4Only, NodeAccess::Nat64) => {
                ways.push((ServerWay::SiitDc, AT_TRANSLATOR.into()));
            }
            (NodeAccess::Nat64, _) if ways.is_empty() => {
                if let IpAddr::V4(address) = native(Family::Ipv4) {
                    ways.push((ServerWay::Nat64, translated(address).into()));
                }
            }
            _ => {}
        }
        ways
    }

    fn nodes(&self) -> Vec<ScenarioNode> {
        let node = |name, access| ScenarioNode { name, access, link: link_number(name) };
        let own = [node(CLIENT, self.scenario.client), node(SERVER, self.scenario.server)];
        own.into_iter().chain(self.backend.map(|of| node(BACKEND, of))).collect()
    }

    /// Returns the file of the network's lab.
    pub fn lab_text(&self) -> String {
        let mut text = "name = \"only6\"\n".to_owned();
        self.add_router(&mut text);
        for node in self.nodes() {
            add_node(&mut text, node);
        }
        let quoted = |all: Vec<IpAddr>| {
            all.iter().map(|of| format!("\"{of}\"")).collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(text, "[names]\n\"{SITE}\" = [{}]", quoted(self.site_addresses()));
        if let Some(access) = self.backend {
            let addresses = quoted(link_addresses(BACKEND, access));
            let _ = writeln!(text, "\"{BACKEND_NAME}\" = [{addresses}]");
        }
        self.add_rules(&mut text);
        text
    }

    fn add_router(&self, text: &mut String) {
        let has = |access| self.nodes().iter().any(|of| of.access == access);
        let is_client = |access| self.scenario.client == access;
        let maps = match self.scenario.server {
            NodeAccess::Nat64 => {
                format!("maps = [{{ ipv4 = \"{AT_TRANSLATOR}\", to = \"{SERVER}\" }}]")
            }
            _ => String::new(),
        };
        let translates = has(NodeAccess::Nat64) || has(NodeAccess::Clat);
        let _ = writeln!(text, "[hosts.{ROUTER}]\nforwards = true");
        if translates {
            let _ = writeln!(text, "nat64 = {{ {maps} }}");
        }
        let names = match is_client(NodeAccess::Nat64) {
            true => "dns64 = {}",
            false => "name-server = true",
        };
        let _ = writeln!(text, "{names}");
    }

    /// Adds what the router does with packets to the server's IPv6 address.
    fn add_rules(&self, text: &mut String) {
        let address = host_address(SERVER, Family::Ipv6);
        let rules = match self.scenario.twist {
            ScenarioTwist::Plain | ScenarioTwist::Ipv6Literal => return,
            ScenarioTwist::SilentIpv6 => format!("ip -6 route add blackhole {address}/128\n"),
            ScenarioTwist::RefusedIpv6 => format!(
                "nft add table inet only6\n\
                 nft 'add chain inet only6 forward {{ type filter hook forward priority 0; }}'\n\
                 nft 'add rule inet only6 forward ip6 daddr {address} meta l4proto tcp reject with tcp reset'\n"
            ),
        };
        let _ = write!(
            text,
            "[services.{ROUTER}]\nhost = \"{ROUTER}\"\n\
             command = [\"sh\", \"-e\", \"{{dir}}/rules\"]\nready = {{ line = \"ready\" }}\n\
             [services.{ROUTER}.files]\nrules = '''\n{rules}echo ready\nexec sleep infinity\n'''\n"
        );
    }
}

/// Returns the number of a host's link.
fn link_number(host: &str) -> u16 {
    match host {
        CLIENT => 1,
        SERVER => 2,
        _ => 3,
    }
}

fn link_address(link: u16, family: Family, last: u8) -> IpAddr {
    match (family, link) {
        (Family::Ipv6, _) => Ipv6Addr::new(0x2001, 0xdb8, link, 0, 0, 0, 0, last.into()).into(),
        (Family::Ipv4, 1) => Ipv4Addr::new(198, 51, 100, last).into(),
        (Family::Ipv4, 2) => Ipv4Addr::new(203, 0, 113, last).into(),
        (Family::Ipv4, _) => Ipv4Addr::new(192, 0, 2, last).into(),
    }
}

fn add_node(text: &mut String, node: ScenarioNode) {
    let ScenarioNode { name, access, link } = node;
    let quoted = |all: &[Family]| {
        all.iter().map(|of| format!("\"{}\"", of.word())).collect::<Vec<_>>().join(", ")
    };
    let families: Vec<Family> =
        Family::BOTH.into_iter().filter(|of| access.has_address(*of)).collect();
    let stacks: Vec<Family> = Family::BOTH.into_iter().filter(|of| access.has_stack(*of)).collect();
    let resolver = if name == BACKEND { "" } else { "resolver = \"router\"\n" };
    let clat = if access == NodeAccess::Clat { "clat = {}\n" } else { "" };
    let stacks =
        if stacks.len() == 2 { String::new() } else { format!("stacks = [{}]\n", quoted(&stacks)) };
    let ends = |last: u8| {
        let of = |family: &Family| {
            let length = if *family == Family::Ipv6 { 64 } else { 24 };
            format!("\"{}/{length}\"", link_address(link, *family, last))
        };
        families.iter().map(of).collect::<Vec<_>>().join(", ")
    };
    // As in other networks: packets to any address are sent, and the router reports that it has no way.
    let default = |family: &Family| {
        format!("{{ to = \"default\", via = \"{}\" }}", link_address(link, *family, 254))
    };
    let defaults: Vec<String> = families.iter().map(default).collect();
    let routes = format!("routes = [{}]\n", defaults.join(", "));
    let _ = write!(
        text,
        "[hosts.{name}]\nfamilies = [{}]\n{stacks}{resolver}{clat}{routes}\
         [links.{name}]\nbetween = [\"{name}\", \"{ROUTER}\"]\n\
         at.{name}.addresses = [{}]\nat.{ROUTER}.addresses = [{}]\n",
        quoted(&families),
        ends(80),
        ends(254)
    );
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::app_scenario::SCENARIOS;

    #[test]
    fn the_lab_of_each_scenario_is_without_a_mistake() {
        let backends = [None, Some(NodeAccess::DualStack), Some(NodeAccess::Ipv6Strict)];
        for (scenario, backend) in
            SCENARIOS.iter().flat_map(|of| backends.map(|backend| (of, backend)))
        {
            let text = ScenarioNetwork { scenario, backend }.lab_text();
            let parsed = sixmark_lab::plan::parse_lab(&text, None, &BTreeMap::new());
            assert!(parsed.is_ok(), "{}: {:?}\n{text}", scenario.name, parsed.err());
        }
    }

    #[test]
    fn each_scenario_has_the_ways_of_its_families() {
        for scenario in &SCENARIOS {
            let ways = ScenarioNetwork { scenario, backend: None }.server_ways();
            let plain = AppScenario { twist: ScenarioTwist::Plain, ..*scenario };
            let expected = Family::BOTH.iter().filter(|of| plain.has_way(**of)).count();
            assert_eq!(ways.len(), expected, "{}: {ways:?}", scenario.name);
        }
    }

    #[test]
    fn addresses_behind_the_translator_have_its_prefix() {
        let address = translated(Ipv4Addr::new(203, 0, 113, 80));
        assert_eq!(address.to_string(), "fd64::cb00:7150");
    }
}
