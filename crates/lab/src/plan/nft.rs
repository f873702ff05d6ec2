//! The packet filter rules of a host, as a file for `nft -f`.
//!
//! "Packet too big" messages are dropped in the host that sends or forwards them over the link. A
//! bridge cannot drop them, so a lab file that requests this is rejected.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::link::LabNode;
use super::{Forward, Lab, Nat44};
use sixmark_units::family::Family;

/// Returns the rules of a host, or `None` if it needs none.
pub fn rules(lab: &Lab, host: usize) -> Option<String> {
    let of = lab.hosts.get(host)?;
    let mut text = String::new();
    if let Some(nat) = &of.nat44 {
        text += &chain("ip", "before", "nat", "prerouting", "dstnat", &forwards(lab, host, nat));
        text += &chain("ip", "after", "nat", "postrouting", "srcnat", &masquerades(nat));
    }
    let drops = drops(lab, host);
    let mut passing = clamps(of.clamp_mss);
    passing.extend_from_slice(&drops);
    text += &chain("inet", "passing", "filter", "forward", "filter", &passing);
    text += &chain("inet", "own", "filter", "output", "filter", &drops);
    (!text.is_empty()).then_some(text)
}

/// Returns a chain in its table, or an empty string if there are no rules. A table may be declared
/// several times.
fn chain(
    family: &str,
    name: &str,
    kind: &str,
    hook: &str,
    priority: &str,
    rules: &[String],
) -> String {
    if rules.is_empty() {
        return String::new();
    }
    let mut text = format!("table {family} sixmark {{\n\tchain {name} {{\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\t\ttype {kind} hook {hook} priority {priority}; policy accept;");
    for rule in rules {
        let _ = writeln!(text, "\t\t{rule}");
    }
    text + "\t}\n}\n"
}

/// Returns the port forwarding rules. They apply to all IPv4 addresses of the host, whatever the
/// source.
fn forwards(lab: &Lab, host: usize, nat: &Nat44) -> Vec<String> {
    let all = lab.ends(host).flat_map(|end| &end.addresses).map(|net| net.address);
    let own: Vec<String> = all.filter(IpAddr::is_ipv4).map(|own| own.to_string()).collect();
    let own = own.join(", ");
    let line = |protocol: &str, forward: &Forward| {
        let address = lab.address(lab.host(&forward.to)?, Family::Ipv4)?;
        let (port, to_port) = (forward.port, forward.to_port);
        Some(format!("ip daddr {{ {own} }} {protocol} dport {port} dnat to {address}:{to_port}"))
    };
    let both = |forward| ["tcp", "udp"].into_iter().filter_map(move |p| line(p, forward));
    nat.forward.iter().flat_map(both).collect()
}

fn masquerades(nat: &Nat44) -> Vec<String> {
    nat.masquerade.iter().map(|name| format!("oifname \"{name}\" masquerade")).collect()
}

/// Returns the MSS clamping rule. The kernel uses the smaller MTU of the routes in both directions.
fn clamps(wanted: bool) -> Vec<String> {
    let rule = "tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu";
    wanted.then(|| rule.to_owned()).into_iter().collect()
}

/// Returns the rules that drop "packet too big" messages on links that are configured to lose them.
fn drops(lab: &Lab, host: usize) -> Vec<String> {
    let mut found = Vec::new();
    for link in &lab.links {
        for (end, toward) in link.ends.iter().zip(&link.toward) {
            let families = toward.drops_too_big.iter().filter(|(_, drops)| **drops);
            for (family, _) in families.filter(|_| end.node == LabNode::Host(host)) {
                let message = message(family);
                found.push(format!("oifname \"{}\" {message} counter drop", end.interface));
            }
        }
    }
    found
}

/// Returns the match for "packet too big" messages of a family.
fn message(family: Family) -> &'static str {
    match family {
        Family::Ipv6 => "icmpv6 type packet-too-big",
        Family::Ipv4 => "icmp type destination-unreachable icmp code frag-needed",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lab;
    use super::*;

    fn rules_of(text: &str, host: &str) -> Option<String> {
        let lab = lab(text);
        rules(&lab, lab.host(host).unwrap())
    }

    const NAT: &str = r#"
name = "nat"
[hosts.client]
[hosts.home]
forwards = true
nat44 = { masquerade = ["server"], forward = [{ port = 8080, to = "client", to-port = 80 }] }
[hosts.server]
[links]
a = ["client", "home"]
b = ["home", "server"]
"#;

    #[test]
    fn writes_no_rules_for_a_host_without_nat_or_filters() {
        assert_eq!(rules_of(NAT, "client"), None);
    }

    #[test]
    fn writes_rules_for_dnat_and_masquerading() {
        assert_eq!(
            rules_of(NAT, "home").unwrap(),
            "table ip sixmark {\n\
             \tchain before {\n\
             \t\ttype nat hook prerouting priority dstnat; policy accept;\n\
             \t\tip daddr { 10.0.1.2, 10.0.2.1 } tcp dport 8080 dnat to 10.0.1.1:80\n\
             \t\tip daddr { 10.0.1.2, 10.0.2.1 } udp dport 8080 dnat to 10.0.1.1:80\n\
             \t}\n}\n\
             table ip sixmark {\n\
             \tchain after {\n\
             \t\ttype nat hook postrouting priority srcnat; policy accept;\n\
             \t\toifname \"server\" masquerade\n\
             \t}\n}\n"
        );
    }

    #[test]
    fn drops_packet_too_big_on_the_host_that_sends_over_the_link() {
        let text = "name = \"hole\"\n[hosts.a]\n[hosts.r]\nforwards = true\nclamp-mss = true\n[links]\n\
                    x = { between = [\"a\", \"r\"], toward.a.ipv6.packet_too_big = \"drop\" }\n";
        let rules = rules_of(text, "r").unwrap();
        let drop = "oifname \"a\" icmpv6 type packet-too-big counter drop";
        assert_eq!(rules.matches(drop).count(), 2, "passed on, and its own: {rules}");
        assert!(rules.contains("maxseg size set rt mtu"), "{rules}");
        assert!(!rules.contains("icmp type"), "of IPv6 alone: {rules}");
        assert_eq!(rules_of(text, "a"), None);
    }
}
