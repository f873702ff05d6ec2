//! What carries messages between a controller and its agents: the traits of both sides.
//!
//! Messages are bytes here; their meaning is that of the fleet's protocol. Requests and
//! announcements may be lost. Records are kept by the transport: once [`AgentSide::publish`] has
//! returned, a controller that asks later still gets the record, unless the transport itself loses
//! what it keeps.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::messages::FromAgent;
use crate::names::{AgentName, LoadName};

/// The longest message that a transport must carry, in bytes. A longer one is refused.
pub const LONGEST_MESSAGE: usize = 8 << 20;

/// Why a message could not be carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// Nobody answered in time: the agent is gone, or the connection is down for now.
    Silent(String),
    /// The other side refused, for a reason that trying again does not change: wrong credentials,
    /// a server that is too old, a message that is too long.
    Refused(String),
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransportError::Silent(line) | TransportError::Refused(line) => f.write_str(line),
        }
    }
}

impl std::error::Error for TransportError {}

/// A record that an agent publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedRecord {
    /// The load to which it belongs.
    pub load: LoadName,
    /// The agent that published it.
    pub agent: AgentName,
    /// The identity of the record: two publications with the same identity are the same record. Others
    /// must not be able to guess it, or they could have a record taken for one that is kept already.
    pub id: String,
    /// The content.
    pub content: Vec<u8>,
}

/// The controller's side.
pub trait ControllerSide: fmt::Debug + Send + Sync {
    /// Asks every agent and returns what they answer. It ends when `expected` agents have answered, if a
    /// number is given, and after `patience` otherwise.
    ///
    /// # Errors
    /// The transport can't be used.
    fn ask_all(
        &self,
        question: &[u8],
        expected: Option<usize>,
        patience: Duration,
    ) -> Result<Vec<FromAgent>, TransportError>;

    /// Sends a request to one agent and returns its answer.
    ///
    /// # Errors
    /// The agent gave no answer within `patience`.
    fn ask(
        &self,
        agent: &AgentName,
        request: &[u8],
        patience: Duration,
    ) -> Result<Vec<u8>, TransportError>;

    /// Sends a message to all agents, which do not answer it.
    ///
    /// # Errors
    /// The transport can't be used.
    fn announce(&self, message: &[u8]) -> Result<(), TransportError>;

    /// Takes the lease of the fleet for `holder`, or renews it. Only one holder can have it; it is
    /// free again when it was given up, or `length` after its last renewal (the length of the first
    /// lease counts). Returns the other holder's text if it has the lease.
    ///
    /// # Errors
    /// The transport can't be used.
    fn take_lease(
        &self,
        holder: &str,
        length: Duration,
    ) -> Result<Result<(), String>, TransportError>;

    /// Gives up the lease, if `holder` has it.
    ///
    /// # Errors
    /// The transport can't be used.
    fn give_up_lease(&self, holder: &str) -> Result<(), TransportError>;

    /// Keeps a note under a load's name, beside its records, for a controller that comes later.
    ///
    /// # Errors
    /// The note was not kept.
    fn keep_note(&self, load: &LoadName, content: &[u8]) -> Result<(), TransportError>;

    /// Returns the note of a load, if there is one.
    ///
    /// # Errors
    /// The transport can't be used.
    fn note(&self, load: &LoadName) -> Result<Option<Vec<u8>>, TransportError>;

    /// Returns the names of the loads that have a note, in no particular order.
    ///
    /// # Errors
    /// The transport can't be used.
    fn loads(&self) -> Result<Vec<LoadName>, TransportError>;

    /// Returns the records of a load, from the first one that is kept.
    ///
    /// # Errors
    /// The transport can't be used.
    fn records(&self, load: &LoadName) -> Result<Box<dyn RecordSource>, TransportError>;

    /// Creates what the transport needs to keep records and notes, where it is missing: it may have
    /// been wiped since this side connected.
    ///
    /// # Errors
    /// It can't be created.
    fn restore(&self) -> Result<(), TransportError>;

    /// Removes the records of a load and its note.
    ///
    /// # Errors
    /// The transport can't be used.
    fn forget(&self, load: &LoadName) -> Result<(), TransportError>;
}

/// The records of a load, in the order in which the transport received them. A record may come
/// twice.
pub trait RecordSource: fmt::Debug + Send {
    /// Waits for the next record, for at most `patience`. Returns `None` if there is none by then.
    /// Continues after the last record that it returned when the connection was lost meanwhile.
    ///
    /// # Errors
    /// The transport can't be used.
    fn next(&mut self, patience: Duration) -> Result<Option<FromAgent>, TransportError>;
}

/// What an agent does with a request: it returns the answer, or `None` to a message that needs
/// none. It is called from a thread of the transport, one message at a time, and must not wait.
pub type Handler = Arc<dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// An agent's side.
pub trait AgentSide: fmt::Debug + Send + Sync {
    /// Begins to pass messages for `agent`, and those for all agents, to `handler`. After a
    /// reconnection it goes on.
    ///
    /// # Errors
    /// The transport can't be used.
    fn serve(&self, agent: &AgentName, handler: Handler) -> Result<(), TransportError>;

    /// Publishes a record, and returns once the transport keeps it. A record with the same identity
    /// that is kept already is not kept twice, as far as the transport remembers.
    ///
    /// # Errors
    /// It is not known to be kept `patience` later; publishing it again does no harm.
    fn publish(&self, record: &PublishedRecord, patience: Duration) -> Result<(), TransportError>;

    /// Returns false once the transport is gone for good, so that the agent should end.
    fn is_open(&self) -> bool;
}
