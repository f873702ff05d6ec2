//! curl, whose delay between the families is an option.

use sixmark_testkit::lab::without;

use super::{case, try_watching, words};

/// What is measured may be longer, in milliseconds: a timer fires late on a busy machine.
const LONGER_MS: f64 = 60.0;

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
