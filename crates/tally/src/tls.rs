//! TLS handshakes: their durations, the negotiated parameters, certificates and failures.

pub mod alert;
mod cause;

pub use cause::{Cause, Reason};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::names;
use crate::tally_part::tally_parts;
use sixmark_document::timing::{Summary, Timing};
use sixmark_document::untrusted::is_default;
use sixmark_plan::plan::tls::PlanTls;
use sixmark_units::counts::Counts;
use sixmark_wire::x509::rfc3339;

/// The parameters negotiated by a finished handshake. Names are static strings of the TLS library,
/// so that counting them allocates no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The cipher suite's IANA name.
    pub cipher: &'static str,
    /// The group of the key exchange; `None` if a TLS 1.2 session was resumed.
    pub group: Option<&'static str>,
    /// The index, in the plan, of the negotiated application protocol; `None` if there is none.
    pub alpn: Option<u8>,
    /// True if a session was resumed.
    pub resumed: bool,
    /// True if the client offered a session for resumption.
    pub offered: bool,
    /// True if the server requested another ClientHello (HelloRetryRequest), which costs a round
    /// trip.
    pub retried: bool,
    /// The server's own certificate; for a resumed session, the one of its original handshake.
    pub certificate: Option<Certificate>,
}

/// A server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Certificate {
    /// The SHA-256 digest of its DER encoding.
    pub sha256: [u8; 32],
    /// The last second of its validity, in seconds since 1970 UTC; `None` if it cannot be read.
    pub not_after: Option<i64>,
}

/// The TLS handshakes of one family.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TlsTally {
    /// The durations of full handshakes, from connected to finished.
    #[serde(skip_serializing_if = "is_default")]
    pub full: Timing,
    /// The durations of handshakes that resumed a session.
    #[serde(skip_serializing_if = "is_default")]
    pub resumed: Timing,
    /// Full handshakes that finished but have no duration, because the generator was stalled.
    #[serde(skip_serializing_if = "is_default")]
    pub untimed_full: u64,
    /// Handshakes that resumed a session but have no duration, because the generator was stalled.
    #[serde(skip_serializing_if = "is_default")]
    pub untimed_resumed: u64,
    /// Finished handshakes in which the client offered a session for resumption.
    #[serde(skip_serializing_if = "is_default")]
    pub offered: u64,
    /// Finished handshakes in which the server requested another ClientHello.
    #[serde(skip_serializing_if = "is_default")]
    pub retried: u64,
    /// Handshakes that did not finish, including those that were cut off.
    #[serde(skip_serializing_if = "is_default")]
    pub failed: u64,
    /// TLS failures, in handshakes and after them.
    #[serde(skip_serializing_if = "is_default")]
    pub causes: Counts<Cause>,
    /// Finished handshakes by TLS version.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "names::read_counts")]
    pub versions: Counts<&'static str>,
    /// Finished handshakes by cipher suite.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "names::read_counts")]
    pub ciphers: Counts<&'static str>,
    /// Finished handshakes by group of the key exchange.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "names::read_counts")]
    pub groups: Counts<&'static str>,
    /// Finished handshakes by application protocol.
    #[serde(skip_serializing_if = "is_default")]
    pub alpn: Counts<Option<u8>>,
    /// Finished handshakes by the server's certificate.
    #[serde(skip_serializing_if = "is_default")]
    pub certificates: Counts<Certificate>,
}

impl TlsTally {
    /// Counts a finished handshake that took `nanos` nanoseconds.
    pub fn finished(&mut self, facts: &Facts, nanos: u64) {
        let timing = if facts.resumed { &mut self.resumed } else { &mut self.full };
        timing.record(nanos);
        self.agreed(facts);
    }

    /// Counts a finished handshake whose duration is unknown because the generator was stalled.
    pub fn finished_untimed(&mut self, facts: &Facts) {
        let untimed =
            if facts.resumed { &mut self.untimed_resumed } else { &mut self.untimed_full };
        *untimed += 1;
        self.agreed(facts);
    }

    fn agreed(&mut self, facts: &Facts) {
        self.offered += u64::from(facts.offered);
        self.retried += u64::from(facts.retried);
        self.versions.add(facts.version, 1);
        self.ciphers.add(facts.cipher, 1);
        facts.group.into_iter().for_each(|group| self.groups.add(group, 1));
        self.alpn.add(facts.alpn, 1);
        facts.certificate.into_iter().for_each(|certificate| self.certificates.add(certificate, 1));
    }

    /// Counts a handshake that did not finish, either because of a TLS failure (`cause`), or
    /// because the connection or the run ended (`None`).
    pub fn failed(&mut self, cause: Option<Cause>) {
        self.failed += 1;
        cause.into_iter().for_each(|cause| self.causes.add(cause, 1));
    }

    /// Counts a TLS failure after the handshake.
    pub fn broke(&mut self, cause: Cause) {
        self.causes.add(cause, 1);
    }

    /// Returns the round trips that a handshake takes on average, as far as the protocol demands them
    /// (RFC 8446, 2; RFC 5246, 7.3): two for a full handshake of TLS 1.2, else one, and one more if the
    /// server requested another ClientHello. 0 if there was none.
    pub fn round_trips(&self) -> f64 {
        let resumed = self.resumed.count().saturating_add(self.untimed_resumed);
        let all = resumed.saturating_add(self.full.count()).saturating_add(self.untimed_full);
        if all == 0 {
            return 0.0;
        }
        let old: u64 =
            self.versions.iter().filter(|(of, _)| *of == "TLSv1.2").map(|(_, n)| n).sum();
        // Sessions that are resumed are of one version, except where servers differ.
        let full_old = old.saturating_sub(resumed);
        1.0 + (full_old as f64 + self.retried as f64) / all as f64
    }

    /// Returns the figures for a result document.
    pub fn result(&self, plan: &PlanTls) -> TlsResult {
        let mut all = self.full.clone();
        all += &self.resumed;
        TlsResult {
            handshakes: self.handshakes(),
            tls_us: all.summary(),
            full_us: self.full.summary(),
            resumed_us: self.resumed.summary(),
            versions: counts_by_name(&self.versions),
            ciphers: counts_by_name(&self.ciphers),
            groups: counts_by_name(&self.groups),
            alpn: self.alpn.iter().map(|(alpn, count)| (protocol(plan, alpn), count)).collect(),
            certificates: self.certificates.sorted().into_iter().map(certificate).collect(),
            failures: self.causes.sorted().into_iter().map(failure).collect(),
        }
    }

    fn handshakes(&self) -> Handshakes {
        Handshakes {
            full: self.full.count() + self.untimed_full,
            resumed: self.resumed.count() + self.untimed_resumed,
            offered: self.offered,
            retried: self.retried,
            failed: self.failed,
        }
    }
}

fn counts_by_name(counts: &Counts<&'static str>) -> BTreeMap<String, u64> {
    counts.iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

/// Returns the name of an application protocol, or `none` if none was negotiated.
fn protocol(plan: &PlanTls, alpn: Option<u8>) -> String {
    let name = alpn.and_then(|number| plan.alpn.get(usize::from(number)));
    name.map_or_else(|| "none".to_owned(), String::clone)
}

fn certificate((of, count): (Certificate, u64)) -> CertificateCount {
    let sha256 = of.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    CertificateCount { sha256, not_after: of.not_after.map(rfc3339), count }
}

fn failure((cause, count): (Cause, u64)) -> CauseCount {
    CauseCount { cause, count }
}

tally_parts!(TlsTally {
    full,
    resumed,
    untimed_full,
    untimed_resumed,
    offered,
    retried,
    failed,
    causes,
    versions,
    ciphers,
    groups,
    alpn,
    certificates,
});

/// The TLS handshakes of one family.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TlsResult {
    /// Numbers of handshakes.
    pub handshakes: Handshakes,
    /// Durations of finished handshakes, from connected to finished.
    pub tls_us: Summary,
    /// Durations of full handshakes.
    pub full_us: Summary,
    /// Durations of handshakes that resumed a session.
    pub resumed_us: Summary,
    /// Finished handshakes by TLS version.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub versions: BTreeMap<String, u64>,
    /// Finished handshakes by cipher suite.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub ciphers: BTreeMap<String, u64>,
    /// Finished handshakes by group of the key exchange.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub groups: BTreeMap<String, u64>,
    /// Finished handshakes by application protocol, or none.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub alpn: BTreeMap<String, u64>,
    /// Finished handshakes by the server's certificate.
    pub certificates: Vec<CertificateCount>,
    /// TLS failures, in handshakes and after them.
    pub failures: Vec<CauseCount>,
}

/// Numbers of handshakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Handshakes {
    /// Handshakes finished without an earlier session.
    pub full: u64,
    /// Handshakes finished by resuming an earlier session.
    pub resumed: u64,
    /// Finished handshakes in which the client offered a session to the server.
    pub offered: u64,
    /// Finished handshakes that took another round trip because the server requested another group.
    pub retried: u64,
    /// Handshakes that did not finish, for whatever reason.
    pub failed: u64,
}

/// The number of handshakes with one server certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CertificateCount {
    /// The SHA-256 digest of its DER encoding, in hexadecimal.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::SHA256)))]
    pub sha256: String,
    /// The last second of its validity; null if it cannot be read.
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = r"^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"))
    )]
    pub not_after: Option<String>,
    /// The number of finished handshakes.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
}

/// The number of TLS failures with one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseCount {
    /// The cause.
    #[serde(flatten)]
    pub cause: Cause,
    /// The number of failures.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(resumed: bool, hash: u8) -> Facts {
        Facts {
            version: "TLSv1.3",
            cipher: "TLS_AES_128_GCM_SHA256",
            group: Some("X25519"),
            alpn: (!resumed).then_some(0),
            resumed,
            offered: resumed,
            retried: false,
            certificate: Some(Certificate { sha256: [hash; 32], not_after: Some(0) }),
        }
    }

    fn of(handshakes: &[(bool, u8)]) -> TlsTally {
        let mut tally = TlsTally::default();
        for &(resumed, hash) in handshakes {
            tally.finished(&facts(resumed, hash), 1_000 * (1 + u64::from(resumed)));
        }
        tally
    }

    #[test]
    fn counts_full_and_resumed_handshakes_separately_and_in_total() {
        let plan = PlanTls { alpn: vec!["http/1.1".into()], ..PlanTls::default() };
        let mut tally = of(&[(false, 1), (true, 1), (true, 2)]);
        let cause = Cause::new(Reason::Alert, Some(40));
        tally.failed(Some(cause));
        tally.failed(None);
        tally.broke(cause);
        let result = tally.result(&plan);
        let expected = Handshakes { full: 1, resumed: 2, offered: 2, retried: 0, failed: 2 };
        assert_eq!(result.handshakes, expected);
        let counts = [&result.tls_us, &result.full_us, &result.resumed_us].map(|s| s.count);
        assert_eq!(counts, [3, 1, 2]);
        assert_eq!(result.alpn, [("http/1.1".into(), 1), ("none".into(), 2)].into());
        assert_eq!(result.failures, [CauseCount { cause, count: 2 }]);
        assert_eq!(result.certificates[0].sha256, "01".repeat(32));
        assert_eq!(result.certificates[0].not_after.as_deref(), Some("1970-01-01T00:00:00Z"));
    }

    #[test]
    fn merging_does_not_depend_on_order() {
        let (a, b) = (of(&[(false, 1), (true, 2)]), of(&[(true, 3), (false, 1)]));
        let (mut one, mut other) = (a.clone(), b.clone());
        one += &b;
        other += &a;
        assert_eq!(one, other);
    }
}
