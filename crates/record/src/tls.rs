//! What became of TLS handshakes: how long they took, what was agreed on, whose certificates.

pub mod alert;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::plan::tls::PlanTls;
use sixmark_document::timing::{Summary, Timing};
use sixmark_units::counts::Counts;
use sixmark_wire::x509::rfc3339;

/// What a finished handshake agreed on. Names are those that the library has for all time, so that
/// nothing is allocated to count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The cipher suite's IANA name.
    pub cipher: &'static str,
    /// The group of the key exchange; none where a session of TLS 1.2 was resumed.
    pub group: Option<&'static str>,
    /// Which of the plan's application protocols was agreed on.
    pub alpn: Option<u8>,
    /// Whether a session was resumed.
    pub resumed: bool,
    /// Whether the server had a session offered to it.
    pub offered: bool,
    /// Whether the server asked for another hello (HelloRetryRequest), a round trip more.
    pub retried: bool,
    /// The server's own certificate; of a resumed session the one that it began with.
    pub certificate: Option<Certificate>,
}

/// A server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Certificate {
    /// SHA-256 of its DER.
    pub sha256: [u8; 32],
    /// The last second in which it is valid, from 1970 in UTC; none where it can't be read.
    pub not_after: Option<i64>,
}

/// Why a handshake, or a connection after it, failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// In a word.
    pub reason: Reason,
    /// The alert's number (RFC 8446, 6): received where the reason is `alert`, else the one sent;
    /// null: none is known.
    pub alert: Option<u8>,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The server sent an alert.
    Alert,
    /// The server's certificate, or one that it rests on, has expired or is not valid yet.
    CertificateDate,
    /// Nobody who is trusted has issued the server's certificate.
    CertificateIssuer,
    /// The certificate is another server's.
    CertificateName,
    /// It is for no name at all: it has no subjectAltName.
    CertificateNameless,
    /// It is of version 1 or 2, which have no names of servers.
    CertificateVersion,
    /// It is an authority's own (CA:TRUE), and not one of those given.
    CertificateAuthority,
    /// It is not for servers (extended key usage).
    CertificatePurpose,
    /// The certificate is wrong in another way.
    Certificate,
    /// The two sides have no version, cipher or group in common.
    Incompatible,
    /// What came is not legal TLS.
    Protocol,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Reason::Alert => "alert",
            Reason::CertificateDate => "certificate_date",
            Reason::CertificateIssuer => "certificate_issuer",
            Reason::CertificateName => "certificate_name",
            Reason::CertificateNameless => "certificate_nameless",
            Reason::CertificateVersion => "certificate_version",
            Reason::CertificateAuthority => "certificate_authority",
            Reason::CertificatePurpose => "certificate_purpose",
            Reason::Certificate => "certificate",
            Reason::Incompatible => "incompatible",
            Reason::Protocol => "protocol",
        })
    }
}

/// The handshakes of one family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TlsTally {
    /// How long full handshakes took, from connected to finished.
    pub full: Timing,
    /// The same of those that resumed a session.
    pub resumed: Timing,
    /// Full handshakes that finished and have no time.
    pub untimed_full: u64,
    /// The same of those that resumed a session.
    pub untimed_resumed: u64,
    /// How many offered a session to resume.
    pub offered: u64,
    /// How many the server asked to begin again.
    pub retried: u64,
    /// Handshakes that ended in another way than finished, those included that were cut off.
    pub failed: u64,
    /// What TLS itself failed by, after the handshake too.
    pub causes: Counts<Cause>,
    /// Versions agreed on.
    pub versions: Counts<&'static str>,
    /// Cipher suites agreed on.
    pub ciphers: Counts<&'static str>,
    /// Groups agreed on.
    pub groups: Counts<&'static str>,
    /// Application protocols agreed on.
    pub alpn: Counts<Option<u8>>,
    /// Servers' certificates.
    pub certificates: Counts<Certificate>,
}

impl TlsTally {
    /// Counts a handshake that took so many nanoseconds.
    pub fn finished(&mut self, facts: &Facts, nanos: u64) {
        let timing = if facts.resumed { &mut self.resumed } else { &mut self.full };
        timing.record(nanos);
        self.agreed(facts);
    }

    /// The same where nobody knows how long it took: the generator stood still meanwhile.
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

    /// Counts a handshake that did not finish: by TLS itself for `cause`, or without one because
    /// the connection or the run ended.
    pub fn failed(&mut self, cause: Option<Cause>) {
        self.failed += 1;
        cause.into_iter().for_each(|cause| self.causes.add(cause, 1));
    }

    /// Counts what TLS failed by after the handshake.
    pub fn broke(&mut self, cause: Cause) {
        self.causes.add(cause, 1);
    }

    /// The figures of a result document.
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

/// `none` where the server chose none, or none was offered.
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

impl AddAssign<&TlsTally> for TlsTally {
    fn add_assign(&mut self, other: &TlsTally) {
        self.full += &other.full;
        self.resumed += &other.resumed;
        self.untimed_full += other.untimed_full;
        self.untimed_resumed += other.untimed_resumed;
        self.offered += other.offered;
        self.retried += other.retried;
        self.failed += other.failed;
        self.causes += &other.causes;
        self.versions += &other.versions;
        self.ciphers += &other.ciphers;
        self.groups += &other.groups;
        self.alpn += &other.alpn;
        self.certificates += &other.certificates;
    }
}

/// The handshakes of one family in a result document.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TlsResult {
    /// How many.
    pub handshakes: Handshakes,
    /// From connected to handshake finished.
    pub tls_us: Summary,
    /// The same of full handshakes.
    pub full_us: Summary,
    /// The same of handshakes that resumed a session.
    pub resumed_us: Summary,
    /// Finished handshakes by version.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub versions: BTreeMap<String, u64>,
    /// The same by cipher suite.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub ciphers: BTreeMap<String, u64>,
    /// The same by group of the key exchange.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub groups: BTreeMap<String, u64>,
    /// By application protocol, or none.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub alpn: BTreeMap<String, u64>,
    /// The same by the server's certificate.
    pub certificates: Vec<CertificateCount>,
    /// What TLS itself failed by, in handshakes and after them.
    pub failures: Vec<CauseCount>,
}

/// How many handshakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Handshakes {
    /// Finished without an earlier session.
    pub full: u64,
    /// Finished by resuming an earlier session.
    pub resumed: u64,
    /// Of both, those that offered a session to the server.
    pub offered: u64,
    /// Of both, those that took a round trip more because the server asked for another group.
    pub retried: u64,
    /// That did not finish, for whatever reason.
    pub failed: u64,
}

/// A server's certificate in a result document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CertificateCount {
    /// SHA-256 of its DER, in hexadecimal.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::SHA256)))]
    pub sha256: String,
    /// The last second in which it is valid; null: it can't be read.
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = r"^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"))
    )]
    pub not_after: Option<String>,
    /// In how many handshakes.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
}

/// How often TLS failed by one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseCount {
    /// By what.
    #[serde(flatten)]
    pub cause: Cause,
    /// How often.
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
    fn full_and_resumed_handshakes_are_apart_and_together() {
        let plan = PlanTls { alpn: vec!["http/1.1".into()], ..PlanTls::default() };
        let mut tally = of(&[(false, 1), (true, 1), (true, 2)]);
        let cause = Cause { reason: Reason::Alert, alert: Some(40) };
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
