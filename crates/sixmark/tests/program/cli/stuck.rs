//! Exchanges that are never answered while others are: they are failures when the load ends.

use std::net::TcpListener;

use serde_json::{Value, json as value};
use sixmark_testkit::times::assert_with_enough_time;
use sixmark_testkit::{Origin, json};

/// The outcomes of a family other than NORMAL.
fn failed(of: &Value) -> Value {
    let mut outcomes = of["outcomes"].clone();
    outcomes.as_object_mut().unwrap().remove("NORMAL");
    outcomes
}

#[test]
fn counts_stalled_requests_as_unanswered_over_every_http_version() {
    let (plain, secure) = (Origin::start(), Origin::secure());
    let versions: [(&Origin, &[&str]); 3] = [
        (&plain, &["-c", "8"]),
        (&secure, &["-k", "--http2", "-c", "2", "--streams", "4"]),
        (&secure, &["-k", "--http3", "-c", "2", "--streams", "4"]),
    ];
    for (origin, version) in versions {
        let [v6, v4] = origin.urls("/bytes/1");
        let [v6_stuck, v4_stuck] = origin.urls("/stall");
        let expected = (value!({"UNANSWERED": 8}), true);
        assert_with_enough_time(&expected, &version.join(" "), |duration| {
            let load = ["-d", duration, "--timeout", "1h", &v6, &v4, &v6_stuck, &v4_stuck];
            let result = json(&[version, &load[..]].concat());
            let both = &result["families"];
            let each = ["ipv6", "ipv4"].iter().all(|of| failed(&both[of])["UNANSWERED"].is_u64());
            (failed(&result["total"]), each)
        });
    }
}

#[test]
fn names_the_one_of_three_addresses_that_never_answers() {
    let (one, two) = (Origin::start(), Origin::start());
    // The kernel accepts connections, and no one reads from them.
    let dead = ["[::1]:0", "127.0.0.1:0"].map(|at| TcpListener::bind(at).unwrap());
    let dead = dead.each_ref().map(|of| of.local_addr().unwrap().to_string());
    let healthy = [&one, &two].map(|origin| origin.urls("/bytes/1")).concat();
    let urls = dead.iter().map(|at| format!("http://{at}/")).chain(healthy).collect::<Vec<_>>();
    let expected = dead.clone().map(|at| vec![at]);
    assert_with_enough_time(&expected, "the dead ones fail", |duration| {
        let urls = urls.iter().map(String::as_str);
        let load = ["-d", duration, "--timeout", "1h", "-c", "12"];
        let result = json(&load.into_iter().chain(urls).collect::<Vec<_>>());
        ["ipv6", "ipv4"].map(|family| {
            let all = result["families"][family]["by_address"].as_array().unwrap().iter();
            let unanswered = |failure: &Value| failure["outcome"] == "UNANSWERED";
            let fails = |of: &&Value| of["failures"].as_array().unwrap().iter().any(unanswered);
            all.filter(fails).map(|of| of["address"].as_str().unwrap().to_owned()).collect()
        })
    });
}
