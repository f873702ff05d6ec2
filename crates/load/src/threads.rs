//! The workers of a run, each on its own thread and with its own driver.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_plan::plan::{self, Plan};
use sixmark_sys::clock;
use sixmark_sys::driver::{Driver, Epoll, PeerWrites, Uring};
use sixmark_tally::tally::Slice;

use super::prepare::PreparedLoad;
use super::share::LoadShare;
use super::worker::{Report, Worker};
use sixmark_sys::threads::no_thread;

/// Time from when all workers are ready until they begin, in nanoseconds. Exchanges that are due at
/// the beginning must not be late because a thread woke up late.
const HEAD_START_NS: u64 = 2_000_000;

pub(super) type Handle = JoinHandle<Report>;

/// Starts the workers with the driver that the plan requires.
pub(super) fn start_workers(
    share: LoadShare,
    prepared: &Arc<PreparedLoad>,
    stop: &Arc<AtomicBool>,
    slices: Sender<Slice>,
) -> io::Result<Vec<Handle>> {
    let plan = &prepared.plan;
    // This precedes the drivers, whose clocks start when they are created: anything before this
    // time is warm-up.
    let begin = clock::now();
    let number = share.number();
    let threads = WorkerThreads { prepared, stop, slices, begin, share };
    match plan.load.driver {
        plan::Driver::Epoll => threads.start_all(epolls(plan, number)?),
        plan::Driver::Uring | plan::Driver::Auto => threads.start_all(urings(plan, number)?),
    }
}

fn epolls(plan: &Plan, number: u32) -> io::Result<Vec<Epoll>> {
    let make = || match plan.load.timestamps {
        Timestamps::Kernel => Epoll::with_kernel_stamps(),
        Timestamps::User => Epoll::new(),
    };
    (0..number).map(|_| make()).collect()
}

fn urings(plan: &Plan, number: u32) -> io::Result<Vec<Uring>> {
    let most = plan.connection.most_open.get().div_ceil(plan.load.threads.get());
    let writes = if plan.http.streams.get() > 1 { PeerWrites::Several } else { PeerWrites::Single };
    (0..number).map(|_| Uring::new(most, writes)).collect()
}

/// What all workers are given.
struct WorkerThreads<'a> {
    prepared: &'a Arc<PreparedLoad>,
    stop: &'a Arc<AtomicBool>,
    slices: Sender<Slice>,
    begin: u64,
    share: LoadShare,
}

/// The place where a worker that is ready waits for the others.
struct StartLine {
    ready: Sender<()>,
    begin: Receiver<u64>,
}

impl WorkerThreads<'_> {
    /// Starts a thread for each driver. They begin together when all are ready.
    fn start_all<D: Driver + Send + 'static>(mut self, drivers: Vec<D>) -> io::Result<Vec<Handle>> {
        let (ready, told) = channel();
        let (mut workers, mut starts) = (Vec::new(), Vec::new());
        for (driver, number) in drivers.into_iter().zip(self.share.workers.clone()) {
            let (start, begin) = channel();
            let line = StartLine { ready: ready.clone(), begin };
            workers.push(self.spawn_worker(driver, number, line).map_err(|error| self.how(error))?);
            starts.push(start);
        }
        drop(ready);
        // This needs a thread of its own, because the caller may want to show the number of open
        // connections meanwhile.
        let line = (self.share.ready.take(), self.share.begin.take());
        let start = move || start_together(&told, &starts, line);
        let thread = std::thread::Builder::new().name("start".into()).spawn(start);
        thread.map_err(|error| self.how(no_thread(&error)))?;
        Ok(workers)
    }

    /// Returns the error, with advice if there are several workers.
    fn how(&self, error: io::Error) -> io::Error {
        match self.share.number() {
            1 => error,
            workers => io::Error::other(format!("{error}; lower -t, which is {workers}")),
        }
    }

    fn spawn_worker<D: Driver + Send + 'static>(
        &self,
        driver: D,
        number: u32,
        line: StartLine,
    ) -> io::Result<Handle> {
        let (prepared, stop) = (Arc::clone(self.prepared), Arc::clone(self.stop));
        // Dropping the sender is how the collector learns that the worker is done.
        let (slices, begin) = (self.slices.clone(), self.begin);
        let work = move || {
            // An open loop sends in time, and a wait that lingers ends in time.
            clock::wake_precisely();
            let mut worker = Worker::new(driver, &prepared, number, begin);
            if prepared.plan.connection.preopen {
                worker.open_first(&stop, |opened| {
                    drop(slices.send(Slice {
                        worker: number,
                        opened: Some(opened),
                        ..Slice::default()
                    }))
                });
            }
            match line.wait() {
                Some(begin) => {
                    worker.begin_at(begin);
                    worker.run(&stop, |slice| drop(slices.send(slice)))
                }
                // Some workers could not be started: there is nothing to do.
                None => worker.run(&AtomicBool::new(true), drop),
            }
        };
        let thread = std::thread::Builder::new().name(format!("worker-{number}")).spawn(work);
        thread.map_err(|error| no_thread(&error))
    }
}

/// Lets all workers begin at the same time, once each is ready or has ended. If there is an `asker`,
/// it is told so; if there is a `wanted`, it delivers the time.
fn start_together(
    ready: &Receiver<()>,
    starts: &[Sender<u64>],
    (asker, wanted): (Option<Sender<()>>, Option<Receiver<u64>>),
) {
    ready.iter().take(starts.len()).for_each(drop);
    // An asker that is gone no longer wants to know.
    asker.map(|asker| asker.send(()));
    let begin = match wanted {
        // The time leaves enough room for all workers to receive it.
        None => clock::now() + HEAD_START_NS,
        Some(wanted) => match wanted.recv() {
            Ok(begin) => begin,
            // Nothing is to begin; the workers see that nobody will give them a time.
            Err(_) => return,
        },
    };
    // An error means that the worker has ended, so it has nothing to begin.
    for start in starts {
        let _ = start.send(begin);
    }
}

impl StartLine {
    /// Returns when to begin. `None` if the load will not begin.
    fn wait(self) -> Option<u64> {
        let _ = self.ready.send(());
        // The receiver ends when all workers have reported or ended.
        drop(self.ready);
        self.begin.recv().ok()
    }
}
