//! What a check found out about one thing of a site.

use serde::{Deserialize, Serialize};

/// What is checked: the single list of checks, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SiteCheck {
    /// The name has addresses of both families.
    Records,
    /// Every resolver answers the queries for both families, and all alike.
    Resolvers,
    /// The zones on the way to the name are served over both families.
    Delegation,
    /// The addresses are those of the public internet.
    AddressKinds,
    /// The addresses are the site's own, not synthesised by DNS64.
    Dns64,
    /// The hints of HTTPS records are the addresses.
    HttpsHints,
    /// Every address accepts connections.
    Connect,
    /// Port 80 answers alike, beside the usual port of HTTPS.
    PlainHttp,
    /// Every address completes TLS handshakes.
    Tls,
    /// Responses arrive completely.
    Complete,
    /// Packets as large as the path allows arrive.
    LargePackets,
    /// The certificate is the same, and valid for the name.
    Certificate,
    /// TLS version, cipher suite, key exchange and application protocol are the same.
    TlsParameters,
    /// The status is the same.
    Status,
    /// Redirects lead to names that have both families.
    Redirect,
    /// The fields of responses that change what a client does are the same.
    Fields,
    /// The contents are the same.
    Content,
    /// The hosts that the page names have addresses of both families.
    PageHosts,
    /// TCP agrees on the same options.
    TcpOptions,
    /// The largest segments are equal but for the headers.
    SegmentSize,
    /// Connections and requests are sent again as rarely.
    Retransmissions,
    /// Responses take equally long.
    Time,
    /// HTTP/3 is served alike.
    Http3,
}

impl SiteCheck {
    /// All checks.
    pub const ALL: [SiteCheck; 23] = [
        SiteCheck::Records,
        SiteCheck::Resolvers,
        SiteCheck::Delegation,
        SiteCheck::AddressKinds,
        SiteCheck::Dns64,
        SiteCheck::HttpsHints,
        SiteCheck::Connect,
        SiteCheck::PlainHttp,
        SiteCheck::Tls,
        SiteCheck::Complete,
        SiteCheck::LargePackets,
        SiteCheck::Certificate,
        SiteCheck::TlsParameters,
        SiteCheck::Status,
        SiteCheck::Redirect,
        SiteCheck::Fields,
        SiteCheck::Content,
        SiteCheck::PageHosts,
        SiteCheck::TcpOptions,
        SiteCheck::SegmentSize,
        SiteCheck::Retransmissions,
        SiteCheck::Time,
        SiteCheck::Http3,
    ];

    /// Returns its name in documents and options.
    pub fn name(self) -> &'static str {
        match self {
            SiteCheck::Records => "records",
            SiteCheck::Resolvers => "resolvers",
            SiteCheck::Delegation => "delegation",
            SiteCheck::AddressKinds => "address-kinds",
            SiteCheck::Dns64 => "dns64",
            SiteCheck::HttpsHints => "https-hints",
            SiteCheck::Connect => "connect",
            SiteCheck::PlainHttp => "plain-http",
            SiteCheck::Tls => "tls",
            SiteCheck::Complete => "complete",
            SiteCheck::LargePackets => "large-packets",
            SiteCheck::Certificate => "certificate",
            SiteCheck::TlsParameters => "tls-parameters",
            SiteCheck::Status => "status",
            SiteCheck::Redirect => "redirect",
            SiteCheck::Fields => "fields",
            SiteCheck::Content => "content",
            SiteCheck::PageHosts => "page-hosts",
            SiteCheck::TcpOptions => "tcp-options",
            SiteCheck::SegmentSize => "segment-size",
            SiteCheck::Retransmissions => "retransmissions",
            SiteCheck::Time => "time",
            SiteCheck::Http3 => "http3",
        }
    }

    /// Returns the check of this name.
    pub fn named(name: &str) -> Option<SiteCheck> {
        SiteCheck::ALL.into_iter().find(|check| check.name() == name)
    }

    /// Returns what is checked, as a short phrase.
    pub fn describe(self) -> &'static str {
        match self {
            SiteCheck::Records => "addresses of both families",
            SiteCheck::Resolvers => "answers of the resolvers",
            SiteCheck::Delegation => "name servers of the zones",
            SiteCheck::AddressKinds => "kinds of addresses",
            SiteCheck::Dns64 => "addresses synthesised by DNS64",
            SiteCheck::HttpsHints => "address hints of HTTPS records",
            SiteCheck::Connect => "connections to every address",
            SiteCheck::PlainHttp => "plain HTTP on port 80",
            SiteCheck::Tls => "TLS handshakes with every address",
            SiteCheck::Complete => "complete responses",
            SiteCheck::LargePackets => "large packets",
            SiteCheck::Certificate => "certificate",
            SiteCheck::TlsParameters => "TLS version, cipher suite, key exchange, protocol",
            SiteCheck::Status => "status",
            SiteCheck::Redirect => "redirects",
            SiteCheck::Fields => "response fields",
            SiteCheck::Content => "content",
            SiteCheck::PageHosts => "hosts that the page names",
            SiteCheck::TcpOptions => "TCP options",
            SiteCheck::SegmentSize => "largest segments",
            SiteCheck::Retransmissions => "SYNs and requests sent again",
            SiteCheck::Time => "response times",
            SiteCheck::Http3 => "HTTP/3",
        }
    }
}

/// Whether the families are alike in what was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// The families are alike.
    Same,
    /// They differ to the disadvantage of one of them.
    Differs,
    /// It was tried, and can't be told.
    CantTell,
    /// It was not tried.
    NotTried,
}

impl FindingState {
    /// Returns its name for people.
    pub fn word(self) -> &'static str {
        match self {
            FindingState::Same => "same",
            FindingState::Differs => "differs",
            FindingState::CantTell => "can't tell",
            FindingState::NotTried => "not tried",
        }
    }
}

/// How much a difference matters to users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingWeight {
    /// Users of one family do not get the site.
    Broken,
    /// Users of one family get it later, sometimes not, or another one.
    Worse,
    /// Worth knowing: users may not notice.
    Notice,
}

/// Who can mend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhoMends {
    /// The operator of the server.
    Server,
    /// The operator of the zone or of the resolver.
    Dns,
    /// The operator of a network on the path.
    Network,
    /// The user of this machine.
    Client,
}

impl WhoMends {
    /// Returns a phrase for people.
    pub fn phrase(self) -> &'static str {
        match self {
            WhoMends::Server => "the server’s operator",
            WhoMends::Dns => "the operator of the zone or of the resolver",
            WhoMends::Network => "a network’s operator",
            WhoMends::Client => "the user of this machine",
        }
    }
}

/// What a check found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteFinding {
    /// What was checked.
    pub check: SiteCheck,
    /// Whether the families are alike in it.
    pub state: FindingState,
    /// How much the difference matters; null unless they differ.
    pub weight: Option<FindingWeight>,
    /// What was found, with both values, or why it can't be told or was not tried.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub found: String,
    /// Who can mend it; null unless they differ.
    pub mended_by: Option<WhoMends>,
    /// A command that shows it; null if there is none.
    pub command: Option<String>,
}

impl SiteFinding {
    /// Creates a finding that the families are alike.
    pub fn same(check: SiteCheck, found: impl Into<String>) -> SiteFinding {
        SiteFinding::of(check, FindingState::Same, found.into())
    }

    /// Creates a finding that can't be told.
    pub fn cant_tell(check: SiteCheck, why: impl Into<String>) -> SiteFinding {
        SiteFinding::of(check, FindingState::CantTell, why.into())
    }

    /// Creates a finding of what was not tried.
    pub fn not_tried(check: SiteCheck, why: impl Into<String>) -> SiteFinding {
        SiteFinding::of(check, FindingState::NotTried, why.into())
    }

    /// Creates a finding that the families differ.
    pub fn differs(
        check: SiteCheck,
        weight: FindingWeight,
        mended_by: WhoMends,
        found: impl Into<String>,
    ) -> SiteFinding {
        let of = SiteFinding::of(check, FindingState::Differs, found.into());
        SiteFinding { weight: Some(weight), mended_by: Some(mended_by), ..of }
    }

    /// Adds the command that shows it.
    #[must_use]
    pub fn shown_by(self, command: impl Into<String>) -> SiteFinding {
        SiteFinding { command: Some(command.into()), ..self }
    }

    fn of(check: SiteCheck, state: FindingState, found: String) -> SiteFinding {
        SiteFinding { check, state, weight: None, found, mended_by: None, command: None }
    }
}
