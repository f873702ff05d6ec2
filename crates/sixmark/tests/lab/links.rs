//! What links and hosts of a lab are told to do, they do.

use serde_json::Value;
use sixmark_testkit::lab::{Lab, without};

const LAB: &str = r#"
name = "links"
[hosts]
client = { congestion = "reno", initial-window = 3 }
router = { forwards = true }
server = { sysctls = { "net.ipv4.tcp_mtu_probing" = "1" } }
free = {}
[links]
near = { between = ["client", "router"], at.client.offloads = { tso = false, gro = false } }
far = { between = ["router", "server"], delay = "20ms", ipv6 = { delay = "20ms", loss = "30%" }, mechanism = "emulator" }
slow = { between = ["router", "free"], rate = "8Mbit/s", queue = "100kB" }
[names]
"www.example" = "server"
[services.web]
host = "server"
command = ["sh", "-c", "ls -l /proc/self/fd > {dir}/open; exec {sixmark} origin --listen [::]:80 --listen 0.0.0.0:80"]
urls = ["http://[{server.ipv6}]", "http://{server.ipv4}"]
[services.near]
host = "free"
command = ["{sixmark}", "origin", "--listen", "[::]:80", "--listen", "0.0.0.0:80"]
urls = ["http://[{free.ipv6}]", "http://{free.ipv4}"]
"#;

fn run(lab: &Lab, words: &[&str]) -> Value {
    let all = [&["run", "--quiet", "--json", "-", "--in", "client", "--lab", lab.name()], words];
    let output = sixmark_testkit::sixmark(&all.concat());
    sixmark_testkit::document(&output)
}

#[test]
fn a_link_applies_its_delay_and_the_loss_of_one_family() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("delay", LAB, &[]);
    let urls = ["http://[fd00:0:0:2::2]/bytes/2000", "http://10.0.2.2/bytes/2000"];
    let words = ["-n", "60", "-c", "6", "--no-keep-alive", "--timeout", "60s"];
    let result = run(&lab, &[&words[..], &urls].concat());
    for family in ["ipv6", "ipv4"] {
        let least = result["families"][family]["connect_us"]["min"].as_f64().unwrap();
        assert!(least >= 40_000.0, "there and back: {least}");
    }
    // Of SYNs and requests; 30 of each cross the link. That none is lost over IPv4 is counted at the link (in
    // `emulator` and `studies`): a busy machine makes TCP send again what was not lost.
    let tcp = &result["families"]["ipv6"]["tcp"];
    assert!(tcp["retransmitted"].as_u64() > Some(0), "{tcp}");
}

#[test]
fn a_rate_limits_the_throughput_of_the_link() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("rate", LAB, &[]);
    for url in ["http://[fd00:0:0:3::2]/bytes/300000", "http://10.0.3.2/bytes/300000"] {
        let result = run(&lab, &["-n", "4", "-c", "1", url]);
        let goodput = result["total"]["goodput_bytes_per_s"].as_f64();
        let seconds = result["elapsed_s"].as_f64().unwrap_or_else(|| panic!("{result}"));
        // 1.2 MB at 1 MB/s, less what fits the bucket. A slow machine only takes longer.
        assert!(seconds > 1.0, "{url}: {seconds} s, {goodput:?}");
    }
}

#[test]
fn hosts_have_the_routes_settings_and_names_of_the_lab_file() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("hosts", LAB, &[]);
    for family in ["-6", "-4"] {
        let routes = lab.says("client", &["ip", family, "route"]);
        let own: Vec<&str> =
            routes.lines().filter(|line| !line.contains("fe80") && !line.is_empty()).collect();
        assert_eq!(own.len(), 2, "its network and everything else: {routes}");
        for line in own {
            assert!(line.contains("congctl reno") && line.contains("initcwnd 3"), "{line}");
        }
    }
    let probing = ["cat", "/proc/sys/net/ipv4/tcp_mtu_probing"];
    assert_eq!(lab.says("server", &probing).trim(), "1");
    assert_eq!(lab.says("client", &probing).trim(), "0");
    let names = lab.says("client", &["getent", "ahosts", "www.example"]);
    assert!(names.contains("fd00:0:0:2::2") && names.contains("10.0.2.2"), "{names}");
    assert!(!lab.says("client", &["cat", "/etc/hosts"]).is_empty());
    let interfaces = lab.says("client", &["ls", "/sys/class/net"]);
    assert!(interfaces.contains("router") && interfaces.contains("lo"), "{interfaces}");
}

#[test]
fn programs_of_a_lab_inherit_no_extra_file_descriptors() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("files", LAB, &[]);
    let service = lab.says("server", &["cat", "/dev/shm/service-web/open"]);
    let program = lab.says("server", &["ls", "-l", "/proc/self/fd"]);
    // Whoever started the tests may have left some open.
    let here = std::process::Command::new("ls").args(["-l", "/proc/self/fd"]).output().unwrap();
    let expected = String::from_utf8(here.stdout).unwrap().lines().count();
    for said in [service, program] {
        assert_eq!(said.lines().count(), expected, "{said}");
    }
}

#[test]
fn hosts_have_no_route_out_of_the_lab() {
    if without(&["curl"]) {
        return;
    }
    let lab = Lab::up("outside", LAB, &[]);
    for (family, outside) in [("-6", "2001:db8::1"), ("-4", "192.0.2.1")] {
        // The router has no way on; hosts only have one to the router.
        let router = lab.exec("router", &["ip", family, "route", "get", outside]);
        assert!(!router.status.success(), "{router:?}");
        let url = if family == "-6" {
            format!("http://[{outside}]/")
        } else {
            format!("http://{outside}/")
        };
        let words =
            ["run", "--quiet", "--json", "-", "--in", "client", "--lab", lab.name(), "-n", "1"];
        let result =
            sixmark_testkit::document(&sixmark_testkit::sixmark(&[&words[..], &[&url]].concat()));
        assert_eq!(result["total"]["outcomes"]["UNREACHABLE"], 1, "{result}");
        let curl = lab.exec("client", &["curl", "-sS", "--max-time", "100", &url]);
        assert_eq!(curl.status.code(), Some(7), "{curl:?}");
    }
}
