//! A socket of the io_uring driver.

use std::os::fd::OwnedFd;

use super::mark::{self, Mark, Operation};
use crate::driver::datagram::Datagrams;
use crate::driver::own::OwnBytes;
use crate::driver::{ReceiveStamps, Slot, TcpHandshake};

/// The state of a slot, which is vacant if `file` is `None`.
#[derive(Default)]
pub(super) struct UringSocket {
    pub(super) file: Option<FixedFile>,
    pub(super) generation: u32,
    /// The receive operation that the kernel has been given.
    pub(super) receive_state: ReceiveState,
    pub(super) connecting: bool,
    /// Whether to read from the kernel how long the handshake took, and the value that was read.
    pub(super) ask_handshake: bool,
    pub(super) handshake: Option<TcpHandshake>,
    /// The kernel's timestamps of received bytes that are wanted.
    pub(super) stamps: ReceiveStamps,
    /// A poll for errors and hang-ups is in progress. The multishot receive does not complete if a
    /// reset arrives together with the last bytes.
    pub(super) watched: bool,
    /// The connection is broken. The remaining bytes have to be received by single receives.
    pub(super) hung: bool,
    /// The connection is expected to carry more than one exchange.
    pub(super) lasting: bool,
    /// The peer has ended the connection or it has failed: nothing more will be received.
    pub(super) over: bool,
    pub(super) droppable: u64,
    /// The state of a datagram socket. Such a socket is never `Listed`, because plain calls send
    /// its datagrams.
    pub(super) datagrams: Option<Datagrams>,
    /// The address of the request that was last sent in this slot, if it is a kept message.
    pub(super) request: usize,
    /// A kept message was sent on this connection.
    pub(super) asked: bool,
    /// The error number of a failed send, while there may still be bytes to receive.
    pub(super) refused: Option<i32>,
    /// When bytes were last queued to be sent.
    pub(super) handed_at: u64,
    /// A send is in progress whose completion will be reported.
    pub(super) sending: bool,
    /// The caller expects an event at the end of sending.
    pub(super) awaited: bool,
    /// Bytes were passed whose submission the kernel has not consumed yet.
    pub(super) passed: bool,
    /// Bytes to be sent when the send in progress has completed.
    pub(super) waiting: Option<OwnBytes>,
}

/// The form in which the kernel knows a socket.
pub(super) enum FixedFile {
    /// A descriptor of the process.
    Open(OwnedFd),
    /// An entry in the ring's file table, whose index is the number of the slot. It makes each
    /// operation cheaper and does not count towards the process's limit on open files.
    Listed,
}

/// The receive operation that the kernel has been given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReceiveState {
    /// None.
    #[default]
    Closed,
    /// Receive the next bytes, or all bytes until the end.
    Open,
    /// The receive has been cancelled. Completions from before the cancellation may still arrive.
    Closing,
    /// Discard what arrives.
    Discarding,
}

impl UringSocket {
    /// Resets the state for the slot's next connection.
    pub(super) fn renew(&mut self, lasting: bool) {
        let generation = self.generation.wrapping_add(1) & mark::GENERATIONS;
        *self =
            UringSocket { generation, lasting, request: self.request, ..UringSocket::default() };
    }

    /// Returns the operation by which this socket receives.
    pub(super) fn hears(&self) -> Operation {
        match self.datagrams {
            Some(_) => Operation::Hear,
            None => match self.stamps {
                ReceiveStamps::FirstAndLast => Operation::Readable,
                // Only the repeated receive has timestamps.
                ReceiveStamps::Last if !self.hung => Operation::ReceiveStamped,
                ReceiveStamps::Last | ReceiveStamps::Absent => Operation::Receive,
            },
        }
    }

    pub(super) fn mark(&self, slot: Slot, operation: Operation) -> u64 {
        Mark { slot, generation: self.generation, operation }.pack()
    }
}
