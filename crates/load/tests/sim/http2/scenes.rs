//! What becomes of exchanges that share a connection, scene by scene.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::time::Duration;

use libc::{ECONNREFUSED, ECONNRESET};
use sixmark_document::provenance::Ended;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_sys::driver::SocketRoute;
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::Family;

use super::acts::{
    answer, coded, connects, failures, fates, goaway, reset, run, run_sim, serving, streams, tally,
    to_requests, twelve,
};
use super::books::{Books, Fate};
use super::frame::{
    ACK, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PUSH_PROMISE, SETTINGS, frame,
};
use super::server::status;
use crate::balance;
use crate::harness::{BEGIN, Sim, at_rate, lasting, plan};
use crate::random::Random;
use crate::script::{Dial, MICRO, MILLI, Step};

#[test]
fn exchanges_share_a_connection_up_to_the_configured_streams() {
    let (ran, books) = run(twelve(), to_requests(|_, id| vec![answer(MILLI, id)]));
    assert_eq!((tally(&ran).completed(), tally(&ran).connections.opened), (12, 1));
    assert_eq!((books.most_on_one, fates(&books, 0)), (4, vec![Fate::Answered; 12]));
    // Its last word.
    assert_eq!(books.connections[&0].goodbye, Some(0));
}

#[test]
fn finishes_accepted_streams_and_resends_the_others_after_a_goaway() {
    let server = to_requests(|connection, id| match (connection, id) {
        (0, 1) => vec![goaway(MILLI, 3, 0), answer(3 * MILLI, 1)],
        (0, 3) => vec![answer(2 * MILLI, 3)],
        // They come too late.
        (0, id) => vec![answer(2 * MILLI, id)],
        (_, id) => vec![answer(MILLI, id)],
    });
    let (ran, books) = run(twelve(), server);
    let tally = tally(&ran);
    assert_eq!((tally.sent, tally.completed(), tally.resent), (12, 12, 2));
    assert_eq!((tally.connections.opened, tally.connections.drained), (2, 1));
    let [done, gone] = [Fate::Answered, Fate::Disowned];
    assert_eq!(fates(&books, 0), [done, done, gone, gone]);
    assert_eq!(fates(&books, 1), [done; 10]);
}

#[test]
fn gives_up_exchanges_that_every_goaway_leaves_unprocessed() {
    let (ran, books) = run(twelve(), to_requests(|_, _| vec![goaway(MILLI, 0, 0)]));
    assert_eq!(failures(&ran), [(coded(Outcome::Reset, FailurePhase::Wait, 0), 12)]);
    assert_eq!(tally(&ran).resent, 24);
    assert_eq!(books.fates(Family::Ipv6), BTreeMap::from([(Fate::Disowned, 36)]));
}

#[test]
fn completes_streams_between_an_error_goaway_and_the_reset() {
    let server = to_requests(|connection, id| match (connection, id) {
        (0, 1) => vec![goaway(MILLI, 7, 2), (4 * MILLI, Step::Error(ECONNRESET))],
        (0, 7) => vec![],
        (_, id) => vec![answer(2 * MILLI, id)],
    });
    let (ran, _) = run(twelve(), server);
    let failure =
        Failure { errno: Some(ECONNRESET), ..Failure::new(Outcome::Reset, FailurePhase::Wait) };
    assert_eq!(failures(&ran), [(failure, 2)]);
    assert_eq!((tally(&ran).completed(), tally(&ran).connections.opened), (10, 2));
}

#[test]
fn a_stream_that_times_out_is_cancelled_and_the_connection_goes_on() {
    let mut plan = twelve();
    plan.load.timeout = Duration::from_millis(5);
    let server = to_requests(|_, id| match id {
        // Its answer comes when nobody waits for it any more.
        1 => vec![answer(6 * MILLI, 1)],
        id => vec![answer(MILLI, id)],
    });
    let (ran, books) = run(plan, server);
    assert_eq!(failures(&ran), [(Failure::new(Outcome::Timeout, FailurePhase::Wait), 1)]);
    assert_eq!((tally(&ran).completed(), tally(&ran).connections.opened), (11, 1));
    assert_eq!(fates(&books, 0)[..2], [Fate::Cancelled, Fate::Answered]);
}

#[test]
fn sends_no_more_requests_on_a_silent_connection() {
    let mut plan = twelve();
    plan.load.timeout = Duration::from_millis(5);
    let server = to_requests(|connection, id| match connection {
        0 => vec![],
        _ => vec![answer(MILLI, id)],
    });
    let (ran, books) = run(plan, server);
    // It greeted; only what began after that tells.
    let lost = fates(&books, 0).len() as u64;
    assert!((4..=8).contains(&lost), "{lost}");
    assert_eq!(failures(&ran), [(Failure::new(Outcome::Timeout, FailurePhase::Wait), lost)]);
    assert_eq!(tally(&ran).connections.opened, 2);
}

#[test]
fn resends_refused_streams_only_before_the_stream_limit_is_known() {
    let server = to_requests(|_, id| match id % 4 {
        1 => vec![reset(MILLI, id, 7)],
        _ => vec![answer(MILLI, id)],
    });
    let (ran, _) = run(twelve(), server);
    let failed = failures(&ran);
    let [(failure, count)] = failed[..] else { panic!("{failed:?}") };
    assert_eq!(failure, coded(Outcome::Reset, FailurePhase::Wait, 7));
    // Those that were sent before the server's limit was known were sent again.
    let resent = tally(&ran).resent;
    assert!(resent > 0 && count < 6, "{resent} resent, {count} reset");
    assert_eq!((tally(&ran).completed() + count, tally(&ran).connections.opened), (12, 1));
}

/// `:status: 103` without indexing.
const HINTS: &[u8] = b"\x08\x03103";

#[test]
fn counts_interim_responses_without_ending_the_wait() {
    let hints = |after, id| (after, Step::Bytes(frame(HEADERS, END_HEADERS, id, HINTS)));
    let server = to_requests(move |_, id| {
        vec![hints(MILLI, id), hints(2 * MILLI, id), answer(80 * MILLI, id)]
    });
    let (ran, _) = run(twelve(), server);
    let (tally, phases) = (tally(&ran), &tally(&ran).phases);
    assert_eq!((tally.completed(), tally.interim_responses), (12, 24));
    assert_eq!((phases.interim.count(), phases.wait.count()), (12, 12));
    // The network cuts frames, and lets the rest wait for a while.
    let (interim, wait) = (phases.interim.quantile(1.0), phases.wait.min());
    assert!(interim < Some(20 * MILLI) && wait > Some(75 * MILLI), "{interim:?} {wait:?}");
}

#[test]
fn a_protocol_violation_fails_all_exchanges_of_its_connection() {
    let server = to_requests(|connection, id| match (connection, id) {
        (0, 1) => vec![(MILLI, Step::Bytes(frame(PUSH_PROMISE, 0, 1, &[0; 8])))],
        (0, 3) => vec![(MILLI / 2, Step::Bytes(frame(HEADERS, END_HEADERS, 3, &status())))],
        (0, _) => vec![],
        (_, id) => vec![answer(MILLI, id)],
    });
    let (ran, books) = run(twelve(), server);
    let by = |phase, count| (coded(Outcome::Protocol, phase, 1), count);
    let mut found = failures(&ran);
    found.sort_by_key(|&(_, count)| count);
    assert_eq!(found, [by(FailurePhase::Transfer, 1), by(FailurePhase::Wait, 3)]);
    assert_eq!((tally(&ran).completed(), books.connections[&0].goodbye), (8, Some(1)));
}

#[test]
fn exchanges_wait_on_the_connection_if_the_peer_allows_few_streams() {
    let mut server = to_requests(|_, id| vec![answer(MILLI, id)]);
    server.settings = vec![0, 3, 0, 0, 0, 1];
    let (ran, books) = run(streams(plan(), 4, 40), server);
    assert_eq!((tally(&ran).completed(), tally(&ran).connections.opened), (40, 1));
    assert!(!books.connections[&0].overdrawn);
}

#[test]
fn moves_waiting_exchanges_off_a_draining_connection() {
    let mut server = to_requests(|connection, id| match (connection, id) {
        (0, 9) => vec![goaway(MILLI, 9, 0), answer(2 * MILLI, 9)],
        (_, id) => vec![answer(MILLI, id)],
    });
    server.settings = vec![0, 3, 0, 0, 0, 1];
    let (ran, _) = run(twelve(), server);
    assert_eq!((tally(&ran).completed(), tally(&ran).resent), (12, 0));
    assert_eq!((tally(&ran).connections.opened, tally(&ran).connections.drained), (2, 1));
}

#[test]
fn never_sends_an_exchange_that_timed_out_while_waiting() {
    let mut plan = streams(plan(), 4, 8);
    plan.load.timeout = Duration::from_millis(5);
    let mut server = to_requests(|_, _| vec![]);
    server.settings = vec![0, 3, 0, 0, 0, 1];
    let (ran, books) = run(plan, server);
    assert_eq!(tally(&ran).outcome(Outcome::Timeout), 8);
    let later: usize = (1..9).map(|connection| fates(&books, connection).len()).sum();
    assert!(fates(&books, 0).len() + later <= 8, "sent though too late");
    assert!(books.connections.values().all(|page| page.streams.len() <= 5));
}

#[test]
fn an_idle_connection_answers_pings_and_closes_on_goaway() {
    let mut plan = streams(lasting(Duration::from_millis(20)), 1, 0);
    plan.ratio = PlanRatio::new(1, 1).unwrap();
    plan.load.connections = NonZeroU32::MIN;
    // The other family's turn comes, which lets this connection idle.
    let server = serving(|connection, frame_in| match (frame_in.kind, connection) {
        (HEADERS, 0) => vec![
            answer(MILLI, frame_in.id),
            (MILLI + MICRO, Step::Bytes(frame(PING, 0, 0, &[5; 8]))),
            (MILLI + 2 * MICRO, Step::Bytes(frame(SETTINGS, 0, 0, &[]))),
            goaway(MILLI + 3 * MICRO, 1, 0),
        ],
        (HEADERS, _) => vec![answer(3 * MILLI, frame_in.id)],
        (PING, _) => {
            assert!(frame_in.has(ACK) && frame_in.payload == [5; 8]);
            vec![]
        }
        _ => vec![],
    });
    let (ran, books) = run(plan, server);
    assert_eq!(books.connections[&0].goodbye, Some(0));
    assert!(ran.tally().iter().any(|(_, tally)| tally.connections.drained == 1));
    let failed = ran.tally().iter().map(|(_, tally)| tally.ended() - tally.completed());
    assert!(failed.sum::<u64>() <= 1, "more than was abandoned");
}

#[test]
fn writes_nothing_to_an_idle_connection_that_the_peer_closed() {
    // The world would not forgive it.
    for end in [Step::Fin, Step::Error(ECONNRESET)] {
        let mut plan = streams(plan(), 2, 20);
        plan.ratio = PlanRatio::new(1, 1).unwrap();
        let end = move || (MILLI + MICRO, end.clone());
        let server = to_requests(move |_, id| match id {
            1 => vec![answer(MILLI, id)],
            _ => vec![answer(MILLI, id), end()],
        });
        let (ran, _) = run(plan, server);
        let sent: u64 = ran.tally().iter().map(|(_, tally)| tally.sent).sum();
        assert_eq!(sent, 20);
    }
}

#[test]
fn abandons_exchanges_in_flight_at_the_end_and_sends_no_more() {
    let plan = streams(lasting(Duration::from_millis(5)), 4, 0);
    let mut server = to_requests(|_, _| vec![]);
    server.settings = vec![0, 3, 0, 0, 0, 2];
    let (ran, books) = run(plan, server);
    assert_eq!(tally(&ran).outcome(Outcome::Abandoned), 4);
    assert_eq!(fates(&books, 0), [Fate::Cancelled; 4]);
}

#[test]
fn limits_requests_per_connection_with_and_without_preopening() {
    for preopen in [false, true] {
        for most in [1, 3] {
            let mut plan = twelve();
            plan.connection.requests = NonZeroU32::new(most);
            plan.connection.preopen = preopen;
            let (ran, books) = run(plan, to_requests(|_, id| vec![answer(MILLI, id)]));
            assert_eq!(tally(&ran).completed(), 12);
            let carried = books.connections.values().map(|page| page.streams.len());
            let expected = vec![most as usize; 12 / most as usize];
            assert_eq!(carried.collect::<Vec<_>>(), expected, "{preopen}");
        }
    }
}

#[test]
fn preopened_connections_send_their_preface_before_requests() {
    let mut plan = streams(plan(), 4, 12);
    plan.connection.preopen = true;
    plan.load.connections = NonZeroU32::new(3).unwrap();
    let (ran, books) = run(plan, to_requests(|_, id| vec![answer(MILLI, id)]));
    assert_eq!((tally(&ran).completed(), books.connections.len()), (12, 3));
    assert!(books.connections.values().all(|page| page.sent.len() > 1));
    assert!(books.most <= 12 && books.most_on_one <= 4);
}

#[test]
fn each_exchange_waiting_for_a_connection_has_its_own_timeout() {
    let mut plan = twelve();
    plan.load.timeout = Duration::from_millis(20);
    let server = to_requests(|connection, id| match (connection, id) {
        // It disowns the first exchange, which is old by then, and three that have just begun.
        (0, 1) => vec![goaway(12 * MILLI, 0, 0)],
        (0, 3..9) => vec![answer(9 * MILLI, id)],
        (0, _) => vec![],
        (_, id) => vec![answer(MILLI, id)],
    });
    let books = Rc::default();
    let mut script = server.script(&books, connects);
    let mut dialled = 0;
    script.dial = Box::new(move |way, _| {
        dialled += 1;
        Dial::connects(way, if dialled == 2 { 15 * MILLI } else { MILLI })
    });
    let ran = Sim::new(plan).run(script);
    assert_eq!(failures(&ran), [(Failure::new(Outcome::Timeout, FailurePhase::Connect), 1)]);
    assert_eq!((tally(&ran).completed(), tally(&ran).resent), (11, 4));
}

#[test]
fn an_exchange_that_moves_counts_for_the_family_it_moves_to() {
    // The peer is of the other family; the second connect fails.
    let mut dialled = 0;
    let books: Rc<RefCell<Books>> = Rc::default();
    let server = to_requests(|_, _| vec![goaway(MILLI, 0, 0)]);
    let mut script = server.script(&books, connects);
    script.dial = Box::new(move |_, _| {
        dialled += 1;
        match dialled {
            1 => Dial::Connects { after: MILLI, peer: "192.0.2.9".parse().unwrap() },
            _ => Dial::Fails { after: MILLI, errno: ECONNREFUSED },
        }
    });
    let ran = Sim::new(streams(plan(), 4, 4)).run(script);
    for family in Family::BOTH {
        balance::exchanges(&ran, family);
    }
    let ipv6 = &ran.tally()[Family::Ipv6];
    assert_eq!((ipv6.sent, ipv6.outcome(Outcome::Refused)), (4, 4));
    assert_eq!(ran.tally()[Family::Ipv4].resent, 4);
}

#[test]
fn wait_and_transfer_of_a_resent_exchange_are_of_the_last_attempt() {
    let server = to_requests(|connection, id| match connection {
        // It begins an answer and disowns it.
        0 => vec![
            (MILLI, Step::Bytes(frame(HEADERS, END_HEADERS, id, &status()))),
            goaway(2 * MILLI, 0, 0),
        ],
        _ => vec![
            (5 * MILLI, Step::Bytes(frame(HEADERS, END_HEADERS, id, &status()))),
            (6 * MILLI, Step::Bytes(frame(DATA, END_STREAM, id, b""))),
        ],
    });
    let (ran, _) = run(streams(plan(), 1, 1), server);
    let phases = &tally(&ran).phases;
    let near = |found: u64, expected: u64| found.abs_diff(expected) < MILLI * 3 / 2;
    assert!(near(phases.wait.min().unwrap(), 5 * MILLI), "{:?}", phases.wait.min());
    assert!(near(phases.transfer.min().unwrap(), MILLI), "{:?}", phases.transfer.min());
}

#[test]
fn gives_up_the_run_if_no_connection_succeeds() {
    let dial = |_: &SocketRoute, _: &mut Random| Dial::Fails { after: MICRO, errno: ECONNREFUSED };
    let plan = streams(lasting(Duration::from_secs(60)), 8, 0);
    let (ran, _) = run_sim(Sim::new(plan), to_requests(|_, _| vec![]), dial);
    assert_eq!(ran.report.ended, Ended::Hopeless);
    assert_eq!(tally(&ran).outcome(Outcome::Refused), tally(&ran).sent);
}

#[test]
fn an_interrupted_run_counts_every_open_stream_as_abandoned() {
    for stop_at in [500 * MICRO, 3 * MILLI, 4_500 * MICRO] {
        let plan = streams(lasting(Duration::from_secs(1)), 8, 0);
        let sim = Sim { stop_at: BEGIN + stop_at, cost: MICRO, ..Sim::new(plan) };
        let server = to_requests(|_, id| vec![answer(2 * MILLI, id)]);
        let (ran, _) = run_sim(sim, server, connects);
        assert_eq!(ran.report.ended, Ended::Interrupted);
        assert_eq!(tally(&ran).outcome(Outcome::Abandoned), 8);
    }
}

#[test]
fn closes_a_violating_connection_once_while_others_are_opening() {
    let mut plan = streams(plan(), 2, 8);
    plan.load.connections = NonZeroU32::new(3).unwrap();
    plan.connection.most_open = plan.load.connections;
    plan.connection.preopen = true;
    let mut server = serving(|connection, frame| match (connection, frame.kind) {
        // Each client's SETTINGS: two of them are answered with what no client allows.
        (0 | 1, SETTINGS) if !frame.has(ACK) => {
            vec![(MICRO, Step::Bytes(super::frame::frame(PUSH_PROMISE, END_HEADERS, 2, &[0; 4])))]
        }
        (_, HEADERS) => vec![answer(MILLI, frame.id)],
        _ => vec![],
    });
    server.settings = Vec::new();
    let books: Rc<RefCell<Books>> = Rc::default();
    let mut script = server.script(&books, connects);
    let mut dialled = 0;
    script.dial = Box::new(move |way, _| {
        dialled += 1;
        Dial::connects(way, if dialled == 3 { 20 * MILLI } else { MILLI })
    });
    let ran = Sim::new(plan).run(script);
    let tally = tally(&ran);
    assert_eq!((tally.completed(), tally.connections.unopened), (8, 0));
    assert_eq!(ran.report.ended, Ended::Complete);
    assert!(ran.ledger.connections.iter().all(|page| page.closed.is_some()), "left open");
}

#[test]
fn counts_a_connection_closed_for_a_resent_exchange_as_displaced() {
    let mut plan = streams(at_rate(2.0, Duration::from_secs(1)), 1, 0);
    plan.ratio = PlanRatio::new(1, 1).unwrap();
    plan.load.connections = NonZeroU32::new(2).unwrap();
    plan.connection.most_open = plan.load.connections;
    // The first connection idles when the second one, to the other family, disowns its exchange.
    let server = to_requests(|connection, id| match connection {
        1 => vec![goaway(MILLI, 0, 0)],
        _ => vec![answer(MILLI, id)],
    });
    let (ran, _) = run(plan, server);
    let count = |of: fn(&FamilyTally) -> u64| ran.tally().iter().map(|(_, f)| of(f)).sum::<u64>();
    assert_eq!(count(FamilyTally::completed), 2);
    assert_eq!((count(|f| f.connections.opened), count(|f| f.connections.displaced)), (3, 1));
}
