//! Families and their ratio: exact, whatever the threads, targets and lists.

use std::io::Write as _;

use serde_json::{Value, json as value};
use sixmark_testkit::{Origin, Server, complaint, json, sixmark};
use sixmark_units::family::Family;

fn sent(result: &Value) -> &Value {
    &result["ratio"]["sent"]
}

#[test]
fn a_ratio_is_exact_whatever_the_threads() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    for threads in ["1", "2", "3", "7"] {
        for (ratio, expected) in [("4:1", [800, 200]), ("1:1", [500, 500]), ("1:3", [250, 750])] {
            let load = ["-n", "1000", "-c", "14", "-t", threads, "--ratio", ratio];
            let result = json(&[&load[..], &[&v6, &v4]].concat());
            assert_eq!(sent(&result), &value!(expected), "{ratio} with {threads} threads");
            assert_eq!(result["generator"]["threads"].to_string(), threads);
            assert_eq!(result["ended"], "complete");
        }
    }
}

#[test]
fn the_server_gets_as_many_requests_as_are_reported() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    for threads in ["1", "3"] {
        let result = json(&["-n", "50", "-c", "20", "-t", threads, &v6, &v4]);
        assert_eq!(sent(&result), &value!([25, 25]));
        let seen = server.seen();
        let over_ipv6 = seen.iter().filter(|request| request.peer.is_ipv6()).count();
        assert_eq!((over_ipv6, seen.len()), (25, 50), "{threads} threads");
    }
}

#[test]
fn options_4_and_6_load_only_one_family() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let port = |url: &str| url.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    for (option, own, name, expected) in
        [("-6", &v6, "ipv6", [40, 0]), ("-4", &v4, "ipv4", [0, 40])]
    {
        // A name with addresses of both families, so that the option has something to choose.
        let port = port(own);
        let both = format!("both.example:{port}:[::1],127.0.0.1");
        let url = format!("http://both.example:{port}/bytes/10");
        let result = json(&["-n", "40", option, "--resolve", &both, &url]);
        assert_eq!(sent(&result), &value!(expected));
        let families: Vec<&String> = result["families"].as_object().unwrap().keys().collect();
        assert_eq!(families, [name]);
        assert_eq!(result["dns"], value!([]), "an answer given beforehand is not looked up");
    }
}

#[test]
fn a_mapped_address_counts_as_ipv4() {
    let server = Server::start();
    let port = server.address(Family::Ipv4).port();
    let result = json(&["-n", "10", &format!("http://[::ffff:127.0.0.1]:{port}/")]);
    assert_eq!(sent(&result), &value!([0, 10]));
    assert!(result["families"]["ipv6"].is_null());
    assert!(server.seen().iter().all(|request| request.peer.is_ipv4()));
}

/// A list file in a folder that lives as long as the list.
fn list(text: &str) -> (tempfile::NamedTempFile, String) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    (file, path)
}

#[test]
fn weights_in_a_target_list_set_the_ratio() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("");
    let host = |url: &str| url.trim_start_matches("http://").to_owned();
    let (_file, path) = list(&format!(
        "# sixmark's own\n\n{v6}/status/201 weight=3\n  {} # over IPv6 too\n{v4}/status/202\n",
        host(&v6)
    ));
    let result = json(&["-n", "100", "--targets", &path, "--path", "/status/203"]);
    assert_eq!(result["ratio"]["asked"], value!([4, 1]));
    assert_eq!(sent(&result), &value!([80, 20]));
    let status = |family: &str| &result["families"][family]["status"];
    assert_eq!(status("ipv6"), &value!({"201": 60, "203": 20}));
    assert_eq!(status("ipv4"), &value!({"202": 20}));

    let even = json(&["-n", "100", "--targets", &path, "--ratio", "1:1"]);
    assert_eq!(sent(&even), &value!([50, 50]), "--ratio goes before the list's");
}

#[test]
fn reports_target_list_errors_with_file_and_line() {
    for (text, line, part) in [
        ("127.0.0.1\n\n[::1 weight=2\n", ":3:", "closing bracket"),
        ("127.0.0.1 weight=0\n", ":1:", "weight '0'"),
        ("# nothing here\n", ":", "no target"),
    ] {
        let (_file, path) = list(text);
        let said = complaint(&sixmark(&["run", "--targets", &path]), 2);
        assert!(said.contains(&format!("{path}{line}")) && said.contains(part), "{said}");
    }
}
