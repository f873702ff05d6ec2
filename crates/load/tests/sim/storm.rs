//! Everything that can go wrong, at random and together: the books must balance all the same.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

use libc::{
    EADDRNOTAVAIL, ECONNREFUSED, ECONNRESET, EHOSTUNREACH, EMFILE, ENETUNREACH, EPIPE, ETIMEDOUT,
};
use sixmark_document::provenance::Ended;
use sixmark_plan::check::Checks;
use sixmark_plan::pace::{ArrivalProcess, OpenLoop, Overload, Pace, RateStage, RequestRate};
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_plan::plan::{Body, Close, Plan, PlanRequests, Request};
use sixmark_plan::template::{Reading, TemplatePlace};
use sixmark_tally::tally::FamilyTally;

use super::balance;
use super::harness::{BEGIN, Ran, Sim, plan};
use super::random::{Random, each_seed};
use super::script::Request as Asked;
use super::script::{Dial, Framing, MICRO, MILLI, Reply, Response, SECOND, Script, Step, Take};

/// A world where `trouble` of a hundred things go wrong.
fn weather(trouble: u64) -> Script {
    Script::new(
        move |way, random| {
            if random.chance(trouble) {
                failed_dial(random)
            } else {
                Dial::connects(way, random.below(3 * MILLI))
            }
        },
        move |request, random| reply(request, trouble, random),
    )
}

pub(crate) fn failed_dial(random: &mut Random) -> Dial {
    let after = random.pick(&[0, 40 * MICRO, 20 * MILLI]);
    let errno = random.pick(&[ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EMFILE]);
    match random.below(4) {
        0 => Dial::Silent,
        1 => Dial::Fails { after: 2 * SECOND, errno: ETIMEDOUT },
        _ => Dial::Fails { after, errno },
    }
}

fn reply(request: &Asked, trouble: u64, random: &mut Random) -> Reply {
    let response = Response {
        framing: random.pick(&[Framing::Length, Framing::Chunked, Framing::UntilClose]),
        body: random.pick(&[0, 1, 100, 20_000]),
        hints: random.chance(20),
        close: request.last || random.chance(10),
        chunk: 1 + random.below(9_000) as usize,
        redirect: random.chance(30),
    };
    let mut steps = cut(&response.bytes(), random);
    finish(&mut steps, &response, random);
    let mut reply = Reply { take: Take::Whole, steps };
    if random.chance(10) {
        reply.take = Take::Later;
        reply.steps.insert(0, (random.below(MILLI), Step::Sent));
    }
    if random.chance(trouble) { spoil(reply, random) } else { reply }
}

/// The bytes in a few pieces with delays between them.
fn cut(bytes: &[u8], random: &mut Random) -> Vec<(u64, Step)> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let most = if random.chance(50) { rest.len() } else { rest.len().min(64) };
        let (piece, after) = rest.split_at(1 + random.below(most as u64) as usize);
        let delay = if random.chance(50) { 0 } else { random.below(MILLI) };
        pieces.push((delay, Step::Bytes(piece.to_vec())));
        rest = after;
    }
    pieces
}

fn finish(steps: &mut Vec<(u64, Step)>, response: &Response, random: &mut Random) {
    if response.framing == Framing::UntilClose {
        return steps.push((random.below(MILLI), Step::Fin));
    }
    if let Some((_, step)) = steps.last_mut()
        && let Step::Bytes(bytes) = step
    {
        *step = Step::LastBytes(std::mem::take(bytes));
    }
    if response.close && random.chance(50) {
        steps.push((random.below(MILLI), Step::Fin));
    }
}

/// Lets something go wrong on the way.
fn spoil(mut reply: Reply, random: &mut Random) -> Reply {
    let at = random.below(reply.steps.len() as u64 + 1) as usize;
    let soon = random.below(2 * MILLI);
    match random.below(8) {
        // A stall, a truncation, a reset, an answer that is none.
        0 => reply.steps.truncate(at),
        1 => reply.steps.insert(at, (soon, Step::Fin)),
        2 => reply.steps.insert(at, (soon, Step::Error(random.pick(&[ECONNRESET, ETIMEDOUT])))),
        3 => reply.steps.insert(0, (soon, Step::Bytes(b"\0garbage".to_vec()))),
        // Afterwards: a goodbye, or bytes that nobody asked for.
        4 => reply.steps.push((soon, Step::Fin)),
        5 => reply.steps.push((soon, Step::Bytes(b"?".to_vec()))),
        6 => reply.take = Take::Fails(random.pick(&[EPIPE, ECONNRESET])),
        // An answer before the end of the request.
        _ => {
            reply.steps.retain(|(_, step)| !matches!(step, Step::Sent));
            reply.steps.insert(at.min(reply.steps.len()), (soon, Step::Sent));
            reply.take = Take::Later;
        }
    }
    reply
}

/// Any plan that can be.
pub(crate) fn any_plan(random: &mut Random) -> Plan {
    let mut plan = plan();
    let (v6, v4) = random.pick(&[(1, 1), (4, 1), (1, 4), (3, 7), (1, 0), (0, 1)]);
    plan.ratio = PlanRatio::new(v6, v4).unwrap();
    plan.load.connections = NonZeroU32::new(1 + random.below(12) as u32).unwrap();
    plan.load.requests = NonZeroU64::new(random.below(150));
    if plan.load.requests.is_none() || random.chance(40) {
        plan.load.duration = Some(Duration::from_nanos(1 + random.below(3 * SECOND)));
    }
    plan.load.warmup = Duration::from_nanos(random.pick(&[0, 0, MILLI, 300 * MILLI]));
    plan.load.timeout = Duration::from_nanos(random.pick(&[5 * MILLI, 300 * MILLI, SECOND]));
    plan.connection.keep_alive = random.chance(75);
    let idle = random.below(u64::from(plan.load.connections.get()) + 1) as u32;
    plan.connection.most_open = plan.load.connections.saturating_add(idle);
    plan.connection.requests = NonZeroU32::new(random.pick(&[0, 0, 1, 2, 7]));
    plan.connection.close = random.pick(&[Close::Fin, Close::Rst]);
    plan.connection.resend = random.chance(50);
    plan.targets[0].addresses.push("[fd00::2]:80".parse().unwrap());
    plan.seed = random.next();
    plan.location = random.chance(40);
    plan.cookies = random.chance(10);
    if random.chance(40) {
        plan.requests = any_mix(random);
    }
    if random.chance(50) {
        plan.load.pace = Pace::Open(any_pace(&mut plan, random));
    }
    plan
}

/// Several requests, some of them filled in and some with checks.
fn any_mix(random: &mut Random) -> PlanRequests {
    let mut open = |_: &str| Err("there are no files".to_owned());
    let list = (0..1 + random.below(4)).map(|number| {
        let path = random.pick(&["/", "/{{seq}}", "/long/{{rand 1 9}}?{{uuid}}"]);
        let checks = ["status=200", "size=100", "body~^x*$", "header:location=/next"];
        let expect: Vec<&str> = checks.into_iter().filter(|_| random.chance(20)).collect();
        let expect = expect.iter().map(|check| check.parse().unwrap());
        Request {
            path: Some(Reading::new(&mut open).template(path, TemplatePlace::Path).unwrap()),
            body: random.chance(20).then(|| Body::Constant(Arc::new(vec![b'b'; 30]))),
            checks: Checks::new(expect.collect()),
            weight: (1 + number) as f64,
            ..Request::plain(random.pick(&["GET", "POST", "PUT"]))
        }
    });
    PlanRequests::new(list.collect()).unwrap()
}

/// Any open loop; its stages may give the plan its duration.
fn any_pace(plan: &mut Plan, random: &mut Random) -> OpenLoop {
    let mut rate = || RequestRate::new(random.pick(&[0.0, 1.0, 50.0, 333.3, 3_000.0])).unwrap();
    let (from, to) = (rate(), rate());
    let some = RequestRate::new(1.0 + random.below(1_000) as f64).unwrap();
    let part = Duration::from_nanos(1 + random.below(2 * SECOND));
    let stages = match random.below(3) {
        0 => vec![RateStage { from, to: some, duration: Some(part) }],
        1 => vec![
            RateStage::level(from, part),
            RateStage::level(some, part),
            RateStage::level(to, part),
        ],
        _ => vec![RateStage::endless(some)],
    };
    let open = OpenLoop::new(stages).unwrap();
    plan.load.duration = open.duration().or(plan.load.duration);
    let arrivals = random.pick(&[ArrivalProcess::Constant, ArrivalProcess::Poisson]);
    let overload = random.pick(&[Overload::Wait, Overload::Drop]);
    let spin = Duration::from_nanos(random.pick(&[0, 0, 50 * MICRO]));
    OpenLoop { arrivals, overload, spin, ..open }
}

fn storm(seed: u64) -> (Ran, Plan) {
    let mut random = Random::new(seed);
    let plan = any_plan(&mut random);
    let mut sim = Sim::new(plan.clone());
    (sim.seed, sim.drops) = (seed, random.pick(&[0, 50, 100]));
    sim.cost = random.pick(&[0, 0, 300, 20 * MICRO]);
    if plan.load.pace.open().is_some_and(|open| !open.spin.is_zero()) {
        // A clock that stands still while it is looked at would never get to the due moment.
        sim.cost = 20 * MICRO;
    }
    if random.chance(30) {
        sim.stop_at = BEGIN + random.below(SECOND);
    }
    (sim.run(weather(random.pick(&[0, 10, 40, 100]))), plan)
}

#[test]
fn all_counts_balance_under_random_failures() {
    each_seed(4_000, |seed| balance::check(&storm(seed).0));
}

#[test]
fn a_completed_counted_run_sends_exactly_its_requests() {
    each_seed(1_000, |seed| {
        let (ran, plan) = storm(seed);
        let (Some(requests), None) = (plan.load.requests, plan.load.duration) else { return };
        if ran.report.ended == Ended::Complete {
            let of =
                |tally: &FamilyTally| tally.sent - tally.carried - tally.followed + tally.dropped;
            let sent: u64 = ran.tally().iter().map(|(_, tally)| of(tally)).sum();
            assert_eq!(sent, requests.get());
        }
    });
}
