//! curl, whose delay between the families is an option.

use sixmark_eyes::behaviour::attempt_delays_ms;
use sixmark_testkit::lab::without;

use super::{case, read, try_watching, watch, words};

/// What is measured may be longer, in milliseconds: a timer fires late on a busy machine.
const LONGER_MS: f64 = 60.0;

/// The delays that docs/eyes.md names, and how often each is tried.
const VALUES_MS: [u32; 5] = [50, 100, 200, 350, 500];
const STARTS: &str = "20";
/// How near a delay must be to the one that was set, in milliseconds.
const NEAR_MS: f64 = 5.0;

#[test]
#[ignore = "measures time"]
fn delays_of_curl_are_near_those_that_were_set() {
    for set_ms in VALUES_MS {
        let option = set_ms.to_string();
        let client =
            words(&["curl", "-s", "-o", "/dev/null", "--happy-eyeballs-timeout-ms", &option]);
        let result = read(&watch(&["--repeat", STARTS, "--cases", "dead-ipv6"], &client));
        let starts = &case(&result, "dead-ipv6").starts;
        let first = starts.iter().filter_map(|of| attempt_delays_ms(of).first().copied());
        let delays: Vec<f64> = first.collect();
        let near = delays.iter().filter(|of| (**of - f64::from(set_ms)).abs() <= NEAR_MS).count();
        println!("{set_ms} ms: {near} of {} within {NEAR_MS} ms: {delays:.1?}", starts.len());
        assert!(2 * near > starts.len(), "{set_ms} ms");
    }
}

#[test]
fn the_delay_of_curl_is_the_one_that_was_set() {
    if without(&["curl"]) {
        return;
    }
    for set_ms in [50, 350] {
        let option = set_ms.to_string();
        let client =
            words(&["curl", "-s", "-o", "/dev/null", "--happy-eyeballs-timeout-ms", &option]);
        try_watching(&["--repeat", "2", "--cases", "dead-ipv6"], &client, |result| {
            let found = case(result, "dead-ipv6").figures.attempt_delay;
            // The first delay is that between the families; the next one is curl's own.
            let least = found.map_or(0.0, |of| of.least_ms);
            let allowed = f64::from(set_ms) - 5.0..=f64::from(set_ms) + LONGER_MS;
            if allowed.contains(&least) { Vec::new() } else { vec![format!("{set_ms}: {found:?}")] }
        });
    }
}
