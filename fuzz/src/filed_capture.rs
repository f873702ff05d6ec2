//! Whatever a folder that somebody filed holds: its captures and its hashes are read without a panic, within bounds,
//! and twice alike.

use sixmark_only6::app_scenario::SCENARIOS;
use sixmark_only6::filed_folder::{observed_client, observed_server, parse_sums, read_capture};

/// The most queries and attempts that are kept of a capture.
const MOST: usize = 200;

/// Reads an input. Panics where what this module says does not hold.
pub fn check(bytes: &[u8]) {
    for scenario in &SCENARIOS {
        for observed in [observed_client(scenario, false), observed_server(scenario)] {
            let Ok(wire) = read_capture(bytes, observed.clone()) else { continue };
            assert!(wire.queries.len() <= MOST && wire.attempts.len() <= MOST);
            assert!(wire.attempts.iter().all(|of| of.begun_ms >= 0.0));
            assert_eq!(Ok(wire), read_capture(bytes, observed));
        }
    }
    if let Ok(Ok(files)) = std::str::from_utf8(bytes).map(parse_sums) {
        assert!(files.iter().all(|(path, _)| !path.starts_with('/') && !path.contains("/../")));
    }
}
