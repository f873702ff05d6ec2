//! The settings of a follower.

/// The settings of a follower: the connections to follow, and the limits on memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The server ports of the connections to follow. If empty, all connections are followed.
    pub ports: Vec<u16>,
    /// The maximum number of connections followed at once, at least 1. A new connection then
    /// replaces one that is over, or otherwise the one that has been idle for the longest time.
    pub max_flows: usize,
    /// The idle time after which a connection is no longer followed, in nanoseconds of the
    /// capture's clock.
    pub idle_ns: u64,
    /// The idle time after which a connection that is over is reported, in nanoseconds. Late
    /// packets, such as an ACK or a retransmitted FIN, are still attributed to it until then.
    pub linger_ns: u64,
    /// The maximum number of stream bytes buffered behind gaps, over all connections. If it is
    /// exceeded, HTTP on a connection is not followed to the end (`Doubts::unparsed`).
    pub buffer_bytes: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            ports: Vec::new(),
            max_flows: 1 << 17,
            idle_ns: 300_000_000_000,
            linger_ns: 5_000_000_000,
            buffer_bytes: 64 << 20,
        }
    }
}
