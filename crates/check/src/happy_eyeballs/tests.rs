//! The machine, by hand and against what browsers did in a lab.

use sixmark_units::family::Family;

use super::*;
use AddressFate::{Connects, Fails, Silent};
use Family::{Ipv4, Ipv6};

/// Runs a race over TCP with known addresses.
fn of_tcp(
    profile: RaceProfile,
    ipv6: &[AddressFate],
    ipv4: &[AddressFate],
) -> Option<(Family, f64)> {
    let setting = RaceSetting::of_tcp([ipv6.to_vec(), ipv4.to_vec()]);
    run_race(profile, &setting).map(|of| (of.winner, of.connected_ms))
}

fn answered(answers_ms: [f64; 2], profile: RaceProfile) -> (Family, f64) {
    let fates = [vec![Connects(30.0)], vec![Connects(20.0)]];
    let setting = RaceSetting { answers_ms, ..RaceSetting::of_tcp(fates) };
    let found = run_race(profile, &setting).unwrap();
    (found.winner, found.connected_ms)
}

#[test]
fn ipv6_has_a_head_start() {
    let race = |ipv6| of_tcp(RFC_8305, &[ipv6], &[Connects(20.0)]).unwrap();
    assert_eq!(race(Connects(30.0)), (Ipv6, 30.0));
    assert_eq!(race(Connects(265.0)), (Ipv6, 265.0));
    assert_eq!(race(Connects(275.0)), (Ipv4, 270.0));
    assert_eq!(race(Silent), (Ipv4, 270.0));
    // A failure ends the wait for the next attempt.
    assert_eq!(race(Fails(5.0)), (Ipv4, 25.0));
}

#[test]
fn the_answer_for_a_waits_for_that_for_aaaa() {
    assert_eq!(answered([40.0, 10.0], RFC_8305), (Ipv6, 70.0));
    assert_eq!(answered([90.0, 10.0], RFC_8305), (Ipv4, 80.0));
    assert_eq!(answered([10.0, 90.0], RFC_8305), (Ipv6, 40.0));
    assert_eq!(answered([90.0, 10.0], CURL), (Ipv6, 120.0));
    assert_eq!(answered([10.0, 90.0], FIREFOX), (Ipv6, 120.0));
}

#[test]
fn addresses_wait_for_the_answer_for_https() {
    let race = |profile, answered_ms, answers_ms| {
        let fates = [vec![Connects(30.0)], vec![Connects(20.0)]];
        let service = ServiceAnswer { answered_ms, offers_quic: false };
        let setting = RaceSetting { answers_ms, service, ..RaceSetting::of_tcp(fates) };
        run_race(profile, &setting).unwrap().connected_ms
    };
    // The resolution delay is for all that is preferred.
    assert_eq!(race(HAPPY_EYEBALLS_V3, Some(40.0), [10.0, 10.0]), 70.0);
    assert_eq!(race(HAPPY_EYEBALLS_V3, Some(90.0), [10.0, 10.0]), 90.0);
    assert_eq!(race(HAPPY_EYEBALLS_V3, None, [10.0, 10.0]), 90.0);
    assert_eq!(race(HAPPY_EYEBALLS_V3, Some(5.0), [10.0, 40.0]), 40.0);
    // Chrome waits a fifth as long again: 5 ms to 50 ms.
    assert_eq!(race(CHROME, None, [100.0, 100.0]), 150.0);
    assert_eq!(race(CHROME, Some(110.0), [100.0, 100.0]), 140.0);
    assert_eq!(race(CHROME, Some(1.0), [100.0, 100.0]), 130.0);
    assert_eq!(race(CHROME, None, [1.0, 1.0]), 36.0);
    assert_eq!(race(FIREFOX, None, [1.0, 1.0]), 31.0);
}

#[test]
fn families_take_turns() {
    // IPv6, IPv4, IPv6: the third attempt begins after two delays.
    let each = [Silent, Connects(10.0)];
    assert_eq!(of_tcp(RFC_8305, &each, &each), Some((Ipv6, 510.0)));
    assert_eq!(of_tcp(RFC_8305, &[Silent], &[]), None);
}

/// What Chromium 156, Firefox 153 and curl 7.88 did in a lab. Times are rounded to 1 ms.
#[test]
fn clients_choose_among_several_addresses_as_they_do() {
    let (good, slow, dead, refused) = (Connects(100.0), Connects(500.0), Silent, Fails(100.0));
    for (profile, ipv6, ipv4, expected) in [
        // Chromium: after a failure the other family, after the delay one of each family.
        (CHROME, &[dead, good][..], &[good, good][..], Some((Ipv4, 400.0))),
        (CHROME, &[dead, good], &[dead, good], None),
        (CHROME, &[refused, good], &[good, good], Some((Ipv4, 200.0))),
        (CHROME, &[refused, good], &[refused, good], Some((Ipv6, 300.0))),
        (CHROME, &[refused, refused, good], &[refused, good, good], Some((Ipv4, 400.0))),
        (CHROME, &[refused, good], &[dead, good], Some((Ipv6, 400.0))),
        (CHROME, &[refused, good], &[slow, slow], Some((Ipv6, 400.0))),
        (CHROME, &[Connects(400.0)], &[slow], Some((Ipv6, 400.0))),
        // Firefox: an address behind a failed one is skipped, the backup has IPv4 alone.
        (FIREFOX, &[dead, good], &[good, good], Some((Ipv4, 350.0))),
        (FIREFOX, &[refused, good], &[good, good], Some((Ipv4, 200.0))),
        (FIREFOX, &[refused, good], &[refused, good], Some((Ipv4, 300.0))),
        (FIREFOX, &[refused, refused, good], &[refused, good, good], Some((Ipv6, 200.0))),
        (FIREFOX, &[refused; 4], &[refused, good, good, good], Some((Ipv4, 400.0))),
        (FIREFOX, &[dead, good], &[refused, good], Some((Ipv4, 450.0))),
        (FIREFOX, &[refused, good], &[dead, good], None),
        (FIREFOX, &[Fails(400.0), good], &[Connects(400.0); 2], Some((Ipv4, 650.0))),
        // curl: one of each family at a time, which stalls after a failure until something happens.
        (CURL, &[refused], &[good], Some((Ipv4, 200.0))),
        (CURL, &[refused, good], &[refused, good], Some((Ipv6, 300.0))),
        (CURL, &[refused, refused, good], &[Fails(101.0), good, good], Some((Ipv6, 401.0))),
        (CURL, &[Fails(400.0), good], &[Connects(400.0); 2], Some((Ipv4, 600.0))),
        (CURL, &[dead, good], &[dead, good], None),
    ] {
        let found = of_tcp(profile, ipv6, ipv4);
        assert_eq!(found, expected, "{}: {ipv6:?}, {ipv4:?}", profile.name);
    }
}

fn secure(ipv6: CandidateFates, ipv4: CandidateFates, offers_quic: bool) -> RaceSetting {
    let service = ServiceAnswer { answered_ms: Some(0.0), offers_quic };
    let setting = RaceSetting::of_tcp(Default::default());
    RaceSetting { service, is_secure: true, fates: [vec![ipv6], vec![ipv4]], ..setting }
}

fn won(profile: RaceProfile, setting: &RaceSetting) -> (Family, RaceProtocol, f64) {
    let found = run_race(profile, setting).unwrap();
    (found.winner, found.protocol, found.connected_ms)
}

#[test]
fn quic_takes_part_where_it_is_offered() {
    use RaceProtocol::{Quic, Tcp};
    let good = CandidateFates { tcp: Connects(20.0), tls: Connects(20.0), quic: Connects(21.0) };
    let no_quic = CandidateFates { quic: Silent, ..good };
    for profile in [HAPPY_EYEBALLS_V3, CHROME, FIREFOX, SAFARI] {
        assert_eq!(won(profile, &secure(good, good, true)), (Ipv6, Quic, 21.0), "{}", profile.name);
        assert_eq!(won(profile, &secure(good, good, false)), (Ipv6, Tcp, 20.0), "{}", profile.name);
        let remembers = RaceSetting { remembers_quic: true, ..secure(good, good, false) };
        assert_eq!(won(profile, &remembers), (Ipv6, Quic, 21.0), "{}", profile.name);
    }
    assert_eq!(won(CURL, &secure(good, good, true)), (Ipv6, Tcp, 20.0));
    // QUIC is silent: TCP begins after the client's own wait, in the draft after both families' QUIC.
    let silent = secure(no_quic, no_quic, true);
    assert_eq!(won(CHROME, &silent), (Ipv6, Tcp, 320.0));
    assert_eq!(won(FIREFOX, &silent), (Ipv6, Tcp, 70.0));
    assert_eq!(won(HAPPY_EYEBALLS_V3, &silent), (Ipv6, Tcp, 520.0));
    // QUIC of IPv4 is attempted by the draft only.
    let one = secure(no_quic, good, true);
    assert_eq!(won(HAPPY_EYEBALLS_V3, &one), (Ipv4, Quic, 271.0));
    assert_eq!(won(FIREFOX, &one), (Ipv6, Tcp, 70.0));
    // A refusal ends the wait.
    let refused = CandidateFates { quic: Fails(5.0), ..good };
    assert_eq!(won(CHROME, &secure(refused, good, true)), (Ipv6, Tcp, 25.0));
}

#[test]
fn tls_belongs_to_the_race_of_the_draft_alone() {
    let good = CandidateFates { tcp: Connects(20.0), tls: Connects(20.0), quic: Silent };
    let no_tls = CandidateFates { tls: Silent, ..good };
    let setting = secure(no_tls, good, false);
    // The delay begins again when TCP is established.
    assert_eq!(won(HAPPY_EYEBALLS_V3, &setting), (Ipv4, RaceProtocol::Tcp, 290.0));
    assert_eq!(won(CHROME, &setting), (Ipv6, RaceProtocol::Tcp, 20.0));
    let bad_tls = CandidateFates { tls: Fails(5.0), ..good };
    let setting = secure(bad_tls, good, false);
    assert_eq!(won(HAPPY_EYEBALLS_V3, &setting), (Ipv4, RaceProtocol::Tcp, 45.0));
}

#[test]
fn finds_the_delay_that_clients_tolerate() {
    let setting = RaceSetting::of_tcp([vec![Connects(30.0)], vec![Connects(20.0)]]);
    for profile in PROFILES {
        let tolerated = f64::from(tolerated_delay_ms(profile, &setting, 2_000).unwrap());
        // IPv4 begins after the delay, and is established 20 ms later.
        let expected = profile.attempt_delay_ms + 20.0 - 30.0;
        assert!((tolerated - expected).abs() <= 1.0, "{}: {tolerated}", profile.name);
    }
}
