//! `sixmark check` in labs where the true answer is known.

use std::io::{BufRead as _, BufReader};
use std::process::Child;

use serde_json::Value;
use sixmark_check::happy_eyeballs::{AddressFate, CURL, RaceProfile, RaceSetting, run_race};
use sixmark_testkit::forms::CHECK;
use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::name_server::{ResolverFiles, within_names};
use sixmark_testkit::{command, sixmark};
use sixmark_units::family::Family;

const LAB: &str = r#"
name = "checked"
[hosts.client]
[hosts.server]
[links.way]
between = ["client", "server"]
delay = "5ms"
ipv6 = { delay = "5ms" }
[names]
"www.test" = "server"
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[{server.ipv6}]:80", "--listen", "{server.ipv4}:80"]
"#;

/// A server behind a link whose routers lose Packet Too Big of IPv6.
const BLACK_HOLE: &str = r#"
name = "checked-hole"
[hosts]
client = {}
near = { forwards = true }
far = { forwards = true }
server = {}
[links]
client = { between = ["client", "near"], mtu = 9000 }
core = { between = ["near", "far"], mtu = 1500 }
server = { between = ["far", "server"], mtu = 9000, toward.server.ipv6.packet_too_big = "drop" }
[names]
"www.test" = "server"
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[{server.ipv6}]:80", "--listen", "{server.ipv4}:80"]
"#;

/// Checks a URL from the client of a lab.
fn check(lab: &Lab, url: &str) -> Value {
    check_with(lab, &[], url)
}

/// Checks a URL from the client of a lab, with options.
pub(super) fn check_with(lab: &Lab, options: &[&str], url: &str) -> Value {
    let words = ["check", "--json", "-", "--in", "client", "--lab", lab.name(), url];
    read(&sixmark(&[&words[..], options].concat()))
}

fn read(output: &std::process::Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    CHECK.check(&document);
    document["sites"][0].clone()
}

/// Returns the checks in which the families differ.
pub(super) fn differing(site: &Value) -> Vec<&str> {
    let findings = site["findings"].as_array().unwrap().iter();
    let differs = findings.filter(|of| of["state"] == "differs");
    differs.map(|of| of["check"].as_str().unwrap()).collect()
}

/// Returns what was found in a check.
fn found<'a>(site: &'a Value, check: &str) -> &'a str {
    let findings = site["findings"].as_array().unwrap();
    let of = findings.iter().find(|of| of["check"] == check).unwrap();
    of["found"].as_str().unwrap()
}

#[test]
fn finds_nothing_in_a_healthy_site() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("checked", LAB, &[]);
    for _ in 0..10 {
        let site = check(&lab, "http://www.test/bytes/30000");
        assert_eq!(differing(&site), [""; 0], "{site:#}");
        assert_eq!(site["verdict"], "as_good", "{site:#}");
        assert!(site["observed"]["requests"].as_u64().unwrap() <= 60, "{site:#}");
    }
}

#[test]
fn names_a_longer_path_as_the_cause_of_a_slower_family() {
    if without(&[]) {
        return;
    }
    let text = LAB.replace("ipv6 = { delay = \"5ms\" }", "ipv6 = { delay = \"25ms\" }");
    let lab = Lab::up("checked-far", &text, &[]);
    let site = check(&lab, "http://www.test/bytes/1000");
    assert_eq!((differing(&site), &site["verdict"]), (vec!["time"], &"worse".into()), "{site:#}");
    let parts = site["why"]["parts"].as_array().unwrap().iter();
    let causes: Vec<&str> =
        parts.filter(|of| of["is_cause"] == true).map(|of| of["part"].as_str().unwrap()).collect();
    assert_eq!(causes, ["round_trips"], "{site:#}");
    assert!(
        found(&site, "time").contains("; the server is 1 hop away over IPv6, 1 over IPv4"),
        "{site:#}"
    );
}

#[test]
fn finds_a_family_that_is_refused_or_black_holed() {
    if without(&[]) {
        return;
    }
    let refused = LAB.replace("\"--listen\", \"[{server.ipv6}]:80\", ", "")
        + "urls = [\"http://{server.ipv4}\"]\n";
    let lab = Lab::up("checked-refused", &refused, &[]);
    let site = check(&lab, "http://www.test/bytes/1000");
    assert_eq!(
        (differing(&site), &site["verdict"]),
        (vec!["connect"], &"broken".into()),
        "{site:#}"
    );
    assert!(found(&site, "connect").contains("refused"), "{site:#}");
    drop(lab);
    let lost = LAB.replace("ipv6 = { delay = \"5ms\" }", "ipv6 = { loss = \"100%\" }");
    let lab = Lab::up("checked-lost", &lost, &[]);
    let site = check(&lab, "http://www.test/bytes/1000");
    assert_eq!(
        (differing(&site), &site["verdict"]),
        (vec!["connect"], &"broken".into()),
        "{site:#}"
    );
    assert!(found(&site, "connect").contains("timed out"), "{site:#}");
}

/// Two servers with certificates of their own, one for each family.
#[test]
fn finds_another_certificate_and_blames_no_family_for_both() {
    if without(&[]) {
        return;
    }
    let (before, _) = LAB.split_once("[services.web]").unwrap();
    let service = |name: &str, address: &str| {
        format!(
            "[services.{name}]\nhost = \"server\"\nurls = [\"https://{address}\"]\n\
             command = [\"{{sixmark}}\", \"origin\", \"--tls\", \"--listen\", \"{address}:443\"]\n"
        )
    };
    let both = service("web6", "[{server.ipv6}]") + &service("web4", "{server.ipv4}");
    let lab = Lab::up("checked-twice", &format!("{before}{both}"), &[]);
    let site = check(&lab, "https://www.test/bytes/1000");
    assert_eq!(differing(&site), ["certificate"], "{site:#}");
    assert_eq!(site["verdict"], "as_good", "{site:#}");
    let fetch = &site["observed"]["addresses"][0]["fetches"][0];
    assert_eq!((&fetch["protocol"], &fetch["status"]), (&"HTTP/2".into(), &200.into()), "{site:#}");
    // A response that never ends, over both families.
    let site = check(&lab, "https://www.test/stall/2000");
    assert_eq!(site["verdict"], "cant_tell", "{site:#}");
}

/// An HTTPS record offers HTTP/3: a server of IPv4 alone has it, and then both.
#[test]
fn finds_http3_that_one_family_does_not_serve() {
    if without(&[]) {
        return;
    }
    within_names(&ResolverFiles::default(), || {
        let url = "https://ok-ok.h3.example/bytes/1000";
        for (of_ipv6, expected) in
            [(&[][..], &["http3", "certificate"][..]), (&["--http3"], &["certificate"])]
        {
            let ipv4 = OwnOrigin::start(&["--http3", "--listen", "127.0.0.1:443"]);
            let ipv6 = OwnOrigin::start(&[of_ipv6, &["--listen", "[::1]:443"]].concat());
            let site = read(&sixmark(&["check", "--json", "-", url]));
            drop((ipv4, ipv6));
            assert_eq!(differing(&site), expected, "{site:#}");
            let of_ipv4 = site["observed"]["addresses"].as_array().unwrap().last().unwrap();
            assert_eq!(of_ipv4["http3"]["status"], 200, "{site:#}");
            assert_eq!(of_ipv4["http3"]["content_bytes"], 1_000, "{site:#}");
            // The record offers QUIC, and TCP comes 300 ms later.
            let clients = site["clients"].as_array().unwrap();
            let chrome = clients.iter().find(|of| of["client"] == "Chrome").unwrap();
            let over = if of_ipv6.is_empty() { "tcp" } else { "quic" };
            assert_eq!(chrome["points"][0]["protocol"], over, "{site:#}");
        }
    });
}

/// `sixmark origin --tls` in this network, until it is dropped.
struct OwnOrigin(Child);

impl OwnOrigin {
    fn start(words: &[&str]) -> OwnOrigin {
        let mut child = command(&[&["origin", "--tls"], words].concat()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("Ctrl-C") {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the origin ended");
        }
        OwnOrigin(child)
    }
}

impl Drop for OwnOrigin {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn tells_a_path_mtu_black_hole_from_a_dead_family() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("checked-hole", BLACK_HOLE, &[]);
    let site = check(&lab, "http://www.test/bytes/30000");
    let differs = differing(&site);
    assert_eq!((differs, &site["verdict"]), (vec!["large-packets"], &"broken".into()), "{site:#}");
    assert!(found(&site, "large-packets").contains("a path-MTU black hole"), "{site:#}");
}

/// The first label of a name says what the name server answers for A, then for AAAA.
#[test]
fn finds_what_resolvers_answer_wrongly() {
    if without(&[]) {
        return;
    }
    within_names(&ResolverFiles::default(), || {
        for (name, expected, verdict) in [
            ("ok-nodata.example", &["records"][..], "ipv4_only"),
            ("nodata-ok.example", &["records"], "ipv6_only"),
            ("ok-servfail.example", &["records", "resolvers"], "cant_tell"),
            ("ok-silent.example", &["records", "resolvers"], "cant_tell"),
            ("ok-nxdomain.example", &["records", "resolvers"], "cant_tell"),
        ] {
            let url = format!("http://{name}:9/");
            let site = read(&sixmark(&["check", "--repeat", "1", "--json", "-", &url]));
            assert_eq!(differing(&site), expected, "{name}: {site:#}");
            assert_eq!(site["verdict"], verdict, "{name}: {site:#}");
            // The resolver that is given is the same one.
            let given = ["check", "--resolver", "127.0.0.1", "--repeat", "1", "--json", "-", &url];
            assert_eq!(differing(&read(&sixmark(&given))), expected, "{name}: given");
        }
    });
}

/// Each site of a file has a line, and a summary follows.
#[test]
fn checks_the_sites_of_a_file() {
    if without(&[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [targets, empty] = ["targets", "empty"].map(|name| folder.path().join(name));
    std::fs::write(&targets, "# sites\nhttp://ok-nodata.example:9/\n\nhttp://ok-ok.example:9/\n")
        .unwrap();
    std::fs::write(&empty, "# none\n").unwrap();
    within_names(&ResolverFiles::default(), || {
        let list = ["check", "--repeat", "1", "--store", "none", "--targets"];
        let output = sixmark(&[&list[..], &[targets.to_str().unwrap()]].concat());
        let said = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[0].starts_with("IPV4 ONLY: ok-nodata.example:9 has no address of IPv6"),
            "{said}"
        );
        assert!(lines[1].starts_with("CAN'T TELL: ok-ok.example:9"), "{said}");
        assert_eq!(lines[2], "2 sites checked: 1 CAN'T TELL, 1 IPV4 ONLY.", "{said}");
        let output = sixmark(&[&list[..], &[empty.to_str().unwrap()]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("no URL in it"), "{errors}");
    });
}

/// What is too long to read, or not read to its end in time, is not compared.
#[test]
fn does_not_read_two_gigabytes() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("checked-long", LAB, &[]);
    let site = check(&lab, "http://www.test/bytes/2000000000");
    assert_eq!(site["verdict"], "cant_tell", "{site:#}");
    assert!(found(&site, "complete").contains("longer than 16 MiB"), "{site:#}");
}

/// Each mistake is one line, and nothing is sent.
#[test]
fn explains_bad_input_in_one_line() {
    for (words, said) in [
        (&["www.example.net"][..], "http"),
        (&["http://www.example.net/", "--resolver", "here"], "--resolver"),
        (&["https://www.example.net/", "--cacert", "/nowhere"], "--cacert"),
        (&["http://www.example.net/", "--only", "everything"], "--only"),
        (&["--targets", "/nowhere"], "--targets"),
    ] {
        let output = sixmark(&[&["check"], words].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {errors}");
        assert!(errors.contains(said), "{words:?}: {errors}");
    }
}

/// The server of a path that is 60 ms longer over IPv6. curl's own head start decides which family wins,
/// as predicted.
#[test]
fn predicts_the_family_that_curl_connects_to() {
    if without(&["curl"]) {
        return;
    }
    let text = LAB.replace("ipv6 = { delay = \"5ms\" }", "ipv6 = { delay = \"35ms\" }");
    let lab = Lab::up("checked-race", &text, &[]);
    let site = check(&lab, "http://www.test/bytes/1000");
    let clients = site["clients"].as_array().unwrap();
    let curl = clients.iter().find(|of| of["client"] == "curl").unwrap();
    // curl gives IPv6 200 ms; so much more may IPv6 take, less the 60 ms that it takes longer already.
    let tolerated = curl["tolerated_ms"].as_f64().unwrap();
    assert!((100.0..=160.0).contains(&tolerated), "{site:#}");
    let connect_ms = |family: &str| {
        let addresses = site["observed"]["addresses"].as_array().unwrap();
        let of = addresses.iter().find(|of| of["family"] == family).unwrap();
        let fetches = of["fetches"].as_array().unwrap().iter();
        fetches.map(|of| of["connect_us"].as_f64().unwrap() / 1e3).fold(f64::MAX, f64::min)
    };
    let [ipv6, ipv4] = ["ipv6", "ipv4"].map(connect_ms);
    for head_start in [5, 10, 20, 110, 150, 250] {
        let fates = [ipv6, ipv4].map(|ms| vec![AddressFate::Connects(ms)]);
        let setting = RaceSetting::of_tcp(fates);
        let profile = RaceProfile { attempt_delay_ms: f64::from(head_start), ..CURL };
        let predicted = run_race(profile, &setting).unwrap();
        let option = head_start.to_string();
        let words = ["curl", "-s", "-o", "/dev/null", "-w", "%{remote_ip} %{time_connect}"];
        let race = ["--happy-eyeballs-timeout-ms", &option, "http://www.test/bytes/1000"];
        let said = lab.says("client", &[&words[..], &race].concat());
        let (address, seconds) = said.trim().split_once(' ').unwrap();
        let family = Family::of(address.parse().unwrap());
        assert_eq!(family, predicted.winner, "{head_start} ms: {said}, {predicted:?}");
        // Nothing is established before its time; a busy machine makes it later.
        let connected_ms = 1e3 * seconds.parse::<f64>().unwrap();
        assert!(
            connected_ms > predicted.connected_ms - 2.0,
            "{head_start} ms: {said}, {predicted:?}"
        );
    }
}

/// A machine that has no route to a family says so, and calls nobody's site broken.
#[test]
fn a_machine_without_ipv6_says_so() {
    if without(&[]) {
        return;
    }
    let hosts = "127.0.0.1 both.example\n2001:db8::1 both.example\n";
    within_names(&ResolverFiles { hosts, ..ResolverFiles::default() }, || {
        let _origin = OwnOrigin::start(&["--listen", "127.0.0.1:443"]);
        let site = read(&sixmark(&["check", "--json", "-", "https://both.example/bytes/1000"]));
        assert_eq!(differing(&site), [""; 0], "{site:#}");
        assert_eq!(site["verdict"], "cant_tell", "{site:#}");
        let sentence = site["sentence"].as_str().unwrap();
        assert!(sentence.contains("this machine has no way to addresses of IPv6"), "{sentence}");
    });
}
