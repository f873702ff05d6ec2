//! The sending thread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::Outgoing;
use crate::traffic_result::Sent;
use sixmark_sys::clock;
use sixmark_sys::flows::{Watched, wait_for_flows};

use super::line::{FlowLine, Waits};
use super::{Counters, SEND_WINDOW_NS};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::threads::no_thread;

/// The interval at which a waiting thread checks whether to stop, nanoseconds.
const GLANCE_NS: u64 = 20_000_000;

/// Flows that are ready to send but have not sent anything.
pub struct ReadyFlows {
    lines: Vec<FlowLine>,
}

/// Flows that a separate thread is sending.
#[derive(Debug)]
pub struct TrafficSender {
    stop: Arc<AtomicBool>,
    counters: Arc<Counters>,
    thread: Option<JoinHandle<Vec<Sent>>>,
}

impl ReadyFlows {
    /// Opens the sockets of `flows` in the network namespace of the calling thread, and waits at
    /// most `patience` until the streams that begin at once are connected. Random gaps come from
    /// `seed`.
    ///
    /// # Errors
    /// Returns a one-line error if a socket can't be created or a stream can't be connected.
    pub fn new(
        flows: Vec<Outgoing>,
        seed: u64,
        patience: Duration,
    ) -> Result<ReadyFlows, CommandError> {
        let mut ready = ReadyFlows::unconnected(flows, seed);
        for line in &mut ready.lines {
            line.open().map_err(|error| flow_error(line, &error))?;
        }
        ready.connect(clock::now() + patience.as_nanos() as u64)?;
        Ok(ready)
    }

    /// Prepares flows whose sockets are created when they begin, in the namespace of the thread
    /// that starts them. A stream whose port is not open yet is retried until its flow ends, as
    /// scripts on several hosts require.
    pub fn unconnected(flows: Vec<Outgoing>, seed: u64) -> ReadyFlows {
        ReadyFlows { lines: flows.into_iter().map(|flow| FlowLine::new(flow, seed)).collect() }
    }

    /// Starts sending.
    ///
    /// # Errors
    /// Returns an error if the thread can't be started.
    pub fn go(self) -> Result<TrafficSender, CommandError> {
        let (stop, counters) = (Arc::<AtomicBool>::default(), Arc::<Counters>::default());
        let (seen, told) = (Arc::clone(&stop), Arc::clone(&counters));
        let thread = std::thread::Builder::new().name("traffic-out".into());
        let thread = thread
            .spawn(move || SenderLoop::new(self.lines).run(&seen, &told))
            .map_err(|error| CommandError::Measure(no_thread(&error).to_string()))?;
        Ok(TrafficSender { stop, counters, thread: Some(thread) })
    }

    fn connect(&mut self, until: u64) -> Result<(), CommandError> {
        loop {
            let mut waiting = Vec::new();
            let mut first = None;
            for line in &mut self.lines {
                if !line.connected().map_err(|error| flow_error(line, &error))? {
                    waiting.extend(line.room());
                    first.get_or_insert_with(|| line.describe());
                }
            }
            let Some(first) = first else { return Ok(()) };
            let left = until.saturating_sub(clock::now());
            if left == 0 {
                return Err(CommandError::Measure(format!("{first}: not connected in time")));
            }
            let waited = wait_for_flows(&mut waiting, left.min(GLANCE_NS));
            waited.map_err(|error| {
                CommandError::Measure(format!("can't wait for sockets: {error}"))
            })?;
        }
    }
}

fn flow_error(line: &FlowLine, error: &std::io::Error) -> CommandError {
    CommandError::Measure(format!("{}: {error}", line.describe()))
}

impl TrafficSender {
    /// Returns the counters of what was sent so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Reports whether all flows have sent their last message.
    pub fn over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops sending. Returns what was sent of each flow, in the order in which the flows were
    /// given.
    pub fn stop(mut self) -> Vec<Sent> {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<Vec<Sent>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

/// Ends the thread, so that it does not outlive a caller that fails.
impl Drop for TrafficSender {
    fn drop(&mut self) {
        self.end();
    }
}

/// The state of the thread.
struct SenderLoop {
    lines: Vec<FlowLine>,
    /// The flows to serve, by the time at which they are due.
    dues: BinaryHeap<Reverse<(u64, usize)>>,
    /// Flows whose sockets have no room in their send buffers.
    blocked: Vec<usize>,
    watched: Vec<Watched>,
}

impl SenderLoop {
    fn new(lines: Vec<FlowLine>) -> SenderLoop {
        SenderLoop { lines, dues: BinaryHeap::new(), blocked: Vec::new(), watched: Vec::new() }
    }

    fn run(mut self, stop: &AtomicBool, counters: &Counters) -> Vec<Sent> {
        clock::wake_precisely();
        let begin = clock::now();
        for at in 0..self.lines.len() {
            let waits = self.lines[at].begin(begin);
            self.put(at, waits);
        }
        let mut told = begin;
        while !stop.load(Ordering::Relaxed) && self.has_more() {
            let now = clock::now();
            self.serve(now);
            if now - told > GLANCE_NS {
                told = now;
                self.publish_counters(counters);
            }
            self.wait();
        }
        let end = clock::now();
        // Sends what has become due since the last round.
        self.serve(end);
        self.publish_counters(counters);
        self.lines.into_iter().map(|line| line.finish(end)).collect()
    }

    fn has_more(&self) -> bool {
        !self.dues.is_empty() || !self.blocked.is_empty()
    }

    fn serve(&mut self, now: u64) {
        while let Some(&Reverse((due, at))) = self.dues.peek()
            && due <= now
        {
            self.dues.pop();
            let waits = self.lines[at].serve(now);
            self.put(at, waits);
        }
    }

    fn put(&mut self, at: usize, waits: Waits) {
        match waits {
            Waits::Until(due) => self.dues.push(Reverse((due, at))),
            Waits::Room => self.blocked.push(at),
            Waits::Over => {}
        }
    }

    /// Waits until the next flow is due or a socket has room.
    fn wait(&mut self) {
        let now = clock::now();
        let due = self.dues.peek().map_or(u64::MAX, |&Reverse((due, _))| due);
        let ns = due.saturating_sub(now).clamp(SEND_WINDOW_NS, GLANCE_NS);
        self.watched.clear();
        let lines = &self.lines;
        self.watched.extend(self.blocked.iter().filter_map(|&at| lines[at].room()));
        if wait_for_flows(&mut self.watched, ns).is_err() {
            // Without polling the thread is only late.
            std::thread::sleep(Duration::from_nanos(ns));
        }
        self.unblock();
    }

    fn unblock(&mut self) {
        if self.watched.iter().all(|one| !one.ready()) {
            return;
        }
        let now = clock::now();
        let blocked = std::mem::take(&mut self.blocked);
        for (at, one) in blocked.into_iter().zip(std::mem::take(&mut self.watched)) {
            if one.ready() {
                self.lines[at].unblock(now);
                let waits = self.lines[at].serve(now);
                self.put(at, waits);
            } else {
                self.blocked.push(at);
            }
        }
    }

    fn publish_counters(&self, counters: &Counters) {
        let sums = self.lines.iter().map(FlowLine::sent).fold((0, 0, 0), |(m, b, f), sent| {
            (m + sent.sent, b + sent.sent_bytes, f + u64::from(sent.sent > 0))
        });
        counters.set(sums.0, sums.1, sums.2);
    }
}
