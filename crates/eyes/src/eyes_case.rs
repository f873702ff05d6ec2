//! The networks in which a client is watched: what becomes of queries and of connections.

use serde::{Deserialize, Serialize};

/// How many addresses of each family the case `last-alive` has.
pub const MANY_EACH: usize = 4;

/// What the name server does with queries of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryFate {
    /// It answers after this many milliseconds.
    Answers(u32),
    /// It never answers.
    Silent,
    /// It answers that it failed (SERVFAIL).
    Fails,
    /// It answers that there is no such record.
    NoRecord,
}

/// What becomes of connections to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteAddressFate {
    /// The server answers; the round trip takes this many milliseconds longer.
    Answers(u32),
    /// The server answers, and this share of the packets is lost in each direction, in percent.
    Loses(u32),
    /// Nothing is ever heard of it.
    Silent,
    /// The host resets connections.
    Refuses,
    /// A router says that it can't be reached.
    Unreachable,
    /// Connections are established, and nothing is heard after that, as behind a path-MTU black hole.
    Stalls,
}

impl SiteAddressFate {
    /// Returns true if a server listens at the address.
    pub fn has_server(self) -> bool {
        self.is_alive() || self == SiteAddressFate::Stalls
    }

    /// Returns true if the site can be fetched from the address.
    pub fn is_alive(self) -> bool {
        matches!(self, SiteAddressFate::Answers(_) | SiteAddressFate::Loses(_))
    }
}

/// What the site's HTTPS record says (RFC 9460). A site over plain HTTP has none: a browser would not open it
/// (RFC 9460, 9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceRecord {
    /// There is none.
    Absent,
    /// HTTP/3 and HTTP/2.
    OffersHttp3,
    /// HTTP/2, and addresses as hints of which nothing is ever heard.
    HintsDeadAddresses,
}

/// What becomes of QUIC, beside TCP to the same addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuicFate {
    /// As of TCP.
    LikeTcp,
    /// Nothing is ever heard of it over IPv6.
    SilentOverIpv6,
    /// Nothing is ever heard of it.
    Silent,
}

/// How the site is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SiteScheme {
    /// HTTP/1.1 in plain text.
    #[default]
    Http,
    /// HTTP/1.1 and HTTP/2 over TLS, and HTTP/3.
    Https,
}

impl SiteScheme {
    /// Returns its name in URLs.
    pub fn name(self) -> &'static str {
        match self {
            SiteScheme::Http => "http",
            SiteScheme::Https => "https",
        }
    }

    /// Returns its port.
    pub fn port(self) -> u16 {
        match self {
            SiteScheme::Http => 80,
            SiteScheme::Https => 443,
        }
    }
}

/// A network in which a client opens the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EyesCase {
    /// Its name, in options and documents.
    pub name: &'static str,
    /// What it is, as a short phrase.
    pub about: &'static str,
    /// What becomes of queries for AAAA.
    pub aaaa: QueryFate,
    /// What becomes of queries for A.
    pub a: QueryFate,
    /// What becomes of queries for HTTPS.
    pub https: QueryFate,
    /// The site's addresses of IPv6.
    pub ipv6: &'static [SiteAddressFate],
    /// The site's addresses of IPv4.
    pub ipv4: &'static [SiteAddressFate],
    /// What the HTTPS record says.
    pub record: ServiceRecord,
    /// What becomes of QUIC.
    pub quic: QuicFate,
    /// How often the client is started before it is watched, in the same network.
    pub starts_before: u32,
}

use SiteAddressFate::{Answers, Loses, Refuses, Silent, Stalls, Unreachable};

/// A network without a fault.
const HEALTHY: EyesCase = EyesCase {
    name: "healthy",
    about: "both families answer alike",
    aaaa: QueryFate::Answers(0),
    a: QueryFate::Answers(0),
    https: QueryFate::NoRecord,
    ipv6: &[Answers(0)],
    ipv4: &[Answers(0)],
    record: ServiceRecord::Absent,
    quic: QuicFate::LikeTcp,
    starts_before: 0,
};

/// A network without a fault, whose site offers HTTP/3.
const OFFERS_HTTP3: EyesCase = EyesCase {
    name: "http3",
    about: "the HTTPS record offers HTTP/3, and both families answer alike",
    https: QueryFate::Answers(0),
    record: ServiceRecord::OffersHttp3,
    ..HEALTHY
};

const fn slow(
    name: &'static str,
    about: &'static str,
    ipv6: &'static [SiteAddressFate],
) -> EyesCase {
    EyesCase { name, about, ipv6, ..HEALTHY }
}

/// All cases, in the order of reports.
pub const CASES: [EyesCase; 29] = [
    HEALTHY,
    EyesCase {
        name: "dead-ipv6",
        about: "nothing is heard of IPv6",
        ipv6: &[Silent, Silent],
        ..HEALTHY
    },
    EyesCase {
        name: "dead-ipv4",
        about: "nothing is heard of IPv4",
        ipv4: &[Silent, Silent],
        ..HEALTHY
    },
    EyesCase {
        name: "first-dead",
        about: "nothing is heard of the first address of IPv6",
        ipv6: &[Silent, Answers(0)],
        ..HEALTHY
    },
    EyesCase {
        name: "last-alive",
        about: "of four addresses of each family the last of IPv4 answers",
        ipv6: &[Silent, Silent, Silent, Silent],
        ipv4: &[Silent, Silent, Silent, Answers(0)],
        ..HEALTHY
    },
    EyesCase {
        name: "refused-ipv6",
        about: "IPv6 refuses connections",
        ipv6: &[Refuses],
        ..HEALTHY
    },
    EyesCase {
        name: "unreachable-ipv6",
        about: "a router says that IPv6 can't be reached",
        ipv6: &[Unreachable],
        ..HEALTHY
    },
    EyesCase {
        name: "stalled-ipv6",
        about: "connections over IPv6 are established, and nothing is heard after that",
        ipv6: &[Stalls],
        ..HEALTHY
    },
    EyesCase {
        name: "lossy-ipv6",
        about: "30 % of the packets over IPv6 are lost in each direction",
        ipv6: &[Loses(30)],
        ..HEALTHY
    },
    slow("slow-10", "IPv6 takes 10 ms longer", &[Answers(10)]),
    slow("slow-50", "IPv6 takes 50 ms longer", &[Answers(50)]),
    slow("slow-100", "IPv6 takes 100 ms longer", &[Answers(100)]),
    slow("slow-200", "IPv6 takes 200 ms longer", &[Answers(200)]),
    slow("slow-300", "IPv6 takes 300 ms longer", &[Answers(300)]),
    slow("slow-500", "IPv6 takes 500 ms longer", &[Answers(500)]),
    slow("slow-1000", "IPv6 takes 1,000 ms longer", &[Answers(1_000)]),
    slow("slow-2000", "IPv6 takes 2,000 ms longer", &[Answers(2_000)]),
    EyesCase {
        name: "aaaa-late-30",
        about: "the answer for AAAA comes 30 ms after that for A",
        aaaa: QueryFate::Answers(30),
        ..HEALTHY
    },
    EyesCase {
        name: "aaaa-late-1000",
        about: "the answer for AAAA comes 1,000 ms after that for A",
        aaaa: QueryFate::Answers(1_000),
        ..HEALTHY
    },
    EyesCase {
        name: "aaaa-dropped",
        about: "queries for AAAA are not answered",
        aaaa: QueryFate::Silent,
        ..HEALTHY
    },
    EyesCase {
        name: "aaaa-servfail",
        about: "queries for AAAA fail",
        aaaa: QueryFate::Fails,
        ..HEALTHY
    },
    EyesCase {
        name: "a-late-1000",
        about: "the answer for A comes 1,000 ms after that for AAAA",
        a: QueryFate::Answers(1_000),
        ..HEALTHY
    },
    EyesCase {
        name: "https-late-1000",
        about: "the answer for HTTPS comes 1,000 ms after the others",
        https: QueryFate::Answers(1_000),
        ..HEALTHY
    },
    EyesCase {
        name: "dead-ipv6-again",
        about: "nothing is heard of IPv6, and the client has found that before",
        ipv6: &[Silent, Silent],
        starts_before: 1,
        ..HEALTHY
    },
    OFFERS_HTTP3,
    EyesCase {
        name: "http3-late-1000",
        about: "the HTTPS record, which offers HTTP/3, comes 1,000 ms after the addresses",
        https: QueryFate::Answers(1_000),
        ..OFFERS_HTTP3
    },
    EyesCase {
        name: "quic-dead",
        about: "the HTTPS record offers HTTP/3, and nothing is heard of QUIC",
        quic: QuicFate::Silent,
        ..OFFERS_HTTP3
    },
    EyesCase {
        name: "quic-dead-ipv6",
        about: "the HTTPS record offers HTTP/3, and nothing is heard of QUIC over IPv6",
        quic: QuicFate::SilentOverIpv6,
        ..OFFERS_HTTP3
    },
    EyesCase {
        name: "hints-dead",
        about: "the HTTPS record has addresses as hints of which nothing is heard",
        record: ServiceRecord::HintsDeadAddresses,
        ..OFFERS_HTTP3
    },
];

impl EyesCase {
    /// Returns the case of this name.
    pub fn named(name: &str) -> Option<&'static EyesCase> {
        CASES.iter().find(|case| case.name == name)
    }

    /// Returns true if the case says something of a site that is served so.
    pub fn applies_to(&self, scheme: SiteScheme) -> bool {
        scheme == SiteScheme::Https || self.record == ServiceRecord::Absent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_has_a_name_of_its_own_and_an_address_that_answers() {
        for (at, case) in CASES.iter().enumerate() {
            assert_eq!(EyesCase::named(case.name), Some(&CASES[at]));
            let all = case.ipv6.iter().chain(case.ipv4);
            assert!(all.into_iter().any(|of| of.is_alive()), "{}", case.name);
        }
    }
}
