//! TCP statistics of connections, read when they were closed: round-trip times, retransmissions and
//! segment sizes; and of their handshakes, read when they were established.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tally_part::tally_parts;
use sixmark_document::timing::{Summary, Timing};
use sixmark_document::untrusted::is_default;
use sixmark_units::counts::Counts;
use sixmark_units::tcp_info::{TcpHandshake, TcpInfo, TcpOptions};

/// The TCP handshakes of one family whose times were requested from the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandshakeTally {
    /// The number of handshakes.
    #[serde(skip_serializing_if = "is_default")]
    pub asked: u64,
    /// Handshakes among these whose SYN was retransmitted.
    #[serde(skip_serializing_if = "is_default")]
    pub sent_again: u64,
    /// Other handshakes for which the kernel reported no time.
    #[serde(skip_serializing_if = "is_default")]
    pub untimed: u64,
    /// The durations of all other handshakes by the kernel's clock.
    #[serde(skip_serializing_if = "is_default")]
    pub kernel: Timing,
    /// The durations of the same handshakes by the client's clock, from the connect call to
    /// established.
    #[serde(skip_serializing_if = "is_default")]
    pub client: Timing,
}

impl HandshakeTally {
    /// Counts a handshake that took `client` nanoseconds by the client's clock.
    pub fn record(&mut self, said: TcpHandshake, client: u64) {
        self.asked += 1;
        match said {
            TcpHandshake::Took(nanos) => {
                self.kernel.record(nanos);
                self.client.record(client);
            }
            TcpHandshake::SentAgain => self.sent_again += 1,
            TcpHandshake::Untimed => self.untimed += 1,
        }
    }

    fn result(&self) -> HandshakeResult {
        HandshakeResult {
            asked: self.asked,
            sent_again: self.sent_again,
            untimed: self.untimed,
            kernel_us: self.kernel.summary(),
            client_us: self.client.summary(),
        }
    }
}

tally_parts!(HandshakeTally { asked, sent_again, untimed, kernel, client });

/// Connections by the options that both sides agreed on in the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TcpOptionCounts {
    /// Connections whose options are known.
    pub known: u64,
    /// Connections with timestamps (RFC 7323, 3).
    pub timestamps: u64,
    /// Connections with selective acknowledgements (RFC 2018).
    pub sack: u64,
    /// Connections with window scaling (RFC 7323, 2).
    pub window_scaling: u64,
    /// Connections with explicit congestion notification (RFC 3168).
    pub ecn: u64,
}

tally_parts!(TcpOptionCounts { known, timestamps, sack, window_scaling, ecn });

impl TcpOptionCounts {
    fn add(&mut self, options: TcpOptions) {
        let TcpOptions { timestamps, sack, window_scaling, ecn, ecn_seen: _ } = options;
        self.known += 1;
        self.timestamps += u64::from(timestamps);
        self.sack += u64::from(sack);
        self.window_scaling += u64::from(window_scaling);
        self.ecn += u64::from(ecn);
    }
}

/// The TCP statistics of the connections of one family that were read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TcpTally {
    /// The number of connections read.
    #[serde(skip_serializing_if = "is_default")]
    pub read: u64,
    /// The smoothed round-trip times.
    #[serde(skip_serializing_if = "is_default")]
    pub rtt: Timing,
    /// The shortest round-trip times.
    #[serde(skip_serializing_if = "is_default")]
    pub min_rtt: Timing,
    /// Segments retransmitted.
    #[serde(skip_serializing_if = "is_default")]
    pub retransmitted: u64,
    /// Retransmitted segments that the peers had already received; `None` if no kernel reported
    /// them.
    #[serde(skip_serializing_if = "is_default")]
    pub spurious: Option<u64>,
    /// Connections with a retransmission.
    #[serde(skip_serializing_if = "is_default")]
    pub retransmitting: u64,
    /// Segments that the peers acknowledged; `None` if no kernel reported them.
    #[serde(skip_serializing_if = "is_default")]
    pub delivered: Option<u64>,
    /// Connections by maximum segment size, in bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub mss: Counts<u32>,
    /// Connections by options.
    #[serde(skip_serializing_if = "is_default")]
    pub options: TcpOptionCounts,
    /// The handshakes whose times were requested from the kernel.
    #[serde(skip_serializing_if = "is_default")]
    pub handshake: HandshakeTally,
}

impl TcpTally {
    /// Counts a connection.
    pub fn record(&mut self, path: &TcpInfo) {
        self.read += 1;
        path.rtt.into_iter().for_each(|nanos| self.rtt.record(nanos));
        path.min_rtt.into_iter().for_each(|nanos| self.min_rtt.record(nanos));
        self.retransmitted += u64::from(path.retransmitted);
        // A network may duplicate segments too. Such duplicates are not retransmissions.
        let spurious = path.duplicates.map(|twice| u64::from(twice.min(path.retransmitted)));
        self.spurious = sum(self.spurious, spurious);
        self.retransmitting += u64::from(path.retransmitted > 0);
        self.delivered = sum(self.delivered, path.delivered.map(u64::from));
        // The value may be unknown for watched traffic.
        if path.mss > 0 {
            self.mss.add(path.mss, 1);
        }
        if let Some(options) = path.options {
            self.options.add(options);
        }
    }

    /// Returns the figures for a result document.
    pub fn result(&self) -> TcpResult {
        TcpResult {
            read: self.read,
            rtt_us: self.rtt.summary(),
            min_rtt_us: self.min_rtt.summary(),
            retransmitted: self.retransmitted,
            spurious: self.spurious,
            connections_retransmitting: self.retransmitting,
            delivered: self.delivered,
            mss: self.mss.sorted(),
            options: Some(self.options).filter(|options| options.known > 0),
            handshake: Some(self.handshake.result()).filter(|found| found.asked > 0),
        }
    }
}

tally_parts!(TcpTally {
    read,
    rtt,
    min_rtt,
    retransmitted,
    spurious,
    retransmitting,
    delivered,
    mss,
    options,
    handshake,
});

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}

/// TCP statistics of the connections of one family that were read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TcpResult {
    /// The number of connections read, among connections.closed: all of a short run, a sample of a
    /// long one.
    pub read: u64,
    /// Smoothed round-trip times of these connections.
    pub rtt_us: Summary,
    /// Shortest round-trip times of these connections.
    pub min_rtt_us: Summary,
    /// Segments that these connections retransmitted, including SYNs.
    pub retransmitted: u64,
    /// Segments among those retransmitted that the peers report as already received (DSACK), as is
    /// common for tail-loss probes: nothing was lost. Null if the kernel does not report it (before
    /// 4.20), and for watched traffic.
    #[serde(default)]
    pub spurious: Option<u64>,
    /// Connections among these with a retransmission.
    pub connections_retransmitting: u64,
    /// Segments with data or SYN that the peers acknowledged; null if the kernel does not report
    /// it.
    pub delivered: Option<u64>,
    /// These connections by maximum segment size when sending, in bytes without headers.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<u16, std::num::NonZeroU64>")
    )]
    pub mss: BTreeMap<u32, u64>,
    /// These connections by the options that both sides agreed on; null if the options are not known,
    /// as of watched traffic.
    #[serde(default)]
    pub options: Option<TcpOptionCounts>,
    /// TCP handshakes whose times were requested from the kernel when they had finished: all; in
    /// documents of older versions a sample of a long run. Null if there were none. Both times are
    /// of the same connections.
    #[serde(default)]
    pub handshake: Option<HandshakeResult>,
}

/// The TCP handshakes of one family whose times were requested from the kernel. Both times are of
/// the same connections.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandshakeResult {
    /// The number of handshakes.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub asked: u64,
    /// Handshakes among these whose SYN was retransmitted: the kernel has no time for them.
    pub sent_again: u64,
    /// Other handshakes for which the kernel reported no time.
    pub untimed: u64,
    /// From SYN to SYN-ACK for all other handshakes, by the kernel's clock in whole microseconds.
    pub kernel_us: Summary,
    /// From the connect call to established for the same handshakes, by sixmark's clock.
    pub client_us: Summary,
}

impl TcpResult {
    /// Returns the number of retransmitted segments that the peers had not already received.
    /// Tail-loss probes (RFC 8985) that were sent only because an acknowledgement was delayed are
    /// not included.
    pub fn lost(&self) -> u64 {
        self.retransmitted.saturating_sub(self.spurious.unwrap_or(0))
    }

    /// Returns the lost share of the segments delivered, or `None` if none were delivered.
    pub fn lost_share(&self) -> Option<f64> {
        let delivered = self.delivered.filter(|&delivered| delivered > 0)?;
        Some(self.lost() as f64 / delivered as f64)
    }

    /// Returns true if the lost shares differ by more than three standard errors, and thus by more
    /// than chance, if segments are lost independently.
    pub fn losses_unlike(&self, other: &TcpResult) -> bool {
        let both = [self, other].map(|tcp| (tcp.lost() as f64, tcp.delivered.unwrap_or(0)));
        let [(again, of), (other_again, other_of)] = both.map(|(again, of)| (again, of as f64));
        if of == 0.0 || other_of == 0.0 {
            return false;
        }
        let pooled = (again + other_again) / (of + other_of);
        let error = (pooled * (1.0 - pooled).max(0.0) * (1.0 / of + 1.0 / other_of)).sqrt();
        (again / of - other_again / other_of).abs() > 3.0 * error && again + other_again > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(retransmitted: u32, delivered: Option<u32>) -> TcpInfo {
        TcpInfo {
            options: None,
            rtt: Some(30_000),
            min_rtt: Some(20_000),
            retransmitted,
            duplicates: Some(0),
            delivered,
            mss: if retransmitted > 0 { 1_428 } else { 1_440 },
            out_of_order: None,
        }
    }

    fn of(paths: &[TcpInfo]) -> TcpTally {
        let mut tally = TcpTally::default();
        paths.iter().for_each(|path| tally.record(path));
        tally
    }

    #[test]
    fn connections_are_summed_and_merging_does_not_depend_on_order() {
        let (a, b) = (of(&[path(0, Some(10)), path(3, Some(7))]), of(&[path(2, None)]));
        let (mut one, mut other) = (a.clone(), b.clone());
        one += &b;
        other += &a;
        assert_eq!(one, other);
        let result = one.result();
        let counts = (result.read, result.retransmitted, result.connections_retransmitting);
        assert_eq!((counts, result.delivered), ((3, 5, 2), Some(17)));
        assert_eq!(result.mss, [(1_428, 2), (1_440, 1)].into());
        assert_eq!((result.rtt_us.p50, result.min_rtt_us.count), (Some(30.0), 3));
    }

    #[test]
    fn records_both_clocks_only_for_timed_handshakes() {
        let mut tally = TcpTally::default();
        assert!(tally.result().handshake.is_none());
        tally.handshake.record(TcpHandshake::Took(5_000), 20_000);
        tally.handshake.record(TcpHandshake::SentAgain, 1_000_000_000);
        tally.handshake.record(TcpHandshake::Untimed, 30_000);
        let mut both = tally.clone();
        both += &tally;
        let found = both.result().handshake.unwrap();
        assert_eq!((found.asked, found.sent_again, found.untimed), (6, 2, 2));
        assert_eq!((found.kernel_us.count, found.kernel_us.max), (2, Some(5.0)));
        assert_eq!((found.client_us.count, found.client_us.max), (2, Some(20.0)));
    }

    #[test]
    fn omits_figures_that_the_kernel_does_not_provide() {
        let result = of(&[TcpInfo { mss: 536, ..TcpInfo::default() }]).result();
        assert_eq!((result.rtt_us.count, result.delivered), (0, None));
        assert_eq!((result.spurious, result.lost_share()), (None, None));
    }

    #[test]
    fn does_not_count_spurious_retransmissions_as_lost() {
        let duplicates = |duplicates| TcpInfo { duplicates, ..path(10, Some(1_000)) };
        let told = of(&[duplicates(Some(10))]).result();
        assert_eq!((told.spurious, told.lost(), told.lost_share()), (Some(10), 0, Some(0.0)));
        assert!(!told.losses_unlike(&of(&[path(0, Some(1_000))]).result()));
        // Duplicates made by the network do not exceed the retransmissions.
        let network = of(&[duplicates(Some(12)), duplicates(Some(0))]).result();
        assert_eq!((network.spurious, network.lost()), (Some(10), 10));
        assert_eq!(of(&[duplicates(None)]).result().lost(), 10);
    }

    #[test]
    fn reports_different_loss_shares_only_beyond_chance() {
        let share = |again, delivered| of(&[path(again, Some(delivered))]).result();
        assert!(share(100, 100_000).losses_unlike(&share(10, 100_000)));
        assert!(!share(100, 100_000).losses_unlike(&share(95, 100_000)));
        assert!(!share(2, 1_000).losses_unlike(&share(0, 1_000)));
        assert!(!share(0, 1_000).losses_unlike(&share(0, 1_000)));
        assert!(!share(5, 1_000).losses_unlike(&share(0, 0)));
    }
}
