//! The lease of a fleet: only one controller can have it, and its agents end a load when it is no
//! longer renewed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::ending::LastWords;

use super::LEASE;
use crate::engine::transport::{ControllerSide, TransportError};
use crate::messages::AskedOfAll;

/// How often the lease is renewed.
const RENEWAL: Duration = Duration::from_secs(3);

/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long giving up the lease may delay the end of this process.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Renews the lease until it is dropped, and then gives it up.
#[derive(Debug)]
pub(super) struct LeaseKeeper {
    side: Arc<dyn ControllerSide>,
    holder: String,
    lost: Arc<AtomicBool>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Set when the lease is given up.
    over: Arc<AtomicBool>,
}

impl LeaseKeeper {
    /// Takes the lease.
    pub(super) fn take(
        side: Arc<dyn ControllerSide>,
        holder: &str,
    ) -> Result<LeaseKeeper, CommandError> {
        let taken = side.take_lease(holder, LEASE).map_err(cannot)?;
        if let Err(other) = taken {
            let other = other.escape_debug();
            return Err(CommandError::Measure(format!(
                "another controller has the fleet: {other}; wait until it is done, or end it with \
                 `sixmark fleet abort`"
            )));
        }
        let (end, ended) = channel::<()>();
        let lost = Arc::new(AtomicBool::new(false));
        let (of_thread, name, to_lose) = (Arc::clone(&side), holder.to_owned(), Arc::clone(&lost));
        let renew = move || {
            while ended.recv_timeout(RENEWAL) == Err(RecvTimeoutError::Timeout) {
                renew(of_thread.as_ref(), &name, &to_lose);
            }
        };
        let thread = std::thread::Builder::new().name("lease".into()).spawn(renew);
        let thread = thread
            .map_err(|error| CommandError::Measure(format!("can't start a thread: {error}")))?;
        let over = give_up_before_death(Arc::clone(&side), holder.to_owned())?;
        let (holder, end, thread) = (holder.to_owned(), Some(end), Some(thread));
        Ok(LeaseKeeper { side, holder, lost, end, thread, over })
    }

    /// Tells the agents now that this controller is alive.
    pub(super) fn tell(&self) {
        announce(self.side.as_ref(), &self.holder);
    }

    /// Returns true if another controller has the fleet now.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for LeaseKeeper {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked renews nothing any more.
            let _ = thread.join();
        }
        if !self.is_lost() {
            // It ends by itself soon.
            let _ = self.side.give_up_lease(&self.holder);
        }
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Has the lease given up before a second signal ends this process: the next controller need not wait
/// until it has expired. Returns what is to be set when it has been given up otherwise.
fn give_up_before_death(
    side: Arc<dyn ControllerSide>,
    holder: String,
) -> Result<Arc<AtomicBool>, CommandError> {
    let over: Arc<AtomicBool> = Arc::default();
    let to_end = Arc::clone(&over);
    let words = LastWords::hold();
    let wait = move || {
        while !to_end.load(Ordering::Relaxed) && !words.are_due() {
            std::thread::sleep(LOOK);
        }
        if words.are_due() && !to_end.load(Ordering::Relaxed) {
            let (done, is_done) = channel();
            let give_up = move || {
                // A server that can't be reached removes it by itself.
                let _ = side.give_up_lease(&holder);
                let _ = done.send(());
            };
            if std::thread::Builder::new().spawn(give_up).is_ok() {
                let _ = is_done.recv_timeout(LAST_WORDS);
            }
        }
    };
    let thread = std::thread::Builder::new().name("last words".into()).spawn(wait);
    let cannot = |error| CommandError::Measure(format!("can't start a thread: {error}"));
    thread.map(|_| over).map_err(cannot)
}

fn renew(side: &dyn ControllerSide, holder: &str, lost: &AtomicBool) {
    // A server that can't be reached for now may still renew it next time.
    if let Ok(Err(_)) = side.take_lease(holder, LEASE) {
        lost.store(true, Ordering::Relaxed);
    }
    announce(side, holder);
}

fn announce(side: &dyn ControllerSide, holder: &str) {
    let alive = AskedOfAll::Alive { controller: holder.to_owned() };
    if let Ok(message) = serde_json::to_vec(&alive) {
        // The next one may arrive.
        let _ = side.announce(&message);
    }
}

fn cannot(error: TransportError) -> CommandError {
    CommandError::Measure(error.to_string())
}
