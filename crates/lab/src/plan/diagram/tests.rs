use super::super::Lab;
use super::super::tests::lab;
use super::place::{Area, place_lab};
use super::{diagram_text, svg};

const TWO: &str = r#"
name = "two"
title = "Two hosts, a \"link\" & <nothing> else"
[hosts.client]
[hosts.server]
[links]
wire = { between = ["client", "server"], delay = "2ms", toward.server.rate = "100Mbit/s" }
[services.web]
host = "server"
command = ["true"]
"#;

/// The network of the Towson study.
const TOWSON: &str = r#"
name = "towson"
title = "A web server under congestion (Towson University, 2013)"
[hosts]
client = {}
near4 = { label = "generator v4", families = ["ipv4"] }
near6 = { label = "generator v6", families = ["ipv6"] }
r1 = { forwards = true }
r2 = { forwards = true }
r3 = { forwards = true }
r4 = { forwards = true }
server = {}
far4 = { families = ["ipv4"] }
far6 = { families = ["ipv6"] }
[bridges]
s0 = {}
s4 = {}
[links]
client = { between = ["client", "s0"], rate = "1Gbit/s", framing = "ethernet" }
near4 = ["near4", "s0"]
near6 = ["near6", "s0"]
bottleneck = { between = ["s0", "r1"], rate = "100Mbit/s", framing = "ethernet" }
core12 = { between = ["r1", "r2"], delay = "1ms" }
core23 = { between = ["r2", "r3"], delay = "1ms" }
core34 = ["r3", "r4"]
r4 = ["r4", "s4"]
server = { between = ["server", "s4"], ipv6.loss = "1%" }
far4 = ["far4", "s4"]
far6 = ["far6", "s4"]
[services.web]
host = "server"
command = ["true"]
"#;

const NAT64: &str = r#"
name = "nat64"
title = "IPv6 alone, and a server without it"
[hosts]
client = { families = ["ipv6"], resolver = "edge" }
edge = { bgp.asn = 65001, nat64 = {}, dns64 = {}, advertises.pref64 = "fd64::/96" }
core = { bgp.asn = 65002, clamp-mss = true }
spare = { bgp.asn = 65003 }
home = { forwards = true, dhcp.v6only-wait = "5m", nat44 = { masquerade = ["core"], forward = [{ port = 80, to = "old" }] } }
old = { families = ["ipv4"] }
[links]
a = { between = ["client", "edge"], mtu = 9000, at.edge.mtu = 1500 }
b = { between = ["edge", "core"], toward.edge = { loss = { share = "1%", burst = 5 }, ipv6.packet_too_big = "drop" } }
c = ["edge", "spare"]
d = { between = ["core", "spare"], rate = "10Mbit/s" }
e = { between = ["core", "home"], delay = "5ms", jitter = "1ms" }
f = ["home", "old"]
"#;

fn all() -> [Lab; 3] {
    [TWO, TOWSON, NAT64].map(lab)
}

#[test]
fn hosts_and_labels_fit_the_picture_and_do_not_overlap() {
    for lab in all() {
        let picture = place_lab(&lab);
        let spots = picture.spots.iter().map(|spot| (spot.title.clone(), Area::of_spot(spot)));
        let labels = picture.lines.iter().filter(|line| !line.label.is_empty());
        let labels =
            labels.map(|line| (line.label.join(" "), Area::of(line.at, line.label_size())));
        let boxes: Vec<(String, Area)> = spots.chain(labels).collect();
        for (at, (name, first)) in boxes.iter().enumerate() {
            let [left, top, right, bottom] = first.0;
            assert!(left >= 0.0 && top >= 0.0, "{name}: {first:?}");
            assert!(right <= picture.width && bottom <= picture.height, "{name}: {first:?}");
            for (other, second) in &boxes[at + 1..] {
                assert!(!first.meets(second), "{}: {name} and {other}", lab.name);
            }
        }
    }
}

#[test]
fn svg_has_title_and_description_but_no_script_or_link() {
    for lab in all() {
        let picture = svg(&lab);
        for part in ["<title id=", "<desc id=", "prefers-color-scheme: dark", "role=\"img\""] {
            assert!(picture.contains(part), "{part}: {picture}");
        }
        assert!(!picture.contains("<script") && !picture.contains("href"), "{picture}");
        for host in &lab.hosts {
            assert!(picture.contains(&format!(">{}</text>", host.name)), "{}", host.name);
        }
    }
    assert!(svg(&lab(TWO)).contains("a &quot;link&quot; &amp; &lt;nothing&gt; else"));
    assert!(svg(&lab(TOWSON)).contains("100 Mbit/s with framing"));
}

#[test]
fn text_tree_starts_at_the_first_host_and_lists_both_directions() {
    assert_eq!(
        diagram_text(&lab(TWO)),
        "two: Two hosts, a \"link\" & <nothing> else\n\
         \n\
         client\n\
         └─ server\n\
         \x20     runs web\n\
         \x20     client/server: fd00:0:0:1::1/64 10.0.1.1/24, MTU 1500\n\
         \x20     server/client: fd00:0:0:1::2/64 10.0.1.2/24, MTU 1500\n\
         \x20     client → server: 100 Mbit/s\n\
         \x20     server → client: 2 ms\n"
    );
    let towson = diagram_text(&lab(TOWSON));
    assert!(towson.contains("└─ s0 (bridge)"), "{towson}");
    assert!(towson.contains("near4: generator v4\n"), "{towson}");
    assert!(towson.contains("r1 (router)"), "{towson}");
    assert!(towson.contains("server → s4: IPv6: loss 1 %; IPv4: as sent"), "{towson}");
}

#[test]
fn text_tree_lists_links_that_close_a_loop_last() {
    let tree = diagram_text(&lab(NAT64));
    let (_, last) = tree.split_once("\nand\n").unwrap();
    assert!(last.starts_with("  core to spare\n"), "{tree}");
    assert!(
        tree.contains("core → edge: loss 1 % in bursts of 5; IPv6: no Packet Too Big"),
        "{tree}"
    );
    assert!(
        tree.contains(
            "BGP, AS 65001; NAT64 fd64::/96; advertises NAT64 fd64::/96; DNS64 fd64::/96"
        ),
        "{tree}"
    );
    assert!(tree.contains("DHCPv4, IPv6-only preferred for 300 s"), "{tree}");
    assert!(tree.contains("client/edge: fd00:0:0:1::1/64, MTU 9000"), "{tree}");
}
