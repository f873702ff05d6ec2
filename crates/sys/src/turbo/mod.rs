//! A server of bytes over io_uring that costs as little a request as Linux allows: one ring a
//! thread, which accepts into its own table of descriptors, receives into shared buffers and sends
//! from memory that lives for ever. What the bytes mean is a [`Talk`]'s to know.
//!
//! Accepted connections are no descriptors of the process: the limit of open files holds for each
//! ring's table, not for all of them together.

mod part;
mod ring;
mod server;
mod slot;

pub use part::RepeatedBytes;
pub use server::Server;

/// One side of a conversation, for all connections of a thread.
pub trait Talk {
    /// What it remembers of a connection; small, since every idle connection has one.
    type Memory: Default;

    /// These bytes came. What is to be answered is appended to `say`.
    fn hear(
        &mut self,
        memory: &mut Self::Memory,
        bytes: &[u8],
        say: &mut Vec<RepeatedBytes>,
    ) -> Then;
}

/// What becomes of a connection after what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on.
    Listen,
    /// It ends; the peer is not expected to have sent more.
    End,
    /// It ends, while the peer may still be sending: its bytes are dropped until its own end, since
    /// Linux answers unread bytes at a close with a reset, which could overtake the answer.
    Refuse,
}
