//! Counting exchanges and connections of any kind, at random.

use crate::in_flight::InFlight;
use crate::outcome::{Failure, FailurePhase, LocalCause, Outcome};
use crate::quic::QuicEnding;
use crate::response_part::PerPart;
use crate::tally::{FamilyTally, Phases, Tally, WarmUpTally};

use crate::tls::{Cause, Certificate, Facts, Reason};
use sixmark_http::redirect::Why;
use sixmark_plan::check::Mismatch;
use sixmark_units::family::Family;
use sixmark_units::random::Random;
use sixmark_units::tcp_info::{TcpHandshake, TcpInfo, TcpOptions};

/// Counts a few exchanges and connections of any kind.
pub(super) fn count(tally: &mut FamilyTally, random: &mut Random) {
    for _ in 0..random.below(20) {
        match random.below(8) {
            0 => count_numbers(tally, random),
            1 | 2 => complete(tally, random),
            3 => fail(tally, random),
            4 => connect(tally, random),
            5 => shake_hands(tally, random),
            6 => close(tally, random),
            _ => mismatch(tally, random),
        }
    }
}

fn count_numbers(tally: &mut FamilyTally, random: &mut Random) {
    let FamilyTally { sent, dropped, unsent, waited, late, resent, followed, .. } = tally;
    [sent, dropped, unsent, waited, late, resent, followed]
        .into_iter()
        .for_each(|n| *n += random.below(9));
    let FamilyTally { cut_chains, stalled, untimed, given_up, carried, warm_up, .. } = tally;
    let interim_responses = &mut tally.interim_responses;
    [cut_chains, stalled, untimed, given_up, carried, interim_responses]
        .into_iter()
        .for_each(|n| *n += random.below(3));
    *warm_up += &WarmUpTally {
        sent: 2,
        completed: 1,
        accepted: random.below(2),
        answered_ns: random.below(1 << 40),
    };
    let of = &mut tally.connections;
    [&mut of.reset_sent, &mut of.unsolicited, &mut of.unopened, &mut of.drained, &mut of.displaced]
        .into_iter()
        .for_each(|n| *n += random.below(3));
    [&mut of.held_ns, &mut of.awaited_ns].into_iter().for_each(|n| *n += random.below(1 << 40));
    // An exchange that is moved to the other family is no longer counted.
    tally.sent = tally.sent.saturating_sub(random.below(12));
    tally.followed = tally.followed.saturating_sub(random.below(12));
    tally.warm_up.sent = tally.warm_up.sent.saturating_sub(random.below(4));
}

fn complete(tally: &mut FamilyTally, random: &mut Random) {
    let (status, body) = ([200, 204, 301, 404][random.below(4) as usize], random.below(1 << 30));
    tally.sent += 1;
    if status == 301 {
        tally.unfollowed.add([Why::NoLocation, Why::ToHttps][random.below(2) as usize].text(), 1);
    }
    tally.status.add(status, 1);
    tally.unaccepted += u64::from(status == 404);
    tally.server_fields.count_response();
    tally.server_fields.note_field(b"Server", [&b"nginx"[..], b"h2o"][random.below(2) as usize]);
    tally.bytes.body += body;
    tally.bytes.received += body + 100;
    tally.bytes.sent += 80;
    let there = tally.endpoint(random.below(5) as usize);
    there.status.add(status, 1);
    there.unaccepted += u64::from(status == 404);
    there.sizes.add(body);
    there.waiting.answered_ns += random.below(1 << 40);
    let nanos = random.bits() >> (4 + random.below(60));
    let parts = PerPart { wait: nanos >> 9, flights: random.below(9), ..PerPart::default() };
    tally.account.record(&parts, random.below(3) as u32);
    let request = tally.request(random.below(4) as usize);
    request.status.add(status, 1);
    request.response.record(nanos);
    let step = tally.step(random.below(4) as usize);
    step.exchanges.status.add(status, 1);
    step.exchanges.response.record(nanos);
    step.responses += 1;
    let Phases { interim, wait, ttfb, transfer, response, service, slip, .. } = &mut tally.phases;
    [interim, wait, ttfb, transfer, response, service, slip]
        .into_iter()
        .for_each(|phase| phase.record(nanos));
}

fn fail(tally: &mut FamilyTally, random: &mut Random) {
    let outcome = Outcome::ALL[1 + random.below(12) as usize];
    let mut failure = Failure::new(outcome, FailurePhase::Wait);
    match random.below(4) {
        0 => failure.errno = Some(104),
        1 => failure.code = Some(random.bits()),
        2 => failure.cause = Some(LocalCause::Stalled),
        _ => tally.breaches.add(["a field has no colon", "no frame"][random.below(2) as usize], 1),
    }
    tally.sent += 1;
    tally.failures.add(failure, 1);
    tally.endpoint(random.below(7) as usize).failures.add(failure, 1);
    tally.endpoint(0).waiting.silent_ns += random.below(1 << 40);
    tally.request(random.below(4) as usize).failures.add(failure, 1);
    tally.step(random.below(4) as usize).exchanges.failures.add(failure, 1);
    tally.step(random.below(4) as usize).dropped += random.below(3);
    if random.below(3) == 0 {
        tally.add_failed_warm_up(failure, random.below(7) as usize, Some(1));
        tally.failing_warm_up().tls.failed(Some(CAUSE));
    }
}

fn connect(tally: &mut FamilyTally, random: &mut Random) {
    let nanos = random.below(1 << 34);
    tally.connections.opened += 1;
    tally.phases.connect.record(nanos);
    let said = [TcpHandshake::Took(nanos), TcpHandshake::SentAgain, TcpHandshake::Untimed];
    tally.tcp.handshake.record(said[random.below(3) as usize], nanos + 7);
    tally.wait_sample.record(nanos + 7, 7);
}

fn shake_hands(tally: &mut FamilyTally, random: &mut Random) {
    let one_in = |random: &mut Random, n| random.below(n) == 0;
    let facts = Facts {
        version: ["TLSv1.2", "TLSv1.3"][random.below(2) as usize],
        cipher: "TLS_AES_128_GCM_SHA256",
        group: one_in(random, 2).then_some("X25519"),
        alpn: one_in(random, 2).then_some(1),
        resumed: one_in(random, 2),
        offered: one_in(random, 3),
        retried: one_in(random, 3),
        certificate: one_in(random, 2)
            .then_some(Certificate { sha256: [random.below(3) as u8; 32], not_after: Some(-1) }),
    };
    match random.below(4) {
        0 => tally.tls.finished_untimed(&facts),
        1 => tally.tls.failed(one_in(random, 2).then_some(CAUSE)),
        _ => tally.tls.finished(&facts, random.below(1 << 30)),
    }
}

const CAUSE: Cause = Cause::new(Reason::CertificateIssuer, Some(48));

fn close(tally: &mut FamilyTally, random: &mut Random) {
    tally.connections.closed += 1;
    tally.phases.lifetime.record(random.below(1 << 50));
    tally.carriers.record(&TcpInfo { mss: 1_448, ..TcpInfo::default() });
    tally.tcp.record(&TcpInfo {
        options: Some(TcpOptions { ecn: true, ..TcpOptions::default() }),
        rtt: (random.below(2) == 0).then_some(random.below(1 << 30)),
        min_rtt: Some(9_000),
        retransmitted: random.below(3) as u32,
        duplicates: (random.below(2) == 0).then_some(1),
        delivered: (random.below(2) == 0).then_some(0),
        mss: 1_400 + random.below(3) as u32,
        out_of_order: None,
    });
    tally.quic.mismatched += random.below(2);
    tally.quic.record(&QuicEnding {
        mtu: 1_252,
        version: 1,
        rtt: random.below(1 << 30),
        sent: 7,
        lost: random.below(2),
        retried: random.below(2) == 0,
        dropped: random.below(2),
    });
}

fn mismatch(tally: &mut FamilyTally, random: &mut Random) {
    let check = ["size=1", "status=200"][random.below(2) as usize].into();
    let found = random.below(100).to_string();
    tally.content.add(random.below(1_000_000_007), "é", 200, Mismatch { check, found });
}

/// Adds what is counted only at the end of a load.
pub(super) fn end(tally: &mut FamilyTally, random: &mut Random) {
    for _ in 0..random.below(4) {
        tally.in_flight.push(InFlight {
            age_ns: random.below(1 << 40),
            silent_ns: random.below(1 << 40),
            phase: FailurePhase::Transfer,
            endpoint: random.below(5) as usize,
            name: (random.below(2) == 0).then_some(2),
            step: (random.below(2) == 0).then_some(1),
            counted: random.below(2) == 0,
        });
    }
    tally.oldest_unanswered_ns = random.below(1 << 40);
    tally.phases.response.record_at_least(random.below(1 << 40));
}

/// Returns the tally of a whole load.
pub(super) fn random_tally(random: &mut Random) -> Tally {
    let mut tally = Tally::default();
    for family in Family::BOTH {
        (0..3).for_each(|_| count(&mut tally[family], random));
        end(&mut tally[family], random);
    }
    tally
}
