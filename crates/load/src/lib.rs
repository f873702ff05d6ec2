//! The load generator: it runs the connections of a plan and returns tallies.
//!
//! Each worker is a thread with its own connections, schedule and tally. During the load, workers
//! share only a flag that stops them and the information whether any address was ever reached.
//!
//! This crate resolves no names, reads no options and judges no results; plans and tallies are
//! types of `sixmark-plan` and `sixmark-tally`, and sockets belong to `sixmark-sys`.
//!
//! Begin with [`run_load`], which starts the workers and merges what they count. [`PreparedLoad`]
//! contains what all of them read, and [`Worker`] is the loop of one thread.

mod builder;
mod connection;
mod drawn;
mod errno;
mod exchange;
mod field_sampler;
mod joined;
mod lateness;
mod network;
mod notes;
mod pauses;
mod prepare;
mod protocol;
mod quic;
mod reachability;
mod recorder;
mod scheduler;
mod send_buffer;
mod share;
mod slot_list;
mod threads;
pub mod tls;
mod worker;

pub use joined::{at_the_same_time, one_after_the_other};
pub use prepare::PreparedLoad;
pub use share::LoadShare;
pub use worker::{Report, Worker};

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

use joined::joined_time;

use sixmark_document::provenance::Ended;
use sixmark_plan::plan::Plan;
use sixmark_sys::usage::{Usage, usage};
use sixmark_tally::client_records::ClientRecords;
use sixmark_tally::clocks::Clocks;
use sixmark_tally::interval::Interval;
use sixmark_tally::lapses::Lapses;
use sixmark_tally::seconds::SliceCollector;
use sixmark_tally::tally::{Slice, Tally};
use sixmark_tally::tenth::Tenth;
use sixmark_units::family::Family;

/// If an exchange starts later than this after it was due, in nanoseconds, although a concurrency
/// slot was free, the generator can't keep up.
const LATE_NS: u64 = 1_000_000;

/// Minimum length of a slice that shows how busy a worker is, in nanoseconds. In a shorter one,
/// opening connections and other short-lived work distort the share.
const SHORT_NS: u64 = 500_000_000;

/// If a worker wakes this much later than planned, in nanoseconds, it has stalled. On a heavily
/// loaded machine, half of that may occur normally.
const STALL_NS: u64 = 1_000_000_000;

/// A family that gives no response for this time, in nanoseconds, is given up; before the load,
/// this applies to an endpoint on which no connection is established. By then a connect has been
/// retried three times (RFC 6298, 2.1 and 5.5).
const LONGEST_WITHOUT_RESPONSE_NS: u64 = 10_000_000_000;

/// The counts of all workers together.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The counts over the whole measurement.
    pub tally: Tally,
    /// The counts of each second.
    pub intervals: Vec<Interval>,
    /// The counts of each tenth of a second. Empty unless they were asked for
    /// ([`PreparedLoad::in_tenths`]) and the load was shorter than 10 s, and if it is several
    /// loads.
    pub tenths: Vec<Tenth>,
    /// The largest share of a second (0 to 1) in which a worker was not waiting for the kernel.
    pub busiest: f64,
    /// Nanoseconds from the beginning of the measurement to the end of the last exchange. The
    /// measurement begins when the warm-up is over; that of a number of requests in a closed loop
    /// begins when the first of them starts.
    pub elapsed_ns: u64,
    /// Nanoseconds from the end of the warm-up to the beginning of the measurement. `None` if it
    /// awaited the first request, and none started; for several consecutive loads.
    pub put_off_ns: Option<u64>,
    /// How much later than planned the last worker began, in nanoseconds.
    pub begun_late_ns: u64,
    /// Why it ended.
    pub ended: Ended,
    /// The name of the kernel interface.
    pub driver: &'static str,
    /// Missing, inverted and stepped timestamps, which make times doubtful.
    pub clocks: Clocks,
    /// Stalls and other lapses of the workers that distort times.
    pub lapses: Lapses,
    /// The processor time that this process used during the load, and its memory.
    pub usage: Usage,
    /// Every connection and exchange. Empty unless they were asked for.
    pub client_records: ClientRecords,
}

/// Executes a prepared load. `stop` ends it early. `watch` is called with each worker's counts
/// whenever a second ends.
///
/// # Errors
/// A worker can't be started.
pub fn run_load(
    prepared: PreparedLoad,
    stop: &Arc<AtomicBool>,
    watch: impl FnMut(&Slice),
) -> io::Result<Loaded> {
    let share = LoadShare::all(prepared.plan());
    let mut loaded = run_share(prepared, share, stop, watch)?;
    classify_in_flight(&mut loaded);
    Ok(loaded)
}

/// Executes a share of a prepared load. The exchanges in flight at its end are not classified yet,
/// for which the counts of all shares are needed: [`at_the_same_time`] does both.
///
/// # Errors
/// A worker can't be started.
pub fn run_share(
    prepared: PreparedLoad,
    share: LoadShare,
    stop: &Arc<AtomicBool>,
    mut watch: impl FnMut(&Slice),
) -> io::Result<Loaded> {
    let before = usage();
    let prepared = Arc::new(prepared.of_share(&share));
    let plan = &prepared.plan;
    let (sender, receiver) = channel();
    let (mut seconds, mut busiest) = (SliceCollector::of(share.workers.clone()), 0.0);
    let workers = threads::start_workers(share, &prepared, stop, sender)?;
    // Ends when every worker has dropped its sender.
    for slice in receiver {
        watch(&slice);
        if slice.opened.is_some() {
            continue;
        }
        busiest = f64::max(busiest, busy(plan, &slice));
        seconds.add(&slice);
    }
    let reports = join_workers(workers)?;
    let tenths = seconds.take_tenths();
    Ok(Loaded { tenths, ..merge(reports, seconds.end(), busiest, before) })
}

/// Returns the share of a second in which a worker was busy. It is 0 if the slice is too short, or
/// nothing was sent in an open loop: nothing could be late then.
fn busy(plan: &Plan, slice: &Slice) -> f64 {
    let idle = || slice.families.iter().all(|(_, family)| family.sent == 0);
    let silent = slice.length_ns < SHORT_NS || (plan.load.pace.open().is_some() && idle());
    if silent { 0.0 } else { slice.busy_ns as f64 / slice.length_ns as f64 }
}

fn join_workers(workers: Vec<threads::Handle>) -> io::Result<Vec<Report>> {
    let died = |_| io::Error::other("a worker thread died; this is a defect of sixmark");
    workers.into_iter().map(|worker| worker.join().map_err(died)).collect()
}

fn merge(
    mut reports: Vec<Report>,
    intervals: Vec<Interval>,
    busiest: f64,
    before: Usage,
) -> Loaded {
    let mut tally = Tally::default();
    let (mut clocks, mut client_records, mut lapses) = <(Clocks, ClientRecords, Lapses)>::default();
    for report in &mut reports {
        tally += &report.tally;
        clocks += &report.clocks;
        lapses.add_worker(&report.lapses);
        client_records.add(std::mem::take(&mut report.client_records));
    }
    let (put_off_ns, elapsed_ns) =
        joined_time(reports.iter().map(|report| (report.put_off_ns, report.elapsed_ns)));
    Loaded {
        tally,
        intervals,
        tenths: Vec::new(),
        busiest,
        elapsed_ns,
        put_off_ns,
        begun_late_ns: reports.iter().map(|report| report.begun_late_ns).max().unwrap_or(0),
        ended: worst(reports.iter().map(|report| report.ended)),
        driver: reports.first().map_or("none", |report| report.driver),
        clocks,
        lapses,
        usage: usage().since(before),
        client_records,
    }
}

/// Classifies the exchanges that were in flight at the end, for which the counts of all workers are
/// needed, and counts what failed in the warm-up if nothing else is known. They count for the last
/// second, and the last tenth.
pub(crate) fn classify_in_flight(loaded: &mut Loaded) {
    for family in Family::BOTH {
        let sent = loaded.tally[family].sent;
        let unanswered = loaded.tally[family].classify_in_flight();
        let unanswered = unanswered + loaded.tally[family].count_failed_warm_up();
        let more = loaded.tally[family].sent - sent;
        if let Some(last) = loaded.intervals.last_mut() {
            last.families[family].ended += unanswered;
            last.families[family].failed += unanswered;
            last.families[family].sent += more;
        }
        if let Some(last) = loaded.tenths.last_mut() {
            last.families[family].ended += unanswered;
            last.families[family].failed += unanswered;
            last.families[family].sent += more;
        }
    }
}

/// Returns the reason why the run ended. An interruption takes precedence; a run is hopeless only
/// if every worker found it so.
pub(crate) fn worst(mut ended: impl Iterator<Item = Ended> + Clone) -> Ended {
    if ended.clone().any(|ended| ended == Ended::Interrupted) {
        return Ended::Interrupted;
    }
    if ended.all(|ended| ended == Ended::Hopeless) { Ended::Hopeless } else { Ended::Complete }
}

#[cfg(test)]
mod tests {
    use sixmark_plan::plan::tls::PlanTls;

    use super::*;
    use sixmark_plan::fixture::secure_plan;

    #[test]
    fn reports_no_busy_share_for_slices_below_half_a_second() {
        let plan = secure_plan(PlanTls::default());
        for (length_ns, busy_part) in [(150_000_000, 0.0), (499_999_999, 0.0), (500_000_000, 1.0)] {
            let slice = Slice { length_ns, busy_ns: length_ns, ..Slice::default() };
            assert_eq!(busy(&plan, &slice), busy_part, "{length_ns}");
        }
    }
}
