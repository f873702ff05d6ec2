//! What clients of users would do: which family wins, and when the content is there.

use sixmark_units::family::Family;

use super::sides::{SitePair, SiteSide};
use crate::check_result::{ClientRace, RacePoint};
use crate::happy_eyeballs::{
    AddressFate, PROFILES, RaceProfile, RaceSetting, delayed, run_race, silenced,
    tolerated_delay_ms,
};
use crate::observed::CheckedAddress;
use crate::site_fetch::{FetchEnd, FetchPhase, SiteFetch};

/// The delays that are added to the connections of IPv6, in milliseconds.
const ADDED_MS: [u32; 15] =
    [0, 25, 50, 75, 100, 150, 200, 225, 250, 275, 300, 350, 500, 1_000, 2_000];
/// The most that is tried, in milliseconds.
const MOST_ADDED_MS: u32 = 2_000;

/// Predicts the race of each client. Empty unless both families have addresses, and one of them a
/// complete response.
pub(super) fn predict_races(pair: &SitePair<'_>) -> Vec<ClientRace> {
    let has_both = Family::BOTH.into_iter().all(|of| !pair.sides[of].addresses.is_empty());
    let content = Family::BOTH.map(|family| content_ms(&pair.sides[family]));
    if !has_both || content.iter().all(Option::is_none) {
        return Vec::new();
    }
    let setting = RaceSetting {
        answers_ms: Family::BOTH.map(|family| answer_ms(pair, family)),
        fates: Family::BOTH
            .map(|family| pair.sides[family].addresses.iter().map(|of| fate_of(of)).collect()),
    };
    PROFILES.into_iter().map(|profile| predict_race(profile, &setting, content)).collect()
}

fn predict_race(
    profile: RaceProfile,
    setting: &RaceSetting,
    content: [Option<f64>; 2],
) -> ClientRace {
    let run = |setting: &RaceSetting, added_ms: u32| {
        let outcome = run_race(profile, setting)?;
        let content_ms = content[usize::from(outcome.winner == Family::Ipv4)]?;
        let connected_ms = outcome.connected_ms;
        let content_ms = connected_ms + content_ms;
        Some(RacePoint { added_ms, family: outcome.winner, connected_ms, content_ms })
    };
    let point = |added_ms: u32| run(&delayed(setting, f64::from(added_ms)), added_ms);
    ClientRace {
        client: profile.name.to_owned(),
        source: profile.source.to_owned(),
        points: ADDED_MS.into_iter().filter_map(point).collect(),
        ipv6_silent: run(&silenced(setting), 0),
        tolerated_ms: tolerated_delay_ms(profile, setting, MOST_ADDED_MS),
    }
}

/// Returns when the first resolver answered for a family, in milliseconds; 0 if the name is in a file.
fn answer_ms(pair: &SitePair<'_>, family: Family) -> f64 {
    let kind = sixmark_names::message::name_record_type(family);
    let first = pair.observed.resolvers.first();
    first.and_then(|of| of.query(kind)).map_or(0.0, |query| query.took_ms)
}

fn fate_of(of: &CheckedAddress) -> AddressFate {
    let connected = of.fetches.iter().filter(|fetch| fetch.reached > FetchPhase::Connect);
    if let Some(us) = median(connected.map(|fetch| fetch.connect_us)) {
        return AddressFate::Connects(us / 1e3);
    }
    match of.fetches.first().map(|fetch| fetch.end) {
        None | Some(FetchEnd::TimedOut) => AddressFate::Silent,
        // A refusal takes as long as a connection, which is not known here.
        Some(_) => AddressFate::Fails(0.0),
    }
}

/// Returns how long the content takes after the connection is established, in milliseconds.
fn content_ms(side: &SiteSide<'_>) -> Option<f64> {
    let after = |fetch: &SiteFetch| fetch.response_us() - fetch.connect_us;
    median(side.complete().map(after)).map(|us| us / 1e3)
}

fn median(of: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = of.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
