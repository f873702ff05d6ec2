//! The user data of a submission, by which its completion is attributed.

use crate::driver::Slot;

/// The highest generation. The next one is 0.
pub(super) const GENERATIONS: u32 = 0xff_ffff;

/// The operation of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Operation {
    /// Report when a connection is established.
    Connect = 1,
    /// Receive.
    Receive,
    /// Discard received bytes.
    Discard,
    /// Send bytes that are held until the completion.
    Send,
    /// Report the end of a connection, whatever its cause.
    Watch,
    /// Open a descriptor for a file in the ring's table.
    Install,
    /// Send at once as much as fits, without waiting.
    Pass,
    /// Receive datagrams.
    Hear,
    /// Report when there is room to send datagrams.
    Room,
    /// Send bytes that are kept permanently. Only a failure is reported. It has a mark of its own,
    /// so that its completion is not mistaken for that of a [`Send`](Operation::Send), whose bytes
    /// may then be freed.
    SendKept,
    /// Receive with timestamps.
    ReceiveStamped,
    /// Report when there is something to receive by a plain call.
    Readable,
    /// An operation whose completion is ignored: closing, cancelling.
    Quiet,
}

/// The slot, the generation of its connection and the operation. The generation keeps a late
/// completion from being attributed to a later connection in the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) slot: Slot,
    /// At most [`GENERATIONS`].
    pub(super) generation: u32,
    pub(super) operation: Operation,
}

/// Returns true if `packed` is the mark of a [`Pass`](Operation::Pass).
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
            11 => Operation::ReceiveStamped,
            12 => Operation::Readable,
            _ => Operation::Quiet,
        };
        Mark { slot: packed as u32, generation: (packed >> 32) as u32 & GENERATIONS, operation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_survives_packing_into_user_data() {
        use Operation::{
            Connect, Discard, Hear, Install, Pass, Quiet, Readable, Receive, ReceiveStamped, Room,
            Send, SendKept, Watch,
        };
        let all = [
            Connect,
            Receive,
            Discard,
            Send,
            Watch,
            Install,
            Pass,
            Hear,
            Room,
            SendKept,
            ReceiveStamped,
            Readable,
            Quiet,
        ];
        for operation in all {
            for (slot, generation) in [(0, 0), (7, 1), (u32::MAX, 0xff_ffff)] {
                let mark = Mark { slot, generation, operation };
                assert_eq!(Mark::unpack(mark.pack()), mark);
            }
        }
    }
}
