//! A protocol that carries several exchanges at once on a connection: HTTP/2 or HTTP/3.

use std::collections::VecDeque;

use quinn_proto::StreamEvent;
use sixmark_http::observer::Observer;

use super::http2::Http2;
use super::http3::Http3;
use super::multiplexer::Multiplexer;
use super::{Memory, ProtocolViolation};
use crate::exchange::ConcurrencySlot;
use crate::notes::Outgoing;
use crate::quic::QuicLink;
use crate::send_buffer::SendBuffer;
use crate::tls::{Failure, Room};

/// The exchanges on a multiplexed connection.
#[derive(Debug)]
pub(crate) struct Streams {
    /// The exchanges that wait for the connection, or for room for another stream.
    pending: VecDeque<ConcurrencySlot>,
    machine: Machine,
}

#[derive(Debug)]
enum Machine {
    Http2(Box<Http2>),
    Http3(Box<Http3>),
}

/// Evaluates an expression with the protocol in use.
macro_rules! with {
    ($machine:expr, $of:ident => $done:expr) => {
        match $machine {
            Machine::Http2($of) => $done,
            Machine::Http3($of) => $done,
        }
    };
}

impl Streams {
    /// Creates the state of a connection with at most `streams` concurrent streams, over `link` if
    /// it is of QUIC.
    pub(super) fn new(streams: u32, link: Option<QuicLink>) -> Streams {
        let machine = match link {
            None => Machine::Http2(Box::new(Http2::new(streams))),
            Some(link) => Machine::Http3(Box::new(Http3::new(link))),
        };
        Streams { pending: VecDeque::new(), machine }
    }

    /// Queues an exchange until there is room for it.
    pub(super) fn enqueue(&mut self, concurrency_slot: ConcurrencySlot) {
        self.pending.push_back(concurrency_slot);
    }

    /// Returns the exchange that has waited for longest.
    pub(crate) fn first_pending(&self) -> Option<ConcurrencySlot> {
        self.pending.front().copied()
    }

    /// Starts the exchange that has waited for longest. Returns false if the peer has no room for
    /// another.
    pub(crate) fn begin_pending(
        &mut self,
        concurrency_slot: ConcurrencySlot,
        request: Outgoing<'_>,
    ) -> bool {
        let begun = with!(&mut self.machine, machine => machine.begin(concurrency_slot, request));
        if begun {
            self.pending.pop_front();
        }
        begun
    }

    /// Removes and returns all exchanges that wait.
    pub(crate) fn take_waiting(&mut self) -> VecDeque<ConcurrencySlot> {
        std::mem::take(&mut self.pending)
    }

    pub(super) fn list_exchanges(&self, list: &mut Vec<ConcurrencySlot>) {
        with!(&self.machine, machine => machine.list_exchanges(list));
        list.extend(&self.pending);
    }

    pub(super) fn cancel(&mut self, concurrency_slot: ConcurrencySlot) {
        match self.pending.iter().position(|&pending| pending == concurrency_slot) {
            Some(at) => drop(self.pending.remove(at)),
            None => with!(&mut self.machine, machine => machine.cancel(concurrency_slot)),
        }
    }

    /// Reads data received on the connection.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        by: &mut impl Observer,
    ) -> Result<(), ProtocolViolation> {
        with!(&mut self.machine, machine => machine.read(bytes, by))
    }

    /// Handles an event of a QUIC stream.
    pub(crate) fn attend(
        &mut self,
        event: StreamEvent,
        memory: &mut Memory,
        observer: &mut impl Observer,
    ) -> Result<(), ProtocolViolation> {
        with!(&mut self.machine, machine => machine.attend(event, memory, observer))
    }

    /// Appends the data to be sent to the buffer, and the exchanges whose request ends in it.
    pub(crate) fn fill(
        &mut self,
        buffer: &mut SendBuffer,
        ready: bool,
        room: &mut Room,
    ) -> Result<(), Failure> {
        with!(&mut self.machine, machine => machine.fill(buffer, ready, room))
    }

    /// Returns true if no more exchanges may start, although those in flight continue.
    pub(crate) fn is_draining(&self) -> bool {
        with!(&self.machine, machine => machine.is_draining())
    }

    /// Returns true if the peer sent GOAWAY.
    pub(crate) fn said_goaway(&self) -> bool {
        with!(&self.machine, machine => machine.said_goaway())
    }

    /// Returns the error code of the peer's GOAWAY; 0 if there is none.
    pub(crate) fn goaway_code(&self) -> u64 {
        with!(&self.machine, machine => machine.goaway_code())
    }

    /// Tells the peer that this side ends the connection, with an error code if it does so because
    /// of an error.
    pub(crate) fn say_goodbye(&mut self, code: Option<u64>) {
        with!(&mut self.machine, machine => machine.say_goodbye(code));
    }

    /// Handles that the connection is established.
    pub(crate) fn open(&mut self) {
        with!(&mut self.machine, machine => machine.open());
    }

    /// Returns the QUIC connection that carries the streams, if there is one.
    pub(crate) fn link(&mut self) -> Option<&mut QuicLink> {
        with!(&mut self.machine, machine => machine.link())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelling_a_waiting_exchange_keeps_the_order_of_the_others() {
        let mut streams = Streams::new(4, None);
        [3, 5, 7].into_iter().for_each(|concurrency_slot| streams.enqueue(concurrency_slot));
        streams.cancel(5);
        let mut listed = Vec::new();
        streams.list_exchanges(&mut listed);
        assert_eq!((listed, streams.first_pending()), (vec![3, 7], Some(3)));
        assert_eq!(streams.take_waiting(), [3, 7]);
        assert_eq!(streams.first_pending(), None);
    }
}
