//! One socket of the io_uring driver.

use std::os::fd::OwnedFd;

use super::mark::{self, Mark, Operation};
use crate::driver::datagram::Datagrams;
use crate::driver::own::OwnBytes;
use crate::driver::{Handshake, Slot};

/// A slot: vacant where it has no file.
#[derive(Default)]
pub(super) struct UringSocket {
    pub(super) file: Option<FixedFile>,
    pub(super) generation: u32,
    /// What is asked of the kernel about what comes.
    pub(super) ear: Ear,
    pub(super) connecting: bool,
    /// The kernel is to be asked how long the handshake took, and what it said.
    pub(super) ask_handshake: bool,
    pub(super) handshake: Option<Handshake>,
    /// The kernel is asked to tell when it breaks. The receive that tells again and again does not,
    /// where a reset comes together with the last bytes.
    pub(super) watched: bool,
    /// It is broken: what there is left to receive has to be asked for piece by piece.
    pub(super) hung: bool,
    /// More than one exchange is expected on it.
    pub(super) lasting: bool,
    /// The peer ended it or it broke: nothing more comes.
    pub(super) over: bool,
    pub(super) droppable: u64,
    /// It is one of datagrams, which is never listed: plain calls send them.
    pub(super) datagrams: Option<Datagrams>,
    /// Where the request lies that was sent last in this slot, if it is one that is kept.
    pub(super) request: usize,
    /// One that is kept was sent on this connection.
    pub(super) asked: bool,
    /// The error number that a send met, while there may be something to receive yet.
    pub(super) refused: Option<i32>,
    /// A send that the kernel will tell of.
    pub(super) sending: bool,
    /// The caller is to be told of the end of sending.
    pub(super) awaited: bool,
    /// Bytes were passed that the kernel has not seen yet.
    pub(super) passed: bool,
    /// Bytes that are to be sent when the send is over that the kernel will tell of.
    pub(super) waiting: Option<OwnBytes>,
}

/// What the kernel knows a socket by.
pub(super) enum FixedFile {
    /// A descriptor of the process.
    Open(OwnedFd),
    /// A place in the ring's own table: cheaper for each operation, and outside the process's limit
    /// on open files. The place has the slot's number.
    Listed,
}

/// What is asked of the kernel about what comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ear {
    /// Nothing.
    #[default]
    Closed,
    /// To tell of the next bytes, or of all.
    Open,
    /// Not to tell any more; what it had told by then still comes.
    Closing,
    /// To drop what comes.
    Discarding,
}

impl UringSocket {
    /// Makes way for the slot's next connection.
    pub(super) fn renew(&mut self, lasting: bool) {
        let generation = self.generation.wrapping_add(1) & mark::GENERATIONS;
        *self =
            UringSocket { generation, lasting, request: self.request, ..UringSocket::default() };
    }

    /// What the kernel was asked to tell what comes by.
    pub(super) fn hears(&self) -> Operation {
        if self.datagrams.is_some() { Operation::Hear } else { Operation::Receive }
    }

    pub(super) fn mark(&self, slot: Slot, operation: Operation) -> u64 {
        Mark { slot, generation: self.generation, operation }.pack()
    }
}
