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
    /// TLS failed: an alert, a certificate, something illegal.
    Tls,
    /// What came was not a legal response (RFC 9112).
    Protocol,
    /// This host had no local port left for the connection.
    NoPort,
    /// This host refused for another reason: descriptors, memory, a local firewall.
    Local,
    /// The run ended before the exchange did.
    Abandoned,
}

impl Outcome {
    /// Every outcome, in the order in which sixmark shows them.
    pub const ALL: [Outcome; 11] = [
        Outcome::Normal,
        Outcome::Reset,
        Outcome::Timeout,
        Outcome::Refused,
        Outcome::Unreachable,
        Outcome::Truncated,
        Outcome::Tls,
        Outcome::Protocol,
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
            Outcome::Tls => "TLS",
            Outcome::Protocol => "PROTOCOL",
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
    /// From connected to the end of the TLS handshake.
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

/// One way to fail: the category, where it happened, and the kernel's error number if it gave one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failure {
    /// The category; never [`Outcome::Normal`].
    pub outcome: Outcome,
    /// Where it happened.
    pub phase: Phase,
    /// The kernel's error number (Linux), or none where the kernel reported no error.
    pub errno: Option<i32>,
}
