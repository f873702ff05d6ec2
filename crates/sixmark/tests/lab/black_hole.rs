//! Packets too big for the core, of which one family's senders hear nothing.

use sixmark_testkit::lab::{Lab, without};

const LAB: &str = r#"
name = "hole"
[hosts]
client = {}
near = { forwards = true }
far = { forwards = true }
server = {}
[links]
client = { between = ["client", "near"], mtu = 9000 }
core = ["near", "far"]
server = { between = ["far", "server"], mtu = 9000, toward.server.ipv6.packet_too_big = "drop" }
[variants.remedy.probing.hosts.server.sysctls]
"net.ipv4.tcp_mtu_probing" = "2"
[variants.remedy.clamping.hosts]
far.clamp-mss = true
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[{server.ipv6}]:80", "--listen", "{server.ipv4}:80"]
"#;

const URLS: [&str; 2] = ["http://[fd00:0:0:3::2]", "http://10.0.3.2"];
/// Fits into one packet of the core.
const SMALL: &str = "1000";
const LARGE: &str = "1000000";

/// How many bytes of a body arrive before the client's patience ends.
fn bytes(lab: &Lab, url: &str, size: &str, patience_s: &str) -> String {
    let url = format!("{url}/bytes/{size}");
    let words =
        ["curl", "-s", "--max-time", patience_s, "-w", "%{size_download}", "-o", "/dev/null"];
    let output = lab.exec("client", &[&words[..], &[&url]].concat());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn large_responses_stall_in_an_ipv6_path_mtu_black_hole() {
    if without(&["nftables", "curl"]) {
        return;
    }
    let lab = Lab::up("hole", LAB, &[]);
    let [ipv6, ipv4] = URLS;
    assert_eq!(bytes(&lab, ipv6, SMALL, "60"), SMALL);
    assert_eq!(bytes(&lab, ipv4, LARGE, "60"), LARGE, "discovery works over IPv4");
    assert_ne!(bytes(&lab, ipv6, LARGE, "4"), LARGE);
}

#[test]
fn mtu_probing_and_mss_clamping_overcome_a_path_mtu_black_hole() {
    if without(&["nftables", "curl"]) {
        return;
    }
    for remedy in ["probing", "clamping"] {
        let lab = Lab::up(remedy, LAB, &[&format!("remedy={remedy}")]);
        for url in URLS {
            assert_eq!(bytes(&lab, url, LARGE, "60"), LARGE, "{remedy}: {url}");
        }
    }
}
