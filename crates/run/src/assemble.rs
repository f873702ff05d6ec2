//! Assembles the result of a run.

use sixmark_document::provenance::{Environment, Lookup, Tool, Warning};
use sixmark_plan::plan::Plan;
use sixmark_result::calibration::Calibration;
use sixmark_result::find::FindMax;
use sixmark_result::generator::is_saturated;
use sixmark_result::result::{Generator, RatioResult, RunResult, SCHEMA};
use sixmark_result::sameness::{self, Answers, Sameness};
use sixmark_result::truth::Truth;
use sixmark_tally::counted;
use sixmark_tally::family_result::{Families, FamilyResult};
use sixmark_units::family::{Family, PerFamily};
use sixmark_vitals::section::Vitals;

use super::fleet_section::{fleet_section, fleet_vitals};
use super::generated_load::{FleetLoad, GeneratedLoad};
use sixmark_load::Loaded;
use sixmark_result::warnings as warning;

/// What is known about a run before it is measured.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// The time at which it began (RFC 3339).
    pub started: String,
    /// The names that were looked up for it.
    pub dns: Vec<Lookup>,
    /// The machine that it runs on.
    pub environment: Environment,
    /// The warnings known before the load.
    pub doubts: Vec<Warning>,
}

/// What a run measured, with the additional findings.
#[derive(Debug)]
pub struct Measured {
    pub(crate) plan: Plan,
    pub(crate) loaded: Loaded,
    pub(crate) fleet: Option<Box<FleetLoad>>,
    /// The figures of each family; `total` is for both together.
    pub(crate) families: Families,
    pub(crate) total: FamilyResult,
    pub(crate) sameness: Option<Sameness>,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) truth: Option<Truth>,
    pub(crate) find_max: Option<FindMax>,
    /// The vitals, with the warnings about them.
    pub(crate) vitals: Option<(Vitals, Vec<Warning>)>,
}

impl Measured {
    /// Returns the figures of a load, without additional findings.
    pub fn of(plan: Plan, load: impl Into<GeneratedLoad>) -> Measured {
        let GeneratedLoad { loaded, fleet } = load.into();
        let (families, total) = counted::families_of(&plan, &loaded.tally, elapsed_s(&loaded));
        let sameness = sameness(&plan, &loaded);
        let (calibration, truth, find_max, vitals) = Default::default();
        Measured {
            plan,
            loaded,
            fleet,
            families,
            total,
            sameness,
            calibration,
            truth,
            find_max,
            vitals,
        }
    }

    /// Returns how long the run was measured, in seconds.
    pub(crate) fn elapsed_s(&self) -> f64 {
        elapsed_s(&self.loaded)
    }
}

fn elapsed_s(loaded: &Loaded) -> f64 {
    loaded.elapsed_ns as f64 / 1e9
}

/// Assembles the result with all its warnings.
pub fn assemble(known: Circumstances, measured: Measured) -> RunResult {
    let elapsed_s = measured.elapsed_s();
    let Measured { plan, loaded, families, total, sameness, calibration, truth, .. } = measured;
    let (vitals, of_vitals) = measured.vitals.unzip();
    let of_fleet = measured.fleet.as_deref().map(fleet_vitals);
    let (vitals, of_vitals) = match of_fleet {
        Some((of_fleet, doubts)) => (of_fleet, Some(doubts)),
        None => (vitals, of_vitals),
    };
    let fleet = measured.fleet.as_deref();
    let fleet = fleet.map(|fleet| fleet_section(&plan, fleet, PerFamily::from_fn(|_| elapsed_s)));
    // Exchanges that began in the warm-up are excluded: the ratio applies to those begun in the
    // measurement.
    let sent = |family: Family| loaded.tally[family].sent - loaded.tally[family].carried;
    let mut result = RunResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started: known.started,
        elapsed_s,
        ended: loaded.ended,
        seed: plan.seed,
        dns: known.dns,
        environment: known.environment,
        warnings: Vec::new(),
        ratio: RatioResult {
            asked: [plan.ratio.v6(), plan.ratio.v4()],
            sent: [sent(Family::Ipv6), sent(Family::Ipv4)],
        },
        families,
        total,
        generator: generator(&plan, &loaded),
        calibration,
        truth,
        find_max: measured.find_max,
        sameness,
        gates: Vec::new(),
        vitals,
        fleet,
        intervals: loaded.intervals,
        tenths: loaded.tenths,
        plan,
    };
    // Warnings refer to everything else in the result.
    let found = warning::of_result(&result);
    result.warnings = [known.doubts, found, of_vitals.unwrap_or_default()].concat();
    result
}

/// Compares what both families return, if both were loaded.
fn sameness(plan: &Plan, loaded: &Loaded) -> Option<Sameness> {
    let both = Family::BOTH.into_iter().all(|family| loaded.tally[family].sent > 0);
    let [v6, v4] = Family::BOTH.map(|family| Answers::of(plan, &loaded.tally[family]));
    sameness::look(("ipv6", "ipv4"), &[(&v6, &v4)], sameness::USUAL_MARGIN).filter(|_| both)
}

/// Summarizes what the generator did.
pub fn generator(plan: &Plan, loaded: &Loaded) -> Generator {
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
        saturated: is_saturated(busiest),
        timestamps: loaded.clocks.result(plan.load.timestamps),
    }
}
