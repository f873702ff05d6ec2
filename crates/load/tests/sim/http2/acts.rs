//! What scenes are made of: plans, servers and their frames, and what became of exchanges.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::rc::Rc;

use sixmark_http::HttpVersion;
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::http::Http;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_sys::driver::SocketRoute;
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::Family;

use super::books::{Books, Fate};
use super::frame::{
    END_HEADERS, END_STREAM, Frame, Frames, GOAWAY, HEADERS, RST_STREAM, SETTINGS, frame,
};
use super::server::{reply, status};
use crate::balance;
use crate::harness::{Ran, Sim, plan};
use crate::random::Random;
use crate::script::{Dial, MICRO, MILLI, Passed, Script, Step, Take};

pub(super) type Steps = Vec<(u64, Step)>;
pub(super) type Serves = Box<dyn FnMut(usize, &Frame) -> Steps>;

/// Twelve requests over one connection to one family, of at most four at once.
pub(super) fn twelve() -> Plan {
    streams(plan(), 4, 12)
}

pub(super) fn streams(mut plan: Plan, streams: u32, requests: u64) -> Plan {
    let streams = NonZeroU32::new(streams).unwrap();
    plan.http = Http { version: HttpVersion::Http2, prior_knowledge: true, streams };
    plan.ratio = PlanRatio::new(1, 0).unwrap();
    plan.load.connections = NonZeroU32::MIN;
    plan.load.requests = plan.load.duration.map_or(NonZeroU64::new(requests), |_| None);
    plan
}

/// A server that greets, and does what `serve` says with each frame that asks for something: the
/// connection's number and the frame.
pub(super) fn serving(serve: impl FnMut(usize, &Frame) -> Steps + 'static) -> Server {
    Server { settings: Vec::new(), serve: Box::new(serve) }
}

pub(super) struct Server {
    pub(super) settings: Vec<u8>,
    pub(super) serve: Serves,
}

impl Server {
    pub(super) fn script(mut self, books: &Rc<RefCell<Books>>, dial: Dials) -> Script {
        let mut peers = BTreeMap::<usize, Frames>::new();
        let see = move |passed: &Passed, _: &mut Random| {
            let mut steps = Steps::new();
            let frames = peers.entry(passed.connection).or_insert_with(|| {
                steps.push((MICRO, Step::Bytes(frame(SETTINGS, 0, 0, &self.settings))));
                Frames::default()
            });
            frames.push(&passed.bytes);
            if !steps.is_empty() {
                frames.preface();
            }
            while let Some(frame) = frames.next() {
                steps.extend((self.serve)(passed.connection, &frame));
            }
            reply(Take::Whole, steps)
        };
        let script = Script::new(dial, |_, _| unreachable!("all is passed"));
        script.seeing(see).watched(books)
    }
}

pub(super) type Dials = fn(&SocketRoute, &mut Random) -> Dial;

pub(super) fn connects(way: &SocketRoute, _: &mut Random) -> Dial {
    Dial::connects(way, MILLI)
}

pub(super) fn run(plan: Plan, server: Server) -> (Ran, Books) {
    run_sim(Sim::new(plan), server, connects)
}

pub(super) fn run_sim(sim: Sim, server: Server, dial: Dials) -> (Ran, Books) {
    let books = Rc::default();
    let ran = sim.run(server.script(&books, dial));
    assert!(ran.ledger.connections.iter().all(|page| page.closed.is_some()), "left open");
    for family in Family::BOTH {
        balance::exchanges(&ran, family);
        balance::slices(&ran, family);
    }
    (ran, books.take())
}

/// The tally of the family that all go to.
pub(super) fn tally(ran: &Ran) -> &FamilyTally {
    assert_eq!(ran.tally()[Family::Ipv4].sent, 0);
    &ran.tally()[Family::Ipv6]
}

pub(super) fn failures(ran: &Ran) -> Vec<(Failure, u64)> {
    tally(ran).failures.iter().collect()
}

pub(super) fn coded(outcome: Outcome, phase: FailurePhase, code: u64) -> Failure {
    Failure { code: Some(code), ..Failure::new(outcome, phase) }
}

/// The fates of a connection's streams, in their order.
pub(super) fn fates(books: &Books, connection: usize) -> Vec<Fate> {
    let Some(page) = books.connections.get(&connection) else { return Vec::new() };
    page.streams.values().map(|stream| stream.fate).collect()
}

/// An answer without content, that long after the request.
pub(super) fn answer(after: u64, id: u32) -> (u64, Step) {
    (after, Step::Bytes(frame(HEADERS, END_HEADERS | END_STREAM, id, &status())))
}

pub(super) fn reset(after: u64, id: u32, code: u32) -> (u64, Step) {
    (after, Step::Bytes(frame(RST_STREAM, 0, id, &code.to_be_bytes())))
}

pub(super) fn goaway(after: u64, last: u32, code: u32) -> (u64, Step) {
    let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
    (after, Step::Bytes(frame(GOAWAY, 0, 0, &payload)))
}

/// Answers every request with `serve`.
pub(super) fn to_requests(mut serve: impl FnMut(usize, u32) -> Steps + 'static) -> Server {
    serving(move |connection, frame| match frame.kind {
        HEADERS => serve(connection, frame.id),
        _ => Steps::new(),
    })
}
