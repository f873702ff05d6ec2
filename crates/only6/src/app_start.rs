//! What was seen of one start of a program in a scenario.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

use crate::app_wire::AppWire;

/// What was seen of one start of a program in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppStart {
    /// What the program did on the wire: the client or, if no client was given, the server.
    pub wire: AppWire,
    /// How the client ended; null if none was started.
    pub client: Option<ProgramEnd>,
    /// How the server ended; null if it ran until it was ended, or is sixmark's own.
    pub server: Option<ProgramEnd>,
    /// How long the client ran, or the server was asked, in milliseconds.
    pub took_ms: f64,
    /// The sockets that listened on the server's port; empty for sixmark's own server.
    pub sockets: Vec<ListeningSocket>,
    /// What the server answered, by each way.
    pub probes: Vec<ServerProbe>,
    /// The packets that the capture lost: what is missing here may have been done.
    pub lost_packets: u64,
    /// The packets that were not kept, because a start has too many.
    pub unkept_packets: u64,
}

impl AppStart {
    /// Returns true if it can have no packets: the user's server did not listen, so that no client was started.
    pub fn is_without_client(&self) -> bool {
        self.client.is_none() && self.sockets.is_empty() && self.probes.is_empty()
    }

    /// Returns true if the server listened.
    pub fn has_listened(&self) -> bool {
        !self.sockets.is_empty()
    }

    /// Returns true if packets of this start are missing: what was not seen may have been done.
    pub fn is_incomplete(&self) -> bool {
        self.lost_packets > 0 || self.unkept_packets > 0 || self.wire.uncounted > 0
    }
}

/// How a start of a program ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramEnd {
    /// Its exit status; null if a signal ended it, or if it was ended because its time was over.
    pub status: Option<i32>,
    /// The signal that ended it; null if none did, or as above.
    pub signal: Option<i32>,
    /// The last line that it wrote to standard error, cut after 200 characters; null if it wrote none.
    pub last_line: Option<String>,
}

impl ProgramEnd {
    /// Returns true if it ended by itself with status 0.
    pub fn is_success(&self) -> bool {
        self.status == Some(0)
    }

    /// Returns true if it was ended because its time was over.
    pub fn is_cut_off(&self) -> bool {
        self.status.is_none() && self.signal.is_none()
    }

    /// Returns how it ended, in words that follow its name, with the last line that it wrote.
    pub fn words(&self) -> String {
        let line = self.last_line.as_ref().map(|line| format!(" ({line})")).unwrap_or_default();
        match (self.status, self.signal) {
            (Some(status), _) => format!("ended with status {status}{line}"),
            (None, Some(signal)) => format!("was ended by signal {signal}{line}"),
            (None, None) => format!("still ran when its time was over{line}"),
        }
    }
}

/// A socket that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListeningSocket {
    /// The family of the socket.
    pub family: Family,
    /// The address to which it is bound.
    pub address: IpAddr,
}

/// How a probe reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ServerWay {
    /// Over IPv6.
    Ipv6,
    /// Over IPv4.
    Ipv4,
    /// Over IPv6 until the NAT64, then over IPv4.
    Nat64,
    /// Over IPv4 until the translator, then over IPv6.
    SiitDc,
    /// Over IPv4 in the client, IPv6 until the NAT64, then over IPv4.
    Clat,
}

impl ServerWay {
    /// Returns its name.
    pub fn words(self) -> &'static str {
        match self {
            ServerWay::Ipv6 => "IPv6",
            ServerWay::Ipv4 => "IPv4",
            ServerWay::Nat64 => "NAT64",
            ServerWay::SiitDc => "SIIT-DC",
            ServerWay::Clat => "464XLAT",
        }
    }

    /// Returns the family over which packets reach the server.
    pub fn family_at_server(self) -> Family {
        match self {
            ServerWay::Ipv6 | ServerWay::SiitDc => Family::Ipv6,
            ServerWay::Ipv4 | ServerWay::Nat64 | ServerWay::Clat => Family::Ipv4,
        }
    }
}

/// What a request names as the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AskedHost {
    /// The server's name.
    Name,
    /// The server's address, of IPv6 in brackets.
    Address,
}

/// A request to a server, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerProbe {
    /// How the server was reached.
    pub way: ServerWay,
    /// What the request named as the host.
    pub asked: AskedHost,
    /// The answer: the status of HTTP, or not_http, no_answer, refused, silent or unreachable.
    pub answer: ProbeAnswer,
    /// The literals in the answer that clients of the other family can't use: the first five.
    pub literals: Vec<ContentLiteral>,
}

/// What a server answered: in documents the status of HTTP, or `not_http`, `no_answer`, `refused`, `silent`,
/// `unreachable`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[serde(into = "String", try_from = "String")]
pub enum ProbeAnswer {
    /// A response of HTTP with this status.
    Status(u16),
    /// A connection, and something else than HTTP, or its end.
    NotHttp,
    /// A connection, and nothing until the time for an answer was over.
    NoAnswer,
    /// The connection was refused.
    Refused,
    /// No answer to the SYN.
    Silent,
    /// The address can't be reached.
    Unreachable,
}

impl ProbeAnswer {
    /// Returns the answer in words.
    pub fn words(&self) -> String {
        match self {
            ProbeAnswer::Status(status) => format!("status {status}"),
            ProbeAnswer::NotHttp => "connected, no HTTP".to_owned(),
            ProbeAnswer::NoAnswer => "connected, no answer in time".to_owned(),
            ProbeAnswer::Refused => "refused".to_owned(),
            ProbeAnswer::Silent => "no answer".to_owned(),
            ProbeAnswer::Unreachable => "unreachable".to_owned(),
        }
    }

    /// Returns how good an answer is: the more, the worse. Answers of one grade count as the same.
    pub fn grade(&self) -> u16 {
        match self {
            ProbeAnswer::Status(status @ 100..=399) => u16::from(*status < 200),
            ProbeAnswer::Status(status) => *status,
            ProbeAnswer::NotHttp => 1_000,
            ProbeAnswer::NoAnswer => 1_001,
            ProbeAnswer::Refused | ProbeAnswer::Silent | ProbeAnswer::Unreachable => u16::MAX,
        }
    }
}

/// The answers that have no status, by their names in documents.
const WITHOUT_STATUS: [(ProbeAnswer, &str); 5] = [
    (ProbeAnswer::NotHttp, "not_http"),
    (ProbeAnswer::NoAnswer, "no_answer"),
    (ProbeAnswer::Refused, "refused"),
    (ProbeAnswer::Silent, "silent"),
    (ProbeAnswer::Unreachable, "unreachable"),
];

impl From<ProbeAnswer> for String {
    fn from(answer: ProbeAnswer) -> String {
        match (answer, WITHOUT_STATUS) {
            (ProbeAnswer::Status(status), _) => status.to_string(),
            (other, known) => {
                known.into_iter().find(|of| of.0 == other).map_or("", |of| of.1).to_owned()
            }
        }
    }
}

impl TryFrom<String> for ProbeAnswer {
    type Error = String;

    fn try_from(text: String) -> Result<ProbeAnswer, String> {
        let known = WITHOUT_STATUS.into_iter().find(|of| of.1 == text).map(|of| of.0);
        let status = text.parse().ok().map(ProbeAnswer::Status);
        known.or(status).ok_or_else(|| format!("'{text}' is not the answer to a probe"))
    }
}

/// A literal address in what a server answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContentLiteral {
    /// What is wrong with it.
    pub kind: LiteralKind,
    /// The text around it, at most 80 characters.
    pub text: String,
    /// True if it is in the header of the response, as in Location.
    pub is_in_header: bool,
}

/// What is wrong with a literal address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LiteralKind {
    /// The URL has an IPv4 address as its host.
    Ipv4Host,
    /// The URL has an IPv6 address without brackets as its host.
    WithoutBrackets,
    /// The URL has a link-local address without a scope.
    LinkLocal,
}
