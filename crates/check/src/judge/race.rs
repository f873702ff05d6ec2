//! What clients of users would do: which family wins, and when the content is there.

use sixmark_units::family::Family;

use super::sides::{SitePair, SiteSide};
use crate::check_result::{ClientRace, RacePoint, RacedClient};
use crate::happy_eyeballs::{
    AddressFate, CandidateFates, PROFILES, QuicUse, RaceOutcome, RaceProfile, RaceProtocol,
    RaceSetting, ServiceAnswer, delayed, run_race, silenced, tolerated_delay_ms,
};
use crate::observed::{CheckedAddress, RaceEnd, SiteObserved, SiteRace};
use crate::site_fetch::{FetchEnd, FetchPhase, SiteFetch};

/// The delays that are added to the connections of IPv6, in milliseconds.
const ADDED_MS: [u32; 15] =
    [0, 25, 50, 75, 100, 150, 200, 225, 250, 275, 300, 350, 500, 1_000, 2_000];
/// The most that is tried, in milliseconds.
const MOST_ADDED_MS: u32 = 2_000;

/// What is known for the races of a site.
struct RaceInput {
    setting: RaceSetting,
    /// How long the content takes after the connection is established, over TCP and over QUIC, each by
    /// family, in milliseconds.
    content_ms: [[Option<f64>; 2]; 2],
    /// Whether a client can remember from a response that the site has HTTP/3.
    is_remembered: bool,
}

/// Predicts the race of each client. Empty unless both families have addresses, and one of them a
/// complete response.
pub(super) fn predict_races(pair: &SitePair<'_>) -> Vec<ClientRace> {
    let has_both = Family::BOTH.into_iter().all(|of| !pair.sides[of].addresses.is_empty());
    let over_tcp = Family::BOTH.map(|family| content_ms(pair.sides[family].complete()));
    if !has_both || over_tcp.iter().all(Option::is_none) {
        return Vec::new();
    }
    let over_quic = Family::BOTH.map(|family| content_ms(over_http3(&pair.sides[family])));
    let is_secure = pair.is_secure();
    let setting = RaceSetting {
        answers_ms: Family::BOTH.map(|family| answer_ms(pair.observed, family)),
        service: service_of(pair.observed),
        is_secure,
        remembers_quic: false,
        fates: Family::BOTH
            .map(|family| pair.sides[family].addresses.iter().map(|of| fates_of(of)).collect()),
    };
    let was_tried = pair.observed.addresses.iter().any(|of| of.http3.is_some());
    let is_remembered = is_secure && was_tried && pair.observed.alt_svc_offers_http3();
    let input = RaceInput { setting, content_ms: [over_tcp, over_quic], is_remembered };
    let race = |profile: RaceProfile| {
        let raced = pair.observed.races.iter().find(|of| of.client == profile.name);
        let raced = raced.map(|race| compare_race(profile, &input.setting, race));
        ClientRace { raced, ..predict_race(profile, &input) }
    };
    PROFILES.into_iter().map(race).collect()
}

fn predict_race(profile: RaceProfile, input: &RaceInput) -> ClientRace {
    let setting = &input.setting;
    let run = |setting: &RaceSetting, added_ms: u32| {
        let RaceOutcome { winner: family, protocol, connected_ms } = run_race(profile, setting)?;
        let over = input.content_ms[usize::from(protocol == RaceProtocol::Quic)];
        let content_ms = connected_ms + over[usize::from(family == Family::Ipv4)]?;
        Some(RacePoint { added_ms, family, protocol, connected_ms, content_ms })
    };
    let point = |added_ms: u32| run(&delayed(setting, f64::from(added_ms)), added_ms);
    let remembers = input.is_remembered && profile.quic != QuicUse::Never;
    let remembered = RaceSetting { remembers_quic: true, ..setting.clone() };
    ClientRace {
        client: profile.name.to_owned(),
        source: profile.source.to_owned(),
        points: ADDED_MS.into_iter().filter_map(point).collect(),
        remembered: if remembers { run(&remembered, 0) } else { None },
        ipv6_silent: run(&silenced(setting), 0),
        tolerated_ms: tolerated_delay_ms(profile, setting, MOST_ADDED_MS),
        raced: None,
    }
}

/// Puts a race for real beside its prediction: over TCP alone, with addresses that are known.
fn compare_race(profile: RaceProfile, setting: &RaceSetting, race: &SiteRace) -> RacedClient {
    let over_tcp = setting.fates.clone().map(|fates| fates.into_iter().map(|of| of.tcp).collect());
    let predicted = run_race(profile, &RaceSetting::of_tcp(over_tcp));
    let predicted =
        predicted.map(|of| RaceEnd { family: of.winner, connected_ms: of.connected_ms });
    RacedClient { predicted, found: race.won }
}

/// Returns when the first resolver answered for a family, in milliseconds; 0 if the name is in a file.
fn answer_ms(observed: &SiteObserved, family: Family) -> f64 {
    let kind = sixmark_names::message::name_record_type(family);
    let first = observed.resolvers.first();
    first.and_then(|of| of.query(kind)).map_or(0.0, |query| query.took_ms)
}

/// Returns the first resolver's answer for HTTPS; at 0, without a record, if the name is in a file.
fn service_of(observed: &SiteObserved) -> ServiceAnswer {
    let Some(first) = observed.resolvers.first() else {
        return ServiceAnswer { answered_ms: Some(0.0), offers_quic: false };
    };
    let query = first.query("HTTPS").filter(|query| query.rcode.is_some());
    // An offer that was not tried tells nothing of QUIC.
    let was_tried = observed.addresses.iter().any(|of| of.http3.is_some());
    ServiceAnswer {
        answered_ms: query.map(|query| query.took_ms),
        offers_quic: was_tried && query.is_some_and(|query| query.offers_http3()),
    }
}

fn fates_of(of: &CheckedAddress) -> CandidateFates {
    CandidateFates { tcp: tcp_fate(of), tls: tls_fate(of), quic: quic_fate(of) }
}

fn tcp_fate(of: &CheckedAddress) -> AddressFate {
    let connected = of.fetches.iter().filter(|fetch| fetch.reached > FetchPhase::Connect);
    if let Some(us) = median(connected.map(|fetch| fetch.connect_us)) {
        return AddressFate::Connects(us / 1e3);
    }
    match of.fetches.first().map(|fetch| fetch.end) {
        // An address that was not tried has no route: its connections fail at once.
        None => AddressFate::Fails(0.0),
        Some(FetchEnd::TimedOut) => AddressFate::Silent,
        Some(_) => AddressFate::Fails(failed_ms(of)),
    }
}

/// Returns how long it takes until a connection fails, in milliseconds.
fn failed_ms(of: &CheckedAddress) -> f64 {
    median(of.fetches.iter().map(|fetch| fetch.connect_us)).map_or(0.0, |us| us / 1e3)
}

/// Returns what comes of TLS; at once without it.
fn tls_fate(of: &CheckedAddress) -> AddressFate {
    let secured = of.fetches.iter().filter(|fetch| fetch.reached > FetchPhase::Tls);
    if let Some(us) = median(secured.map(|fetch| fetch.tls_us)) {
        return AddressFate::Connects(us / 1e3);
    }
    match of.fetches.first().map(|fetch| fetch.end) {
        None | Some(FetchEnd::TimedOut) => AddressFate::Silent,
        Some(_) => AddressFate::Fails(0.0),
    }
}

/// Returns what comes of QUIC. A handshake of which nothing is heard is silent; how long a failure takes
/// is not known here.
fn quic_fate(of: &CheckedAddress) -> AddressFate {
    match &of.http3 {
        Some(fetch) if fetch.reached > FetchPhase::Connect => {
            AddressFate::Connects(fetch.connect_us / 1e3)
        }
        Some(fetch) if fetch.end != FetchEnd::TimedOut => AddressFate::Fails(0.0),
        _ => AddressFate::Silent,
    }
}

fn over_http3<'a>(side: &SiteSide<'a>) -> impl Iterator<Item = &'a SiteFetch> {
    side.addresses.iter().filter_map(|of| of.http3.as_ref()).filter(|fetch| fetch.is_complete())
}

/// Returns how long the content takes after the connection is established, in milliseconds.
fn content_ms<'a>(fetches: impl Iterator<Item = &'a SiteFetch>) -> Option<f64> {
    let after = |fetch: &SiteFetch| fetch.response_us() - fetch.connect_us;
    median(fetches.map(after)).map(|us| us / 1e3)
}

fn median(of: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = of.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
