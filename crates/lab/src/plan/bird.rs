//! The configuration of a BGP speaker, for bird 2.
//!
//! The speaker announces its own networks and those behind routers without BGP, and installs the
//! learned routes in the kernel. There is one session for each neighbour and family, between
//! addresses of that family.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::segment::segments;
use super::{Bgp, Lab, LabNode, routes};
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// The placeholder for the service's folder.
const FOLDER: &str = "{dir}";
/// The log line that shows that bird is running.
pub(super) const READY: &str = "Started";

/// A BGP speaker in the same segment as another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The index of the host in the lab.
    pub host: usize,
    /// The BGP settings of the neighbour.
    pub bgp: Bgp,
    /// The neighbour's address.
    pub address: IpAddr,
    /// The address of the host whose neighbour it is.
    pub own: IpAddr,
}

/// Returns the configuration of a host, or `None` if it is not a BGP speaker.
pub fn configuration(lab: &Lab, host: usize) -> Option<String> {
    let of = lab.hosts.get(host)?;
    let bgp = of.bgp?;
    let mut text = format!(
        "log stderr all;\n\
         router id {};\n\
         protocol device {{ scan time 1; }}\n\
         protocol direct {{ ipv4; ipv6; }}\n",
        router_id(host)
    );
    for family in Family::BOTH {
        let channel = family.word();
        let window = of.initial_window.map(|window| format!("krt_initcwnd = {window}; "));
        let window = window.unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "protocol kernel {{ {channel} {{ import none; export filter {{ \
             if source = RTS_BGP then {{ {window}accept; }} reject; }}; }}; }}"
        );
        let _ = writeln!(text, "protocol static {{ {channel};");
        for net in behind(lab, host, family) {
            // The kernel has its own route; this one is only announced.
            let _ = writeln!(text, "  route {net} blackhole;");
        }
        text += "}\n";
    }
    for (number, neighbour) in neighbours(lab, host).iter().enumerate() {
        text += &session(number, bgp, neighbour);
    }
    Some(text)
}

/// Returns the command that starts bird. All its files are in the service's folder.
pub(super) fn bird_command(file: &str) -> Vec<String> {
    let inside = |name: &str| format!("{FOLDER}/{name}");
    let (file, socket, id) = (inside(file), inside("bird.ctl"), inside("bird.pid"));
    let words = ["bird", "-f", "-c", &file, "-s", &socket, "-P", &id];
    words.map(str::to_owned).to_vec()
}

/// Returns the neighbouring BGP speakers of a host, one entry for each session.
pub fn neighbours(lab: &Lab, host: usize) -> Vec<Neighbour> {
    let mut found = Vec::new();
    for segment in segments(&lab.links) {
        let ends = segment.ends.iter().filter_map(|&(link, end)| {
            let end = &lab.links.get(link)?.ends[end];
            let LabNode::Host(host) = end.node else { return None };
            Some((host, &end.addresses))
        });
        let ends: Vec<(usize, &Vec<Net>)> = ends.collect();
        for (_, here) in ends.iter().filter(|(at, _)| *at == host) {
            for (other, there) in ends.iter().filter(|(at, _)| *at != host) {
                let Some(bgp) = lab.hosts.get(*other).and_then(|host| host.bgp) else { continue };
                found.extend(sessions(here, there).map(|(own, address)| Neighbour {
                    host: *other,
                    bgp,
                    address,
                    own,
                }));
            }
        }
    }
    found
}

/// Returns the pairs of addresses for sessions: for each family, the first two that are in the same
/// network.
fn sessions(here: &[Net], there: &[Net]) -> impl Iterator<Item = (IpAddr, IpAddr)> {
    Family::BOTH.into_iter().filter_map(move |family| {
        let mut own = here.iter().filter(|net| net.family() == family);
        own.find_map(|net| {
            let near = there.iter().find(|other| net.holds(other.address))?;
            Some((net.address, near.address))
        })
    })
}

fn session(number: usize, own: Bgp, neighbour: &Neighbour) -> String {
    let Neighbour { bgp, address, own: here, .. } = neighbour;
    let channel = Family::of(*address).word();
    format!(
        "protocol bgp peer{number} {{\n  local {here} as {};\n  neighbor {address} as {};\n  \
         direct;\n  connect delay time 1;\n  connect retry time 1;\n  error wait time 1, 2;\n  \
         {channel} {{ import all; export where source ~ [ RTS_DEVICE, RTS_STATIC, RTS_BGP ]; \
         next hop self; }};\n}}\n",
        own.asn, bgp.asn
    )
}

/// Returns the networks to announce besides those that the host is in: those behind routers without
/// BGP, and those that it translates.
fn behind(lab: &Lab, host: usize, family: Family) -> Vec<Net> {
    let ways = routes::routes(lab, host, family).into_iter().map(|way| way.to);
    let translated = lab.hosts.get(host).map_or(Vec::new(), |of| routes::translated(of, family));
    ways.chain(translated).collect()
}

/// Returns the router ID, which is unique. It is not an address of the host, which may have no IPv4
/// address.
fn router_id(host: usize) -> String {
    format!("10.255.{}.{}", (host + 1) / 256 % 256, (host + 1) % 256)
}

#[cfg(test)]
mod tests {
    use super::super::tests::lab;
    use super::*;

    const LAB: &str = r#"
name = "two"
[hosts.client]
[hosts.a]
bgp.asn = 65001
initial-window = 3
[hosts.b]
bgp.asn = 65002
nat64 = {}
[hosts.plain]
forwards = true
[hosts.server]
[links]
a = ["client", "a"]
b = ["a", "b"]
c = ["b", "plain"]
d = ["plain", "server"]
"#;

    #[test]
    fn configures_one_bgp_session_per_neighbour_and_family() {
        let lab = lab(LAB);
        let a = configuration(&lab, lab.host("a").unwrap()).unwrap();
        assert_eq!(a.matches("protocol bgp").count(), 2, "{a}");
        for line in [
            "local fd00:0:0:2::1 as 65001;\n  neighbor fd00:0:0:2::2 as 65002;",
            "local 10.0.2.1 as 65001;\n  neighbor 10.0.2.2 as 65002;",
            "connect delay time 1;",
            "krt_initcwnd = 3;",
            "router id 10.255.0.2;",
        ] {
            assert!(a.contains(line), "{line}: {a}");
        }
        assert_eq!(a.matches("blackhole").count(), 0, "it is in all it knows: {a}");
        assert_eq!(configuration(&lab, lab.host("plain").unwrap()), None);
    }

    #[test]
    fn announces_networks_behind_routers_without_bgp() {
        let lab = lab(LAB);
        let b = configuration(&lab, lab.host("b").unwrap()).unwrap();
        for net in ["10.0.4.0/24", "fd00:0:0:4::/64", "fd64::/96", "192.168.255.0/24"] {
            assert!(b.contains(&format!("route {net} blackhole;")), "{net}: {b}");
        }
        assert!(!b.contains("route 10.0.1.0"), "that is behind another speaker: {b}");
    }

    #[test]
    fn bgp_hosts_on_one_bridge_are_all_neighbours() {
        let text = "name = \"x\"\n[hosts.a]\nbgp.asn = 1\n[hosts.b]\nbgp.asn = 2\n[hosts.c]\n\
                    bgp.asn = 3\nfamilies = [\"ipv6\"]\n[bridges.hub]\n[links]\nx = [\"a\", \"hub\"]\n\
                    y = [\"b\", \"hub\"]\nz = [\"c\", \"hub\"]\n";
        let lab = lab(text);
        let of = |host: usize| -> Vec<u32> {
            neighbours(&lab, host).iter().map(|near| near.bgp.asn).collect()
        };
        assert_eq!(of(0), [2, 2, 3]);
        assert_eq!(of(2), [1, 2]);
    }
}
