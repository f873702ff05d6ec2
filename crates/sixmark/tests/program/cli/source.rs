//! Where connections come from, as the server sees it.

use std::collections::BTreeSet;
use std::net::IpAddr;

use sixmark_testkit::{Server, json};

/// The peers that the server saw over one family.
fn peers(server: &Server, ipv6: bool) -> BTreeSet<IpAddr> {
    server.seen().iter().map(|request| request.peer).filter(|p| p.is_ipv6() == ipv6).collect()
}

#[test]
fn connections_come_from_the_address_asked_for() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    json(&["-n", "20", "-c", "4", "--source", "127.0.0.2", "--source", "::1", &v6, &v4]);
    let seen = server.seen();
    let of = |ipv6: bool| seen.iter().map(|r| r.peer).filter(move |peer| peer.is_ipv6() == ipv6);
    assert!(of(false).all(|peer| peer.to_string() == "127.0.0.2") && of(false).count() == 10);
    assert!(of(true).all(|peer| peer.to_string() == "::1") && of(true).count() == 10);
}

/// IPv4 alone: loopback has a whole prefix of IPv4 addresses, but only one of IPv6.
#[test]
fn the_addresses_of_a_prefix_take_turns() {
    let server = Server::start();
    let [_, v4] = server.urls("/");
    let options = ["-n", "40", "-c", "2", "-t", "2", "--no-keep-alive"];
    json(&[&options[..], &["--source", "127.9.0.0/24", &v4]].concat());
    let expected = (0..40).map(|last| IpAddr::from([127, 9, 0, last])).collect();
    assert_eq!(peers(&server, false), expected);
}

#[test]
fn resolves_a_source_interface_to_its_addresses() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let result = json(&["-n", "20", "-c", "4", "--source", "lo", &v6, &v4]);
    assert_eq!(result["total"]["requests"]["completed"], 20);
    let sources = &result["plan"]["sources"];
    for (family, address) in [("ipv6", "::1"), ("ipv4", "127.0.0.1")] {
        let own = sources[family].as_array().unwrap();
        assert!(own.iter().any(|source| source["address"] == address), "{sources}");
    }
}
