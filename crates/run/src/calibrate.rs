//! Measures what sixmark itself adds to the times, against its own origin on loopback.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sixmark_plan::pace::Pace;
use sixmark_plan::plan::http::Http;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_plan::plan::{Connection, LoadPlan, Plan, PlanRequests, Request, Target};
use sixmark_result::calibration::{Calibration, Leg};
use sixmark_sys::limit;
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::{Family, PerFamily};

use sixmark_load::{self as load, PreparedLoad};
use sixmark_origin::{Options, Origin};
use sixmark_sys::command_error::CommandError;

/// How long each family is measured at a time, and the warm-up before that.
const TURN: Duration = Duration::from_millis(200);
const WARM_UP: Duration = Duration::from_millis(20);
const PATH: &str = "/bytes/1";
/// The most requests on a connection, so that the calibration always times some connects.
const REQUESTS: NonZeroU32 = NonZeroU32::new(32).unwrap();
/// Descriptors in use besides the connections.
const OTHER_FILES: u64 = 128;

/// Returns the noise floor of `plan`, or `None` if `stop` is set meanwhile. Fails if this host
/// can't serve itself over a family of the plan.
pub(crate) fn calibrate(
    plan: &Plan,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Calibration>, CommandError> {
    open_files(plan)?;
    let origin = start_origin(plan)?;
    // In an open loop -c is only an upper bound: the server determines how many exchanges are in
    // flight.
    let closed = plan.load.pace == Pace::Closed;
    let as_the_run = closed.then_some(plan.load.connections);
    let mut in_flight: Vec<_> = [NonZeroU32::MIN].into_iter().chain(as_the_run).collect();
    in_flight.dedup();
    let legs = in_flight.into_iter().map(|number| leg(plan, &origin, number, stop));
    let legs = legs.collect::<Result<Vec<_>, _>>();
    origin.stop();
    // An interrupted calibration yields no noise floor, but it is not an error either.
    if stop.load(Ordering::Relaxed) { Ok(None) } else { Ok(Some(Calibration { legs: legs? })) }
}

/// Raises the limit on open files. The process owns both ends of each connection.
fn open_files(plan: &Plan) -> Result<(), CommandError> {
    let needed = 2 * u64::from(plan.load.connections.get()) + OTHER_FILES;
    let allowed = limit::raise_open_files(needed).unwrap_or(0);
    if allowed >= needed {
        return Ok(());
    }
    Err(CommandError::Measure(format!(
        "--calibrate needs {needed} open files, but only {allowed} are allowed; raise the limit \
         (ulimit -Hn), lower -c, or omit --calibrate"
    )))
}

fn start_origin(plan: &Plan) -> Result<Origin, CommandError> {
    let loopback = |family| match family {
        Family::Ipv6 => SocketAddr::from((Ipv6Addr::LOCALHOST, 0)),
        Family::Ipv4 => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
    };
    let listen = plan.families().map(loopback).collect();
    Origin::start(Options { listen, ..Options::default() }).map_err(|error| {
        CommandError::Measure(format!("--calibrate: {error}; omit --calibrate to run without it"))
    })
}

/// Measures each family twice, in the order A B B A, so that drift affects both alike.
fn leg(
    plan: &Plan,
    origin: &Origin,
    in_flight: NonZeroU32,
    stop: &Arc<AtomicBool>,
) -> Result<Leg, CommandError> {
    let mut order: Vec<Family> = plan.families().collect();
    let mut halves = Vec::new();
    for _ in 0..2 {
        let mut half = PerFamily::default();
        for &family in &order {
            let turn = turn(plan, origin, family, in_flight);
            half[family] = Some(measure(&turn, family, stop)?);
        }
        halves.push(half);
        order.reverse();
    }
    Ok(Leg::new(in_flight.get(), &halves))
}

fn measure(
    turn: &Plan,
    family: Family,
    stop: &Arc<AtomicBool>,
) -> Result<FamilyTally, CommandError> {
    let cannot =
        |error| CommandError::Measure(format!("--calibrate can't start its workers ({error})"));
    let mut loaded = load::run_load(PreparedLoad::new(turn)?, stop, |_| {}).map_err(cannot)?;
    let tally = std::mem::take(&mut loaded.tally[family]);
    if tally.completed() > 0 || stop.load(Ordering::Relaxed) {
        return Ok(tally);
    }
    Err(CommandError::Measure(format!(
        "--calibrate got no answer from its own server over {family}: check the loopback \
         interface, or omit --calibrate"
    )))
}

/// Returns the run's plan, changed to load the origin over one family with its smallest response.
fn turn(plan: &Plan, origin: &Origin, family: Family, in_flight: NonZeroU32) -> Plan {
    let of_family = |address: &&SocketAddr| Family::of(address.ip()) == family;
    let addresses: Vec<SocketAddr> = origin.addresses().iter().filter(of_family).copied().collect();
    let authority = addresses.first().map_or(String::new(), SocketAddr::to_string);
    let limit = plan.connection.requests.map_or(REQUESTS, |requests| requests.min(REQUESTS));
    let keep_alive = plan.connection.keep_alive;
    Plan {
        targets: vec![Target {
            url: format!("http://{authority}{PATH}"),
            authority,
            server_name: None,
            path: PATH.to_owned(),
            weight: 1,
            addresses,
        }],
        ratio: PlanRatio::only(family),
        load: LoadPlan {
            requests: None,
            duration: Some(TURN),
            warmup: WARM_UP,
            pace: Pace::Closed,
            connections: in_flight,
            threads: plan.load.threads.min(in_flight),
            ..plan.load.clone()
        },
        requests: PlanRequests::one(Request::plain("GET")),
        location: false,
        accept_status: Default::default(),
        cookies: false,
        http: Http::default(),
        connection: Connection {
            requests: keep_alive.then_some(limit),
            most_open: in_flight,
            preopen: false,
            resend: true,
            ..plan.connection.clone()
        },
        tls: None,
        sources: PerFamily::default(),
        seed: plan.seed,
    }
}
