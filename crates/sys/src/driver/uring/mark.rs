//! What a submission carries so that its completion finds home.

use crate::driver::Slot;

/// The last generation; then they begin again.
pub(super) const GENERATIONS: u32 = 0xff_ffff;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Operation {
    /// To tell when a connection is established.
    Connect = 1,
    /// To receive.
    Receive,
    /// To drop what comes.
    Discard,
    /// To send bytes that are held until the end of that is told.
    Send,
    /// To tell of the end, however it comes.
    Watch,
    /// To open a descriptor for a file in the ring's table.
    Install,
    /// To send at once or not at all.
    Pass,
    /// To receive datagrams.
    Hear,
    /// To tell when there is room for datagrams.
    Room,
    /// To send bytes that are kept for good; told only where that fails. A mark of its own, so that
    /// its end is not taken for that of a [`Send`](Operation::Send), whose bytes may then go.
    SendKept,
    /// Something of which only the effect matters: closing, cancelling.
    Quiet,
}

/// A slot, the generation of the connection in it, so that nothing late is taken for a successor's,
/// and what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) slot: Slot,
    /// At most [`GENERATIONS`].
    pub(super) generation: u32,
    pub(super) operation: Operation,
}

/// True where `packed` is the mark of bytes passed.
pub(super) fn is_pass(packed: u64) -> bool {
    packed >> 56 == Operation::Pass as u64
}

impl Mark {
    pub(super) fn pack(self) -> u64 {
        let generation = u64::from(self.generation & GENERATIONS);
        u64::from(self.slot) | generation << 32 | (self.operation as u64) << 56
    }

    pub(super) fn unpack(packed: u64) -> Mark {
        let operation = match packed >> 56 {
            1 => Operation::Connect,
            2 => Operation::Receive,
            3 => Operation::Discard,
            4 => Operation::Send,
            5 => Operation::Watch,
            6 => Operation::Install,
            7 => Operation::Pass,
            8 => Operation::Hear,
            9 => Operation::Room,
            10 => Operation::SendKept,
            _ => Operation::Quiet,
        };
        Mark { slot: packed as u32, generation: (packed >> 32) as u32 & GENERATIONS, operation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_survives_the_way_through_the_kernel() {
        use Operation::{
            Connect, Discard, Hear, Install, Pass, Quiet, Receive, Room, Send, SendKept, Watch,
        };
        let all =
            [Connect, Receive, Discard, Send, Watch, Install, Pass, Hear, Room, SendKept, Quiet];
        for operation in all {
            for (slot, generation) in [(0, 0), (7, 1), (u32::MAX, 0xff_ffff)] {
                let mark = Mark { slot, generation, operation };
                assert_eq!(Mark::unpack(mark.pack()), mark);
            }
        }
    }
}
