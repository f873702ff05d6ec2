//! Behaviours and faults of a client that is made to have them: each is recognised, and none is invented.

use sixmark_eyes::clause::ClauseState;
use sixmark_eyes::eyes_result::EyesResult;
use sixmark_testkit::eyes_client::EyesClient;
use sixmark_testkit::lab::without;
use sixmark_units::family::Family;

use super::{not_met, try_watching};

/// A delay may be measured so much shorter than it is, in milliseconds: the packet at its begin was late.
const SHORTER_MS: f64 = 5.0;
/// And longer: a timer fires late on a busy machine.
const LONGER_MS: f64 = 60.0;

/// What a client is made to do.
struct Scripted {
    name: &'static str,
    settings: &'static [&'static str],
    cases: &'static str,
    /// The clauses that it does not meet.
    not_met: &'static [&'static str],
    /// What else is to be found, of which this returns what is not.
    mistakes: fn(&EyesResult) -> Vec<String>,
}

const NO_MORE: fn(&EyesResult) -> Vec<String> = |_| Vec::new();

fn differs(what: &str, is_as_set: bool, found: &impl std::fmt::Debug) -> Vec<String> {
    if is_as_set { Vec::new() } else { vec![format!("{what}: {found:?}")] }
}

/// Checks the median delay between attempts, and whether it is the same everywhere.
fn delay(result: &EyesResult, expected_ms: f64, is_fixed: bool) -> Vec<String> {
    let found = result.profile.attempt_delay;
    let allowed = expected_ms - SHORTER_MS..=expected_ms + LONGER_MS;
    let is_as_set = found.is_some_and(|of| {
        // Only what is fixed may be disturbed into something else.
        allowed.contains(&of.all.median_ms) && of.is_fixed.is_none_or(|of| of == is_fixed)
    });
    differs("delay", is_as_set, &found)
}

/// Checks the order of families where seven of eight addresses are dead.
fn order(result: &EyesResult, expected: &str) -> Vec<String> {
    let found = result.profile.address_order.as_ref();
    let found: Option<String> =
        found.map(|of| of.iter().map(|of| if *of == Family::Ipv6 { '6' } else { '4' }).collect());
    differs("order", found.as_deref() == Some(expected), &found)
}

/// Checks how long the answer for A waited for that for AAAA.
fn without_aaaa(result: &EyesResult, expected_ms: f64) -> Vec<String> {
    let found = result.profile.without_aaaa;
    let waited = found.and_then(|of| of.waited).map(|of| of.median_ms);
    let allowed = expected_ms - SHORTER_MS..=expected_ms + LONGER_MS;
    differs("without AAAA", waited.is_some_and(|of| allowed.contains(&of)), &found)
}

/// Checks whether the clause about attempts that lost was shown.
fn losers(result: &EyesResult, expected: ClauseState) -> Vec<String> {
    let finding = result.clauses.iter().find(|of| of.clause == "losers-end").unwrap();
    differs("losers", finding.state == expected, &finding)
}

const BEHAVIOURS: [Scripted; 13] = [
    Scripted {
        name: "by the book",
        settings: &[],
        cases: "healthy,dead-ipv6,dead-ipv4,last-alive,refused-ipv6,slow-500,aaaa-late-1000,\
                a-late-1000",
        not_met: &[],
        mistakes: |result| {
            [delay(result, 250.0, true), order(result, "64646464"), without_aaaa(result, 50.0)]
                .concat()
        },
    },
    Scripted {
        name: "gives losers up and runs on",
        settings: &["linger=2000"],
        cases: "dead-ipv6,slow-500",
        not_met: &[],
        mistakes: |result| losers(result, ClauseState::Met),
    },
    Scripted {
        name: "a delay of 100 ms",
        settings: &["delay=100"],
        cases: "dead-ipv6,last-alive",
        not_met: &[],
        mistakes: |result| {
            // It ends with its content, and all that it left with it.
            [delay(result, 100.0, true), losers(result, ClauseState::NotShown)].concat()
        },
    },
    Scripted {
        name: "a delay of 500 ms",
        settings: &["delay=500"],
        cases: "dead-ipv6,slow-1000",
        not_met: &[],
        mistakes: |result| delay(result, 500.0, true),
    },
    Scripted {
        name: "a delay that grows",
        settings: &["delay=100,200,300,400", "patience=5000"],
        cases: "last-alive",
        not_met: &[],
        mistakes: |result| delay(result, 400.0, false),
    },
    Scripted {
        name: "the families by turns",
        settings: &["delay=120"],
        cases: "last-alive",
        not_met: &[],
        mistakes: |result| order(result, "64646464"),
    },
    Scripted {
        name: "two addresses of IPv6 first",
        settings: &["delay=120", "ahead=2"],
        cases: "last-alive,dead-ipv6",
        not_met: &[],
        mistakes: |result| order(result, "66464644"),
    },
    Scripted {
        name: "one family before the other",
        settings: &["delay=120", "ahead=99"],
        cases: "last-alive",
        not_met: &["interleaved"],
        mistakes: |result| order(result, "66664444"),
    },
    Scripted {
        name: "a resolution delay of 50 ms",
        settings: &["wait=50"],
        cases: "aaaa-late-30,aaaa-late-1000",
        not_met: &[],
        mistakes: |result| without_aaaa(result, 50.0),
    },
    Scripted {
        name: "waits for both answers",
        settings: &["wait=both"],
        cases: "aaaa-late-1000,a-late-1000",
        not_met: &["no-wait-for-a", "no-wait-for-aaaa"],
        mistakes: |result| without_aaaa(result, 1_000.0),
    },
    Scripted {
        name: "all at once",
        settings: &["delay=0"],
        cases: "healthy,dead-ipv6,refused-ipv6,last-alive",
        not_met: &["one-at-a-time", "least-delay", "usual-delay"],
        mistakes: NO_MORE,
    },
    Scripted {
        name: "one after the other",
        settings: &["delay=1000", "earlier=end"],
        cases: "dead-ipv6,slow-2000",
        not_met: &[],
        mistakes: |result| delay(result, 1_000.0, true),
    },
    Scripted {
        name: "IPv4 first",
        settings: &["first=4", "wait=both"],
        cases: "healthy,dead-ipv6,dead-ipv4,refused-ipv6",
        not_met: &["ipv6-first"],
        mistakes: |result| {
            differs(
                "first",
                result.profile.first_family == Some(Family::Ipv4),
                &result.profile.first_family,
            )
        },
    },
];

const FAULTS: [Scripted; 12] = [
    Scripted {
        name: "no fallback",
        settings: &["families=6", "patience=2000"],
        cases: "healthy,dead-ipv6,last-alive",
        not_met: &["interleaved", "all-addresses"],
        mistakes: NO_MORE,
    },
    Scripted {
        name: "asks for A first",
        settings: &["queries=HTTPS,A,AAAA"],
        cases: "healthy,dead-ipv6",
        not_met: &["aaaa-first"],
        mistakes: NO_MORE,
    },
    Scripted {
        name: "asks for A after the answer for AAAA",
        settings: &["queries=HTTPS,AAAA>A"],
        cases: "healthy,aaaa-late-1000",
        not_met: &["aaaa-first", "no-wait-for-aaaa"],
        mistakes: NO_MORE,
    },
    Scripted {
        name: "waits for AAAA for ever",
        settings: &["wait=aaaa", "patience=2000"],
        cases: "healthy,aaaa-dropped",
        not_met: &["no-wait-for-aaaa"],
        mistakes: |result| {
            let found = result.profile.never_aaaa;
            let is_as_set = found.is_some_and(|of| of.waited_for_it == of.starts);
            differs("never AAAA", is_as_set, &found)
        },
    },
    Scripted {
        name: "waits for A",
        settings: &["wait=a"],
        cases: "healthy,a-late-1000",
        not_met: &["no-wait-for-a"],
        mistakes: NO_MORE,
    },
    Scripted {
        name: "a delay of 4 ms",
        settings: &["delay=4"],
        cases: "last-alive",
        not_met: &["least-delay", "usual-delay"],
        mistakes: NO_MORE,
    },
    Scripted {
        name: "a delay of more than 2 s",
        settings: &["delay=2500"],
        cases: "dead-ipv6",
        not_met: &["usual-delay"],
        mistakes: |result| delay(result, 2_500.0, true),
    },
    Scripted {
        name: "tries the first address of each family alone",
        settings: &["most=1", "patience=2000"],
        cases: "healthy,last-alive",
        not_met: &["all-addresses"],
        mistakes: NO_MORE,
    },
    Scripted {
        name: "waits for the delay after a reset",
        settings: &["refused=wait"],
        cases: "dead-ipv6,refused-ipv6",
        not_met: &["next-after-failure"],
        mistakes: |result| delay(result, 250.0, true),
    },
    Scripted {
        name: "leaves losers open",
        settings: &["losers=stay", "linger=2000"],
        cases: "dead-ipv6,slow-500",
        not_met: &["losers-end"],
        mistakes: NO_MORE,
    },
    Scripted {
        name: "counts TCP as won",
        settings: &["won=tcp", "patience=2000"],
        cases: "stalled-ipv6,dead-ipv6",
        not_met: &["handshake-counts"],
        mistakes: |result| delay(result, 250.0, true),
    },
    Scripted {
        name: "asks for AAAA alone",
        settings: &["queries=HTTPS,AAAA", "families=6"],
        cases: "healthy",
        not_met: &["both-queries"],
        mistakes: NO_MORE,
    },
];

fn recognise(all: &[Scripted]) {
    let client = EyesClient::write();
    for of in all {
        let mut options = vec!["--repeat", "1", "--cases", of.cases];
        // Only TLS has a handshake that a black hole may swallow.
        options.extend(of.cases.contains("stalled").then_some("--https"));
        try_watching(&options, &client.command(of.settings), |result| {
            let mut mistakes = (of.mistakes)(result);
            let found = not_met(result);
            if found != of.not_met {
                mistakes.push(format!("{}: not met: {found:?}", of.name));
            }
            mistakes
        });
    }
}

#[test]
fn each_behaviour_is_recognised_and_no_fault_invented() {
    if without(&["python3"]) {
        return;
    }
    recognise(&BEHAVIOURS);
}

#[test]
fn each_fault_is_found_and_no_other() {
    if without(&["python3"]) {
        return;
    }
    recognise(&FAULTS);
}
