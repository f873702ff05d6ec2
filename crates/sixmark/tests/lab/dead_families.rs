//! Families that a network leaves down, over every version of HTTP: a black hole, and a router without a
//! route. The other ways are in the tests of `program`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use sixmark_sys::netns::NetNs;
use sixmark_testkit::dead_family::{check_all, dead, in_one_line};
use sixmark_testkit::lab::without;
use sixmark_testkit::{Origin, sixmark};
use sixmark_units::family::Family;

/// Addresses behind which packets vanish, and addresses of which a router says that it has no way to
/// them: IPv6, then IPv4.
const HOLE: [&str; 2] = ["[2001:db8:1::1]", "192.0.2.129"];
const ROUTELESS: [&str; 2] = ["[2001:db8:2::1]", "198.51.100.1"];
/// An address to which this host itself has no route.
const NOWHERE: &str = "[2001:db8:3::1]";

/// Sets up the host, with `$1`, a process of the router's namespace.
const NETWORK: &str = "set -e
ip link set lo up
ip route add unreachable 2001:db8:3::/64
ip link add near address 02:00:00:00:00:01 type veth peer name far address 02:00:00:00:00:02 netns $1
ip address add 2001:db8:9::1/64 dev near nodad
ip address add 192.0.2.9/30 dev near
nsenter -t $1 -n sh -ec '
    ip link set lo up
    ip address add 2001:db8:9::2/64 dev far nodad
    ip address add 192.0.2.10/30 dev far
    ip link set far up
    echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
    echo 1 >/proc/sys/net/ipv4/ip_forward
    echo 0 >/proc/sys/net/ipv6/icmp/ratelimit
    echo 0 >/proc/sys/net/ipv4/icmp_ratelimit
    for net in 2001:db8:1::/64 192.0.2.128/30 2001:db8:2::/64 198.51.100.0/24; do
        ip route add $net dev lo
    done
    ip neigh add 2001:db8:9::1 lladdr 02:00:00:00:00:01 dev far nud permanent
    ip neigh add 192.0.2.9 lladdr 02:00:00:00:00:01 dev far nud permanent
    nft -f -' <<END
table inet dead {
    chain forward {
        type filter hook forward priority 0
        ip6 daddr 2001:db8:1::1 drop
        ip daddr 192.0.2.129 drop
        ip6 daddr 2001:db8:2::1 reject with icmpv6 type no-route
        ip daddr 198.51.100.1 reject with icmp type host-unreachable
    }
}
END
ip link set near up
# Until then nothing is sent, which a connection takes for unreachable.
until ip link show near | grep -q 'state UP' && nsenter -t $1 -n ip link show far | grep -q 'state UP'; do
    sleep 0.02
done
ip neigh add 2001:db8:9::2 lladdr 02:00:00:00:00:02 dev near nud permanent
ip neigh add 192.0.2.10 lladdr 02:00:00:00:00:02 dev near nud permanent
for net in 2001:db8:1::/64 2001:db8:2::/64; do ip route add $net via 2001:db8:9::2; done
for net in 192.0.2.128/30 198.51.100.0/24; do ip route add $net via 192.0.2.10; done
";

/// A process in a namespace of its own, which ends with this value.
struct Router(Child);

impl Router {
    fn start() -> Router {
        let mut command = Command::new("unshare");
        command.args(["-n", "sh", "-c", "echo up; exec cat"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "up\n", "this needs root and unshare");
        Router(child)
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Runs a test in a host behind that router.
fn within_network(test: impl FnOnce() + Send) {
    let network = NetNs::create().expect("this needs root");
    let inside = || {
        let router = Router::start();
        let words = ["-c", NETWORK, "sh", &router.0.id().to_string()];
        let up = Command::new("sh").args(words).stdin(Stdio::null()).status();
        assert!(up.is_ok_and(|status| status.success()), "this needs root, ip, nsenter and nft");
        test();
        Ok(())
    };
    network.within(inside).unwrap();
}

fn urls(scheme: &str, hosts: [&str; 2]) -> [String; 2] {
    hosts.map(|host| format!("{scheme}://{host}:8080/"))
}

#[test]
fn reports_a_black_hole_with_its_likely_cause() {
    if without(&["nftables"]) {
        return;
    }
    within_network(|| {
        let (plain, secure) = (Origin::start(), Origin::secure());
        let fine = plain.url(Family::Ipv4, "/bytes/10");
        let fine_tls = secure.url(Family::Ipv4, "/bytes/10");
        let [v6, v4] = urls("http", HOLE);
        let [tls6, tls4] = urls("https", HOLE);
        let trust = ["--cacert", secure.authority(), "--timeout", "300ms", "-c", "4"];
        let with = |version| [&trust[..], &[version]].concat();
        let plain2 = ["--http2-prior-knowledge", "--timeout", "300ms", "-c", "4"];
        let firewall = "no connection within 300 ms; check for a firewall in between";
        let neither =
            "no connection within 300 ms, nor over IPv4 (192.0.2.129:8080): no connection within";
        let udp = "no TLS handshake within 300 ms; a firewall may drop UDP";
        let neither_udp =
            "no TLS handshake within 300 ms, nor over IPv4 (192.0.2.129:8080): no TLS";
        check_all(&[
            dead([&v6, &fine], &plain2, firewall),
            dead([&v6, &v4], &plain2, neither),
            dead([&tls6, &fine_tls], &with("--http2"), firewall),
            dead([&tls6, &tls4], &with("--http2"), neither),
            dead([&tls6, &fine_tls], &with("--http3"), udp),
            dead([&tls6, &tls4], &with("--http3"), neither_udp),
        ]);
    });
}

#[test]
fn reports_a_destination_that_a_router_has_no_route_to() {
    if without(&["nftables"]) {
        return;
    }
    within_network(|| {
        let (plain, secure) = (Origin::start(), Origin::secure());
        let fine = plain.url(Family::Ipv4, "/bytes/10");
        let fine_tls = secure.url(Family::Ipv4, "/bytes/10");
        let [v6, v4] = urls("http", ROUTELESS);
        let [tls6, tls4] = urls("https", ROUTELESS);
        let trust = ["--cacert", secure.authority()];
        let with = |more: &[&'static str]| [&trust[..], more].concat();
        let plain2 = ["--http2-prior-knowledge"];
        let quic = with(&["--http3", "--timeout", "300ms", "-c", "4"]);
        let one = "unreachable";
        let neither = "unreachable, nor over IPv4 (198.51.100.1:8080): ";
        check_all(&[
            dead([&v6, &fine], &[], one),
            dead([&v6, &v4], &[], neither),
            dead([&v6, &fine], &plain2, one),
            dead([&v6, &v4], &plain2, neither),
            dead([&tls6, &fine_tls], &with(&["--http2"]), one),
            dead([&tls6, &tls4], &with(&["--http2"]), neither),
            // The kernel tells a UDP socket nothing of such an answer.
            dead(
                [&tls6, &fine_tls],
                &quic,
                "no TLS handshake within 300 ms; a firewall may drop UDP",
            ),
            dead(
                [&tls6, &tls4],
                &quic,
                "nor over IPv4 (198.51.100.1:8080): no TLS handshake within",
            ),
        ]);
    });
}

/// Nothing can be sent then, so nothing is: there is no document either.
#[test]
fn reports_a_missing_local_route_in_one_line() {
    if without(&["nftables"]) {
        return;
    }
    within_network(|| {
        let secure = Origin::secure();
        let fine = secure.url(Family::Ipv4, "/bytes/10");
        let nowhere = format!("https://{NOWHERE}:8080/");
        for version in ["--http2", "--http3"] {
            let words = ["compare", "--cacert", secure.authority(), version, &nowhere, &fine];
            let output = sixmark(&words);
            let said = in_one_line(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{version}: {said}");
            let line = format!("this host can't send to {NOWHERE}:8080 over IPv6 (");
            assert!(said.matches(&line).count() == 1, "{version}: {said}");
            assert!(output.stdout.is_empty(), "{version}: {said}");
        }
    });
}
