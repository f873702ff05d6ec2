//! Routers that find their ways by BGP.

use sixmark_testkit::lab::{Lab, without};

/// A circle of four, a network behind one that does not speak it, and one with a translator.
const LAB: &str = r#"
name = "ring"
[hosts]
client = {}
r1 = { bgp.asn = 65001 }
r2 = { bgp.asn = 65002 }
r3 = { bgp.asn = 65003 }
r4 = { bgp.asn = 65004 }
plain = { forwards = true }
server = {}
[links]
client = ["client", "r1"]
a = ["r1", "r2"]
b = ["r2", "r3"]
c = ["r3", "r4"]
d = ["r4", "r1"]
plain = ["r3", "plain"]
server = ["plain", "server"]
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[{server.ipv6}]:80", "--listen", "{server.ipv4}:80"]
"#;

#[test]
fn a_lab_is_up_when_every_router_knows_every_network() {
    if without(&["bird2", "curl"]) {
        return;
    }
    let lab = Lab::up("bgp", LAB, &[]);
    assert!(lab.said.contains("BGP: converged after "), "{}", lab.said);
    for (url, family) in
        [("http://[fd00:0:0:7::2]/bytes/9", "-6"), ("http://10.0.7.2/bytes/9", "-4")]
    {
        let words =
            ["curl", "-sS", "--max-time", "60", "-w", "%{size_download}", "-o", "/dev/null"];
        let got = lab.says("client", &[&words[..], &[url]].concat());
        assert_eq!(got, "9", "{url}");
        let routes = lab.says("r1", &["ip", family, "route", "show", "proto", "bird"]);
        assert_eq!(routes.lines().count(), 4, "two links, the router's and the server's: {routes}");
    }
}
