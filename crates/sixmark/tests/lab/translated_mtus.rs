//! What a NAT64 does with packets that are too large for a link beyond it: it translates the messages about them,
//! whose MTU differs by the size of the headers (RFC 7915, 4.2 and 5.2), and it translates fragments.

use std::net::{Ipv4Addr, Ipv6Addr};

use sixmark_testkit::lab::{Lab, without};

/// A client with IPv6 alone, and one with IPv4 alone. Behind a router of each family are hosts with smaller links;
/// those with IPv6 have IPv4 addresses at the edge.
const LAB: &str = r#"
name = "mtus"
[hosts]
client = { families = ["ipv6"] }
old = { families = ["ipv4"] }
r6 = { families = ["ipv6"], forwards = true }
r4 = { families = ["ipv4"], forwards = true }
six1280 = { families = ["ipv6"] }
six1420 = { families = ["ipv6"] }
six1480 = { families = ["ipv6"] }
four576 = { families = ["ipv4"] }
four1260 = { families = ["ipv4"] }
four1280 = { families = ["ipv4"] }
four1420 = { families = ["ipv4"] }
four1480 = { families = ["ipv4"] }
[hosts.edge]
forwards = true
[hosts.edge.nat64]
maps = [
  { ipv4 = "192.168.255.10", to = "six1280" },
  { ipv4 = "192.168.255.11", to = "six1420" },
  { ipv4 = "192.168.255.12", to = "six1480" },
]
[links]
client = ["client", "r6"]
edge6 = ["r6", "edge"]
edge4 = ["edge", "r4"]
old = ["r4", "old"]
six1280 = { between = ["r6", "six1280"], mtu = 1280 }
six1420 = { between = ["r6", "six1420"], mtu = 1420 }
six1480 = { between = ["r6", "six1480"], mtu = 1480 }
four576 = { between = ["r4", "four576"], mtu = 576 }
four1260 = { between = ["r4", "four1260"], mtu = 1260 }
four1280 = { between = ["r4", "four1280"], mtu = 1280 }
four1420 = { between = ["r4", "four1420"], mtu = 1420 }
four1480 = { between = ["r4", "four1480"], mtu = 1480 }
[services.echo]
host = "old"
command = ["python3", "-uc", """
import socket
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind(('{old.ipv4}', 7))
print('ready')
while True:
    own.sendto(*own.recvfrom(65535))
"""]
ready = { line = "ready" }
"#;

/// The size of the packets that are sent: that of a link to the translator, in its family.
const SIX: u32 = 1500;
const FOUR: u32 = SIX - 20;

/// Sends a packet of UDP of a size that routers must not fragment, to a port where nobody listens, and prints the
/// message of ICMP that comes back: its type, its code, the MTU that it names, and its sender.
const PROBE: &str = r"
import select, socket, struct, sys
to, size = sys.argv[1], int(sys.argv[2])
six = ':' in to
family, headers = (socket.AF_INET6, 48) if six else (socket.AF_INET, 28)
level, discover, errors = (41, 23, 25) if six else (0, 10, 11)
own = socket.socket(family, socket.SOCK_DGRAM)
own.setsockopt(level, discover, 2)
own.setsockopt(level, errors, 1)
own.sendto(bytes(size - headers), (to, 9))
queue = select.poll()
queue.register(own, 0)
assert queue.poll(60000), 'no message came back'
[(_, _, data)] = own.recvmsg(1, 512, socket.MSG_ERRQUEUE)[1]
kind, code, info = struct.unpack_from('5xBBxI', data)
sender = data[24:40] if six else data[20:24]
print(kind, code, info, socket.inet_ntop(family, sender))
";

/// Returns the type, the code and the MTU of the message about a packet of this size, and who sent it.
fn probe(lab: &Lab, host: &str, to: &str, size: u32) -> ((u8, u8, u32), String) {
    let said = lab.says(host, &["python3", "-c", PROBE, to, &size.to_string()]);
    let words: Vec<&str> = said.split_whitespace().collect();
    let [kind, code, info, sender] = words[..] else { panic!("{said}") };
    let message = (kind.parse().unwrap(), code.parse().unwrap(), info.parse().unwrap());
    (message, sender.to_owned())
}

/// Returns the address that represents a host with IPv4 alone.
fn beyond(lab: &Lab, host: &str) -> String {
    let ipv4: Ipv4Addr = lab.says(host, &["hostname", "-I"]).trim().parse().unwrap();
    let prefix: Ipv6Addr = "fd64::".parse().unwrap();
    Ipv6Addr::from(u128::from(prefix) | u128::from(u32::from(ipv4))).to_string()
}

/// Types and codes: of Packet Too Big and Port Unreachable, of Fragmentation Needed and Port Unreachable.
const TOO_BIG: (u8, u8) = (2, 0);
const NO_PORT6: (u8, u8, u32) = (1, 4, 0);
const NEEDED: (u8, u8) = (3, 4);
const NO_PORT4: (u8, u8, u32) = (3, 3, 0);

#[test]
fn fragmentation_needed_becomes_packet_too_big_with_20_bytes_more() {
    if without(&["tayga", "python3"]) {
        return;
    }
    let lab = Lab::up("fours", LAB, &[]);
    // The least MTU of IPv6 is announced for smaller ones, too.
    let cases = [("four576", 1280), ("four1260", 1280), ("four1280", 1300), ("four1420", 1440)];
    for (host, mtu) in cases {
        let to = beyond(&lab, host);
        let (found, sender) = probe(&lab, "client", &to, SIX);
        assert_eq!(found, (TOO_BIG.0, TOO_BIG.1, mtu), "{host}");
        assert!(sender.starts_with("fd64::") && sender != to, "r4, which has IPv4 alone: {sender}");
        // What has this size gets there.
        assert_eq!(probe(&lab, "client", &to, mtu), (NO_PORT6, to), "{host}");
    }
    // 1500 B of IPv6 are 1480 B of IPv4.
    let to = beyond(&lab, "four1480");
    assert_eq!(probe(&lab, "client", &to, SIX), (NO_PORT6, to));
}

#[test]
fn packet_too_big_becomes_fragmentation_needed_with_20_bytes_less() {
    if without(&["tayga", "python3"]) {
        return;
    }
    let lab = Lab::up("sixes", LAB, &[]);
    for (to, mtu) in [("192.168.255.10", 1260), ("192.168.255.11", 1400), ("192.168.255.12", 1460)]
    {
        let (found, sender) = probe(&lab, "old", to, FOUR);
        assert_eq!(found, (NEEDED.0, NEEDED.1, mtu), "{to}");
        assert!(sender.starts_with("192.168.255.") && sender != to, "r6 has IPv6 alone: {sender}");
        // What has this size gets there.
        assert_eq!(probe(&lab, "old", to, mtu), (NO_PORT4, to.to_owned()), "{to}");
    }
}

#[test]
fn fragments_cross_the_translator_in_both_directions() {
    if without(&["tayga", "python3"]) {
        return;
    }
    let lab = Lab::up("fragments64", LAB, &[]);
    let program = r"
import socket, sys
sent = bytes(at * 7 % 251 for at in range(4000))
own = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
own.settimeout(60)
own.sendto(sent, (sys.argv[1], 7))
print(own.recv(65535) == sent)
";
    let words = ["python3", "-c", program, &beyond(&lab, "old")];
    assert_eq!(lab.says("client", &words).trim(), "True");
    assert!(lab.counter("old", "IpReasmOKs") > 0, "it came in fragments");
    assert!(lab.counter("client", "Ip6ReasmOKs") > 0, "the answer, too");
    for name in ["IpReasmReqds", "Ip6ReasmReqds"] {
        assert_eq!(lab.counter("edge", name), 0, "the edge puts nothing together: {name}");
    }
}
