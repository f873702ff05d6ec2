//! Publishes records in the order in which they were written, and again until the transport has
//! them.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::unguessable;

use crate::engine::spool::SpoolFile;
use crate::engine::transport::{AgentSide, PublishedRecord, TransportError};
use crate::messages::ShareState;
use crate::names::{AgentName, LoadName};

/// How long one attempt to publish a record may take, and how long to wait after a refusal.
const PATIENCE: Duration = Duration::from_secs(5);

/// A thread that publishes records.
#[derive(Clone)]
pub(super) struct Publisher {
    queue: Arc<RecordQueue>,
    /// The first part of the identities of records. Nobody else knows it, so that nobody can have a
    /// record taken for one that is kept already.
    secret: Arc<str>,
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct RecordQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<WaitingRecord>,
    /// For each load, whether all records that there will be are in the queue or published.
    complete: BTreeMap<LoadName, bool>,
    /// The load of the record that is being published.
    current: Option<LoadName>,
    /// Why the last attempt to publish failed. `None` if it did not.
    refused: Option<String>,
    closed: bool,
}

struct WaitingRecord {
    load: LoadName,
    id: String,
    content: Vec<u8>,
}

impl Publisher {
    /// Starts the thread. It ends when the last clone of this is dropped.
    pub(super) fn start(
        agent: AgentName,
        side: Arc<dyn AgentSide>,
    ) -> Result<Publisher, CommandError> {
        let queue = Arc::new(RecordQueue::default());
        let of_thread = Arc::clone(&queue);
        let publish = move || {
            while let Some(record) = of_thread.take() {
                of_thread.publish(&agent, side.as_ref(), record);
            }
        };
        let thread = std::thread::Builder::new().name("publisher".into()).spawn(publish);
        let cannot = |error| CommandError::Measure(format!("can't start a thread: {error}"));
        thread.map_err(cannot)?;
        let secret = format!("{}{}", unguessable(), unguessable()).into();
        Ok(Publisher { queue, secret })
    }

    /// Adds a record of a share that is still under way.
    pub(super) fn add(&self, load: &LoadName, id: &str, content: Vec<u8>) {
        let id = format!("{}/{id}", self.secret);
        let mut state = self.queue.lock();
        state.complete.entry(load.clone()).or_insert(false);
        state.waiting.push_back(WaitingRecord { load: load.clone(), id, content });
        self.queue.changed.notify_all();
    }

    /// Records that no more records of a share will come.
    pub(super) fn complete(&self, load: &LoadName) {
        self.queue.lock().complete.insert(load.clone(), true);
    }

    /// Publishes the records that an agent before this one left.
    pub(super) fn recover(&self, file: SpoolFile) {
        let load = file.load.clone();
        self.publish_again(file, 0);
        self.complete(&load);
    }

    /// Publishes the records of a file again, from this number on.
    pub(super) fn publish_again(&self, file: SpoolFile, from: u64) {
        // A file that can't be read has no records to publish.
        for (number, content) in file.records_from(from).unwrap_or_default() {
            self.add(&file.load, &id_of(&file.load, file.incarnation, number), content);
        }
    }

    /// Removes what waits of a load.
    pub(super) fn forget(&self, load: &LoadName) {
        let mut state = self.queue.lock();
        state.waiting.retain(|record| record.load != *load);
        state.complete.remove(load);
        self.queue.changed.notify_all();
    }

    /// Returns how far the publication of a load is.
    pub(super) fn state(&self, load: &LoadName) -> ShareState {
        let state = self.queue.lock();
        let waits = state.current.as_ref() == Some(load)
            || state.waiting.iter().any(|record| record.load == *load);
        match state.complete.get(load) {
            None => ShareState::Unknown,
            Some(true) if !waits => ShareState::Published,
            Some(_) => ShareState::Publishing { refused: state.refused.clone() },
        }
    }

    /// Returns true if nothing waits to be published.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.queue.lock();
        state.waiting.is_empty() && state.current.is_none()
    }

    /// Ends the thread once it has published the record that it is publishing.
    pub(super) fn close(&self) {
        self.queue.lock().closed = true;
        self.queue.changed.notify_all();
    }
}

/// Returns the identity of a record among those of its agent.
pub(super) fn id_of(load: &LoadName, incarnation: u64, number: u64) -> String {
    format!("{load}/{incarnation}/{number}")
}

impl RecordQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next record. Returns `None` when the queue was closed.
    fn take(&self) -> Option<WaitingRecord> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(record) = state.waiting.pop_front() {
                state.current = Some(record.load.clone());
                return Some(record);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Publishes a record, however long that takes, unless its load is forgotten meanwhile.
    fn publish(&self, agent: &AgentName, side: &dyn AgentSide, record: WaitingRecord) {
        let WaitingRecord { load, id, content } = record;
        let published = PublishedRecord { load: load.clone(), agent: agent.clone(), id, content };
        while side.is_open() {
            let done = side.publish(&published, PATIENCE);
            let mut state = self.lock();
            state.refused = done.as_ref().err().map(ToString::to_string);
            match done {
                Ok(()) => break,
                Err(TransportError::Silent(_)) => {}
                Err(TransportError::Refused(_)) => {
                    let waited = self.changed.wait_timeout(state, PATIENCE);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
            if state.closed || !state.complete.contains_key(&load) {
                break;
            }
        }
        self.lock().current = None;
    }
}
