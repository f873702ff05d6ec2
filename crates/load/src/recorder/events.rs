//! Counting what happens to exchanges and connections on the way.

use sixmark_tally::quic::QuicEnding;
use sixmark_tally::tally::{FamilyTally, Tally};
use sixmark_units::family::Family;

use super::Recorder;

impl Recorder {
    /// Counts a request of `bytes` bytes whose last byte was handed over.
    #[inline]
    pub(crate) fn count_request_bytes(&mut self, family: Family, bytes: u64) {
        let tally = &mut self.tally[family];
        tally.bytes.sent += bytes;
        tally.io.sends += 1;
    }

    /// Counts a receive of `bytes` bytes of a response.
    #[inline]
    pub(crate) fn count_response_bytes(&mut self, family: Family, bytes: u64) {
        let tally = &mut self.tally[family];
        tally.bytes.received += bytes;
        tally.io.receives += 1;
    }

    /// Counts a request that is sent again.
    pub(crate) fn count_resent(&mut self, family: Family) {
        self.tally[family].resent += 1;
    }

    /// Counts an exchange that followed a redirect.
    pub(crate) fn count_followed(&mut self, family: Family) {
        self.tally[family].followed += 1;
    }

    /// Counts a redirect that is not followed: too many led there in a row.
    pub(crate) fn count_cut_chain(&mut self, family: Family) {
        self.tally[family].cut_chains += 1;
    }

    /// Counts a redirect that is not followed for the reason `why`.
    pub(crate) fn count_unfollowed(&mut self, family: Family, why: &'static str) {
        self.tally[family].unfollowed.add(why, 1);
    }

    /// Counts an exchange that is not started because its family was given up.
    pub(crate) fn count_given_up(&mut self, family: Family) {
        self.tally[family].given_up += 1;
    }

    /// Counts a QUIC connection that was established.
    pub(crate) fn count_opened(&mut self, family: Family) {
        self.tally[family].connections.opened += 1;
    }

    /// Counts a connection that could not be opened before the load.
    pub(crate) fn count_unopened(&mut self, family: Family) {
        self.tally[family].connections.unopened += 1;
    }

    /// Counts an idle connection that is closed in favour of another.
    pub(crate) fn count_displaced(&mut self, family: Family) {
        self.tally[family].connections.displaced += 1;
    }

    /// Counts a connection on which the peer accepts no more exchanges.
    pub(crate) fn count_drained(&mut self, family: Family) {
        self.tally[family].connections.drained += 1;
    }

    /// Counts a server that supports other versions of QUIC only.
    pub(crate) fn count_version_mismatch(&mut self, family: Family) {
        self.tally[family].quic.mismatched += 1;
    }

    /// Counts a QUIC connection that ended: of the measurement if `counted`, and as one that carried
    /// exchanges of it if `carries`.
    pub(crate) fn count_quic_end(
        &mut self,
        family: Family,
        ending: &QuicEnding,
        counted: bool,
        carries: bool,
    ) {
        let quic = &mut self.tally[family].quic;
        if counted {
            quic.record(ending);
        }
        if carries {
            quic.carriers_rtt.record(ending.rtt);
        }
    }

    /// Counts a TLS handshake that failed without a known cause, in the measurement if `counted`.
    pub(crate) fn count_failed_handshake(&mut self, family: Family, counted: bool) {
        let tally = &mut self.tally[family];
        let tally = if counted { tally } else { tally.failing_warm_up() };
        tally.tls.failed(None);
    }

    /// Returns the counts of a family so far.
    pub(crate) fn counts_of(&self, family: Family) -> &FamilyTally {
        &self.tally[family]
    }

    /// Returns the counts.
    pub(crate) fn into_tally(self) -> Tally {
        self.tally
    }
}
