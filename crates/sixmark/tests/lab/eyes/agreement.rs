//! The race as `check` predicts it, on a simulated clock, against the packets of clients in the same networks.

use sixmark_check::happy_eyeballs::{
    AddressFate, CURL, CandidateFates, RFC_8305, RaceProfile, RaceSetting, ServiceAnswer, run_race,
};
use sixmark_eyes::eyes_case::{EyesCase, QueryFate, SiteAddressFate};
use sixmark_eyes::eyes_result::EyesResult;
use sixmark_testkit::eyes_client::EyesClient;
use sixmark_testkit::lab::without;

use super::{case, try_watching, words};

/// The round trip of the client to all others, in milliseconds: the delay of its link, twice.
const ROUND_TRIP_MS: f64 = 4.0;
/// What is seen may be earlier than predicted, in milliseconds: the prediction begins with the queries.
const EARLIER_MS: f64 = 3.0;
/// And later, on a busy machine.
const LATER_MS: f64 = 80.0;

/// The networks in which a client that asks by getaddrinfo(3) gets an answer to both questions.
const CASES: &str = "healthy,dead-ipv6,dead-ipv4,first-dead,refused-ipv6,unreachable-ipv6,slow-100,\
                     slow-300,slow-1000,aaaa-late-30,aaaa-late-1000,a-late-1000";

fn fate(of: SiteAddressFate) -> CandidateFates {
    CandidateFates::of_tcp(match of {
        SiteAddressFate::Answers(ms) => AddressFate::Connects(ROUND_TRIP_MS + f64::from(ms)),
        SiteAddressFate::Stalls => AddressFate::Connects(ROUND_TRIP_MS),
        SiteAddressFate::Loses(_) => panic!("what is lost is left to chance"),
        SiteAddressFate::Silent => AddressFate::Silent,
        SiteAddressFate::Refuses | SiteAddressFate::Unreachable => {
            AddressFate::Fails(ROUND_TRIP_MS)
        }
    })
}

/// The race in a case's network.
fn setting(case: &EyesCase) -> RaceSetting {
    let answer = |of: QueryFate| match of {
        QueryFate::Answers(ms) => ROUND_TRIP_MS + f64::from(ms),
        QueryFate::Fails | QueryFate::NoRecord => ROUND_TRIP_MS,
        QueryFate::Silent => panic!("there is no answer in {}", case.name),
    };
    let fates = |answers: QueryFate, of: &[SiteAddressFate]| match answers {
        QueryFate::Answers(_) => of.iter().copied().map(fate).collect(),
        _ => Vec::new(),
    };
    RaceSetting {
        answers_ms: [answer(case.aaaa), answer(case.a)],
        service: ServiceAnswer::default(),
        is_secure: false,
        remembers_quic: false,
        fates: [fates(case.aaaa, case.ipv6), fates(case.a, case.ipv4)],
    }
}

/// Returns where the packets differ from the prediction.
fn differences(result: &EyesResult, cases: &str, profile: RaceProfile) -> Vec<String> {
    let mut found = Vec::new();
    for name in cases.split(',') {
        let predicted = run_race(profile, &setting(EyesCase::named(name).unwrap())).unwrap();
        let trace = &case(result, name).starts[0];
        let winner = trace.winner().map(|of| (of.family, of.established_ms.unwrap_or(f64::NAN)));
        let allowed = predicted.connected_ms - EARLIER_MS..=predicted.connected_ms + LATER_MS;
        let is_same =
            winner.is_some_and(|(family, ms)| family == predicted.winner && allowed.contains(&ms));
        if !is_same {
            found.push(format!("{name}: predicted {predicted:?}, seen {winner:?}"));
        }
    }
    found
}

fn agree(client: &[String], cases: &str, profile: RaceProfile) {
    let options = ["--repeat", "1", "--cases", cases];
    try_watching(&options, client, |result| differences(result, cases, profile));
}

#[test]
fn curl_does_what_check_predicts() {
    if without(&["curl"]) {
        return;
    }
    agree(&words(&["curl", "-s", "-o", "/dev/null"]), CASES, CURL);
}

#[test]
fn a_client_by_the_book_does_what_check_predicts() {
    if without(&["python3"]) {
        return;
    }
    let client = EyesClient::write();
    agree(&client.command(&[]), &format!("{CASES},last-alive,aaaa-servfail"), RFC_8305);
    let faster = RaceProfile { attempt_delay_ms: 120.0, ..RFC_8305 };
    agree(&client.command(&["delay=120"]), "dead-ipv6,slow-100,slow-300,last-alive", faster);
    let patient = RaceProfile { resolution_delay_ms: None, ..RFC_8305 };
    agree(&client.command(&["wait=both"]), "aaaa-late-30,aaaa-late-1000,a-late-1000", patient);
}
