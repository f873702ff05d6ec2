//! Takes packets out of a ring, and counts them.

use sixmark_sys::packets::{Begin, Frame, PacketRing};
use sixmark_wire::Link;

use super::unable;
use sixmark_machine::CommandError;

/// So many blocks are taken at once, so that other rings have their turn.
const BLOCKS: usize = 16;

/// A ring, and what came out of it.
#[derive(Debug)]
pub(crate) struct Taker {
    ring: PacketRing,
    interface: String,
    link: Link,
    /// Packets that were looked at.
    packets: u64,
    /// What the kernel says: packets that came, and those of them that it dropped.
    came: u64,
    dropped: u64,
    /// For frames that have to be put together again.
    room: Vec<u8>,
}

/// A packet as it was on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken<'a> {
    pub(crate) link: Link,
    /// CLOCK_REALTIME.
    pub(crate) at_ns: u64,
    pub(crate) length: u32,
    pub(crate) bytes: &'a [u8],
}

impl Taker {
    pub(crate) fn new(ring: PacketRing, interface: String) -> Taker {
        let link = match ring.begin() {
            Begin::Ethernet => Link::Ethernet,
            Begin::Ip => Link::Ip,
        };
        Taker { ring, interface, link, packets: 0, came: 0, dropped: 0, room: Vec::new() }
    }

    /// Hands out what the kernel has handed over. False where there was nothing.
    ///
    /// # Errors
    /// Whatever `each` gives.
    pub(crate) fn look(
        &mut self,
        mut each: impl FnMut(Taken<'_>) -> Result<(), CommandError>,
    ) -> Result<bool, CommandError> {
        let mut any = false;
        for _ in 0..BLOCKS {
            let Some(block) = self.ring.block() else { break };
            any = true;
            for frame in block.frames() {
                self.packets += 1;
                let (bytes, length) = whole_frame(&frame, &mut self.room);
                each(Taken { link: self.link, at_ns: frame.at_ns, length, bytes })?;
            }
        }
        Ok(any)
    }

    /// Asks the kernel what came.
    pub(crate) fn count(&mut self) -> Result<(), CommandError> {
        let counts = self.ring.counts().map_err(|error| unable(&self.interface, &error))?;
        self.came += counts.packets;
        self.dropped += counts.dropped;
        Ok(())
    }

    /// What the kernel kept until it was asked has been looked at.
    pub(crate) fn is_through(&self) -> bool {
        self.packets >= self.came - self.dropped
    }

    pub(crate) fn ring(&self) -> &PacketRing {
        &self.ring
    }

    pub(crate) fn interface(&self) -> &str {
        &self.interface
    }

    pub(crate) fn link(&self) -> Link {
        self.link
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// As far as the kernel was asked.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// A frame with its VLAN tag where it was on the wire, behind both addresses.
fn whole_frame<'a>(frame: &Frame<'a>, room: &'a mut Vec<u8>) -> (&'a [u8], u32) {
    match (frame.vlan, frame.bytes.split_at_checked(12)) {
        (Some(tag), Some((addresses, rest))) => {
            room.clear();
            room.extend_from_slice(addresses);
            room.extend_from_slice(&tag);
            room.extend_from_slice(rest);
            (room.as_slice(), frame.length + tag.len() as u32)
        }
        _ => (frame.bytes, frame.length),
    }
}
