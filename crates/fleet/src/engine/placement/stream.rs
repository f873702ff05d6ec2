//! One stream of a tunnel: what of it was received, and how much may be sent.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The bytes of a stream that may be on their way in one direction.
pub(super) const WINDOW: usize = 512 * 1024;

/// One stream. Its socket is absent while its connection is being established.
#[derive(Default)]
pub(super) struct Stream {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    socket: Option<TcpStream>,
    /// The bytes that may be sent.
    credit: usize,
    /// What was received and not yet passed on.
    queue: Vec<u8>,
    /// No more will be received.
    closed: bool,
    /// The tunnel ended.
    ended: bool,
}

impl Stream {
    /// Returns a stream without a socket and with full credit.
    pub(super) fn new() -> Arc<Stream> {
        let stream = Stream::default();
        lock(&stream.state).credit = WINDOW;
        Arc::new(stream)
    }

    /// Keeps another handle of the socket, by which the end of the tunnel ends it.
    pub(super) fn set_socket(&self, socket: Option<&TcpStream>) {
        let mut state = lock(&self.state);
        state.socket = socket.and_then(|socket| socket.try_clone().ok());
        if state.ended
            && let Some(socket) = socket
        {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Queues what was received.
    pub(super) fn take_data(&self, number: u32, bytes: &[u8]) -> Result<(), String> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(format!("bytes of stream {number} after its end"));
        }
        if state.queue.len() + bytes.len() > WINDOW {
            return Err(format!("more bytes of stream {number} than it may"));
        }
        state.queue.extend(bytes);
        self.changed.notify_all();
        Ok(())
    }

    /// Allows more bytes to be sent.
    pub(super) fn take_credit(&self, number: u32, bytes: u32) -> Result<(), String> {
        let mut state = lock(&self.state);
        state.credit = state.credit.saturating_add(bytes as usize);
        if state.credit > WINDOW {
            return Err(format!("too much credit for stream {number}"));
        }
        self.changed.notify_all();
        Ok(())
    }

    /// Waits until bytes may be sent and returns how many; `None` if the tunnel has ended.
    pub(super) fn wait_for_credit(&self) -> Option<usize> {
        let mut state = lock(&self.state);
        while state.credit == 0 && !state.ended {
            state = wait(&self.changed, state);
        }
        (!state.ended).then_some(state.credit)
    }

    /// Waits for the next bytes that were received; `None` after the last ones.
    pub(super) fn next_bytes(&self) -> Option<Vec<u8>> {
        let mut state = lock(&self.state);
        loop {
            if state.ended {
                return None;
            }
            if !state.queue.is_empty() {
                return Some(std::mem::take(&mut state.queue));
            }
            if state.closed {
                return None;
            }
            state = wait(&self.changed, state);
        }
    }

    /// Notes that no more will be received.
    pub(super) fn take_close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// Notes that so many bytes are sent, at most what [`Stream::wait_for_credit`] returned.
    pub(super) fn spend(&self, bytes: usize) {
        lock(&self.state).credit -= bytes;
    }

    /// Ends the stream with its tunnel.
    pub(super) fn end(&self) {
        let mut state = lock(&self.state);
        state.ended = true;
        if let Some(socket) = &state.socket {
            let _ = socket.shutdown(Shutdown::Both);
        }
        drop(state);
        self.changed.notify_all();
    }
}

/// Returns what a mutex protects. A thread that panicked in here left nothing half-done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
