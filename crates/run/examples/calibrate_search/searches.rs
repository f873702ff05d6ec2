//! Searches of simulated servers by the code that searches real ones.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use sixmark_document::provenance::Ended;
use sixmark_load::{Loaded, one_after_the_other};
use sixmark_plan::pace::{OpenLoop, Pace, RateStage, RequestRate};
use sixmark_plan::plan::http::Http;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_plan::plan::{
    Close, Connection, Driver, LoadPlan, Plan, PlanRequests, Request, Target,
};
use sixmark_result::find::FindMax;
use sixmark_run::find::search_on;
use sixmark_run::search_asked::SearchAsked;
use sixmark_tally::by_step::StepTally;
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::tally::{FamilyTally, Tally};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::random::Random;

use crate::servers::Server;

/// The time that a search may take, by default options.
const AT_MOST: Duration = Duration::from_secs(600);
/// The time between two trials.
const BETWEEN: Duration = Duration::from_millis(50);

/// Searches the highest rate of a server over IPv6, and of another one over IPv4.
pub(crate) fn search_servers(servers: PerFamily<Server>, seed: u64) -> Result<FindMax, String> {
    let plan = Plan { seed, ..plan()? };
    let conditions = vec!["response.p99 < 10ms".parse()?];
    let asked = SearchAsked { conditions, more_places: true, at_most: AT_MOST };
    let (clock, trials) = (Cell::new(Duration::ZERO), Cell::new(0));
    let load = |plan: &Plan| {
        trials.set(trials.get() + 1);
        let loaded = load_server(plan, &servers, clock.get(), &mut Random::new(seed, trials.get()));
        let lasts = plan.load.warmup + plan.load.duration.unwrap_or_default();
        clock.set(clock.get() + lasts + BETWEEN);
        Ok(loaded)
    };
    search_on(&plan, &asked, &|| clock.get(), load).map_err(|error| error.to_string())
}

fn plan() -> Result<Plan, String> {
    let some = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    let open = OpenLoop::new(vec![RateStage::endless(RequestRate::new(100.0)?)])?;
    let addresses = ["[::1]:80", "127.0.0.1:80"].map(|of| of.parse().map_err(|_| of.to_owned()));
    Ok(Plan {
        targets: vec![Target {
            url: "http://a.example/".into(),
            authority: "a.example".into(),
            server_name: None,
            path: "/".into(),
            weight: 1,
            addresses: addresses.into_iter().collect::<Result<_, _>>()?,
        }],
        ratio: PlanRatio::EVEN,
        load: LoadPlan {
            requests: None,
            duration: Some(Duration::from_secs(2)),
            warmup: Duration::from_millis(200),
            pace: Pace::Open(open),
            connections: some(50),
            threads: some(1),
            timeout: Duration::from_secs(5),
            drain: Duration::ZERO,
            driver: Driver::Epoll,
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
            most_open: some(100),
            preopen: false,
            resend: false,
        },
        tls: None,
        sources: PerFamily::default(),
        seed: 1,
    })
}

/// Returns the counts of a trial, as the workers would have counted it.
fn load_server(
    plan: &Plan,
    servers: &PerFamily<Server>,
    at: Duration,
    random: &mut Random,
) -> Loaded {
    let family = plan.families().next().unwrap_or(Family::Ipv6);
    let stages = plan.load.pace.open().map_or(&[][..], |open| &open.stages);
    let rate = stages.first().map_or(1.0, |stage| stage.from.per_s());
    let warmup_s = plan.load.warmup.as_secs_f64();
    let lasts_s = plan.load.duration.unwrap_or_default().as_secs_f64();
    let steps = vec![StepTally::default(); stages.len()];
    let mut tally = FamilyTally { steps, ..FamilyTally::default() };
    servers[family].answer(rate, at.as_secs_f64(), warmup_s + lasts_s, random, |answer| {
        let due_s = answer.due_s - warmup_s;
        if due_s < 0.0 {
            return;
        }
        tally.sent += 1;
        let stage = (due_s / lasts_s * stages.len() as f64) as usize;
        let step = &mut tally.steps[stage.min(stages.len() - 1)];
        if answer.failed {
            let failure = Failure::new(Outcome::Reset, FailurePhase::Wait);
            tally.failures.add(failure, 1);
            step.exchanges.failures.add(failure, 1);
            return;
        }
        tally.status.add(200, 1);
        step.exchanges.status.add(200, 1);
        let took_ns = (answer.took_s * 1e9) as u64;
        step.exchanges.response.record(took_ns);
        tally.phases.response.record(took_ns);
        tally.phases.service.record(took_ns);
    });
    let mut all = Tally::default();
    all[family] = tally;
    let elapsed_ns = (lasts_s * 1e9) as u64;
    let ended = Ended::Complete;
    Loaded { tally: all, elapsed_ns, ended, ..one_after_the_other([].iter()) }
}
