//! A completion-style driver for connections. The caller requests operations on a slot and learns
//! later, by events, what happened.
//!
//! A slot is a small number that the caller chooses. It holds at most one TCP connection, or one
//! datagram socket with a single peer, which is also called a connection here. All calls return at
//! once except [`Driver::wait`]. Times are nanoseconds of a single monotonic clock.

mod arrival;
mod begin;
mod datagram;
mod datagram_batch;
mod epoll;
mod errno;
mod message;
mod own;
mod uring;

pub(crate) use datagram::drops;

pub use epoll::Epoll;
pub use message::Message;
pub use sixmark_units::tcp_info::{TcpHandshake, TcpInfo, TcpOptions};
pub use uring::{PeerWrites, Uring};

use std::net::{IpAddr, SocketAddr};

/// The number of a slot.
pub type Slot = u32;

/// Performs operations on connections and reports their outcome.
pub trait Driver {
    /// Returns the name of this driver in results.
    fn name(&self) -> &'static str;

    /// Returns the current time.
    fn now(&self) -> u64;

    /// Returns the time at which the last [`Driver::wait`] returned.
    fn woke(&self) -> u64;

    /// Returns the total duration of all waits.
    fn idle_ns(&self) -> u64;

    /// Sets how long the driver may defer operations and events. By default it defers as little as
    /// it can.
    fn keep_to(&mut self, _grain: CompletionBatch) {}

    /// Begins a connection in a vacant slot. The outcome is [`EventKind::Connected`],
    /// [`EventKind::Failed`] or [`EventKind::NoSource`]. Returns the time at which the connect call
    /// began, after the socket was created.
    fn connect(&mut self, slot: Slot, way: &SocketRoute) -> u64;

    /// Sends a message on a connection that has nothing left to send.
    fn send(&mut self, slot: Slot, message: &Message) -> SendProgress;

    /// Sends bytes that are not sent again. Takes the bytes and leaves an empty buffer, whose
    /// capacity may be that of an earlier one. As for [`Driver::send`], the connection must have
    /// nothing left to send. If its last bytes were sent by [`Driver::send`], the peer must have
    /// answered them.
    fn pass(&mut self, slot: Slot, bytes: &mut Vec<u8>) -> SendProgress;

    /// Sends datagrams of `segment` bytes each, of which the last may be shorter, or a single
    /// datagram if `segment` is `None`. `ecn` are their ECN bits (the lowest two bits). As for
    /// [`Driver::send`], the connection must have nothing left to send. A datagram that exceeds the
    /// path MTU is lost, which is not a failure.
    fn cast(&mut self, slot: Slot, bytes: &[u8], segment: Option<usize>, ecn: u8) -> SendProgress;

    /// Returns the kernel's path MTU for a datagram socket: the maximum packet size, headers
    /// included.
    fn mtu(&mut self, slot: Slot) -> Option<u32>;

    /// Returns the number of received datagrams that were dropped because the socket's receive
    /// buffer was full. Must not be called after [`Driver::close`].
    fn drops(&mut self, slot: Slot) -> u64;

    /// Allows the driver to discard the next `count` received bytes. Discarded bytes are reported
    /// as [`EventKind::Dropped`]. A driver that does not discard reports them as
    /// [`EventKind::Received`].
    fn drop_next(&mut self, slot: Slot, count: u64);

    /// Returns the local address of the slot's established connection, or `None` if the kernel does
    /// not report it.
    fn local(&mut self, _slot: Slot) -> Option<SocketAddr> {
        None
    }

    /// Returns the kernel's timing of the handshake of the slot's established connection, or `None`
    /// if [`SocketRoute::ask_handshake`] did not request it.
    fn handshake(&mut self, _slot: Slot) -> Option<TcpHandshake> {
        None
    }

    /// Returns the TCP state of the slot's connection, which must be established, or ended but not
    /// yet closed. Returns `None` if the kernel does not report it.
    fn path(&mut self, slot: Slot) -> Option<TcpInfo>;

    /// Returns how many segments of a connection arrived out of order so far; `None` if the kernel does
    /// not report it.
    fn out_of_order(&mut self, slot: Slot) -> Option<u32> {
        self.path(slot)?.out_of_order
    }

    /// Closes the slot's connection at once. There are no further events for it and the slot is
    /// vacant.
    fn close(&mut self, slot: Slot, close: Close);

    /// Waits until something happens or the time `until` is reached, whichever is first.
    fn wait(&mut self, until: u64);

    /// Collects what has become ready since the last wait, without waiting, if that costs less than
    /// a wait. A driver that reads a socket until it is empty has nothing to collect.
    fn look(&mut self) {}

    /// Returns the next event, or `None` if there is none before the next wait or look.
    fn next(&mut self) -> Option<Event>;

    /// Returns the bytes to which the [`EventKind::Received`] or [`EventKind::Datagrams`] that was
    /// just returned refers. They are valid until the next call.
    fn bytes(&self) -> &[u8];

    /// Returns the same bytes for modification in place.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// Returns when the bytes or datagrams of the event that was just returned arrived, by the
    /// kernel's timestamps. Returns `None` if there are none: the connection did not ask for
    /// timestamps ([`SocketRoute::stamps`]), the bytes were discarded, or the kernel gave no
    /// plausible one.
    fn arrived(&self) -> Option<Arrival> {
        None
    }

    /// Returns the defects of the kernel's timestamps. All counts are 0 if the driver does not use
    /// timestamps.
    fn stamps(&self) -> Stamps {
        Stamps::default()
    }
}

/// Defects of the kernel's timestamps so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// Times that were taken from this process's clock because a timestamp was absent or
    /// implausible.
    pub missing: u64,
    /// The number of times that the clock of the timestamps was set.
    pub steps: u64,
}

/// How far a driver may defer work to process more of it at once. Deferred operations and events
/// have timestamps that are wrong by up to the same amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionBatch {
    /// The number of requests that may be passed to the kernel together. The first ones wait for
    /// the last. 1 passes each at once.
    pub sends: usize,
    /// The time for which events may be held back to collect more of them, nanoseconds.
    pub linger: u64,
}

/// The destination and the source of a connection, and its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketRoute {
    /// The address of the peer.
    pub to: SocketAddr,
    /// The local address. If absent, the kernel chooses it.
    pub from: Option<LocalAddress>,
    /// Sends small segments without waiting for acknowledgements (TCP_NODELAY).
    pub no_delay: bool,
    /// The connection is expected to carry more than one exchange, which justifies some
    /// preparation.
    pub lasting: bool,
    /// Reads from the kernel how long the handshake took, for [`Driver::handshake`]. This costs a
    /// system call.
    pub ask_handshake: bool,
    /// The kernel's timestamps of received bytes that [`Driver::arrived`] is to return. The times of
    /// events do not change.
    pub stamps: ReceiveStamps,
    /// Creates a UDP socket connected to this peer instead of a TCP connection. It is reported as
    /// [`EventKind::Connected`] at once, whether or not the peer exists.
    pub datagrams: bool,
}

/// Which of the kernel's timestamps of received bytes a connection asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiveStamps {
    /// None.
    #[default]
    Absent,
    /// That of the last byte of each receive, which costs a little more.
    Last,
    /// Those of the first and the last byte, for receives that return several responses. Over TCP
    /// each costs another system call.
    FirstAndLast,
}

/// When the bytes of one receive arrived: times of the driver's clock, by the kernel's timestamps.
/// The kernel may merge segments that wait to be read. All of their bytes then have the timestamp of
/// the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time of the first byte; that of the last one if only that is known. At most `last`.
    pub first: u64,
    /// The time of the last byte.
    pub last: u64,
}

impl From<u64> for Arrival {
    /// Bytes that arrived together.
    fn from(at: u64) -> Arrival {
        Arrival { first: at, last: at }
    }
}

/// A local address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAddress {
    /// The address, with its scope id if it needs one. Port 0 lets the kernel choose the port.
    pub address: SocketAddr,
    /// Allows an address that is not assigned to an interface (a routed prefix).
    pub foreign: bool,
}

/// The progress of a send when the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendProgress {
    /// The kernel has accepted all bytes. The value is the time at which it began to accept the
    /// last ones. With kernel timestamps it is the time at which the last byte was sent, if it has
    /// been.
    Whole(u64),
    /// [`EventKind::Sent`] or [`EventKind::Failed`] follows.
    Later,
}

/// The way to close a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// Sends a FIN after all data.
    Orderly,
    /// Sends a reset at once.
    Reset,
}

/// Something that happened to a slot's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The connection's slot.
    pub slot: Slot,
    /// The time at which the kernel reported it. Events that are reported together have the same
    /// time, so that processing one does not make the next one appear late; only what was received
    /// after something was sent on the same connection since then has the time of that receive. With
    /// kernel timestamps, received bytes have the time at which the last of them arrived.
    pub at: u64,
    /// What happened.
    pub kind: EventKind,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The connection to this peer is established.
    Connected(IpAddr),
    /// The kernel has accepted the last byte to be sent.
    Sent,
    /// The last sent byte left at [`Event::at`]. This corrects the time that the send returned. It
    /// precedes the events of bytes received afterwards, and occurs only with kernel timestamps.
    Left,
    /// This number of bytes was received: see [`Driver::bytes`].
    Received(usize),
    /// Datagrams were received: see [`Driver::bytes`].
    Datagrams {
        /// The total number of their bytes.
        length: usize,
        /// The size of each datagram in bytes, except that the last one may be shorter. Never 0.
        segment: usize,
        /// The ECN bits of the datagrams.
        ecn: u8,
        /// The next event is of the same kind, slot and time, unless the slot is closed before.
        more: bool,
    },
    /// This number of bytes was received and discarded, as [`Driver::drop_next`] allowed.
    Dropped(u64),
    /// The peer sent its FIN.
    Ended,
    /// The connection failed with this error number.
    Failed(i32),
    /// The connection could not begin, with this error number: this host has no source address, or
    /// [`SocketRoute::from`] is no longer one of its addresses.
    NoSource(i32),
}
