//! What TCP knew of connections when they were closed: round trips, what was sent again, sizes; and of
//! their handshakes when they were established.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use sixmark_document::timing::{Summary, Timing};
use sixmark_units::counts::Counts;

/// One connection as its kernel saw it; absent is what that does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpSample {
    /// The smoothed round trip time, nanoseconds.
    pub rtt: Option<u64>,
    /// The shortest round trip, nanoseconds.
    pub min_rtt: Option<u64>,
    /// Segments sent again.
    pub retransmitted: u32,
    /// Segments that the peer reports to have received twice (DSACK).
    pub duplicates: Option<u32>,
    /// Segments that the peer acknowledged.
    pub delivered: Option<u32>,
    /// The largest segment that is sent, in bytes without headers.
    pub mss: u32,
}

/// What the kernel says of a handshake that is just over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// From the SYN to the SYN-ACK, nanoseconds.
    Took(u64),
    /// The SYN was sent again, so that there is no time.
    SentAgain,
    /// There is no other time either.
    Untimed,
}

/// The handshakes of one family that the kernel was asked about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HandshakeTally {
    /// How many.
    pub asked: u64,
    /// Those whose SYN was sent again.
    pub sent_again: u64,
    /// Others of which the kernel gave no time.
    pub untimed: u64,
    /// How long the rest took by the kernel's clock,
    pub kernel: Timing,
    /// and from the connect call to established by the client's.
    pub client: Timing,
}

impl HandshakeTally {
    /// Counts a handshake that took the client so many nanoseconds.
    pub fn record(&mut self, said: Handshake, client: u64) {
        self.asked += 1;
        match said {
            Handshake::Took(nanos) => {
                self.kernel.record(nanos);
                self.client.record(client);
            }
            Handshake::SentAgain => self.sent_again += 1,
            Handshake::Untimed => self.untimed += 1,
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

impl AddAssign<&HandshakeTally> for HandshakeTally {
    fn add_assign(&mut self, other: &HandshakeTally) {
        self.asked += other.asked;
        self.sent_again += other.sent_again;
        self.untimed += other.untimed;
        self.kernel += &other.kernel;
        self.client += &other.client;
    }
}

/// The connections of one family that were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TcpTally {
    /// How many were read.
    pub read: u64,
    /// Their smoothed round trips.
    pub rtt: Timing,
    /// Their shortest round trips.
    pub min_rtt: Timing,
    /// Segments that they sent again.
    pub retransmitted: u64,
    /// Of those, the ones that their peers had already; absent if no kernel reported it.
    pub spurious: Option<u64>,
    /// How many of them sent any again.
    pub retransmitting: u64,
    /// Segments that their peers acknowledged; absent where no kernel told.
    pub delivered: Option<u64>,
    /// How many had which largest segment, in bytes.
    pub mss: Counts<u32>,
    /// The handshakes that the kernel was asked about, of connections established.
    pub handshake: HandshakeTally,
}

impl TcpTally {
    /// Counts a connection.
    pub fn record(&mut self, path: &TcpSample) {
        self.read += 1;
        path.rtt.into_iter().for_each(|nanos| self.rtt.record(nanos));
        path.min_rtt.into_iter().for_each(|nanos| self.min_rtt.record(nanos));
        self.retransmitted += u64::from(path.retransmitted);
        // A network may duplicate segments too: those were not sent again.
        let spurious = path.duplicates.map(|twice| u64::from(twice.min(path.retransmitted)));
        self.spurious = sum(self.spurious, spurious);
        self.retransmitting += u64::from(path.retransmitted > 0);
        self.delivered = sum(self.delivered, path.delivered.map(u64::from));
        // What was only watched may not have shown it.
        if path.mss > 0 {
            self.mss.add(path.mss, 1);
        }
    }

    /// The figures of a result document.
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
            handshake: Some(self.handshake.result()).filter(|found| found.asked > 0),
        }
    }
}

impl AddAssign<&TcpTally> for TcpTally {
    fn add_assign(&mut self, other: &TcpTally) {
        self.read += other.read;
        self.rtt += &other.rtt;
        self.min_rtt += &other.min_rtt;
        self.retransmitted += other.retransmitted;
        self.spurious = sum(self.spurious, other.spurious);
        self.retransmitting += other.retransmitting;
        self.delivered = sum(self.delivered, other.delivered);
        self.mss += &other.mss;
        self.handshake += &other.handshake;
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

/// The connections of one family that were read, in a result document.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TcpResult {
    /// How many of connections.closed were read: all of a short run, a sample of a long one.
    pub read: u64,
    /// Their smoothed round trip times.
    pub rtt_us: Summary,
    /// Their shortest round trip times.
    pub min_rtt_us: Summary,
    /// Segments that they sent again, SYNs included.
    pub retransmitted: u64,
    /// Of those sent again, the ones that the peers report to have had already (DSACK), as
    /// tail-loss probes often are: nothing was lost. null where the kernel does not report it
    /// (before 4.20), and for watched traffic.
    #[serde(default)]
    pub spurious: Option<u64>,
    /// How many of them sent any again.
    pub connections_retransmitting: u64,
    /// Segments with data or SYN of theirs that the peer acknowledged; null where the kernel does
    /// not tell.
    pub delivered: Option<u64>,
    /// How many of them had which largest segment to send, in bytes without headers.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<u16, std::num::NonZeroU64>")
    )]
    pub mss: BTreeMap<u32, u64>,
    /// TCP's handshakes that the kernel was asked about just after them: all of a short run or
    /// with the kernel's clock, a sample of a long one; null: none. Both times are of the same
    /// connections.
    #[serde(default)]
    pub handshake: Option<HandshakeResult>,
}

/// The handshakes of one family that the kernel was asked about, in a result document: both times are of
/// the same connections.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandshakeResult {
    /// How many, just after they were established.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub asked: u64,
    /// Of those, the ones whose SYN was sent again: the kernel has no time of them.
    pub sent_again: u64,
    /// Others of which it gave none.
    pub untimed: u64,
    /// SYN to SYN-ACK of the rest, by the kernel's clock in whole microseconds.
    pub kernel_us: Summary,
    /// Connect call to established of the same, by sixmark's clock.
    pub client_us: Summary,
}

impl TcpResult {
    /// Segments sent again that their peers did not have already. Tail-loss probes (RFC 8985), which are
    /// sent when an acknowledgement is merely put off, are none of them.
    pub fn lost(&self) -> u64 {
        self.retransmitted.saturating_sub(self.spurious.unwrap_or(0))
    }

    /// The part of the segments that was lost; none where nothing was delivered.
    pub fn lost_share(&self) -> Option<f64> {
        let delivered = self.delivered.filter(|&delivered| delivered > 0)?;
        Some(self.lost() as f64 / delivered as f64)
    }

    /// The parts lost differ by more than chance: more than three standard errors, each segment having
    /// its own luck.
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

    fn path(retransmitted: u32, delivered: Option<u32>) -> TcpSample {
        TcpSample {
            rtt: Some(30_000),
            min_rtt: Some(20_000),
            retransmitted,
            duplicates: Some(0),
            delivered,
            mss: if retransmitted > 0 { 1_428 } else { 1_440 },
        }
    }

    fn of(paths: &[TcpSample]) -> TcpTally {
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
    fn both_clocks_are_of_the_handshakes_that_have_a_time() {
        let mut tally = TcpTally::default();
        assert!(tally.result().handshake.is_none());
        tally.handshake.record(Handshake::Took(5_000), 20_000);
        tally.handshake.record(Handshake::SentAgain, 1_000_000_000);
        tally.handshake.record(Handshake::Untimed, 30_000);
        let mut both = tally.clone();
        both += &tally;
        let found = both.result().handshake.unwrap();
        assert_eq!((found.asked, found.sent_again, found.untimed), (6, 2, 2));
        assert_eq!((found.kernel_us.count, found.kernel_us.max), (2, Some(5.0)));
        assert_eq!((found.client_us.count, found.client_us.max), (2, Some(20.0)));
    }

    #[test]
    fn what_no_kernel_told_is_absent() {
        let result = of(&[TcpSample { mss: 536, ..TcpSample::default() }]).result();
        assert_eq!((result.rtt_us.count, result.delivered), (0, None));
        assert_eq!((result.spurious, result.lost_share()), (None, None));
    }

    #[test]
    fn what_the_peer_had_already_is_not_lost() {
        let duplicates = |duplicates| TcpSample { duplicates, ..path(10, Some(1_000)) };
        let told = of(&[duplicates(Some(10))]).result();
        assert_eq!((told.spurious, told.lost(), told.lost_share()), (Some(10), 0, Some(0.0)));
        assert!(!told.losses_unlike(&of(&[path(0, Some(1_000))]).result()));
        // Duplicates of the network's are no more than what was sent again.
        let network = of(&[duplicates(Some(12)), duplicates(Some(0))]).result();
        assert_eq!((network.spurious, network.lost()), (Some(10), 10));
        assert_eq!(of(&[duplicates(None)]).result().lost(), 10);
    }

    #[test]
    fn shares_differ_only_by_more_than_chance() {
        let share = |again, delivered| of(&[path(again, Some(delivered))]).result();
        assert!(share(100, 100_000).losses_unlike(&share(10, 100_000)));
        assert!(!share(100, 100_000).losses_unlike(&share(95, 100_000)));
        assert!(!share(2, 1_000).losses_unlike(&share(0, 1_000)));
        assert!(!share(0, 1_000).losses_unlike(&share(0, 1_000)));
        assert!(!share(5, 1_000).losses_unlike(&share(0, 0)));
    }
}
