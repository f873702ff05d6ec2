//! A drawn network as a lab: a client with a name server of its own, and a server.
//!
//! Names are not in a file, of which Chromium reads only the first address. The addresses are those of
//! documentation: the order of unique local ones is another matter (RFC 6724).

use std::fmt::Write as _;

use sixmark_testkit::lab::Lab;

use super::drawn::{DrawnNetwork, Kind};

/// The addresses of each family by their last part. A resolver that sorts by the common prefix with
/// `1`, the client's, leaves them in this order (RFC 6724, rule 9).
const LAST: [u8; 4] = [2, 4, 8, 16];
/// The last part of the server's address that no name has: the way to everything else.
const GATEWAY: u8 = 32;

/// Returns an address of the lab: of IPv6 if `family` is 0.
fn address(family: usize, last: u8) -> String {
    if family == 0 { format!("2001:db8:9:9::{last:x}") } else { format!("198.51.100.{last}") }
}

/// Returns the addresses of the name, each with what becomes of connections to it.
fn named(network: &DrawnNetwork) -> Vec<(usize, String, Kind)> {
    let of = |family: usize| {
        let kinds = network.kinds[family].iter().zip(LAST);
        kinds.map(move |(kind, last)| (family, address(family, last), *kind))
    };
    (0..2).flat_map(of).collect()
}

/// The parts of the lab's file that depend on the addresses.
#[derive(Default)]
struct AddressTexts {
    /// Those of the server, with prefixes.
    own: String,
    listens: String,
    urls: String,
    records: String,
}

impl AddressTexts {
    fn of(network: &DrawnNetwork) -> AddressTexts {
        let mut texts = AddressTexts::default();
        for family in 0..2 {
            texts.add_own(family, &address(family, GATEWAY));
        }
        for (family, address, kind) in named(network) {
            let record = if family == 0 { "AAAA" } else { "A" };
            let data = format!(" local-data: \"www.test. 60 IN {record} {address}\"\n");
            texts.records.push_str(&data);
            // Packets to an address that is nobody's are dropped: nothing is heard of it.
            if kind != Kind::Silent {
                texts.add_own(family, &address);
            }
            if kind == Kind::Answers {
                let at = if family == 0 { format!("[{address}]") } else { address };
                write!(texts.listens, ", \"--listen\", \"{at}:80\"").unwrap();
                write!(texts.urls, "\"http://{at}\", ").unwrap();
            }
        }
        texts
    }

    fn add_own(&mut self, family: usize, address: &str) {
        let prefix = if family == 0 { 64 } else { 24 };
        write!(self.own, "\"{address}/{prefix}\", ").unwrap();
    }
}

fn lab_text(network: &DrawnNetwork) -> String {
    let AddressTexts { own, listens, urls, records } = AddressTexts::of(network);
    let [ipv6, ipv4] = network.round_trip_ms.map(|ms| ms / 2);
    let ways: Vec<String> = (0..2).map(|of| address(of, GATEWAY)).collect();
    let (way6, way4) = (&ways[0], &ways[1]);
    format!(
        r#"
name = "raced"
[hosts.client]
routes = [{{ to = "default", via = "{way6}" }}, {{ to = "default", via = "{way4}" }}]
[hosts.server]
[links.way]
between = ["client", "server"]
delay = "{ipv4}ms"
ipv6 = {{ delay = "{ipv6}ms" }}
at.client.addresses = ["2001:db8:9:9::1/64", "198.51.100.1/24"]
at.server.addresses = [{own}]
[services.names]
host = "client"
command = ["unbound", "-d", "-c", "{{dir}}/names.conf"]
ready = {{ line = "start of service" }}
urls = ["http://127.0.0.1:53"]
[services.names.files]
"names.conf" = """
server:
 interface: 127.0.0.1
 username: ""
 chroot: ""
 pidfile: ""
 logfile: ""
 use-syslog: no
 do-daemonize: no
 verbosity: 1
 rrset-roundrobin: no
 local-zone: "." static
{records}remote-control:
 control-enable: no
"""
[services.web]
host = "server"
command = ["{{sixmark}}", "origin"{listens}]
urls = [{urls}]
"#
    )
}

/// Builds the lab. Its client asks the name server, and no neighbour has to be looked for: that would
/// take a round trip of its own.
pub(super) fn build_network(name: &str, network: &DrawnNetwork) -> Lab {
    let lab = Lab::up(name, &lab_text(network), &[]);
    let resolver = "echo nameserver 127.0.0.1 > /etc/resolv.conf";
    lab.says("client", &["sh", "-c", resolver]);
    let mut peers: Vec<String> =
        named(network).into_iter().map(|(_, address, _)| address).collect();
    peers.extend((0..2).map(|family| address(family, GATEWAY)));
    let own: Vec<String> = (0..2).map(|family| address(family, 1)).collect();
    for (host, peer, addresses) in [("client", "server", peers), ("server", "client", own)] {
        let shown = lab.says(peer, &["ip", "-brief", "link", "show", "dev", host]);
        let mac = shown.split_whitespace().nth(2).unwrap();
        let add =
            |of: &String| format!("ip neigh replace {of} lladdr {mac} dev {peer} nud permanent");
        let all: Vec<String> = addresses.iter().map(add).collect();
        lab.says(host, &["sh", "-c", &all.join(" && ")]);
    }
    lab
}
