//! Chromium, Firefox and curl in networks that are drawn at random: do they connect to the family that
//! the machine of `sixmark check` predicts?
//!
//! `SIXMARK_RACES=N` draws so many networks, `SIXMARK_RACE_SEED=N` others. With `--nocapture` each race
//! is shown beside its prediction.

mod clients;
mod drawn;
mod network;
mod seen;

use serde_json::Value;
use sixmark_check::happy_eyeballs::{PROFILES, RaceOutcome};
use sixmark_testkit::forms::CHECK;
use sixmark_testkit::lab::Lab;
use sixmark_testkit::{sixmark, skipped};
use sixmark_units::random::Random;

use clients::RacedClient;
use drawn::DrawnNetwork;
use seen::SeenRace;

/// The networks that are drawn, unless a number is given.
const USUAL: u64 = 10;
/// How much earlier a connection may seem to be established than its network allows, in milliseconds.
const EARLY_MS: f64 = 3.0;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// The races of a client.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    drawn: u32,
    /// Those of the predicted family.
    same_family: u32,
    /// Those of them whose time is within 15 ms and 5 %.
    same_time: u32,
}

impl Tally {
    fn note(&mut self, predicted: RaceOutcome, seen: SeenRace) -> bool {
        self.drawn += 1;
        let is_same = seen.family == predicted.winner;
        let within = 15.0 + 0.05 * predicted.connected_ms;
        let is_close = (seen.connected_ms - predicted.connected_ms).abs() <= within;
        self.same_family += u32::from(is_same);
        self.same_time += u32::from(is_same && is_close);
        is_same
    }
}

/// Races a client once more if another family won than predicted: a machine that is busy is late.
fn race(client: RacedClient, network: &DrawnNetwork, lab: &Lab, tally: &mut Tally) {
    let profile = client.profile(network);
    let Some(predicted) = network.predict(profile) else { return };
    let seen = client.open(lab, network).unwrap_or_else(|| panic!("{client:?} sent no request"));
    let is_same = tally.note(predicted, seen);
    println!(
        "{client:?}: {} after {:.1} ms, predicted {} after {:.1} ms{}; {network:?}",
        seen.family,
        seen.connected_ms,
        predicted.winner,
        predicted.connected_ms,
        if is_same { "" } else { " DIFFERS" },
    );
    if is_same {
        assert!(seen.connected_ms > predicted.connected_ms - EARLY_MS, "{client:?}: {seen:?}");
    } else if network.is_clear(profile) {
        let again = client.open(lab, network).map(|seen| seen.family);
        assert_eq!(again, Some(predicted.winner), "{client:?}: {network:?}");
    }
}

/// The family of the connection that carries the request is the predicted one, and it is not established
/// before its time.
#[test]
fn browsers_and_curl_connect_as_predicted() {
    if ["netns", "chromium", "firefox", "curl", "unbound", "tcpdump"].into_iter().any(skipped) {
        return;
    }
    let mut random = Random::new(number("SIXMARK_RACE_SEED").unwrap_or(1), 0);
    let mut tallies = [Tally::default(); 3];
    for _ in 0..number("SIXMARK_RACES").unwrap_or(USUAL) {
        let network = DrawnNetwork::draw(&mut random);
        let lab = network::build_network("raced", &network);
        for (client, tally) in RacedClient::ALL.into_iter().zip(&mut tallies) {
            race(client, &network, &lab, tally);
        }
    }
    for (client, tally) in RacedClient::ALL.into_iter().zip(tallies) {
        println!("{client:?}: {tally:?}");
    }
}

/// Checks the site from the client, and races for real.
fn check_and_race(lab: &Lab) -> Value {
    let words = ["check", "--race", "--repeat", "1", "--json", "-", "--in", "client", "--lab"];
    let output = sixmark(&[&words[..], &[lab.name(), "http://www.test/bytes/1000"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    CHECK.check(&document);
    document["sites"][0].clone()
}

/// The races of `sixmark check --race` are won by whom the machine predicts, from what was measured.
#[test]
fn real_races_end_as_predicted() {
    if ["netns", "unbound"].into_iter().any(skipped) {
        return;
    }
    let mut random = Random::new(number("SIXMARK_RACE_SEED").unwrap_or(2), 1);
    for _ in 0..4 {
        let mut network = DrawnNetwork::draw(&mut random);
        // Each address of which nothing is heard takes 6 s.
        while network.silent() > 1 {
            network = DrawnNetwork::draw(&mut random);
        }
        let lab = network::build_network("raced-really", &network);
        let site = check_and_race(&lab);
        assert!(site["observed"]["requests"].as_u64().unwrap() <= 60, "{site:#}");
        for (client, profile) in site["clients"].as_array().unwrap().iter().zip(PROFILES) {
            let (found, predicted) = (&client["raced"]["found"], &client["raced"]["predicted"]);
            println!("{}: {found}, predicted {predicted}; {network:?}", profile.name);
            if let Some(earliest) = network.predict(profile)
                && network.is_clear(profile)
            {
                assert_eq!(found["family"], predicted["family"], "{network:?}: {client:#}");
                // What was measured may be late already.
                let connected_ms = found["connected_ms"].as_f64().unwrap();
                assert!(connected_ms > earliest.connected_ms - EARLY_MS, "{network:?}: {client:#}");
            }
        }
    }
}
