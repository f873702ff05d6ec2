//! Reading and counting packets of a ring.

use sixmark_sys::packets::{Begin, Frame, PacketRing};
use sixmark_wire::Link;

use super::unable;
use sixmark_sys::command_error::CommandError;

/// The most blocks that are read at once, so that other rings get their turn.
const BLOCKS: usize = 16;

/// A ring with the counts of its packets.
#[derive(Debug)]
pub(crate) struct Taker {
    ring: PacketRing,
    interface: String,
    link: Link,
    /// Packets that were processed.
    packets: u64,
    /// The kernel's counts: packets that arrived, and those of them that it dropped.
    came: u64,
    dropped: u64,
    /// A buffer for frames whose VLAN tag is reinserted.
    room: Vec<u8>,
}

/// A packet as it was on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken<'a> {
    pub(crate) link: Link,
    /// The time of CLOCK_REALTIME.
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

    /// Passes the packets that the kernel has handed over to `each`. Returns false if there were
    /// none.
    ///
    /// # Errors
    /// Returns the error of `each`.
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

    /// Reads the kernel's counts.
    pub(crate) fn count(&mut self) -> Result<(), CommandError> {
        let counts = self.ring.counts().map_err(|error| unable(&self.interface, &error))?;
        self.came += counts.packets;
        self.dropped += counts.dropped;
        Ok(())
    }

    /// Reports whether all packets counted by the kernel at the last call of `count` have been
    /// processed.
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

    /// Returns the dropped packets as of the last call of `count`.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Returns a frame with its VLAN tag at its original position, after both addresses.
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
