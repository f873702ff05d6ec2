//! A byte server over io_uring with the lowest cost per request that Linux allows. Each thread has
//! one ring, which accepts into its own file table, receives into shared buffers and sends from
//! static memory. A [`Handler`] interprets the bytes.
//!
//! Accepted connections are not descriptors of the process: the limit on open files applies to the
//! table of each ring and not to all of them together.

mod part;
mod ring;
mod server;
mod slot;

pub use part::RepeatedBytes;
pub use server::Server;

/// A protocol handler that serves all connections of a thread.
pub trait Handler {
    /// The state of a connection. It should be small, because every idle connection has one.
    type Memory: Default;

    /// Handles received bytes and appends the response to `say`.
    fn on_bytes(
        &mut self,
        memory: &mut Self::Memory,
        bytes: &[u8],
        say: &mut Vec<RepeatedBytes>,
    ) -> NextStep;
}

/// What happens to a connection after the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The connection stays open.
    Listen,
    /// The connection is closed. The peer is not expected to have sent more.
    End,
    /// The connection is closed although the peer may still be sending. Its bytes are discarded
    /// until it ends the connection, because Linux answers a close with unread bytes by a reset,
    /// which could overtake the response.
    Refuse,
}
