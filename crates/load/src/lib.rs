//! The load generator: it runs the connections of a plan and returns tallies.
//!
//! Each worker is a thread with its own connections, schedule and tally. During the load, workers
//! share only a flag that stops them and the information whether any address was ever reached.
//!
//! This crate resolves no names, reads no options and judges no results; plans and tallies are
//! types of `sixmark-record`, and sockets belong to `sixmark-sys`.
//!
//! Begin with [`run_load`], which starts the workers and merges what they count. [`PreparedLoad`]
//! contains what all of them read, and [`Worker`] is the loop of one thread.

mod builder;
mod connection;
mod errno;
mod exchange;
mod joined;
mod network;
mod notes;
mod prepare;
mod protocol;
mod quic;
mod reachability;
mod recorder;
mod scheduler;
mod send_buffer;
mod slot_list;
mod threads;
pub mod tls;
mod worker;

pub use joined::one_after_the_other;
pub use prepare::PreparedLoad;
pub use worker::{Report, Worker};

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

use sixmark_document::provenance::Ended;
use sixmark_record::clocks::Clocks;
use sixmark_record::interval::Interval;
use sixmark_record::lapses::Lapses;
use sixmark_record::plan::Plan;
use sixmark_record::seconds::SliceGatherer;
use sixmark_record::tally::{Slice, Tally};
use sixmark_record::truth::TruthBook;
use sixmark_sys::usage::{Usage, usage};
use sixmark_units::family::Family;

/// An exchange that starts later after it was due, in nanoseconds, though a permit was free, tells of
/// a generator that can't keep up.
const LATE: u64 = 1_000_000;

/// Shorter slices say nothing about how busy a worker is, in nanoseconds: it begins connections, and
/// what a moment costs is no measure of a load.
const SHORT: u64 = 500_000_000;

/// A worker that comes back so much later than it was to has stood still, in nanoseconds. On a machine
/// with very much to do one may be late by half of that.
const STALL: u64 = 1_000_000_000;

/// A family, or an address before the load, that gives nothing for so long is given up, in nanoseconds:
/// by then a connect has been tried again three times (RFC 6298, 2.1 and 5.5).
const LONGEST_SILENCE: u64 = 10_000_000_000;

/// What all workers together counted.
#[derive(Debug)]
pub struct Loaded {
    /// Over the whole measurement.
    pub tally: Tally,
    /// What all workers together did in each second.
    pub intervals: Vec<Interval>,
    /// The largest part of a second (0 to 1) in which a worker was not waiting for the kernel.
    pub busiest: f64,
    /// Nanoseconds from the end of the warm-up to the end of the last exchange.
    pub elapsed_ns: u64,
    /// Why it ended.
    pub ended: Ended,
    /// How the kernel was spoken to.
    pub driver: &'static str,
    /// What speaks against the times.
    pub clocks: Clocks,
    /// What the workers themselves did to them.
    pub lapses: Lapses,
    /// Processor time that this process used meanwhile, and its memory.
    pub usage: Usage,
    /// Every connection and exchange, where anybody asked.
    pub book: TruthBook,
}

/// Carries out a load that was prepared. `stop` ends it early; `watch` sees each worker's seconds as they
/// end.
///
/// # Errors
/// A worker can't start.
pub fn run_load(
    prepared: PreparedLoad,
    stop: &Arc<AtomicBool>,
    mut watch: impl FnMut(&Slice),
) -> io::Result<Loaded> {
    let before = usage();
    let prepared = Arc::new(prepared);
    let plan = &prepared.plan;
    let (sender, receiver) = channel();
    let workers = threads::start_workers(plan, &prepared, stop, sender)?;
    let (mut seconds, mut busiest) = (SliceGatherer::new(plan.load.threads.get()), 0.0);
    // Until every worker has dropped its sender.
    for slice in receiver {
        watch(&slice);
        if slice.opened.is_some() {
            continue;
        }
        busiest = f64::max(busiest, busy(plan, &slice));
        seconds.add(&slice);
    }
    let reports = join_workers(workers)?;
    let mut loaded = merge(reports, seconds.end(), busiest, before);
    classify_in_flight(&mut loaded);
    Ok(loaded)
}

/// How busy a worker was in a second, where that says something: one that was long enough, and in an
/// open loop one in which anything was sent. Where nothing fell due nothing could be late.
fn busy(plan: &Plan, slice: &Slice) -> f64 {
    let idle = || slice.families.iter().all(|(_, family)| family.sent == 0);
    let silent = slice.length_ns < SHORT || (plan.load.pace.open().is_some() && idle());
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
    let (mut clocks, mut book, mut lapses) = <(Clocks, TruthBook, Lapses)>::default();
    for report in &mut reports {
        tally += &report.tally;
        clocks += &report.clocks;
        lapses.add_worker(&report.lapses);
        book.add(std::mem::take(&mut report.book));
    }
    Loaded {
        tally,
        intervals,
        busiest,
        elapsed_ns: reports.iter().map(|report| report.elapsed_ns).max().unwrap_or(0),
        ended: worst(reports.iter().map(|report| report.ended)),
        driver: reports.first().map_or("none", |report| report.driver),
        clocks,
        lapses,
        usage: usage().since(before),
        book,
    }
}

/// Classifies what was in flight at the end, which takes the counts of all workers. It ended in the
/// last second.
fn classify_in_flight(loaded: &mut Loaded) {
    for family in Family::BOTH {
        let sent = loaded.tally[family].sent;
        let unanswered = loaded.tally[family].classify_in_flight();
        if let Some(last) = loaded.intervals.last_mut() {
            last.families[family].failed += unanswered;
            last.families[family].sent += loaded.tally[family].sent - sent;
        }
    }
}

/// A signal goes before all; a run is hopeless only where every worker found it so.
fn worst(mut ended: impl Iterator<Item = Ended> + Clone) -> Ended {
    if ended.clone().any(|ended| ended == Ended::Interrupted) {
        return Ended::Interrupted;
    }
    if ended.all(|ended| ended == Ended::Hopeless) { Ended::Hopeless } else { Ended::Complete }
}

#[cfg(test)]
mod tests {
    use sixmark_record::plan::tls::PlanTls;

    use super::*;
    use sixmark_record::fixture::secure_plan;

    #[test]
    fn a_moment_says_nothing_of_how_busy_a_worker_is() {
        let plan = secure_plan(PlanTls::default());
        for (length_ns, busy_part) in [(150_000_000, 0.0), (499_999_999, 0.0), (500_000_000, 1.0)] {
            let slice = Slice { length_ns, busy_ns: length_ns, ..Slice::default() };
            assert_eq!(busy(&plan, &slice), busy_part, "{length_ns}");
        }
    }
}
