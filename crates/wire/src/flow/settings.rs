//! What a follower is told.

/// What is followed, and with how much memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Servers' ports. Connections to others are not followed; where there are none, all are.
    pub ports: Vec<u16>,
    /// So many connections are followed at once at most. Another one takes the place of one that is over
    /// or else of the one that was idle for the longest time. At least 1.
    pub max_flows: usize,
    /// A connection that is idle for so long is no longer followed, in nanoseconds of the capture's clock.
    pub idle_ns: u64,
    /// One that is over is told of when it is idle for so long, in nanoseconds: what comes of it late, an
    /// ACK or a FIN sent again, still is its own.
    pub linger_ns: u64,
    /// Bytes of streams that may wait at once for what is missing before them, of all connections. Where
    /// they are not enough, HTTP is not followed to its end (`Doubts::unparsed`).
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
