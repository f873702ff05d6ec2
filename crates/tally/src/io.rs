//! How often data was handed to the kernel and taken from it, which is most of what a request
//! costs a client.

use serde::{Deserialize, Serialize};

use crate::tally_part::tally_parts;
use sixmark_document::untrusted::is_default;

/// Numbers of sends and receives over connections of one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoTally {
    /// Times that data was handed to the kernel.
    #[serde(skip_serializing_if = "is_default")]
    pub sends: u64,
    /// Times that the kernel returned data.
    #[serde(skip_serializing_if = "is_default")]
    pub receives: u64,
    /// Datagrams sent, several of which may be handed over at once.
    #[serde(skip_serializing_if = "is_default")]
    pub datagrams_sent: u64,
    /// Datagrams received, several of which may be returned at once.
    #[serde(skip_serializing_if = "is_default")]
    pub datagrams_received: u64,
}

impl IoTally {
    /// Returns the figures for a result document. `exchanges` is the number of exchanges started.
    /// `None` if nothing was counted.
    pub fn result(&self, exchanges: u64) -> Option<IoResult> {
        let of = |count: u64| IoCount {
            count,
            per_exchange: (exchanges > 0).then(|| count as f64 / exchanges as f64),
        };
        let over_datagrams = self.datagrams_sent > 0;
        (self != &IoTally::default()).then(|| IoResult {
            sends: of(self.sends),
            receives: of(self.receives),
            datagrams_sent: over_datagrams.then(|| of(self.datagrams_sent)),
            datagrams_received: over_datagrams.then(|| of(self.datagrams_received)),
        })
    }
}

tally_parts!(IoTally { sends, receives, datagrams_sent, datagrams_received });

/// Sends and receives in a result. Handshakes and what closes connections are included.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoResult {
    /// Times that data was handed to the kernel: by a system call or, with io_uring, by an entry
    /// of its queue.
    pub sends: IoCount,
    /// Times that the kernel returned data: by a system call, one of several messages of a call,
    /// or a completion of io_uring.
    pub receives: IoCount,
    /// Datagrams sent; null without QUIC. The kernel makes several of one send (UDP_SEGMENT).
    pub datagrams_sent: Option<IoCount>,
    /// Datagrams received; null without QUIC. The kernel merges several into one receive (UDP_GRO).
    pub datagrams_received: Option<IoCount>,
}

/// A number of operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoCount {
    /// The number during the measurement.
    pub count: u64,
    /// The number divided by requests.sent; null if no request was sent.
    pub per_exchange: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_counts_by_exchanges_and_omits_datagrams_over_tcp() {
        assert!(IoTally::default().result(5).is_none());
        let mut tally = IoTally { sends: 3, receives: 6, ..IoTally::default() };
        let result = tally.result(4).unwrap();
        assert_eq!((result.sends.count, result.sends.per_exchange), (3, Some(0.75)));
        assert_eq!((result.receives.count, result.receives.per_exchange), (6, Some(1.5)));
        assert!(result.datagrams_sent.is_none() && result.datagrams_received.is_none());
        tally += &IoTally { datagrams_sent: 8, ..tally };
        let result = tally.result(0).unwrap();
        assert_eq!(result.sends.per_exchange, None);
        assert_eq!(result.datagrams_sent.unwrap().count, 8);
        assert_eq!(result.datagrams_received.unwrap().count, 0);
    }
}
