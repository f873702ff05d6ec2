//! A link between two hosts of a lab, as a thread that carries frames from one TAP device to another:
//! delay, jitter, loss, reordering and rates where the kernel has no netem.

mod forwarder;
mod nap;

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use sixmark_emulator::Line;
use sixmark_model::impairment::Impairment;
use sixmark_model::link_report::{
    LinkDirection, LinkReport, ReportedMechanism, Scheduling, WayReport,
};
use sixmark_model::timing::Timing;
use sixmark_sys::port::Port;

use forwarder::Forwarder;

/// A link that carries frames. It ends when dropped, and its devices with it.
#[derive(Debug)]
pub struct Emulator {
    name: String,
    seed: u64,
    orders: Arc<Orders>,
    /// A byte into it wakes the thread.
    waker: UnixStream,
    /// Held by one caller at a time, never by the thread.
    snapshots: Mutex<Receiver<Snapshot>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is to do beside its work: it looks once a turn, which is a load and no lock.
#[derive(Debug, Default)]
struct Orders {
    stop: AtomicBool,
    /// How many snapshots were ever asked for.
    asked: AtomicU64,
}

/// What the thread knows of its work.
#[derive(Debug)]
struct Snapshot {
    counts: [LinkDirection; 2],
    lateness: [Timing; 2],
    scheduling: Scheduling,
    ended: Option<String>,
}

/// Chance goes its own way in each direction.
const OTHER_DIRECTION: u64 = 0x6446;

impl Emulator {
    /// Begins to carry frames between two devices, each of which is in the namespace where it was made.
    /// A device that is still down takes none: what is carried to it is counted as refused.
    ///
    /// # Errors
    /// The kernel has no thread or descriptor to spare.
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

    /// What it did so far. The thread copies its figures meanwhile, and frames that fall due then are
    /// late by some tens of microseconds: not to be asked all the time.
    ///
    /// # Errors
    /// The thread has ended, which only an error of sixmark's own makes it do.
    pub fn report(&self) -> io::Result<LinkReport> {
        let Snapshot { counts, lateness, scheduling, ended } = self.snapshot()?;
        let way = |at: usize| WayReport {
            mechanism: Some(ReportedMechanism::Emulator),
            frames: Some(counts[at]),
            lateness_us: Some(lateness[at].summary()),
            // Its devices' namespaces know.
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
        // Where there is no room for another byte, the thread has enough of them to wake up.
        let _ = (&self.waker).write(&[0]);
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.orders.stop.store(true, Ordering::Release);
        self.wake();
        // A panic of its own was told on standard error.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
