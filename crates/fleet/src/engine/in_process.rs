//! A transport within one process: for tests, and for a fleet of one machine.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use sixmark_sys::threads::no_thread;

use super::transport::{
    AgentSide, ControllerSide, Handler, LONGEST_MESSAGE, PublishedRecord, RecordSource,
    TransportError,
};
use crate::messages::FromAgent;
use crate::names::{AgentName, LoadName};

/// A transport in memory. Clones are the same transport.
#[derive(Clone, Default)]
pub struct InProcess(Arc<Board>);

/// The controller's side of an [`InProcess`].
#[derive(Clone, Debug)]
pub struct InProcessController(InProcess);

/// The side of one agent of an [`InProcess`]. The agent is gone when this value is dropped.
#[derive(Debug)]
pub struct InProcessAgent {
    board: InProcess,
    id: u64,
}

/// What both sides share.
#[derive(Default)]
struct Board {
    content: Mutex<Content>,
    changed: Condvar,
    next_id: AtomicU64,
}

#[derive(Default)]
struct Content {
    agents: Vec<Served>,
    lease: Option<Lease>,
    notes: HashMap<LoadName, Vec<u8>>,
    /// The records of each load with their sequence numbers, in ascending order.
    records: HashMap<LoadName, Vec<(u64, PublishedRecord)>>,
    /// The identities of all records.
    ids: HashSet<String>,
    /// The sequence number of the last record of any load.
    last: u64,
    closed: bool,
}

/// One call of [`AgentSide::serve`].
struct Served {
    id: u64,
    agent: AgentName,
    requests: SyncSender<Request>,
}

/// A message on its way to a handler, and where its answer goes.
struct Request {
    content: Arc<[u8]>,
    answer: Option<Sender<Answer>>,
}

/// What a handler said, or why it can't be sent.
type Answer = (AgentName, Result<Vec<u8>, TransportError>);

struct Lease {
    holder: String,
    length: Duration,
    renewed: Instant,
}

/// The number of messages that can wait for one handler; further ones are lost.
const WAITING: usize = 4096;

impl InProcess {
    /// Creates a transport without agents, records, notes and lease.
    pub fn new() -> InProcess {
        InProcess::default()
    }

    /// Returns a controller's side.
    pub fn controller(&self) -> InProcessController {
        InProcessController(self.clone())
    }

    /// Returns the side of another agent.
    pub fn agent(&self) -> InProcessAgent {
        let id = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        InProcessAgent { board: self.clone(), id }
    }

    /// Closes the transport for good: agents find that it is not open any more.
    pub fn close(&self) {
        let mut content = self.content();
        content.closed = true;
        content.agents.clear();
        self.0.changed.notify_all();
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Result<MutexGuard<'_, Content>, TransportError> {
        let content = self.content();
        if content.closed { Err(closed()) } else { Ok(content) }
    }

    /// Waits until `look` finds something, until `end` at the latest.
    fn wait_for<T>(
        &self,
        end: Instant,
        mut look: impl FnMut(&Content) -> Option<T>,
    ) -> Result<Option<T>, TransportError> {
        let mut content = self.open()?;
        loop {
            if let Some(found) = look(&content) {
                return Ok(Some(found));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let waited = self.0.changed.wait_timeout(content, left);
            content = waited.unwrap_or_else(PoisonError::into_inner).0;
            if content.closed {
                return Err(closed());
            }
        }
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess").finish_non_exhaustive()
    }
}

fn closed() -> TransportError {
    TransportError::Refused("the transport within this process is closed".to_owned())
}

fn check_length(content: &[u8]) -> Result<(), TransportError> {
    match content.len() {
        ..=LONGEST_MESSAGE => Ok(()),
        length => Err(TransportError::Refused(format!(
            "a message of {length} bytes is too long: at most {LONGEST_MESSAGE} bytes can be sent"
        ))),
    }
}

impl ControllerSide for InProcessController {
    fn ask_all(
        &self,
        question: &[u8],
        expected: Option<usize>,
        patience: Duration,
    ) -> Result<Vec<FromAgent>, TransportError> {
        check_length(question)?;
        let end = Instant::now() + patience;
        let (sender, receiver) = channel();
        // The sender is kept: without agents the receiver waits all the same.
        self.0.open()?.send(None, question, Some(&sender));
        let mut answers = Vec::new();
        while expected.is_none_or(|expected| answers.len() < expected) {
            let left = end.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left) {
                Ok((agent, answer)) => {
                    answers.extend(answer.ok().map(|content| FromAgent { agent, content }));
                }
                Err(_) => break,
            }
        }
        Ok(answers)
    }

    fn ask(
        &self,
        agent: &AgentName,
        request: &[u8],
        patience: Duration,
    ) -> Result<Vec<u8>, TransportError> {
        check_length(request)?;
        let silent = || TransportError::Silent(format!("agent {agent} does not answer"));
        let end = Instant::now() + patience;
        let (sender, receiver) = channel();
        let send = |content: &Content| {
            (content.send(Some(agent), request, Some(&sender)) > 0).then_some(())
        };
        self.0.wait_for(end, send)?.ok_or_else(silent)?;
        drop(sender);
        let left = end.saturating_duration_since(Instant::now());
        receiver.recv_timeout(left).map_or_else(|_| Err(silent()), |(_, answer)| answer)
    }

    fn announce(&self, message: &[u8]) -> Result<(), TransportError> {
        check_length(message)?;
        self.0.open()?.send(None, message, None);
        Ok(())
    }

    fn take_lease(
        &self,
        holder: &str,
        length: Duration,
    ) -> Result<Result<(), String>, TransportError> {
        let mut content = self.0.open()?;
        let now = Instant::now();
        match &mut content.lease {
            Some(lease) if lease.holder == holder => lease.renewed = now,
            Some(lease) if now.duration_since(lease.renewed) < lease.length => {
                return Ok(Err(lease.holder.clone()));
            }
            free => *free = Some(Lease { holder: holder.to_owned(), length, renewed: now }),
        }
        Ok(Ok(()))
    }

    fn give_up_lease(&self, holder: &str) -> Result<(), TransportError> {
        let mut content = self.0.open()?;
        content.lease.take_if(|lease| lease.holder == holder);
        Ok(())
    }

    fn keep_note(&self, load: &LoadName, note: &[u8]) -> Result<(), TransportError> {
        check_length(note)?;
        self.0.open()?.notes.insert(load.clone(), note.to_owned());
        Ok(())
    }

    fn note(&self, load: &LoadName) -> Result<Option<Vec<u8>>, TransportError> {
        Ok(self.0.open()?.notes.get(load).cloned())
    }

    fn loads(&self) -> Result<Vec<LoadName>, TransportError> {
        Ok(self.0.open()?.notes.keys().cloned().collect())
    }

    fn records(&self, load: &LoadName) -> Result<Box<dyn RecordSource>, TransportError> {
        let board = self.0.clone();
        drop(board.open()?);
        Ok(Box::new(KeptRecords { board, load: load.clone(), last: 0 }))
    }

    fn restore(&self) -> Result<(), TransportError> {
        self.0.open().map(drop)
    }

    fn forget(&self, load: &LoadName) -> Result<(), TransportError> {
        let mut content = self.0.open()?;
        content.notes.remove(load);
        for (_, record) in content.records.remove(load).unwrap_or_default() {
            content.ids.remove(&record.id);
        }
        Ok(())
    }
}

impl Content {
    /// Passes a message to the handlers of an agent, or to all; returns to how many.
    fn send(
        &self,
        to: Option<&AgentName>,
        message: &[u8],
        answer: Option<&Sender<Answer>>,
    ) -> usize {
        let content: Arc<[u8]> = message.into();
        let meant = self.agents.iter().filter(|served| to.is_none_or(|to| *to == served.agent));
        let request = || Request { content: Arc::clone(&content), answer: answer.cloned() };
        meant.filter(|served| served.requests.try_send(request()).is_ok()).count()
    }
}

/// The records of one load.
#[derive(Debug)]
struct KeptRecords {
    board: InProcess,
    load: LoadName,
    /// The sequence number of the record that was returned last.
    last: u64,
}

impl RecordSource for KeptRecords {
    fn next(&mut self, patience: Duration) -> Result<Option<FromAgent>, TransportError> {
        let look = |content: &Content| {
            let records = content.records.get(&self.load)?;
            let at = records.partition_point(|(sequence, _)| *sequence <= self.last);
            let (sequence, PublishedRecord { agent, content, .. }) = records.get(at)?;
            Some((*sequence, FromAgent { agent: agent.clone(), content: content.clone() }))
        };
        let found = self.board.wait_for(Instant::now() + patience, look)?;
        Ok(found.map(|(sequence, record)| {
            self.last = sequence;
            record
        }))
    }
}

impl AgentSide for InProcessAgent {
    fn serve(&self, agent: &AgentName, handler: Handler) -> Result<(), TransportError> {
        let mut content = self.board.open()?;
        let (requests, receiver) = sync_channel(WAITING);
        // It ends when the board drops the sender.
        let thread = Builder::new().name(format!("agent {agent}"));
        let name = agent.clone();
        thread.spawn(move || answer_all(&name, &receiver, &handler)).map_err(|error| {
            TransportError::Refused(format!("can't serve: {}", no_thread(&error)))
        })?;
        content.agents.push(Served { id: self.id, agent: agent.clone(), requests });
        self.board.0.changed.notify_all();
        Ok(())
    }

    fn publish(&self, record: &PublishedRecord, _: Duration) -> Result<(), TransportError> {
        check_length(&record.content)?;
        let mut content = self.board.open()?;
        if content.ids.insert(record.id.clone()) {
            content.last += 1;
            let kept = (content.last, record.clone());
            content.records.entry(record.load.clone()).or_default().push(kept);
            self.board.0.changed.notify_all();
        }
        Ok(())
    }

    fn is_open(&self) -> bool {
        !self.board.content().closed
    }
}

impl Drop for InProcessAgent {
    fn drop(&mut self) {
        self.board.content().agents.retain(|served| served.id != self.id);
    }
}

fn answer_all(agent: &AgentName, requests: &Receiver<Request>, handler: &Handler) {
    for Request { content, answer } in requests {
        let said = handler(&content);
        if let (Some(said), Some(answer)) = (said, answer) {
            // Who asked may have stopped waiting.
            let _ = answer.send((agent.clone(), check_length(&said).map(|()| said)));
        }
    }
}
