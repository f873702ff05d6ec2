//! How an exchange ended, in which phase, and what the kernel called it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How an exchange ended. Exactly one of these is counted for everything that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// The whole response was received, whatever its status code.
    Normal,
    /// The peer reset the connection (RFC 9293, 3.5.2).
    Reset,
    /// The exchange lasted longer than the timeout, or the kernel gave up waiting.
    Timeout,
    /// The peer answered the connection attempt with a reset: nothing listens there.
    Refused,
    /// The network or the host cannot be reached.
    Unreachable,
    /// The peer closed the connection before the response was complete.
    Truncated,
    /// What came was not legal HTTP (RFC 9112, 9113, 9114), or not the version that was asked for.
    Protocol,
    /// The TLS handshake failed, or a record after it.
    Tls,
    /// A whole response came and was not what it was to be.
    Content,
    /// This host had no local port left for the connection.
    NoPort,
    /// This host refused for another reason: descriptors, memory, a local firewall.
    Local,
    /// The run ended before the exchange did.
    Abandoned,
}

impl Outcome {
    /// Every outcome, in the order in which sixmark shows them.
    pub const ALL: [Outcome; 12] = [
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
        Outcome::Abandoned,
    ];

    /// The name that results and reports use.
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
            Outcome::Abandoned => "ABANDONED",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The part of an exchange in which something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// From the connect call to the kernel's word that the connection is established.
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

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Phase::Connect => "connect",
            Phase::Tls => "tls",
            Phase::Send => "send",
            Phase::Wait => "wait",
            Phase::Transfer => "transfer",
        })
    }
}

/// One way to fail: the category, where it happened, and the number that somebody gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failure {
    /// The category; never [`Outcome::Normal`].
    pub outcome: Outcome,
    /// Where it happened.
    pub phase: Phase,
    /// The kernel's error number (Linux), or none where the kernel reported no error.
    pub errno: Option<i32>,
    /// The peer's number for it, or this side's for what the peer did: an error code of HTTP/2 or
    /// HTTP/3 (RFC 9113, 7; RFC 9114, 8.1), a TLS alert (RFC 8446, 6) where the outcome is TLS.
    pub code: Option<u64>,
}

impl Failure {
    /// A failure that nobody gave a number.
    pub fn new(outcome: Outcome, phase: Phase) -> Failure {
        Failure { outcome, phase, errno: None, code: None }
    }
}
