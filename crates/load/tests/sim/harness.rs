//! Runs a plan in a simulated world.

use std::cell::RefCell;
use std::num::{NonZeroU32, NonZeroU64};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sixmark_http::HttpVersion;
use sixmark_load::{PreparedLoad, Report, Worker};
use sixmark_plan::mix::share_of_worker;
use sixmark_plan::pace::{OpenLoop, Pace, RateStage, RequestRate};
use sixmark_plan::plan::http::Http;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_plan::plan::{
    Close, Connection, Driver, LoadPlan, Plan, PlanRequests, Request, Target,
};
use sixmark_tally::tally::{Slice, Tally};
use sixmark_units::family::PerFamily;

use super::driver::Simulated;
use super::ledger::Ledger;
use super::random::Random;
use super::script::{MILLI, Script};
use super::world::{Rules, World};

/// When runs begin.
pub(crate) const BEGIN: u64 = 7 * MILLI;

/// A hundred requests at 1:1 over four exchanges in flight.
pub(crate) fn plan() -> Plan {
    let target = Target {
        url: "http://sim/".into(),
        authority: "sim".into(),
        server_name: None,
        path: "/".into(),
        weight: 1,
        addresses: vec!["[fd00::1]:80".parse().unwrap(), "192.0.2.1:80".parse().unwrap()],
    };
    Plan {
        targets: vec![target],
        ratio: PlanRatio::new(1, 1).unwrap(),
        load: LoadPlan {
            requests: NonZeroU64::new(100),
            duration: None,
            warmup: Duration::ZERO,
            pace: Pace::Closed,
            connections: NonZeroU32::new(4).unwrap(),
            threads: NonZeroU32::MIN,
            timeout: Duration::from_secs(5),
            drain: Duration::ZERO,
            driver: Driver::Auto,
            timestamps: Timestamps::User,
            linger: None,
        },
        requests: PlanRequests::one(Request::plain("GET")),
        location: false,
        accept_status: Default::default(),
        cookies: false,
        http: Http::default(),
        connection: Connection {
            keep_alive: true,
            requests: None,
            close: Close::Fin,
            most_open: NonZeroU32::new(8).unwrap(),
            preopen: false,
            resend: false,
        },
        tls: None,
        sources: PerFamily::default(),
        seed: 0,
    }
}

/// As [`plan`], for that long instead of that many.
pub(crate) fn lasting(duration: Duration) -> Plan {
    let mut plan = plan();
    plan.load.requests = None;
    plan.load.duration = Some(duration);
    plan
}

/// As [`lasting`], as an open loop of so many a second.
pub(crate) fn at_rate(per_s: f64, duration: Duration) -> Plan {
    let stage = RateStage::endless(RequestRate::new(per_s).unwrap());
    opened(lasting(duration), OpenLoop::new(vec![stage]).unwrap())
}

/// The plan at this pace.
pub(crate) fn opened(mut plan: Plan, open: OpenLoop) -> Plan {
    plan.load.pace = Pace::Open(open);
    plan
}

/// A simulated run of one worker.
pub(crate) struct Sim {
    pub(crate) plan: Plan,
    pub(crate) worker: u32,
    pub(crate) seed: u64,
    pub(crate) cost: u64,
    pub(crate) drops: u64,
    pub(crate) stop_at: u64,
    pub(crate) most_waits: u64,
    pub(crate) pause: Option<[u64; 2]>,
    pub(crate) late: u64,
    pub(crate) tenths: bool,
}

/// What came of it.
pub(crate) struct Ran {
    pub(crate) report: Report,
    pub(crate) slices: Vec<Slice>,
    pub(crate) ledger: Ledger,
    pub(crate) measured_from: u64,
    /// An exchange that was due in the warm-up, and does not count, may have begun after it, or
    /// begun once more.
    pub(crate) backlog: bool,
}

impl Sim {
    pub(crate) fn new(plan: Plan) -> Sim {
        let (worker, seed, cost, drops) = (0, 0, 0, 0);
        let (stop_at, most_waits, pause) = (u64::MAX, 100_000, None);
        let (late, tenths) = (0, false);
        Sim { plan, worker, seed, cost, drops, stop_at, most_waits, pause, late, tenths }
    }

    pub(crate) fn run(self, script: Script) -> Ran {
        let stop = Arc::new(AtomicBool::new(false));
        let rules = self.rules(&stop);
        let world = World::new(script, Random::new(self.seed), BEGIN, rules);
        let world = Rc::new(RefCell::new(world));
        let prepared = PreparedLoad::new(&self.plan).unwrap();
        let prepared = if self.tenths { prepared.in_tenths() } else { prepared };
        let mut worker = Worker::new(Simulated::new(&world), &prepared, self.worker, BEGIN);
        if self.plan.connection.preopen {
            worker.open_first(&stop, |_| {});
            let now = world.borrow().clock;
            worker.begin_at(now);
        }
        let mut slices = Vec::new();
        let report = worker.run(&stop, |slice| slices.push(slice));
        let ledger = std::mem::take(&mut world.borrow_mut().ledger);
        let measured_from = BEGIN + self.plan.load.warmup.as_nanos() as u64;
        let late = self.plan.load.pace != Pace::Closed || self.plan.connection.resend;
        let backlog = late && !self.plan.load.warmup.is_zero();
        Ran { report, slices, ledger, measured_from, backlog }
    }

    fn rules(&self, stop: &Arc<AtomicBool>) -> Rules {
        let load = &self.plan.load;
        let (total, workers) = (load.connections.get().into(), load.threads.get().into());
        let connections = share_of_worker(total, workers, self.worker.into()).1;
        let places = connections * u64::from(self.plan.http.streams.get());
        Rules {
            most_in_flight: places as usize,
            most_open: share_of_worker(
                self.plan.connection.most_open.get().into(),
                workers,
                self.worker.into(),
            )
            .1
            // Where several exchanges share a connection, each may nevertheless need its own, and
            // one may just have lost its last.
            .max(places + u64::from(self.plan.http.version == HttpVersion::Http2))
                as usize,
            most_waits: self.most_waits,
            cost: self.cost,
            drops: self.drops,
            stop: Arc::clone(stop),
            stop_at: self.stop_at,
            pause: self.pause,
            late: self.late,
        }
    }
}

impl Ran {
    pub(crate) fn tally(&self) -> &Tally {
        &self.report.tally
    }
}

/// Runs the plan in a world that does what `script` says, and checks the books.
pub(crate) fn run(plan: Plan, script: Script) -> Ran {
    let ran = Sim::new(plan).run(script);
    super::balance::check(&ran);
    ran
}
