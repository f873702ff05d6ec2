//! A client without IPv4, and a server without IPv6.

use sixmark_testkit::lab::{Lab, without};

const LAB: &str = r#"
name = "nat64"
[hosts]
client = { families = ["ipv6"], resolver = "edge" }
edge = { forwards = true, nat64 = {}, dns64 = {} }
old = { families = ["ipv4"] }
both = {}
[bridges.far]
[links]
near = ["client", "edge"]
edge = ["edge", "far"]
old = ["old", "far"]
both = ["both", "far"]
[names]
"old.test" = "old"
"both.test" = "both"
[services.old]
host = "old"
command = ["{sixmark}", "origin", "--listen", "{old.ipv4}:80"]
urls = ["http://{old.ipv4}:80"]
[services.both]
host = "both"
command = ["{sixmark}", "origin", "--listen", "[{both.ipv6}]:80", "--listen", "{both.ipv4}:80"]
"#;

#[test]
fn ipv4_only_hosts_are_reached_by_name_through_nat64() {
    if without(&["tayga", "unbound", "curl"]) {
        return;
    }
    let lab = Lab::up("nat64", LAB, &[]);
    let get = |url: &str, what: &str| {
        lab.says("client", &["curl", "-sS", "--max-time", "60", "-w", what, "-o", "/dev/null", url])
    };
    let told = "%{remote_ip} %{http_code} %{size_download}";
    assert_eq!(get("http://old.test/bytes/300000", told), "fd64::a00:202 200 300000");
    assert_eq!(get("http://both.test/bytes/1", told), "fd00:0:0:2::3 200 1", "it has its own");
    let page = lab.says("client", &["curl", "-sS", "--max-time", "60", "http://old.test/dynamic"]);
    assert!(page.contains("192.168.255."), "the server sees one of the pool: {page}");
    let unknown = lab.exec("client", &["curl", "-sS", "--max-time", "60", "http://no.test/"]);
    assert_eq!(unknown.status.code(), Some(6), "no such name: {unknown:?}");
}

/// A client with IPv6 alone and a CLAT, a server with IPv6 alone that has an IPv4 address at the edge, and
/// hosts that have IPv4 alone.
const TRANSLATED: &str = r#"
name = "translated"
[hosts]
client = { families = ["ipv6"], clat = {} }
edge = { forwards = true, nat64 = { maps = [{ ipv4 = "192.168.255.10", to = "new" }] } }
new = { families = ["ipv6"], stacks = ["ipv6"] }
old = { families = ["ipv4"] }
[bridges.near]
[links]
client = ["client", "near"]
new = ["new", "near"]
edge = ["edge", "near"]
old = ["old", "edge"]
[services.old]
host = "old"
command = ["{sixmark}", "origin", "--listen", "{old.ipv4}:80"]
urls = ["http://{old.ipv4}:80"]
[services.new]
host = "new"
command = ["{sixmark}", "origin", "--listen", "[::]:80"]
urls = ["http://[{new.ipv6}]:80"]
"#;

#[test]
fn ipv4_literals_work_through_a_clat_and_a_server_with_ipv6_alone_has_an_ipv4_address() {
    if without(&["tayga", "curl"]) {
        return;
    }
    let lab = Lab::up("translated", TRANSLATED, &[]);
    let get = |host: &str, url: &str, what: &str| {
        lab.says(host, &["curl", "-sS", "--max-time", "60", "-w", what, "-o", "/dev/null", url])
    };
    let old = lab.says("old", &["hostname", "-I"]).trim().to_owned();
    let told = "%{local_ip} %{http_code} %{size_download}";
    let url = format!("http://{old}/bytes/300000");
    assert_eq!(get("client", &url, told), "192.0.0.1 200 300000");
    let page = lab.says("client", &["curl", "-sS", &format!("http://{old}/dynamic")]);
    assert!(page.contains("192.168.255."), "the server sees one of the pool: {page}");
    let url = "http://192.168.255.10/bytes/300000";
    assert_eq!(get("old", url, "%{http_code} %{size_download}"), "200 300000");
    let page = lab.says("old", &["curl", "-sS", "http://192.168.255.10/dynamic"]);
    assert!(page.contains("fd64::"), "the server sees the prefix: {page}");
}

#[test]
fn a_clat_works_on_links_of_the_least_mtu_of_ipv6() {
    if without(&["tayga", "curl"]) {
        return;
    }
    let mut text = TRANSLATED.to_owned();
    for link in ["client", "new", "edge"] {
        let ends = format!("[\"{link}\", \"near\"]");
        assert!(text.contains(&ends), "{link}");
        text = text.replace(&ends, &format!("{{ between = {ends}, mtu = 1280 }}"));
    }
    let lab = Lab::up("least-mtu", &text, &[]);
    let old = lab.says("old", &["hostname", "-I"]).trim().to_owned();
    let url = format!("http://{old}/bytes/300000");
    let told = "%{local_ip} %{http_code} %{size_download}";
    let words = ["curl", "-sS", "--max-time", "60", "-w", told, "-o", "/dev/null", &url];
    assert_eq!(lab.says("client", &words), "192.0.0.1 200 300000");
}

/// A home with IPv4 alone behind a router with a CLAT, whose provider has IPv6 alone.
const HOME: &str = r#"
name = "home"
[hosts]
client = { families = ["ipv4"], stacks = ["ipv4"] }
home = { clat = {}, nat44.masquerade = ["clat"] }
edge = { forwards = true, nat64 = {} }
old = { families = ["ipv4"] }
[links]
client = ["client", "home"]
home = { between = ["home", "edge"], at.home.addresses = ["fd00:9::1/64"], at.edge.addresses = ["fd00:9::2/64"] }
old = ["old", "edge"]
[services.old]
host = "old"
command = ["{sixmark}", "origin", "--listen", "{old.ipv4}:80"]
urls = ["http://{old.ipv4}:80"]
"#;

#[test]
fn hosts_with_ipv4_alone_reach_servers_through_the_clat_of_their_router() {
    if without(&["tayga", "curl", "nft"]) {
        return;
    }
    let lab = Lab::up("home", HOME, &[]);
    let [client, old] = ["client", "old"].map(|of| lab.says(of, &["hostname", "-I"]));
    let url = format!("http://{}/bytes/300000", old.trim());
    let told = "%{local_ip} %{http_code} %{size_download}";
    let words = ["curl", "-sS", "--max-time", "60", "-w", told, "-o", "/dev/null", &url];
    assert_eq!(lab.says("client", &words), format!("{} 200 300000", client.trim()));
    let page = lab.says("client", &["curl", "-sS", &format!("http://{}/dynamic", old.trim())]);
    assert!(page.contains("192.168.255."), "the server sees one of the pool: {page}");
}
