//! Warnings about doubtful figures. Each has a code for programs and a message for people.

use crate::calibration::Below;
use crate::result::RunResult;
use sixmark_document::provenance::{Ended, Warning, warning};
use sixmark_http::HttpVersion;
use sixmark_plan::plan::{Close, Plan};
use sixmark_units::family::Family;
use sixmark_units::quantity::counted;
use sixmark_units::quantity::{duration_us, write_count};

mod before;
mod certificates;
pub mod family;
mod fleet;
mod lapses;
mod recording;
mod redirects;
mod search;
mod truth;

pub use before::{
    few_ports, insecure_unused, left_out, lookup_failed, no_io_uring, scheme_assumed,
    single_family, threads_limited, unroutable,
};
use certificates::of_certificates;
pub use family::most_failed;
use family::of_family;
pub use fleet::of_fleet;
use lapses::{slow_checks, stood_still};
pub use recording::{ENTRIES, LINES, Unit, nothing_imported, requests_changed, requests_left_out};
use search::of_search;
use truth::of_truth;

/// The largest share of retransmitted segments that is not worth a warning. A larger share means
/// that the path loses packets.
const MANY: f64 = 0.001;

/// The most hosts or certificates that a message names.
const NAMED: usize = 3;

/// Returns all warnings after a run that follow from the result itself.
pub fn of_result(result: &RunResult) -> Vec<Warning> {
    let of_run = [
        linger(result),
        saturated(result),
        begun_late(result),
        stood_still(result),
        slow_checks(result),
        warn_of_end(result),
        resets(result),
        clock_stepped(result),
        missing_stamps(result),
        retransmissions(result),
        below_noise_floor(result),
    ];
    let families =
        result.families_tried().flat_map(|(family, figures)| of_family(result, family, figures));
    let found = result.find_max.iter().flat_map(|found| of_search(result, found));
    let beside = result.truth.iter().flat_map(|truth| of_truth(&result.plan, truth));
    of_run
        .into_iter()
        .flatten()
        .chain(of_certificates(result))
        .chain(found)
        .chain(families)
        .chain(result.fleet.iter().flat_map(of_fleet))
        .chain(beside)
        .collect()
}

fn saturated(result: &RunResult) -> Option<Warning> {
    let generator = Some(&result.generator).filter(|generator| generator.saturated)?;
    let message = format!(
        "a worker was busy {:.0} % of a second: the generator may have been the bottleneck; use \
         more threads (-t), or give sixmark cores of its own",
        generator.busiest * 100.0
    );
    Some(warning("generator_saturated", message))
}

/// Warns if more than one in a hundred exchanges of an open loop that did not wait for a connection
/// began late although the workers had time. The workers were woken late.
fn begun_late(result: &RunResult) -> Option<Warning> {
    let late = Some(&result.generator).filter(|generator| !generator.saturated)?.late;
    let families = || result.families.iter().map(|(_, figures)| figures);
    let slips = || families().filter_map(|figures| figures.slip_us.as_ref());
    let waited: u64 = families().map(|figures| figures.requests.waited).sum();
    let free = slips().map(|slip| slip.count).sum::<u64>().saturating_sub(waited);
    let p99 = slips().filter_map(|slip| slip.p99).reduce(f64::max)?;
    (late * 100 > free).then(|| {
        let message = format!(
            "this machine was too busy to send on time: {} of {} began over 1 ms late (p99 {}) \
             although a connection was free; response times include that, service times do not; \
             give sixmark cores of its own",
            write_count(late),
            counted(free, "exchange", "exchanges"),
            duration_us(p99)
        );
        warning("begun_late", message)
    })
}

fn linger(result: &RunResult) -> Option<Warning> {
    let linger = result.plan.load.linger.filter(|linger| !linger.is_zero())?;
    let message = format!(
        "completions were batched for up to {} (--linger): times may be late by that much",
        humantime::format_duration(linger)
    );
    Some(warning("linger", message))
}

fn warn_of_end(result: &RunResult) -> Option<Warning> {
    match result.ended {
        Ended::Complete => None,
        Ended::Interrupted => {
            let message = "a signal ended the run early; figures cover the time until then";
            Some(warning("interrupted", message.to_owned()))
        }
        Ended::Hopeless => {
            let message = "the run was stopped: no connection could be established";
            Some(warning("hopeless", message.to_owned()))
        }
    }
}

fn resets(result: &RunResult) -> Option<Warning> {
    let plan = &result.plan;
    (plan.connection.close == Close::Rst).then(|| {
        let message = match plan.http.version {
            HttpVersion::Http3 => {
                "--close rst changes nothing over HTTP/3: QUIC has no reset, connections were \
                 closed with CONNECTION_CLOSE"
            }
            _ => "connections were closed with RST: servers see an error and have no TIME-WAIT",
        };
        warning("close_rst", message.to_owned())
    })
}

fn clock_stepped(result: &RunResult) -> Option<Warning> {
    let steps = result.generator.timestamps.clock_steps;
    (steps > 0).then(|| {
        let message = "the system clock was set during the run: kernel timestamps from that moment \
                       are wrong; repeat the run, or use --timestamps user";
        warning("clock_stepped", message.to_owned())
    })
}

fn missing_stamps(result: &RunResult) -> Option<Warning> {
    let missing = result.generator.timestamps.missing;
    (missing > 0).then(|| {
        let message = format!(
            "{} by sixmark's clock: the kernel gave no timestamp",
            counted(missing, "time was taken", "times were taken")
        );
        warning("missing_stamps", message)
    })
}

/// Warns if more than a few segments were lost, or if one family lost more than chance explains.
fn retransmissions(result: &RunResult) -> Option<Warning> {
    let tcp = |family| Some(&result.families.of(family)?.tcp);
    let share = |family| Some((family, tcp(family)?.lost_share()?));
    let shares: Vec<_> = Family::BOTH.into_iter().filter_map(share).collect();
    let unlike = matches!((tcp(Family::Ipv6), tcp(Family::Ipv4)),
        (Some(v6), Some(v4)) if v6.losses_unlike(v4));
    let many = shares.iter().any(|&(_, share)| share > MANY);
    (many || unlike).then(|| {
        let each =
            shares.iter().map(|(family, share)| format!("{:.2} % over {family}", share * 1e2));
        let message = format!(
            "TCP retransmitted segments ({}): packets were lost, and latencies include \
             retransmissions",
            each.collect::<Vec<_>>().join(", ")
        );
        warning("retransmissions", message)
    })
}

/// Warns if the medians of the families differ by less than they do over loopback, where they
/// should not differ.
fn below_noise_floor(result: &RunResult) -> Option<Warning> {
    let plan = &result.plan;
    let leg = result.calibration.as_ref()?.at(plan.load.connections.get())?;
    if !is_like_the_floor(plan) {
        return None;
    }
    let (v6, v4) = (result.families.ipv6.as_ref()?, result.families.ipv4.as_ref()?);
    let below: Vec<String> = leg
        .below(v6, v4)
        .into_iter()
        .map(|Below { phase, run_us, floor_us }| {
            format!("{phase} by {} (there {})", duration_us(run_us), duration_us(floor_us))
        })
        .collect();
    (!below.is_empty()).then(|| {
        let message = format!(
            "the difference between the families' medians is below the noise floor measured on \
             loopback: {}",
            below.join(", ")
        );
        warning("below_noise_floor", message)
    })
}

/// Reports whether the noise floor applies: it is measured with HTTP/1.1 without TLS.
fn is_like_the_floor(plan: &Plan) -> bool {
    plan.http.version.is_http1() && plan.tls.is_none()
}
