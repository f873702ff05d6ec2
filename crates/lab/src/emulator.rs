//! The link emulator: a thread that carries frames between the TAP devices of two hosts. It
//! provides delay, jitter, loss, reordering and rates where the kernel has no netem.

mod forwarder;
mod timer_slack;

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::emulation::Line;
use crate::impairment::Impairment;
use crate::link_report::{LinkDirection, LinkReport, ReportedMechanism, Scheduling, WayReport};
use sixmark_document::timing::Timing;
use sixmark_sys::port::Port;

use forwarder::Forwarder;

/// A link that carries frames. The thread ends and its devices are removed when it is dropped.
#[derive(Debug)]
pub struct Emulator {
    name: String,
    seed: u64,
    orders: Arc<Orders>,
    /// A byte written to it wakes the thread.
    waker: UnixStream,
    /// Locked by one caller at a time, never by the thread.
    snapshots: Mutex<Receiver<Snapshot>>,
    thread: Option<JoinHandle<()>>,
}

/// Requests to the thread. It checks them once per iteration, which costs one load and no lock.
#[derive(Debug, Default)]
struct Orders {
    stop: AtomicBool,
    /// The total number of snapshots requested.
    asked: AtomicU64,
}

/// The statistics of the thread.
#[derive(Debug)]
struct Snapshot {
    counts: [LinkDirection; 2],
    lateness: [Timing; 2],
    scheduling: Scheduling,
    ended: Option<String>,
}

/// Changes the seed for the second direction, so that both directions are random independently.
const OTHER_DIRECTION: u64 = 0x6446;

impl Emulator {
    /// Starts to carry frames between two devices. Each device stays in the namespace where it was
    /// created. A device that is still down accepts no frames; frames to it are counted as refused.
    ///
    /// # Errors
    /// Fails if the kernel cannot provide a thread or a descriptor.
    pub fn start(
        name: &str,
        a: impl Into<Port>,
        b: impl Into<Port>,
        a_to_b: &Impairment,
        b_to_a: &Impairment,
        seed: u64,
    ) -> io::Result<Emulator> {
        let (waker, woken) = UnixStream::pair()?;
        for end in [&waker, &woken] {
            end.set_nonblocking(true)?;
        }
        let (sender, snapshots) = mpsc::channel();
        let orders = Arc::new(Orders::default());
        let forwarder = Forwarder {
            timed: !a_to_b.is_nothing() || !b_to_a.is_nothing(),
            lines: [Line::new(a_to_b, seed), Line::new(b_to_a, seed ^ OTHER_DIRECTION)],
            ends: [a.into(), b.into()],
            orders: Arc::clone(&orders),
            woken,
            sender,
        };
        let thread = std::thread::Builder::new()
            .name(format!("link {name}"))
            .spawn(move || forwarder.run())?;
        let snapshots = Mutex::new(snapshots);
        let name = name.to_owned();
        Ok(Emulator { name, seed, orders, waker, snapshots, thread: Some(thread) })
    }

    /// Returns the statistics so far. Do not call this often: while the thread copies its
    /// statistics, frames that fall due are late by some tens of microseconds.
    ///
    /// # Errors
    /// Fails if the thread has ended, which only a bug in sixmark can cause.
    pub fn report(&self) -> io::Result<LinkReport> {
        let Snapshot { counts, lateness, scheduling, ended } = self.snapshot()?;
        let way = |at: usize| WayReport {
            mechanism: Some(ReportedMechanism::Emulator),
            frames: Some(counts[at]),
            lateness_us: Some(lateness[at].summary()),
            // Filled in by the caller, from the namespaces of the devices.
            unread: None,
        };
        Ok(LinkReport {
            name: self.name.clone(),
            scheduling: Some(scheduling),
            seed: Some(self.seed),
            a_to_b: way(0),
            b_to_a: way(1),
            ended,
        })
    }

    fn snapshot(&self) -> io::Result<Snapshot> {
        let lost = || io::Error::other(format!("the thread of link {} has ended", self.name));
        let snapshots = self.snapshots.lock().map_err(|_| lost())?;
        self.orders.asked.fetch_add(1, Ordering::Release);
        self.wake();
        snapshots.recv().map_err(|_| lost())
    }

    fn wake(&self) {
        // If there is no room for another byte, enough bytes are queued to wake the thread.
        let _ = (&self.waker).write(&[0]);
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.orders.stop.store(true, Ordering::Release);
        self.wake();
        // A panic of the thread has been reported on standard error.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
