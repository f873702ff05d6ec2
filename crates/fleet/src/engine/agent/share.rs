//! The share of a load that an agent carries out, in a thread of its own.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sixmark_document::provenance::{Ended, Warning};
use sixmark_load::{LoadShare, Loaded, run_share};
use sixmark_plan::plan::Plan;
use sixmark_result::truth::Truth;
use sixmark_result::work::work_of_run;
use sixmark_run::Runnable;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::heap::return_freed_memory;
use sixmark_tally::counted::families_of;
use sixmark_tally::tally::Slice;
use sixmark_vitals::cost::Work;
use sixmark_vitals::engine::{Meter, Metered, VitalsFrom};
use sixmark_vitals::section::{MachineRole, Vitals};
use sixmark_watch::truth::TruthCapture;

use crate::allow::{AllowedTargets, first_refused};
use crate::engine::spool::{SpoolFile, SpoolWriter};
use crate::messages::{LoadWork, ShareOrder, ShareState};
use crate::names::{AgentName, LoadName};
use crate::records::{AgentRecord, EndRecord, RecordContent};
use crate::second_collector::SecondCollector;

use super::AgentSettings;
use super::publisher::{Publisher, id_of};
use super::wire_files::WireFiles;

/// The least time between the order to begin and the beginning, in nanoseconds. With less, the
/// workers might begin late.
pub(super) const LEAST_NOTICE_NS: u64 = 5_000_000;

/// A share under way, or done.
pub(super) struct Share {
    load: LoadName,
    controller: String,
    lease: Duration,
    stop: Arc<AtomicBool>,
    /// Why the agent ended it early, if it did.
    cut_short: Arc<OnceLock<String>>,
    began: Instant,
    begin: Mutex<Option<Sender<u64>>>,
    ready: Mutex<Receiver<()>>,
    state: Arc<Mutex<ShareState>>,
    metered: Arc<Mutex<Option<Metered>>>,
    thread: JoinHandle<()>,
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share").field("load", &self.load).finish_non_exhaustive()
    }
}

impl Share {
    /// Starts the workers of a share, which wait for the time to begin.
    pub(super) fn start(
        settings: &AgentSettings,
        order: ShareOrder,
        runnable: Runnable,
        files: WireFiles,
        (file, writer): (SpoolFile, SpoolWriter),
        publisher: &Publisher,
    ) -> Result<Share, String> {
        let (begin, begin_at) = channel();
        let (ready, is_ready) = channel();
        let (stop, state) = (Arc::default(), Arc::new(Mutex::new(ShareState::Preparing)));
        let share = LoadShare {
            workers: order.workers.clone(),
            agents: order.agents,
            begin: Some(begin_at),
            ready: Some(ready),
            whole: true,
        };
        let writing = ShareWriter {
            load: order.load.clone(),
            agent: settings.name.clone(),
            incarnation: file.incarnation,
            number: 0,
            writer,
            publisher: publisher.clone(),
            failed: None,
        };
        let (load, controller) = (order.load.clone(), order.controller.clone());
        let lease = Duration::from_secs(order.lease_s);
        let (to_stop, to_state) = (Arc::clone(&stop), Arc::clone(&state));
        let metered: Arc<Mutex<Option<Metered>>> = Arc::default();
        let to_meter = Arc::clone(&metered);
        let cut_short: Arc<OnceLock<String>> = Arc::default();
        let allowed = settings.allowed.clone();
        let ends = ShareEnds { allowed, stop: to_stop, cut_short: Arc::clone(&cut_short) };
        let work = move || {
            let ended = carry_out(&order, runnable, share, writing, &ends, &to_meter);
            drop(files);
            let next = match ended {
                Ok(()) => ShareState::Publishing { refused: None },
                Err(why) => ShareState::Failed(why),
            };
            *to_state.lock().unwrap_or_else(PoisonError::into_inner) = next;
            return_freed_memory();
        };
        let thread = std::thread::Builder::new().name("share".into()).spawn(work);
        let thread = thread.map_err(|error| format!("can't start a thread: {error}"))?;
        let (begin, ready) = (Mutex::new(Some(begin)), Mutex::new(is_ready));
        let began = Instant::now();
        Ok(Share {
            load,
            controller,
            lease,
            stop,
            cut_short,
            began,
            begin,
            ready,
            state,
            metered,
            thread,
        })
    }

    /// Returns the load.
    pub(super) fn load(&self) -> &LoadName {
        &self.load
    }

    /// Returns the controller that ordered it.
    pub(super) fn controller(&self) -> &str {
        &self.controller
    }

    /// Returns how long it goes on without a sign of life of its controller.
    pub(super) fn lease(&self) -> Duration {
        self.lease
    }

    /// Returns true until its last record is written.
    pub(super) fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Returns how far it is.
    pub(super) fn state(&self) -> ShareState {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == ShareState::Preparing {
            let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            if ready.try_recv().is_ok() {
                *state = ShareState::Ready;
            }
        }
        state.clone()
    }

    /// Lets it begin at this time of the monotonic clock. Returns false if it has a time already,
    /// or was ended.
    pub(super) fn begin_at(&self, at: u64) -> bool {
        let begin = self.begin.lock().unwrap_or_else(PoisonError::into_inner).take();
        let told = begin.is_some_and(|begin| begin.send(at).is_ok());
        if told {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*state, ShareState::Preparing | ShareState::Ready) {
                *state = ShareState::Begun;
            }
        }
        told
    }

    /// Returns what the load cost its server, if this agent read the server's vitals. `work` is
    /// that of all agents.
    pub(super) fn server_cost(&self, work: &LoadWork) -> Option<(MachineRole, Vec<Warning>)> {
        let metered = self.metered.lock().unwrap_or_else(PoisonError::into_inner);
        let metered = metered.as_ref()?;
        let from_us = metered.began_us(work.elapsed_s);
        let (vitals, doubts) = metered.section(&Work {
            from_us,
            to_us: from_us.saturating_add((work.elapsed_s * 1e6) as u64),
            requests: work.requests,
            bytes: work.bytes,
            seconds: work.seconds.clone(),
        });
        Some((vitals.server?, doubts))
    }

    /// Ends it early. If it has not begun, it never does.
    pub(super) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.begin.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Returns how long ago it was ordered.
    pub(super) fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// Ends it early for a reason of the agent's own, which its last record states.
    pub(super) fn cut_short(&self, why: &str) {
        if self.is_running() && !self.stop.load(Ordering::Relaxed) {
            // The first reason stays.
            let _ = self.cut_short.set(why.to_owned());
        }
        self.end();
    }

    /// Waits until its last record is written.
    pub(super) fn wait(self) {
        // A thread that panicked has written what it could.
        let _ = self.thread.join();
    }
}

/// What bounds a share: what may end it early, and what it may connect to.
struct ShareEnds {
    allowed: Vec<AllowedTargets>,
    stop: Arc<AtomicBool>,
    cut_short: Arc<OnceLock<String>>,
}

/// Carries out a share and writes its records.
fn carry_out(
    order: &ShareOrder,
    runnable: Runnable,
    share: LoadShare,
    mut writing: ShareWriter,
    ends: &ShareEnds,
    to_meter: &Mutex<Option<Metered>>,
) -> Result<(), String> {
    let plan = runnable.plan().clone();
    let one_line = |error: CommandError| error.to_string();
    let truth_capture =
        if order.truth { Some(TruthCapture::start(&plan).map_err(one_line)?) } else { None };
    let server = order.vitals_from.as_deref();
    let permits = |to| first_refused(&ends.allowed, std::iter::once(to)).is_none();
    let server = server.map(|text| VitalsFrom::find_page(text, permits).map_err(one_line));
    let meter = Meter::start(server.transpose()?.as_ref(), plan.load.warmup).map_err(one_line)?;
    let prepared = runnable.into_prepared();
    let prepared = if truth_capture.is_some() { prepared.telling() } else { prepared };
    let mut collector = SecondCollector::new(order.workers.clone());
    let see = |slice: &Slice| {
        for second in collector.see(slice) {
            writing.write(RecordContent::Second(Box::new(second)));
        }
    };
    let loaded = run_share(prepared, share, &ends.stop, see);
    let metered = meter.map(Meter::end);
    let mut loaded = loaded.map_err(|error| format!("can't start the workers: {error}"))?;
    let vitals = metered.as_ref().map(|metered| own_cost(&plan, &loaded, metered));
    *to_meter.lock().unwrap_or_else(PoisonError::into_inner) = metered;
    let truth = match truth_capture {
        Some(truth_capture) => Some(end_truth_capture(truth_capture, &plan, &mut loaded)?),
        None => None,
    };
    if let Some(last) = collector.end(&loaded.tally) {
        writing.write(RecordContent::Second(Box::new(last)));
    }
    // If the load was over by then, the agent did not cut it short.
    let cut_short = ends.cut_short.get().filter(|_| loaded.ended != Ended::Complete).cloned();
    let spool_failed = writing.failed.clone();
    let end = EndRecord { vitals, cut_short, spool_failed, ..end_record(loaded, truth) };
    writing.write(RecordContent::End(Box::new(end)));
    writing.publisher.complete(&order.load);
    Ok(())
}

/// Returns what the share cost this machine. Warnings about the server come with its cost, which
/// depends on all shares.
fn own_cost(plan: &Plan, loaded: &Loaded, metered: &Metered) -> (Vitals, Vec<Warning>) {
    let elapsed_s = loaded.elapsed_ns as f64 / 1e9;
    let (families, _) = families_of(plan, &loaded.tally, elapsed_s);
    let began_us = metered.began_us(elapsed_s);
    let work = work_of_run(&families, &loaded.intervals, elapsed_s, began_us);
    let (vitals, doubts) = metered.section(&work);
    let doubts = if vitals.server.is_some() { Vec::new() } else { doubts };
    (Vitals { server: None, ..vitals }, doubts)
}

fn end_truth_capture(
    truth_capture: TruthCapture,
    plan: &Plan,
    loaded: &mut Loaded,
) -> Result<Truth, String> {
    let client_records = std::mem::take(&mut loaded.client_records);
    truth_capture.end(plan, client_records).map_err(|error| error.to_string())
}

fn end_record(loaded: Loaded, truth: Option<Truth>) -> EndRecord {
    EndRecord {
        elapsed_ns: loaded.elapsed_ns,
        put_off_ns: loaded.put_off_ns,
        late_ns: loaded.begun_late_ns,
        ended: loaded.ended,
        driver: loaded.driver.to_owned(),
        clocks: loaded.clocks,
        lapses: loaded.lapses,
        busiest: loaded.busiest,
        cpu_user_s: loaded.usage.user_s,
        cpu_sys_s: loaded.usage.system_s,
        peak_rss_bytes: loaded.usage.peak_rss_bytes,
        cut_short: None,
        spool_failed: None,
        truth,
        vitals: None,
        tally: loaded.tally,
    }
}

/// Writes the records of a share to the disk, and has them published.
struct ShareWriter {
    load: LoadName,
    agent: AgentName,
    incarnation: u64,
    number: u64,
    writer: SpoolWriter,
    publisher: Publisher,
    /// Why a record could not be kept on the disk.
    failed: Option<String>,
}

impl ShareWriter {
    fn write(&mut self, content: RecordContent) {
        let (load, agent) = (self.load.clone(), self.agent.clone());
        let record = AgentRecord {
            load,
            agent,
            incarnation: self.incarnation,
            number: self.number,
            content,
        };
        let bytes = match serde_json::to_vec(&record) {
            Ok(bytes) => bytes,
            Err(error) => return self.fail(format!("a record can't be written: {error}")),
        };
        if let Err(error) = self.writer.write(&bytes) {
            // It is published all the same: a full disk here need not lose what was counted.
            self.fail(error.to_string());
        }
        let id = id_of(&self.load, self.incarnation, self.number);
        self.publisher.add(&self.load, &id, bytes);
        self.number += 1;
    }

    fn fail(&mut self, why: String) {
        self.failed.get_or_insert(why);
    }
}
