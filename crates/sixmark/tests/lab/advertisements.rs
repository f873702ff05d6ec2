//! Router Advertisements with the prefix of a NAT64, read by programs of hosts.

use sixmark_testkit::lab::{Lab, without};

const LAB: &str = r#"
name = "advertised"
[hosts]
client = { families = ["ipv6"] }
kernel = { families = ["ipv6"], sysctls = { "net.ipv6.conf.default.accept_ra" = 1 } }
old = { families = ["ipv4"] }
[hosts.router]
forwards = true
advertises = { pref64 = "fd64::/96", lifetime = "12s" }
[bridges.lan]
[links]
client = ["client", "lan"]
kernel = ["kernel", "lan"]
router = ["lan", "router"]
old = ["router", "old"]
"#;

/// Sends a solicitation that a router must ignore and a good one, and prints each advertisement until two came to
/// all nodes: its hop limit, sender, destination and bytes.
const ASK: &str = r"
import select, socket, struct, sys
link = socket.if_nametoindex(sys.argv[1])
own = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
blocked = [0xffffffff] * 8
blocked[134 // 32] &= ~(1 << 134 % 32)
own.setsockopt(socket.IPPROTO_ICMPV6, 1, struct.pack('8I', *blocked))
own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
for hop_limit in (64, 255):
    own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, hop_limit)
    own.sendto(bytes([133, 0, 0, 0, 0, 0, 0, 0]), ('ff02::2', 0, 0, link))
own.settimeout(60)
to_all = 0
while to_all < 2:
    data, controls, _, sender = own.recvmsg(1500, 256)
    values = {kind: value for _, kind, value in controls}
    to = socket.inet_ntop(socket.AF_INET6, values[socket.IPV6_PKTINFO][:16])
    to_all += to == 'ff02::1'
    print(struct.unpack('i', values[socket.IPV6_HOPLIMIT])[0], sender[0].split('%')[0], to, data.hex())
";

/// From the hop limit on: no flags, no default router, no timers; the network of the link without the flag from
/// which hosts form addresses; 2 units of 8 s and 96 bits of the prefix.
const EXPECTED: [&str; 3] = [
    "40000000000000000000 0000",
    "030440800027 8d00 00093a80 00000000 fd000000000000010000000000000000",
    "26020010 fd6400000000000000000000",
];

#[test]
fn a_router_tells_clients_the_prefix_of_the_nat64_at_once_when_asked_and_unasked() {
    if without(&["python3"]) {
        return;
    }
    let lab = Lab::up("advertised", LAB, &[]);
    let said = lab.says("client", &["python3", "-c", ASK, "lan"]);
    let expected = EXPECTED.concat().replace(' ', "");
    let mut answers = 0;
    for line in said.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [hop_limit, sender, to, bytes] = words[..] else { panic!("{said}") };
        assert_eq!(hop_limit, "255", "{said}");
        assert!(sender.starts_with("fe80::"), "{said}");
        let (start, rest) = bytes.split_at(8);
        assert!(start.starts_with("8600"), "type 134, code 0, a checksum: {said}");
        assert_eq!(rest, expected, "{said}");
        answers += usize::from(to != "ff02::1");
    }
    assert_eq!(answers, 1, "only the good solicitation is answered: {said}");
}

#[test]
fn a_kernel_that_accepts_advertisements_keeps_the_addresses_and_routes_of_the_lab() {
    if without(&["python3"]) {
        return;
    }
    let lab = Lab::up("accepted", LAB, &[]);
    lab.says("kernel", &["python3", "-c", ASK, "lan"]);
    assert!(lab.counter("kernel", "Icmp6InRouterAdvertisements") > 0);
    let addresses = lab.says("kernel", &["ip", "-6", "-o", "addr", "show", "scope", "global"]);
    assert_eq!(addresses.lines().count(), 1, "{addresses}");
    assert!(addresses.contains("fd00:0:0:1::2/64"), "{addresses}");
    let routes = lab.says("kernel", &["ip", "-6", "route", "show", "default"]);
    assert_eq!(routes.lines().count(), 1, "{routes}");
    assert!(routes.contains("via fd00:0:0:1::3") && !routes.contains("proto ra"), "{routes}");
}
