//! `sixmark origin --turbo`.

use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json as value};
use sixmark_testkit::{command, complaint, finish, json, signal, sixmark};

#[test]
fn the_turbo_origin_serves_both_families_until_a_signal() {
    for end in ["INT", "TERM"] {
        let mut child = command(&["origin", "--turbo", "-t", "2", "--json"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let origin: Value = serde_json::from_str(&line).unwrap();
        let urls = [0, 1].map(|i| origin["addresses"][i]["url"].as_str().unwrap().to_owned());
        for options in [&["-n", "2000", "-c", "20"][..], &["-n", "200", "--no-keep-alive"]] {
            let result = json(&[options, &[&urls[0], &urls[1]]].concat());
            let half = options[1].parse::<u64>().unwrap() / 2;
            for family in ["ipv6", "ipv4"] {
                assert_eq!(result["families"][family]["status"], value!({"200": half}));
                assert_eq!(result["families"][family]["bytes"]["body"], 13 * half);
                let io = &result["families"][family]["io"];
                assert_eq!(io["sends"], value!({"count": half, "per_exchange": 1.0}));
                assert!(io["receives"]["count"].as_u64().unwrap() >= half, "{io}");
                assert!(io["datagrams_sent"].is_null(), "{io}");
            }
        }
        signal(child.id(), end);
        assert_eq!(finish(child).status.code(), Some(0));
    }
}

#[test]
fn reports_an_unavailable_listen_address_in_one_line() {
    for address in ["[2001:db8::1]:0", "192.0.2.1:0"] {
        for threads in ["1", "2"] {
            let output = sixmark(&["origin", "--turbo", "-t", threads, "--listen", address]);
            assert!(complaint(&output, 3).contains(address));
        }
    }
}
