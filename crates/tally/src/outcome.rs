//! The outcome of an exchange, the phase in which it ended, and error codes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quic;
use crate::tls;
use sixmark_http::HttpVersion;
use sixmark_http::{http2, http3};
use sixmark_units::counts::Counts;

/// How an exchange ended. Exactly one outcome is counted for every exchange sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// The complete response was received, whatever its status code.
    Normal,
    /// The peer reset the connection (RFC 9293, 3.5.2).
    Reset,
    /// The exchange lasted longer than the timeout, or the kernel gave up waiting.
    Timeout,
    /// The peer answered the connection attempt with a reset: nothing listens on the port.
    Refused,
    /// The network or the host cannot be reached.
    Unreachable,
    /// The peer closed the connection before the response was complete.
    Truncated,
    /// The response was not legal HTTP (RFC 9112, 9113, 9114), or not of the requested version.
    Protocol,
    /// The TLS handshake failed, or a TLS record after it was invalid.
    Tls,
    /// The response was complete but did not pass a check of its content.
    Content,
    /// This host had no local port left for the connection.
    NoPort,
    /// Another failure of this host: too few descriptors, too little memory, a local firewall, or a
    /// limit of sixmark.
    Local,
    /// In flight when the run ended, and so old that the completed exchanges cannot explain it: see
    /// `unanswered`.
    Unanswered,
    /// In flight when the run ended, and no older than that: the end of the run cut it off. Not a
    /// failure.
    Abandoned,
}

impl Outcome {
    /// Every outcome, in the order in which sixmark shows them.
    pub const ALL: [Outcome; 13] = [
        Outcome::Normal,
        Outcome::Reset,
        Outcome::Timeout,
        Outcome::Refused,
        Outcome::Unreachable,
        Outcome::Truncated,
        Outcome::Protocol,
        Outcome::Tls,
        Outcome::Content,
        Outcome::NoPort,
        Outcome::Local,
        Outcome::Unanswered,
        Outcome::Abandoned,
    ];

    /// Returns the name used in results and reports.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Normal => "NORMAL",
            Outcome::Reset => "RESET",
            Outcome::Timeout => "TIMEOUT",
            Outcome::Refused => "REFUSED",
            Outcome::Unreachable => "UNREACHABLE",
            Outcome::Truncated => "TRUNCATED",
            Outcome::Protocol => "PROTOCOL",
            Outcome::Tls => "TLS",
            Outcome::Content => "CONTENT",
            Outcome::NoPort => "NO_PORT",
            Outcome::Local => "LOCAL",
            Outcome::Unanswered => "UNANSWERED",
            Outcome::Abandoned => "ABANDONED",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The part of an exchange in which a failure occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FailurePhase {
    /// From the connect call until the kernel reports that the connection is established.
    Connect,
    /// From established to the end of the TLS handshake.
    Tls,
    /// While the request was handed to the kernel.
    Send,
    /// From the request's last byte handed to the kernel to the response's first byte.
    Wait,
    /// From the response's first byte to its last.
    Transfer,
}

impl fmt::Display for FailurePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FailurePhase::Connect => "connect",
            FailurePhase::Tls => "tls",
            FailurePhase::Send => "send",
            FailurePhase::Wait => "wait",
            FailurePhase::Transfer => "transfer",
        })
    }
}

/// The cause of a failure of this host that no error number of the kernel describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LocalCause {
    /// The head or the trailers of a response exceeded a limit of sixmark. HTTP sets no limit.
    HeadLimit,
    /// This host has no source address for the connection, or no longer has the requested one.
    NoSource,
    /// sixmark was stalled while the exchange was due or in flight, so that it is unknown whether
    /// the server would have ended it in the same way.
    Stalled,
    /// There was no room to keep the content for a check, so the check was not made.
    ContentLimit,
}

impl LocalCause {
    /// Returns the cause in words.
    pub fn text(self) -> &'static str {
        match self {
            LocalCause::HeadLimit => {
                "response head longer than 256 KiB, the limit that sixmark sets"
            }
            LocalCause::NoSource => "this host does not have the source address",
            LocalCause::Stalled => "sixmark was stalled meanwhile",
            LocalCause::ContentLimit => "no room to keep the content for a check",
        }
    }
}

/// A kind of failure: the outcome, the phase, and the error number or code, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// How the exchange ended; never NORMAL.
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "const": "NORMAL" })))]
    pub outcome: Outcome,
    /// The part of the exchange in which it happened.
    pub phase: FailurePhase,
    /// The kernel's error number (Linux); null if it reported none.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub errno: Option<i32>,
    /// The error code of HTTP/2, HTTP/3 or QUIC (RFC 9113, 7; RFC 9114, 8.1; RFC 9000, 20) or, if
    /// the outcome is TLS, the number of the alert (RFC 8446, 6); null if there is none.
    pub code: Option<u64>,
    /// The cause of a failure of this host that no error number describes: a response's head
    /// exceeded a limit of sixmark, this host does not have the source address, sixmark was
    /// stalled, or it had no room to keep a content for a check. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<LocalCause>,
}

impl Failure {
    /// Creates a failure without an error number, code or cause.
    pub fn new(outcome: Outcome, phase: FailurePhase) -> Failure {
        Failure { outcome, phase, errno: None, code: None, cause: None }
    }

    /// Creates the failure of a response that breaks a rule of HTTP or, if `own_limit`, is larger
    /// than sixmark accepts.
    pub fn violation(own_limit: bool, phase: FailurePhase) -> Failure {
        if !own_limit {
            return Failure::new(Outcome::Protocol, phase);
        }
        let cause = Some(LocalCause::HeadLimit);
        Failure { cause, ..Failure::new(Outcome::Local, phase) }
    }

    /// Returns the name of the code in HTTP `version`, or `None` if there is no code or it has no
    /// name.
    pub fn code_name(&self, version: HttpVersion) -> Option<&'static str> {
        let code = self.code?;
        match (self.outcome, version) {
            (Outcome::Tls, _) => tls::alert::name_of_alert(code),
            (_, HttpVersion::Http10 | HttpVersion::Http1) => None,
            (_, HttpVersion::Http2) => http2::error_name(code),
            // The codes of QUIC itself that lie in HTTP/3's range are TLS alerts, which have the
            // outcome TLS.
            (_, HttpVersion::Http3) if code >= http3::code::NO_ERROR => {
                http3::code::name_of_code(code)
            }
            (_, HttpVersion::Http3) => quic::error_name(code),
        }
    }

    /// Returns the code for people, with its name if it has one, or `None` if there is no code.
    pub fn spoken_code(&self, version: HttpVersion) -> Option<String> {
        let (code, noun) =
            (self.code?, if self.outcome == Outcome::Tls { "alert" } else { "code" });
        let name = self.code_name(version).map_or(String::new(), |name| format!(" {name}"));
        Some(format!("{noun} {code}{name}"))
    }
}

/// The outcomes of some exchanges, as they were counted.
#[derive(Clone, Copy, Debug)]
pub struct OutcomeCounts<'a> {
    /// Complete responses by their status.
    pub status: &'a Counts<u16>,
    /// The other exchanges, by the kind of failure.
    pub failures: &'a Counts<Failure>,
    /// The number of complete responses whose status is not accepted.
    pub unaccepted: u64,
}

impl OutcomeCounts<'_> {
    /// Returns the number of exchanges with a complete response.
    pub fn completed(self) -> u64 {
        sum(self.status.iter().map(|(_, count)| count))
    }

    /// Returns the number of exchanges that ended with `outcome`.
    pub fn outcome(self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Normal => self.completed(),
            _ => {
                let ended_so = self.failures.iter().filter(|(f, _)| f.outcome == outcome);
                sum(ended_so.map(|(_, count)| count))
            }
        }
    }

    /// Returns the number of exchanges without a complete response.
    pub fn unfinished(self) -> u64 {
        sum(self.failures.iter().map(|(_, count)| count))
    }

    /// Returns the number of exchanges that ended.
    pub fn ended(self) -> u64 {
        self.completed().saturating_add(self.unfinished())
    }

    /// Returns the number of exchanges that failed: those that ended neither NORMAL nor ABANDONED,
    /// and those that have a status that is not accepted. This is what `failed` means wherever
    /// exchanges are counted.
    pub fn failed(self) -> u64 {
        let cut_off = self.outcome(Outcome::Abandoned);
        (self.unfinished() - cut_off).saturating_add(self.unaccepted)
    }

    /// Returns the number of exchanges whose result is known: all that ended, except the ones that
    /// the end of the load cut off (ABANDONED). Shares of failures are shares of these.
    pub fn known(self) -> u64 {
        self.ended() - self.outcome(Outcome::Abandoned)
    }

    /// Returns the numbers of a result: NORMAL always, the others if they occurred.
    pub fn by_name(self) -> BTreeMap<String, u64> {
        let counted = Outcome::ALL.map(|outcome| (outcome, self.outcome(outcome)));
        let shown = counted.into_iter().filter(|&(outcome, n)| n > 0 || outcome == Outcome::Normal);
        shown.map(|(outcome, n)| (outcome.name().to_owned(), n)).collect()
    }
}

/// Returns the sum of counts. It stops at `u64::MAX`, which only the counts of a peer can reach.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_error_codes_as_their_protocol_does() {
        use HttpVersion::{Http1, Http2, Http3};
        for (outcome, version, code, expected) in [
            (Outcome::Reset, Http2, 7, "code 7 REFUSED_STREAM"),
            (Outcome::Protocol, Http2, 1, "code 1 PROTOCOL_ERROR"),
            (Outcome::Reset, Http2, 13, "code 13 HTTP_1_1_REQUIRED"),
            (Outcome::Reset, Http2, 14, "code 14"),
            (Outcome::Reset, Http3, 0, "code 0 NO_ERROR"),
            (Outcome::Reset, Http3, 2, "code 2 CONNECTION_REFUSED"),
            (Outcome::Protocol, Http3, 16, "code 16 NO_VIABLE_PATH"),
            (Outcome::Reset, Http3, 0x100, "code 256 H3_NO_ERROR"),
            (Outcome::Reset, Http3, 0x10c, "code 268 H3_REQUEST_CANCELLED"),
            (Outcome::Protocol, Http3, 0x110, "code 272 H3_VERSION_FALLBACK"),
            (Outcome::Protocol, Http3, 0x200, "code 512 QPACK_DECOMPRESSION_FAILED"),
            (Outcome::Reset, Http3, u64::MAX, "code 18446744073709551615"),
            (Outcome::Tls, Http3, 120, "alert 120 no_application_protocol"),
            (Outcome::Tls, Http1, 116, "alert 116 certificate_required"),
            (Outcome::Tls, Http2, 255, "alert 255"),
        ] {
            let failure = Failure { code: Some(code), ..Failure::new(outcome, FailurePhase::Wait) };
            assert_eq!(failure.spoken_code(version).as_deref(), Some(expected));
        }
        assert_eq!(Failure::new(Outcome::Tls, FailurePhase::Tls).spoken_code(Http1), None);
    }
}
