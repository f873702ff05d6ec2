//! The wire as smoltcp is shown it: without duplicate acknowledgements and offers of SACK, and with
//! its neighbours introduced.
//!
//! smoltcp retransmits at the third duplicate acknowledgement, always, where the server that this
//! one stands for has no fast retransmit. What smoltcp doesn't see it can't react to, so a loss is
//! mended when its timer ends, by sending everything since then again.

use std::io::{self, ErrorKind};
use std::time::Duration;

use sixmark_sys::tap::Tap;
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use smoltcp::wire::EthernetAddress;

use super::flows::Flows;
use super::neighbours::Neighbours;
use super::segment::Segment;

/// The largest frame that is sent: 1500 bytes in Ethernet, without its checksum.
const LARGEST: usize = 1_514;

/// The largest that is received, whatever the interface's MTU.
const ROOM: usize = 65_536;

/// Where frames come from and go to.
pub(super) trait Port {
    /// The next frame; an error where there is none.
    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize>;

    /// Sends a frame, if it can; one that it can't send is lost, as on any wire.
    fn write(&mut self, frame: &[u8]);
}

impl Port for Tap {
    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize> {
        Tap::read(self, frame)
    }

    fn write(&mut self, frame: &[u8]) {
        // EIO while the interface is down, which is what a cable that isn't plugged in is like.
        let _ = Tap::write(self, frame);
    }
}

/// smoltcp's device.
#[derive(Debug)]
pub(super) struct BareDevice<P> {
    inbox: Inbox,
    outlet: Outlet<P>,
    neighbours: Neighbours,
    own: EthernetAddress,
    /// Why there will be no more frames.
    end: Option<io::Error>,
}

/// A frame that arrived, and one that comes before it.
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
    /// The wire behind `port`, at whose end `own` is.
    pub(super) fn new(port: P, own: EthernetAddress, neighbours: Neighbours) -> BareDevice<P> {
        let inbox = Inbox { bytes: vec![0; ROOM], length: 0, first: None, waiting: false };
        let outlet = Outlet { port, bytes: vec![0; LARGEST], flows: Flows::default() };
        BareDevice { inbox, outlet, neighbours, own, end: None }
    }

    /// What passes.
    pub(super) fn flows(&mut self) -> &mut Flows {
        &mut self.outlet.flows
    }

    /// Where frames come from and go to.
    pub(super) fn port(&self) -> &P {
        &self.outlet.port
    }

    /// Why there will be no more frames, where that is so.
    pub(super) fn end(&mut self) -> Option<io::Error> {
        self.end.take()
    }

    /// Has the next frame that smoltcp may see waiting in the inbox; false where there is none.
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
        if self.outlet.flows.heard(&segment) {
            return false;
        }
        if segment.syn {
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
        // Nothing here is before the clock's own start.
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

/// A frame for smoltcp.
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

/// The right to send a frame.
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
            outlet.flows.sent(&segment);
        }
        outlet.port.write(frame);
        done
    }
}
