//! A completion-style driver: say what should happen to a slot, then learn what happened.
//!
//! A slot is a number below the caller's choosing that holds at most one connection, or one socket for
//! datagrams that has a single peer, which counts as a connection here. All calls return at once except
//! [`Driver::wait`]. Times are nanoseconds of one monotonic clock.

mod begin;
mod datagram;
mod epoll;
mod errno;
mod message;
mod own;
mod uring;

pub(crate) use datagram::drops;

pub use crate::path::{Handshake, TcpPath};
pub use epoll::Epoll;
pub use message::Message;
pub use uring::{PeerWrites, Uring};

use std::net::{IpAddr, SocketAddr};

/// The number of a connection's place.
pub type Slot = u32;

/// Carries out what is asked of connections and tells what became of it.
pub trait Driver {
    /// The word for this driver in results.
    fn name(&self) -> &'static str;

    /// The time now.
    fn now(&self) -> u64;

    /// When the last [`Driver::wait`] returned.
    fn woke(&self) -> u64;

    /// How long all waits together lasted.
    fn waited(&self) -> u64;

    /// Says how exactly things must be done at their time. Loose at first.
    fn keep_to(&mut self, _grain: Grain) {}

    /// Begins a connection in a vacant slot; ends in [`EventKind::Connected`], [`EventKind::Failed`] or
    /// [`EventKind::NoSource`].
    /// Returns when the attempt itself began, its socket having been made.
    fn connect(&mut self, slot: Slot, way: &SocketRoute) -> u64;

    /// Hands a message to a connection that has nothing left to send.
    fn send(&mut self, slot: Slot, message: &Message) -> Handed;

    /// Hands over bytes that are made anew each time. Takes them and leaves an empty buffer, which may
    /// have room from an earlier time. As [`Driver::send`], only for a connection that has nothing left
    /// to send; and where [`Driver::send`] sent before, only once its peer has answered that.
    fn pass(&mut self, slot: Slot, bytes: &mut Vec<u8>) -> Handed;

    /// Sends datagrams of `segment` bytes each, the last one perhaps of fewer, or one where there is
    /// none, with these ECN bits (the lowest two). As [`Driver::send`], only for a connection that has
    /// nothing left to send. One that is too large for the way is lost, which is no failure.
    fn cast(&mut self, slot: Slot, bytes: &[u8], segment: Option<usize>, ecn: u8) -> Handed;

    /// The largest packet, headers included, that the kernel takes the way of datagrams to have room
    /// for.
    fn mtu(&mut self, slot: Slot) -> Option<u32>;

    /// Datagrams that came and found no room in this host's buffer. Not to be asked after the close.
    fn drops(&mut self, slot: Slot) -> u64;

    /// Says that the next `count` bytes to come may be dropped unseen. They are then told as
    /// [`EventKind::Dropped`], if the driver can, or as [`EventKind::Received`].
    fn drop_next(&mut self, slot: Slot, count: u64);

    /// The local address of the slot's connection, which is established; none where the kernel would
    /// not tell.
    fn local(&mut self, _slot: Slot) -> Option<SocketAddr> {
        None
    }

    /// What the kernel said of the handshake of the slot's connection, which is established; none where
    /// [`SocketRoute::ask_handshake`] did not say so.
    fn handshake(&mut self, _slot: Slot) -> Option<Handshake> {
        None
    }

    /// What TCP knows of the slot's connection, established or ended by whomever but not closed yet;
    /// none where the kernel would not tell.
    fn path(&mut self, slot: Slot) -> Option<TcpPath>;

    /// Closes the slot's connection at once. No more is told of it and the slot is vacant.
    fn close(&mut self, slot: Slot, close: Close);

    /// Waits until something happens or `until` has come, whichever is first.
    fn wait(&mut self, until: u64);

    /// What happened next, or none before the next wait.
    fn next(&mut self) -> Option<Event>;

    /// The bytes that the [`EventKind::Received`] or [`EventKind::Datagrams`] just returned speaks of; gone with the next call.
    fn bytes(&self) -> &[u8];

    /// The same bytes, to be changed where they are.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// What went wrong with the kernel's stamps; nothing where they were not asked for.
    fn stamps(&self) -> Stamps {
        Stamps::default()
    }
}

/// What went wrong with the kernel's stamps so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// Times that had to be taken from this process's clock, there being no stamp to believe.
    pub missing: u64,
    /// How often somebody set the clock of the stamps.
    pub steps: u64,
}

/// How far a driver may put things off to do more of them at once. What is put off is stamped wrong
/// by as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// Requests that may be handed over together, the first ones when the last one is; 1 for none.
    pub sends: usize,
    /// Nanoseconds that what happened may be held back for to learn of more.
    pub linger: u64,
}

/// Where a connection goes, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketRoute {
    /// The peer.
    pub to: SocketAddr,
    /// The local address; the kernel's choice where absent.
    pub from: Option<LocalAddress>,
    /// Sends small segments without waiting for acknowledgements (TCP_NODELAY).
    pub no_delay: bool,
    /// More than one exchange is expected on it: worth some preparation.
    pub lasting: bool,
    /// Asks the kernel how long the handshake took (a system call): see [`Driver::handshake`].
    pub ask_handshake: bool,
    /// Not a connection of TCP, but a socket for datagrams (UDP) that has this peer alone. It is
    /// [`EventKind::Connected`] at once, whether or not anybody is there.
    pub datagrams: bool,
}

/// A local address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAddress {
    /// The address, with its scope where it needs one, and port 0 for one of the kernel's choice.
    pub address: SocketAddr,
    /// Allows an address that no interface has (a routed prefix).
    pub foreign: bool,
}

/// How far a send went before it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// The kernel has all bytes; it began to take the last ones at this time. With the kernel's
    /// stamps the time at which the last byte left for the interface, if it has left.
    Whole(u64),
    /// [`EventKind::Sent`] or [`EventKind::Failed`] tells later.
    Later,
}

/// How to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// With a FIN, after what was sent.
    Orderly,
    /// With a reset, at once.
    Reset,
}

/// Something that happened to a slot's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The connection's slot.
    pub slot: Slot,
    /// When the kernel told. For several things told at once it is the time of the telling, so that
    /// dealing with one does not make the next one look late. With the kernel's stamps, received
    /// bytes have the time at which the last of them came.
    pub at: u64,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The connection is established with this peer.
    Connected(IpAddr),
    /// The kernel has the last byte of what was to be sent.
    Sent,
    /// The last byte of what was sent left for the interface at [`Event::at`], which corrects what
    /// was told of it. Told before what is received after, and only with the kernel's stamps.
    Left,
    /// That many bytes came: see [`Driver::bytes`].
    Received(usize),
    /// Datagrams came: see [`Driver::bytes`].
    Datagrams {
        /// All their bytes.
        length: usize,
        /// The bytes of each but perhaps the last, which may have fewer; never 0.
        segment: usize,
        /// Their ECN bits.
        ecn: u8,
    },
    /// That many bytes came and were dropped, as [`Driver::drop_next`] allowed.
    Dropped(u64),
    /// The peer sent its FIN.
    Ended,
    /// The connection failed with this error number.
    Failed(i32),
    /// It could not begin, as the kernel says by this error number: this host has no address to connect
    /// from, or [`SocketRoute::from`] is not its own any more.
    NoSource(i32),
}
