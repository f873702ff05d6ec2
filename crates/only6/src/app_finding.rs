//! What is wrong with a program, each with where to look.

use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AppFindingWeight {
    /// The program does not work in some network for this reason.
    Fault,
    /// The program works, though not as well as it could.
    Note,
}

impl AppFindingWeight {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            AppFindingWeight::Fault => "fault",
            AppFindingWeight::Note => "note",
        }
    }
}

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingKind {
    /// Its code.
    pub code: &'static str,
    /// How much it weighs.
    pub weight: AppFindingWeight,
    /// What it is, in a sentence.
    pub sentence: &'static str,
    /// Where to look for the cause.
    pub look: &'static str,
    /// Where the draft or an RFC speaks of it.
    pub source: &'static str,
}

/// What was found of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppFinding {
    /// Its code: one of the table in docs/only6.md.
    pub code: String,
    /// How much it weighs.
    pub weight: AppFindingWeight,
    /// The scenarios in which it was seen, in the order of the list of scenarios.
    pub scenarios: Vec<String>,
    /// What was seen in the first of them.
    pub evidence: String,
}

impl AppFinding {
    /// Returns its kind; `None` if a later version has more of them.
    pub fn kind(&self) -> Option<&'static FindingKind> {
        FINDINGS.iter().find(|of| of.code == self.code)
    }
}

const fn fault(
    code: &'static str,
    sentence: &'static str,
    look: &'static str,
    source: &'static str,
) -> FindingKind {
    FindingKind { code, weight: AppFindingWeight::Fault, sentence, look, source }
}

const fn note(
    code: &'static str,
    sentence: &'static str,
    look: &'static str,
    source: &'static str,
) -> FindingKind {
    FindingKind { code, weight: AppFindingWeight::Note, sentence, look, source }
}

/// The draft that the sources below abbreviate.
pub const DRAFT: &str = "draft-ietf-v6ops-ipv6-app-testing-05";

/// All kinds of findings: of clients, then of servers.
pub const FINDINGS: [FindingKind; 24] = [
    fault(
        "ipv4-literal",
        "The client connects to an IPv4 address that no answer of DNS had.",
        "Search code and configuration for IPv4 addresses; use names instead.",
        "draft 3.3.4",
    ),
    fault(
        "asks-a-only",
        "The program asks DNS for A records without AAAA, also where it has IPv6.",
        "gethostbyname, AF_INET in hints of getaddrinfo, java.net.preferIPv4Stack, nginx's resolver with ipv6=off, \
         socket options such as CURL_IPRESOLVE_V4.",
        "draft 5.3",
    ),
    fault(
        "aaaa-unused",
        "The program gets an IPv6 address from DNS and does not connect to it.",
        "Filters of addresses by family, IPv6 switched off by a setting, sockets of AF_INET for every address.",
        "draft 5.1, 5.3",
    ),
    fault(
        "first-address-only",
        "The client gives up after the first address, though it knows others.",
        "A loop over all results of getaddrinfo is missing; use a library with Happy Eyeballs.",
        "draft 3.3.2, RFC 6724 section 2, RFC 8305",
    ),
    fault(
        "no-fallback",
        "The client waits for the first address for longer than it was given, though it knows others.",
        "Set a timeout for each attempt to connect, or use a library with Happy Eyeballs.",
        "draft 3.4, RFC 8305 section 5",
    ),
    note(
        "slow-fallback",
        "The client connects over the other family more than 2 s after its first attempt.",
        "Happy Eyeballs begins the next attempt after 250 ms; sixmark eyes measures the delay.",
        "RFC 8305 section 5",
    ),
    fault(
        "rejects-ipv6-literal",
        "The program does not connect to an IPv6 address in a URL.",
        "Code that splits host and port at the first colon, or that removes the brackets; use a parser of URLs.",
        "draft 3.3.4, 5.5, RFC 3986 section 3.2.2",
    ),
    fault(
        "host-without-brackets",
        "The Host field of a request has an IPv6 address without brackets.",
        "Code that builds the field from the address; it needs the brackets of the URL.",
        "RFC 9110 section 7.2, RFC 3986 section 3.2.2",
    ),
    fault(
        "needs-ipv4-stack",
        "The program works over IPv6 where its system has IPv4 too, and not where it has none.",
        "Sockets of AF_INET that are opened for every purpose, 127.0.0.1 as an address of its own parts, checks for \
         an IPv4 address at its start.",
        "draft 3.5, 5.6",
    ),
    fault(
        "needs-ipv6-stack",
        "The program works over IPv4 where its system has IPv6 too, and not where it has none.",
        "Sockets of AF_INET6 that are opened without another try, ::1 as an address of its own parts.",
        "draft 3.1",
    ),
    note(
        "prefers-ipv4",
        "The client connects over IPv4 first, though it knows an IPv6 address.",
        "The order of getaddrinfo is changed: a sort by family, /etc/gai.conf, a setting of the library.",
        "draft 5.3, RFC 6724",
    ),
    fault(
        "fails-with-content",
        "The client got an answer and reported a failure.",
        "The last line of its standard error, in the evidence.",
        "",
    ),
    fault(
        "fails-connected",
        "The client connected and did not get the content.",
        "The last line of its standard error, and the capture of the scenario.",
        "",
    ),
    fault(
        "fails-unconnected",
        "The client did not connect, for a reason that its packets do not show.",
        "The last line of its standard error; a trace of its system calls.",
        "",
    ),
    fault(
        "binds-ipv4",
        "The server listens on 0.0.0.0 or another IPv4 address alone.",
        "The address to listen on: use ::, which takes IPv4 too unless IPV6_V6ONLY is set, or one socket for each family.",
        "draft 5.4",
    ),
    fault(
        "binds-ipv6",
        "The server listens on :: without IPv4 (IPV6_V6ONLY), and has no socket of IPv4.",
        "IPV6_V6ONLY, the sysctl net.ipv6.bindv6only, ipv6only=on; clear it, or open a socket of IPv4 too.",
        "draft 5.4, RFC 3493 section 5.3",
    ),
    fault(
        "binds-loopback",
        "The server listens on a loopback address alone.",
        "The address to listen on: localhost, 127.0.0.1 or ::1 is reached from the host itself alone.",
        "draft 5.4",
    ),
    fault(
        "forbids-ipv4",
        "The server forbids over IPv4 what it allows over IPv6.",
        "Lists of allowed addresses. On a socket of IPv6 a peer of IPv4 is ::ffff:a.b.c.d: compare the mapped address.",
        "draft 6.2, RFC 4291 section 2.5.5.2",
    ),
    fault(
        "forbids-ipv6",
        "The server forbids over IPv6 what it allows over IPv4.",
        "Lists of allowed addresses that have no prefix of IPv6.",
        "draft 6.2",
    ),
    fault(
        "differs-by-family",
        "The server answers over one family, or by one way, and fails over another.",
        "The server's log at the time of the failed request.",
        "draft 3.1",
    ),
    fault(
        "rejects-ipv6-host",
        "The server rejects a request whose Host field has an IPv6 address in brackets.",
        "Code that splits the Host field at the first colon; lists of virtual hosts.",
        "draft 5.5, RFC 9110 section 7.2",
    ),
    fault(
        "never-listens",
        "The server does not listen on the port in this network.",
        "The last line of its standard error, in the evidence.",
        "draft 5.4",
    ),
    fault(
        "backend-unreached",
        "The server answers with a failure, and does not get its backend's content.",
        "The server's log; the capture of the scenario.",
        "draft 3.2, 5.7",
    ),
    note(
        "literal-in-content",
        "The server's answer has a URL with an address that some clients can't use.",
        "Code that builds URLs from addresses: use the Host field, brackets around IPv6 addresses, a scope for \
         link-local ones.",
        "draft 3.3.4, 3.9",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_code_is_unique_and_each_text_is_a_sentence() {
        let codes: BTreeSet<&str> = FINDINGS.iter().map(|of| of.code).collect();
        assert_eq!(codes.len(), FINDINGS.len());
        for of in FINDINGS {
            assert!(of.sentence.ends_with('.') && of.look.ends_with('.'), "{}", of.code);
        }
    }
}
