//! The network device as smoltcp sees it: its neighbours are announced and, unless the server
//! recovers from losses by more than timeouts, duplicate acknowledgements and SACK-permitted options
//! are removed.
//!
//! smoltcp always retransmits at the third duplicate acknowledgement, but by default the kind of
//! server modelled here has no fast retransmit. Hiding duplicate acknowledgements from smoltcp
//! disables it: after a loss, smoltcp resends everything from the lost segment on when its timer
//! expires.

use std::io::{self, ErrorKind};
use std::time::Duration;

use sixmark_sys::tap::Tap;
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use smoltcp::wire::EthernetAddress;

use super::LossRecovery;
use super::flows::Flows;
use super::neighbours::Neighbours;
use super::segment::Segment;

/// The largest frame sent, in bytes: an MTU of 1500 and the Ethernet header, without the checksum.
const LARGEST: usize = 1_514;

/// The largest frame received, in bytes, whatever the MTU of the interface.
const ROOM: usize = 65_536;

/// A source and sink of frames.
pub(super) trait Port {
    /// Reads the next frame into `frame` and returns its length. Returns an error if there is none.
    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize>;

    /// Sends a frame. A frame that cannot be sent is lost.
    fn write(&mut self, frame: &[u8]);
}

impl Port for Tap {
    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize> {
        Tap::read(self, frame)
    }

    fn write(&mut self, frame: &[u8]) {
        // The error is EIO while the interface is down. The frame is lost then, as with an
        // unplugged cable.
        let _ = Tap::write(self, frame);
    }
}

/// The device that smoltcp uses.
#[derive(Debug)]
pub(super) struct BareDevice<P> {
    inbox: Inbox,
    outlet: Outlet<P>,
    neighbours: Neighbours,
    own: EthernetAddress,
    manner: LossRecovery,
    /// The error after which no more frames can be received.
    end: Option<io::Error>,
}

/// A received frame, and one to be delivered before it.
#[derive(Debug)]
struct Inbox {
    bytes: Vec<u8>,
    length: usize,
    first: Option<Vec<u8>>,
    waiting: bool,
}

#[derive(Debug)]
struct Outlet<P> {
    port: P,
    bytes: Vec<u8>,
    flows: Flows,
}

impl<P: Port> BareDevice<P> {
    /// Creates a device on `port` with the MAC address `own`.
    pub(super) fn new(
        port: P,
        own: EthernetAddress,
        neighbours: Neighbours,
        manner: LossRecovery,
    ) -> BareDevice<P> {
        let inbox = Inbox { bytes: vec![0; ROOM], length: 0, first: None, waiting: false };
        let outlet = Outlet { port, bytes: vec![0; LARGEST], flows: Flows::new(manner) };
        BareDevice { inbox, outlet, neighbours, own, manner, end: None }
    }

    /// Returns the state of the connections.
    pub(super) fn flows(&mut self) -> &mut Flows {
        &mut self.outlet.flows
    }

    /// Returns the port that carries the frames.
    pub(super) fn port(&self) -> &P {
        &self.outlet.port
    }

    /// Returns the error after which no more frames can be received, if any.
    pub(super) fn end(&mut self) -> Option<io::Error> {
        self.end.take()
    }

    /// Reads until a frame for smoltcp is in the inbox. Returns false if there is none.
    fn fill(&mut self, now: Duration) -> bool {
        while !self.inbox.waiting {
            match self.outlet.port.read(&mut self.inbox.bytes) {
                Ok(length) => self.inbox.length = length,
                Err(error) => {
                    self.end = Some(error).filter(|error| error.kind() != ErrorKind::WouldBlock);
                    return false;
                }
            }
            self.inbox.waiting = self.admit(now);
        }
        true
    }

    fn admit(&mut self, now: Duration) -> bool {
        let frame = &mut self.inbox.bytes[..self.inbox.length];
        let ours = frame.starts_with(self.own.as_bytes());
        let Some(segment) = Segment::read(frame).filter(|_| ours) else { return true };
        let reception = self.outlet.flows.heard(&segment);
        if let Some(again) = reception.again {
            self.outlet.port.write(&again);
        }
        if reception.hidden {
            return false;
        }
        if let Some(window) = reception.window {
            segment.set_window(window, frame);
        }
        if segment.syn && self.manner != LossRecovery::Sack {
            segment.refuse_sack(frame);
        }
        self.inbox.first = self.neighbours.lesson(&segment, now);
        true
    }
}

impl<P: Port> Device for BareDevice<P> {
    type RxToken<'a>
        = Received<'a>
    where
        P: 'a;
    type TxToken<'a>
        = ToSend<'a, P>
    where
        P: 'a;

    fn receive(&mut self, now: Instant) -> Option<(Received<'_>, ToSend<'_, P>)> {
        // The time is never negative, so the conversion does not fail.
        let now = Duration::from_micros(now.total_micros().try_into().unwrap_or_default());
        let received = self.fill(now).then_some(Received(&mut self.inbox))?;
        Some((received, ToSend(&mut self.outlet)))
    }

    fn transmit(&mut self, _: Instant) -> Option<ToSend<'_, P>> {
        Some(ToSend(&mut self.outlet))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = LARGEST;
        capabilities
    }
}

/// A token to receive a frame.
#[derive(Debug)]
pub(super) struct Received<'a>(&'a mut Inbox);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        if let Some(first) = self.0.first.take() {
            return f(&first);
        }
        self.0.waiting = false;
        f(&self.0.bytes[..self.0.length])
    }
}

/// A token to send a frame.
#[derive(Debug)]
pub(super) struct ToSend<'a, P>(&'a mut Outlet<P>);

impl<P: Port> TxToken for ToSend<'_, P> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let outlet = self.0;
        if outlet.bytes.len() < length {
            outlet.bytes.resize(length, 0);
        }
        let frame = &mut outlet.bytes[..length];
        let done = f(frame);
        if let Some(segment) = Segment::read(frame) {
            outlet.flows.sent(&segment, frame);
        }
        outlet.port.write(frame);
        done
    }
}
