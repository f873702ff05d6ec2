//! The lease of a fleet: only one controller can have it, and its agents end a load when it is no
//! longer renewed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sixmark_sys::command_error::CommandError;

use super::LEASE;
use crate::engine::transport::{ControllerSide, TransportError};
use crate::messages::AskedOfAll;

/// How often the lease is renewed.
const RENEWAL: Duration = Duration::from_secs(3);

/// Renews the lease until it is dropped, and then gives it up.
#[derive(Debug)]
pub(super) struct LeaseKeeper {
    side: Arc<dyn ControllerSide>,
    holder: String,
    lost: Arc<AtomicBool>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
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
        let (holder, end, thread) = (holder.to_owned(), Some(end), Some(thread));
        Ok(LeaseKeeper { side, holder, lost, end, thread })
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
    }
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
