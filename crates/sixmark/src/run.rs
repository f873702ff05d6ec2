//! One run: a plan goes in, a result comes out.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use sixmark_model::comparison::Settings;
use sixmark_model::condition::Condition;
use sixmark_model::plan::Plan;
use sixmark_model::provenance::Lookup;
use sixmark_model::provenance::{Route, Tool, Warning};
use sixmark_model::result::{self, Generator, RatioResult, RunResult, SCHEMA};
use sixmark_model::sameness::{self, Answers, Sameness};
use sixmark_model::tally::Slice;
use sixmark_model::truth::Truth;
use sixmark_model::vitals::cost::Work;
use sixmark_units::family::Family;

use crate::truth::Witness;
use crate::vitals::{From, Meter};
use crate::{calibrate, environment, preflight, warning};
use sixmark_load::{self as load, Loaded};
use sixmark_machine::Error;

/// A worker that waited for the kernel for less than this part of a second was the bottleneck, or
/// close to it.
pub(crate) const BUSY: f64 = 0.95;

/// A plan, and what was learned while it was made.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What to run.
    pub plan: Plan,
    /// What must hold at the highest rate, where that is to be found; the plan's load is then that
    /// of the first trial, but for its family.
    pub find_max: Vec<Condition>,
    /// Trials of that may have more connections than the plan says, as many as they can need.
    pub more_places: bool,
    /// The names looked up for it.
    pub dns: Vec<Lookup>,
    /// Doubts about it.
    pub warnings: Vec<Warning>,
    /// Measure first what sixmark itself adds.
    pub calibrate: bool,
    /// Look at the packets meanwhile.
    pub truth: bool,
    /// Where the server's vitals are to be had.
    pub vitals_from: Option<From>,
}

/// A plan that has been found possible to carry out.
#[derive(Clone, Debug)]
pub struct Ready {
    pub(crate) planned: Planned,
    pub(crate) routes: Vec<Route>,
    pub(crate) doubts: Vec<Warning>,
}

impl Ready {
    /// Checks what can be known to fail before anything is sent: routes, sources, open files.
    pub fn new(mut planned: Planned) -> Result<Ready, Error> {
        let (routes, doubts) = preflight::check(&mut planned.plan)?;
        Ok(Ready { planned, routes, doubts })
    }

    /// What is to be run.
    pub fn plan(&self) -> &Plan {
        &self.planned.plan
    }

    /// What must hold at the highest rate, where that is to be found.
    pub fn conditions(&self) -> &[Condition] {
        &self.planned.find_max
    }

    /// True where the highest rate is to be found: see [`find::run`](crate::find::run).
    pub fn searches(&self) -> bool {
        !self.conditions().is_empty()
    }

    /// What may go wrong in the run; the result's warnings begin with this.
    pub fn doubts(&self) -> &[Warning] {
        &self.doubts
    }
}

/// Runs the plan. `stop` ends it early, `watch` sees every worker's seconds as they end.
pub fn run(
    ready: Ready,
    stop: &Arc<AtomicBool>,
    watch: impl FnMut(&Slice),
) -> Result<RunResult, Error> {
    let calibration = match ready.planned.calibrate {
        true => calibrate::calibrate(&ready.planned.plan, stop)?,
        false => None,
    };
    let witness = match ready.planned.truth {
        true => Some(Witness::start(&ready.planned.plan)?),
        false => None,
    };
    let meter = Meter::start(ready.planned.vitals_from.as_ref(), ready.planned.plan.load.warmup)?;
    let mut metered = None;
    let mut result = ready.carry_out(|plan, _| {
        let (loaded, truth) = match witness {
            Some(witness) => beside(witness, &plan, stop, watch)?,
            None => (load::run(&plan, stop, watch).map_err(cannot_start)?, None),
        };
        metered = meter.map(Meter::end);
        Ok(RunResult { calibration, truth, ..assemble(plan, loaded) })
    })?;
    if let Some(metered) = metered {
        let work = Work::of(
            &result.families,
            &result.intervals,
            result.elapsed_s,
            metered.began_us(result.elapsed_s),
        );
        let (vitals, doubts) = metered.section(&work);
        result.vitals = Some(vitals);
        result.warnings.extend(doubts);
    }
    Ok(result)
}

/// Loads while packets are looked at.
fn beside(
    witness: Witness,
    plan: &Plan,
    stop: &Arc<AtomicBool>,
    watch: impl FnMut(&Slice),
) -> Result<(Loaded, Option<Truth>), Error> {
    let mut loaded = load::run_telling(plan, stop, watch).map_err(cannot_start)?;
    let truth = witness.end(plan, std::mem::take(&mut loaded.book))?;
    Ok((loaded, Some(truth)))
}

impl Ready {
    /// Loads, and adds to the result what is known without it.
    pub(crate) fn carry_out(
        self,
        load: impl FnOnce(Plan, Vec<Condition>) -> Result<RunResult, Error>,
    ) -> Result<RunResult, Error> {
        let Planned { plan, find_max, dns, warnings, .. } = self.planned;
        let environment = environment::environment(self.routes);
        let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut result = load(plan, find_max)?;
        result.started = started;
        result.dns = dns;
        result.environment = environment;
        let found = warning::of_result(&result);
        result.warnings = [self.doubts, warnings, found].concat();
        Ok(result)
    }
}

pub(crate) fn cannot_start(error: io::Error) -> Error {
    Error::Measure(format!("can't start the workers: {error}"))
}

/// The result without what was known before the load.
pub(crate) fn assemble(plan: Plan, loaded: Loaded) -> RunResult {
    let elapsed_s = loaded.elapsed_ns as f64 / 1e9;
    let (families, total) = result::families(&plan, &loaded.tally, elapsed_s);
    let sent = |family: Family| loaded.tally[family].sent;
    RunResult {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "sixmark".into(), version: env!("CARGO_PKG_VERSION").into() },
        started: String::new(),
        elapsed_s,
        ended: loaded.ended,
        seed: plan.seed,
        dns: Vec::new(),
        environment: Default::default(),
        warnings: Vec::new(),
        ratio: RatioResult {
            asked: Some([plan.ratio.v6(), plan.ratio.v4()]),
            sent: [sent(Family::Ipv6), sent(Family::Ipv4)],
        },
        families,
        total,
        generator: Some(generator(&plan, &loaded)),
        watched: None,
        calibration: None,
        truth: None,
        find_max: None,
        sameness: sameness(&plan, &loaded),
        gates: Vec::new(),
        vitals: None,
        intervals: loaded.intervals,
        plan: Some(plan),
    }
}

/// Whether both families give the same, where both were loaded.
fn sameness(plan: &Plan, loaded: &Loaded) -> Option<Sameness> {
    let both = Family::BOTH.into_iter().all(|family| loaded.tally[family].sent > 0);
    let [v6, v4] = Family::BOTH.map(|family| Answers::of(plan, &loaded.tally[family]));
    let margin = Settings::usual(plan.seed).margin;
    sameness::look(("ipv6", "ipv4"), &[(&v6, &v4)], margin).filter(|_| both)
}

/// What the generator did.
pub(crate) fn generator(plan: &Plan, loaded: &Loaded) -> Generator {
    let busiest = loaded.busiest;
    let late = Family::BOTH.into_iter().map(|family| loaded.tally[family].late).sum();
    Generator {
        driver: loaded.driver.to_owned(),
        threads: plan.load.threads.get(),
        cpu_user_s: loaded.usage.user_s,
        cpu_sys_s: loaded.usage.system_s,
        peak_rss_bytes: loaded.usage.peak_rss_bytes,
        busiest,
        late,
        stalls: loaded.lapses.stalls,
        stalled_s: loaded.lapses.stalled_ns as f64 / 1e9,
        checking_s: loaded.lapses.checking_ns as f64 / 1e9,
        longest_check_s: loaded.lapses.longest_check_ns as f64 / 1e9,
        saturated: busiest > BUSY,
        timestamps: loaded.clocks.result(plan.load.timestamps),
    }
}
