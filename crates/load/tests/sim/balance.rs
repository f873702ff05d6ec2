//! What must hold after every run, whatever happened in it: the worker's books agree with
//! themselves and with the world's.

use sixmark_document::timing::Timing;
use sixmark_sys::driver::{Close, TcpHandshake, TcpInfo};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tally::{FamilyTally, SliceTally};
use sixmark_units::counts::Counts;
use sixmark_units::family::Family;

use super::harness::{BEGIN, Ran};

pub(crate) fn check(ran: &Ran) {
    check_tally(ran);
    Family::BOTH.into_iter().for_each(|family| slices(ran, family));
}

/// All but the slices.
pub(crate) fn check_tally(ran: &Ran) {
    assert!(ran.ledger.connections.iter().all(|page| page.closed.is_some()), "left open");
    for family in Family::BOTH {
        exchanges(ran, family);
        connections(ran, family);
        if !ran.backlog {
            as_the_world_saw(ran, family);
            bytes(ran, family);
        }
    }
}

pub(crate) fn exchanges(ran: &Ran, family: Family) {
    let tally = &ran.tally()[family];
    assert_eq!(tally.sent, tally.ended(), "{family}: sent, and outcomes together");
    let phases = &tally.phases;
    for timing in [&phases.wait, &phases.transfer, &phases.response] {
        let timed = tally.completed() - tally.untimed;
        assert_eq!(timing.count(), timed, "{family}: timings of complete responses");
    }
    assert_eq!(tally.content.count(), tally.outcome(Outcome::Content), "{family}: checks");
    if !tally.requests.is_empty() {
        requests_of_a_mix(tally, family);
    }
    // What a response of the warm-up led to may count.
    let led = if ran.measured_from == BEGIN { tally.redirects() } else { tally.sent };
    assert!(tally.followed <= led.min(tally.sent), "{family}: followed");
    // In an open loop each exchange slipped by so much, be it nothing.
    let (slips, services) = (phases.slip.count(), phases.service.count());
    let timed = tally.completed() - tally.untimed;
    assert!((slips, services) == (0, 0) || (slips, services) == (tally.sent, timed));
    assert!(tally.untimed <= tally.stalled && tally.stalled <= tally.sent, "{family}: {tally:?}");
    assert!(tally.waited + tally.late <= slips, "{family}: {tally:?}");
}

/// What is counted for each request adds up to what is counted for the family.
fn requests_of_a_mix(tally: &FamilyTally, family: Family) {
    let (mut status, mut failures, mut unaccepted) = (Counts::default(), Counts::default(), 0);
    let mut response = Timing::default();
    for of in &tally.requests {
        status += &of.status;
        failures += &of.failures;
        unaccepted += of.unaccepted;
        response += &of.response;
    }
    assert_eq!((&status, &failures), (&tally.status, &tally.failures), "{family}: each request");
    assert_eq!(unaccepted, tally.unaccepted, "{family}: each request");
    assert_eq!(response, tally.phases.response, "{family}: response times of each request");
}

fn as_the_world_saw(ran: &Ran, family: Family) {
    let tally = &ran.tally()[family];
    let begun = ran.ledger.begun(family, ran.measured_from);
    // What is sent again begins once more for the world.
    let counted = tally.sent - tally.carried + tally.resent;
    assert_eq!(counted, begun, "{family}: sent, and begun as the world saw it");
    let answered = ran.ledger.requests(family, ran.measured_from).filter(|asked| asked.answered);
    let whole = tally.completed() + tally.outcome(Outcome::Content);
    let read = whole + tally.outcome(Outcome::Protocol);
    assert!(answered.count() as u64 <= read, "{family}: answered and not noticed");
}

pub(crate) fn connections(ran: &Ran, family: Family) {
    let found = tally_of(ran, family);
    let established = || ran.ledger.established(family, ran.measured_from);
    let opened = established().count() as u64;
    let reset = established().filter(|page| page.closed == Some(Close::Reset)).count() as u64;
    assert_eq!(found, (opened, opened, reset), "{family}: opened, closed, reset");
    let phases = &ran.tally()[family].phases;
    assert_eq!((phases.connect.count(), phases.lifetime.count()), (opened, opened), "{family}");
    paths(ran, family);
    handshakes(ran, family);
}

fn handshakes(ran: &Ran, family: Family) {
    let found = &ran.tally()[family].tcp.handshake;
    let established = ran.ledger.established(family, ran.measured_from);
    let said: Vec<TcpHandshake> = established.filter_map(|page| page.handshake).collect();
    let count = |which: fn(&TcpHandshake) -> bool| said.iter().filter(|said| which(said)).count();
    let timed = count(|said| matches!(said, TcpHandshake::Took(_))) as u64;
    let again = count(|said| *said == TcpHandshake::SentAgain) as u64;
    let asked = said.len() as u64;
    assert_eq!((found.asked, found.sent_again), (asked, again), "{family}: handshakes");
    assert_eq!(found.untimed, asked - timed - again, "{family}: untimed handshakes");
    assert_eq!((found.kernel.count(), found.client.count()), (timed, timed), "{family}");
}

fn paths(ran: &Ran, family: Family) {
    let found = &ran.tally()[family].tcp;
    let asked = || ran.ledger.established(family, ran.measured_from).filter_map(|page| page.path);
    let again = asked().map(|path| u64::from(path.retransmitted)).sum::<u64>();
    assert_eq!((found.read, found.retransmitted), (asked().count() as u64, again), "{family}");
    let sack = asked().filter(|path| path.options.is_some_and(|options| options.sack)).count();
    assert_eq!((found.options.known, found.options.sack), (found.read, sack as u64), "{family}");
    let twice =
        |path: TcpInfo| path.duplicates.map(|twice| u64::from(twice.min(path.retransmitted)));
    let spurious = asked().filter_map(twice).reduce(|one, other| one + other);
    assert_eq!(found.spurious, spurious, "{family}: spurious");
    let shortest = asked().filter(|path| path.min_rtt.is_some()).count() as u64;
    assert_eq!((found.rtt.count(), found.min_rtt.count()), (found.read, shortest), "{family}");
}

fn tally_of(ran: &Ran, family: Family) -> (u64, u64, u64) {
    let connections = &ran.tally()[family].connections;
    (connections.opened, connections.closed, connections.reset_sent)
}

fn bytes(ran: &Ran, family: Family) {
    let found = ran.tally()[family].bytes;
    let requests = || ran.ledger.requests(family, ran.measured_from);
    let sent: usize = requests().filter(|asked| asked.taken).map(|asked| asked.length).sum();
    let received: usize = requests().map(|asked| asked.received).sum();
    assert_eq!(found.sent, sent as u64, "{family}: bytes sent");
    assert_eq!(found.received, received as u64, "{family}: bytes received");
}

pub(crate) fn slices(ran: &Ran, family: Family) {
    let mut sum = SliceTally::default();
    ran.slices.iter().for_each(|slice| sum += &slice.families[family]);
    let tally = &ran.tally()[family];
    let failed = tally.ended() - tally.completed() - tally.outcome(Outcome::Abandoned);
    let found = (sum.sent, sum.completed, sum.failed, sum.body, sum.response.count());
    let (completed, body) = (tally.completed(), tally.bytes.body);
    let timed = completed - tally.untimed;
    assert_eq!(found, (tally.sent, completed, failed, body, timed), "{family}: slices");
    // A load that ends before its measurement tells of no second, though connections were opened.
    let same = sum == SliceTally::of(tally) || ran.slices.is_empty();
    assert!(same, "{family}: slices and the figures of the tally");
    let seconds: Vec<_> = ran.slices.iter().map(|slice| slice.second).collect();
    assert!(seconds.is_sorted_by(|a, b| a < b), "{seconds:?}");
    assert!(ran.slices.iter().all(|slice| slice.busy_ns <= slice.length_ns));
}
