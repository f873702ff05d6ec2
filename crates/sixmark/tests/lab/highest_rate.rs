//! The highest rate of a server whose network admits a known number of connections a second.

use serde_json::Value;
use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::sixmark;
use sixmark_units::family::Family;

const LAB: &str = r#"
name = "bucket"
[hosts]
client = {}
middle = { forwards = true }
server = {}
[links]
near = ["client", "middle"]
far = ["middle", "server"]
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[{server.ipv6}]:80", "--listen", "{server.ipv4}:80"]
"#;

const URLS: [&str; 2] = ["http://[fd00:0:0:2::2]/bytes/10", "http://10.0.2.2/bytes/10"];

/// How many connections a second the router admits over IPv6 and over IPv4, and how many at once.
const ADMITTED: [f64; 2] = [1_000.0, 1_400.0];
const BURST: f64 = 100.0;
/// The share of requests that may fail.
const FAILED: f64 = 0.01;
/// How long the trials last that decide, in seconds: four times `-d`.
const LONG_S: f64 = 2.0;

/// What a router drops: connections beyond the limit of their family.
fn limits() -> String {
    let rule = |(family, rate): (&str, f64)| {
        format!(
            "add rule inet bucket forward meta nfproto {family} tcp flags & (syn | ack) == syn \
             limit rate over {rate}/second burst {BURST} packets drop;"
        )
    };
    let rules = ["ipv6", "ipv4"].into_iter().zip(ADMITTED).map(rule).collect::<String>();
    let chain = "{ type filter hook forward priority 0; }";
    format!("add table inet bucket; add chain inet bucket forward {chain}; {rules}")
}

/// A trial of two seconds admits the burst once, and a hundredth more than that may fail.
#[test]
fn brackets_the_connection_rate_limit_of_each_family() {
    if without(&["nftables"]) {
        return;
    }
    let lab = Lab::up("bucket", LAB, &[]);
    lab.says("middle", &["nft", &limits()]);
    let [v6, v4] = URLS;
    let search = ["run", "--lab", lab.name(), "--in", "client", "--find-max", "failures < 1%"];
    // A dropped SYN is not sent again within the timeout, and no port waits after a connection.
    let load = ["--no-keep-alive", "--close", "rst", "--timeout", "300ms", "-c", "600"];
    let short = ["--rate", "700", "-d", "500ms", "--at-most", "45s", "-q", "--json", "-", v6, v4];
    let output = sixmark(&[&search[..], &load, &short].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (family, limit) in Family::BOTH.into_iter().zip(ADMITTED) {
        let found = &document["find_max"]["families"][family.word()];
        let [holds, fails] = ["holds", "fails"].map(|side| found[side].as_f64());
        let most = (limit + BURST / LONG_S) / (1.0 - FAILED);
        assert!(holds.is_none_or(|holds| holds <= most), "{family}, {limit}/s: {found:#}");
        assert!(fails.is_none_or(|fails| fails > limit), "{family}, {limit}/s: {found:#}");
        // A machine that is too busy for the load is told from a server that has a limit.
        let is_found = fails.is_some() && found["limited_by"] == "failures";
        assert!(is_found || found["ended"] == "generator", "{family}, {limit}/s: {found:#}");
    }
}
