use std::collections::BTreeMap;

use super::*;

const FIRST: &str = r#"
name = "first"
[hosts.client]
[hosts.near]
forwards = true
[hosts.far]
forwards = true
[hosts.server]
[hosts.six]
families = ["ipv6"]
[bridges.hub]
[links]
a = ["client", "hub"]
b = ["near", "hub"]
e = ["six", "hub"]
c = ["near", "far"]
d = { between = ["far", "server"], mtu = 9000, at.far.mtu = 1500, at.server.offloads = { tso = false } }
[names]
"www.example" = "server"
[variants.offload.off.hosts.client.offloads]
gso = false
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[{server.ipv6}]:80"]
"#;

pub(super) fn lab(text: &str) -> Lab {
    parse_lab(text, None, &BTreeMap::new()).unwrap_or_else(|wrongs| panic!("{wrongs:#?}"))
}

fn wrongs(text: &str) -> Vec<String> {
    let wrongs = parse_lab(text, None, &BTreeMap::new()).unwrap_err();
    wrongs.iter().map(ToString::to_string).collect()
}

#[test]
fn assigns_addresses_by_segment_and_host_number() {
    let lab = lab(FIRST);
    let value = |name: &str| lab.value(name).unwrap_or_default();
    assert_eq!(value("client.ipv6"), "fd00:0:0:1::1");
    assert_eq!(value("client.ipv4"), "10.0.1.1");
    assert_eq!(value("near.ipv4"), "10.0.1.2");
    assert_eq!(value("six.ipv4"), "", "it has IPv6 alone");
    assert_eq!(value("far.ipv6"), "fd00:0:0:2::2");
    assert_eq!(value("server.ipv4"), "10.0.3.2");
    assert_eq!(lab.names["www.example"].len(), 2);
    assert_eq!(lab.links[4].ends[0].mtu, 1500);
    assert_eq!(lab.links[4].ends[1].mtu, 9000);
    assert_eq!(lab.links[4].ends[1].offloads.tso_ipv6, Some(false));
}

#[test]
fn routes_follow_the_shortest_paths() {
    let lab = lab(FIRST);
    let said = |host: &str, family| -> Vec<String> {
        let routes = routes::routes(&lab, lab.host(host).unwrap(), family);
        routes.iter().map(|way| format!("{} via {}", way.to, way.via)).collect()
    };
    assert_eq!(said("client", Family::Ipv4), ["0.0.0.0/0 via 10.0.1.2"]);
    assert_eq!(said("near", Family::Ipv6), ["fd00:0:0:3::/64 via fd00:0:0:2::2"]);
    assert_eq!(said("far", Family::Ipv4), ["10.0.1.0/24 via 10.0.2.1"]);
    assert_eq!(said("six", Family::Ipv4), [""; 0]);
}

#[test]
fn a_chosen_variant_overrides_keys_of_the_lab_file() {
    let chosen = BTreeMap::from([("offload".to_owned(), "off".to_owned())]);
    let varied = parse_lab(FIRST, None, &chosen).unwrap();
    assert_eq!(lab(FIRST).hosts[0].offloads.gso, None);
    assert_eq!(varied.hosts[0].offloads.gso, Some(false));
    assert_eq!(varied.variants.allowed["offload"], ["off"]);
    let wrong = BTreeMap::from([("offload".to_owned(), "on".to_owned())]);
    let line = parse_lab(FIRST, None, &wrong).unwrap_err()[0].to_string();
    assert!(line.contains("'on' is none of: off"), "{line}");
}

#[test]
fn variants_replace_texts_of_services() {
    let text = FIRST.replace(
        "[variants.offload",
        "[texts]\nqueue = 4096\n[variants.queue.\"5\".texts]\nqueue = 5\n[variants.offload",
    );
    let of = |chosen: &BTreeMap<String, String>| {
        parse_lab(&text, None, chosen).unwrap().value("texts.queue")
    };
    assert_eq!(of(&BTreeMap::new()).as_deref(), Some("4096"));
    let chosen = BTreeMap::from([("queue".to_owned(), "5".to_owned())]);
    assert_eq!(of(&chosen).as_deref(), Some("5"));
}

#[test]
fn reports_mistakes_in_a_lab_file_with_their_place() {
    let cases = [
        ("name = \"a\"\n[hosts.x]\ncolour = 1", "3: hosts.x.colour: unknown key; allowed:"),
        ("name = \"a\"\n[hosts.X]", "2: hosts.X: is not a valid name of a host"),
        ("name = \"a\"", "a lab has hosts"),
        (
            "name = \"a\"\n[hosts.x]\n[links]\na = [\"x\", \"y\"]",
            "'y' is neither a host nor a bridge",
        ),
        ("name = \"a\"\n[hosts.x]\n[links]\na = [\"x\", \"x\"]", "4: links.a: a link joins two"),
        (
            "name = \"a\"\n[hosts.x]\n[hosts.y]\n[links]\na = [\"x\", \"y\"]\nb = [\"x\", \"y\"]",
            "6: links.b: a second interface 'y'",
        ),
        (
            "name = \"a\"\n[hosts.x]\n[hosts.y]\n[links]\na = { between = [\"x\", \"y\"], at.z.mtu = 1500 }",
            "links.a.at.z: is not an end of this link; its ends are x and y",
        ),
        (
            "name = \"a\"\n[hosts.x]\nroutes = [{ to = \"default\", via = \"10.9.9.9\" }]",
            "3: hosts.x.routes: 10.9.9.9 is in none of this host's networks",
        ),
        ("name = \"a\"\n[hosts.x]\nresolver = \"x\"", "hosts.x.resolver: is not a name server"),
        (
            "name = \"a\"\n[hosts.x.sysctls]\n\"kernel.panic\" = 1",
            "a host can set only network settings",
        ),
        (
            "name = \"a\"\n[hosts.x]\n[services.w]\nhost = \"y\"\ncommand = [\"true\"]\nurls = [\"http://a\"]",
            "4: services.w.host: 'y' is not a host; hosts: x",
        ),
        (
            "name = \"a\"\n[hosts.x]\n[variants.v.w.hosts.x]\ncolour = 1",
            "4: hosts.x.colour: unknown key",
        ),
    ];
    told(&cases);
}

/// Asserts that each text is rejected with this error, possibly among others.
pub(super) fn told(cases: &[(&str, &str)]) {
    for (text, line) in cases {
        let found = wrongs(text);
        assert!(found.iter().any(|wrong| wrong.contains(line)), "{text}\n{found:#?}");
    }
}

#[test]
fn rejects_configurations_that_hosts_cannot_carry_out() {
    told(&[
        (
            "name = \"a\"\n[hosts.x]\nbgp.asn = 7\n[hosts.y]\nbgp.asn = 7",
            "hosts.y.bgp.asn: each BGP speaker needs its own AS number",
        ),
        (
            "name = \"a\"\n[hosts.x]\n[bridges.b]\n[links]\nl = { between = [\"x\", \"b\"], \
             ipv6.packet_too_big = \"drop\" }",
            "links.l.ipv6.packet_too_big: only the host that sends such messages can drop them",
        ),
        ("name = \"a\"\n[hosts.x]\nnat64.prefix = \"64:ff9b::/96\"", "RFC 6052"),
        (
            "name = \"a\"\n[hosts.x]\nbgp.asn = 7\n[services.bird-x]\nhost = \"x\"\n\
             command = [\"true\"]",
            "services.bird-x: a program that the lab itself starts has this name",
        ),
        (
            "name = \"a\"\n[hosts.x]\nforwards = false\nnat64 = {}",
            "a host that translates addresses must forward packets",
        ),
    ]);
}

#[test]
fn a_host_without_a_stack_has_no_addresses_of_it() {
    let text =
        "name = \"a\"\n[hosts.x]\nstacks = [\"ipv6\"]\n[hosts.y]\n[links]\nl = [\"x\", \"y\"]";
    let of = lab(text);
    assert_eq!(of.hosts[0].families, [Family::Ipv6]);
    assert_eq!(of.hosts[0].missing_stack, Some(Family::Ipv4));
    assert_eq!(of.value("x.ipv4"), None);
    let none = format!(
        "{:?}",
        lab(&text.replace("[\"ipv6\"]", "[\"ipv6\", \"ipv4\"]")).hosts[0].missing_stack
    );
    assert_eq!(none, "None");
    told(&[
        (
            "name = \"a\"\n[hosts.x]\nstacks = [\"ipv6\"]\nfamilies = [\"ipv4\"]",
            "4: hosts.x.families: a host without a stack of IPv4 (stacks) has no addresses of it",
        ),
        (
            "name = \"a\"\n[hosts.x]\nstacks = []",
            "3: hosts.x.stacks: a host has at least one stack",
        ),
        ("name = \"a\"\n[hosts.x]\nstacks = [\"ip\"]", "3: hosts.x.stacks: 'ip' is none of"),
    ]);
}

#[test]
fn translators_say_what_is_wrong_with_their_prefixes_and_hosts() {
    let maps = |maps: &str| {
        format!(
            "name = \"a\"\n[hosts.x]\nnat64.maps = [{maps}]\n[hosts.y]\n[hosts.z]\nfamilies = [\"ipv4\"]\n\
             [links]\nl = [\"x\", \"y\"]\nm = [\"x\", \"z\"]"
        )
    };
    let map = |ipv4: &str, to: &str| format!("{{ ipv4 = \"{ipv4}\", to = \"{to}\" }}");
    let two = |one: (&str, &str), other: (&str, &str)| {
        maps(&format!("{}, {}", map(one.0, one.1), map(other.0, other.1)))
    };
    let pool = "is not an address of the pool 192.168.255.0/24 other than 192.168.255.1";
    let clat = |more: &str| format!("name = \"a\"\n[hosts.x]\nclat = {{}}\n{more}");
    let six = "families = [\"ipv6\"]";
    told(&[
        (&maps(&map("10.0.0.1", "y")), pool),
        (&maps(&map("192.168.255.1", "y")), pool),
        (&maps(&map("fd00::1", "y")), "'fd00::1' is not an IPv4 address"),
        (
            &maps(&map("192.168.255.9", "z")),
            "hosts.x.nat64.maps: 'z' is not a host with an IPv6 address",
        ),
        (&maps(&map("192.168.255.9", "w")), "'w' is not a host with an IPv6 address"),
        (
            &two(("192.168.255.9", "y"), ("192.168.255.9", "x")),
            "192.168.255.9 stands for two hosts",
        ),
        (&two(("192.168.255.9", "y"), ("192.168.255.8", "y")), "'y' has two addresses"),
        (&clat(""), "hosts.x.clat: a host with a CLAT has no other IPv4"),
        (
            &clat("nat44.masquerade = [\"wan\"]"),
            "hosts.x.nat44.masquerade: it has no interface 'wan'",
        ),
        (
            &clat(six).replace("clat = {}", "nat44.masquerade = [\"clat\"]"),
            "hosts.x.nat44.masquerade: it has no interface 'clat'",
        ),
        (&clat("stacks = [\"ipv6\"]"), "hosts.x.stacks: a host that translates needs both stacks"),
        (
            &clat(&format!("{six}\n[hosts.y]\n{six}\nclat = {{}}")),
            "hosts.y.clat.own: is that of another",
        ),
        (&clat(six).replace("{}", "{ own = \"fd64::/96\" }"), "is the prefix of a NAT64"),
        (
            &clat(&format!("{six}\nforwards = false")),
            "a host that translates addresses must forward",
        ),
    ]);
}
