//! How each client races, with the sources.

/// How a client races. A source is given for each client; `docs/check.md` says which were held against
/// the client itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceProfile {
    /// The client.
    pub name: &'static str,
    /// The order of the attempts, and how many go on at the same time.
    pub order: AttemptOrder,
    /// After how long without a result the next attempt begins, in milliseconds.
    pub attempt_delay_ms: f64,
    /// How long the answer for A waits for that for AAAA, in milliseconds; `None` if the client waits
    /// for both.
    pub resolution_delay_ms: Option<f64>,
    /// How long the addresses wait for the answer for HTTPS.
    pub service_wait: ServiceWait,
    /// When it attempts QUIC, if an HTTPS record or a remembered Alt-Svc offers it.
    pub quic: QuicUse,
    /// True if an attempt over TCP has won only after the TLS handshake, so that others go on until then.
    pub wins_with_tls: bool,
    /// Where this is from.
    pub source: &'static str,
}

/// The order of the attempts over TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOrder {
    /// The families take turns. Another attempt begins after each delay, and after each failure; all go
    /// on (RFC 8305, 5).
    Staggered,
    /// One attempt at a time, and after a failure the other family's turn. After the delay there is one
    /// attempt for each family at a time.
    OneThenOnePerFamily,
    /// One attempt for each family at a time. That of IPv4 begins after the delay, or when no address of
    /// IPv6 is left.
    Ipv6ThenIpv4,
    /// One attempt at a time, IPv6 first. After the delay there is another one at a time, of IPv4 only.
    /// After a failure an address is skipped if there is one behind it.
    PrimaryAndBackup,
}

/// How long addresses wait for the answer for HTTPS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServiceWait {
    /// They do not; a record that has come before them counts.
    None,
    /// As long as the resolution delay.
    ResolutionDelay,
    /// This share of the time that the addresses took, within these limits in milliseconds.
    Share(f64, [f64; 2]),
}

/// When a client attempts QUIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QuicUse {
    /// Never.
    Never,
    /// In the order of attempts: both families over QUIC, then both over TCP.
    InTurn,
    /// First, to the first address. TCP begins this many milliseconds later, by itself.
    BesideTcp(f64),
}

/// The third version of Happy Eyeballs.
pub const HAPPY_EYEBALLS_V3: RaceProfile = RaceProfile {
    name: "Happy Eyeballs v3",
    order: AttemptOrder::Staggered,
    attempt_delay_ms: 250.0,
    resolution_delay_ms: Some(50.0),
    service_wait: ServiceWait::ResolutionDelay,
    quic: QuicUse::InTurn,
    wins_with_tls: true,
    source: "draft-ietf-happy-happyeyeballs-v3, 4 to 6 and 9",
};

/// The second version of Happy Eyeballs.
pub const RFC_8305: RaceProfile = RaceProfile {
    name: "RFC 8305",
    service_wait: ServiceWait::None,
    quic: QuicUse::Never,
    wins_with_tls: false,
    source: "RFC 8305, 3 to 5 and 8",
    ..HAPPY_EYEBALLS_V3
};

/// Chrome, and what is built on Chromium.
pub const CHROME: RaceProfile = RaceProfile {
    name: "Chrome",
    order: AttemptOrder::OneThenOnePerFamily,
    attempt_delay_ms: 300.0,
    resolution_delay_ms: None,
    service_wait: ServiceWait::Share(0.2, [5.0, 50.0]),
    quic: QuicUse::BesideTcp(300.0),
    wins_with_tls: false,
    source: "net/socket/tcp_connect_job.cc; net/base/features.cc, UseDnsHttpsSvcbInsecureExtraTime; \
             QuicSessionPool::GetTimeDelayForWaitingJob",
};

/// Firefox.
pub const FIREFOX: RaceProfile = RaceProfile {
    name: "Firefox",
    order: AttemptOrder::PrimaryAndBackup,
    attempt_delay_ms: 250.0,
    resolution_delay_ms: None,
    service_wait: ServiceWait::None,
    quic: QuicUse::BesideTcp(50.0),
    wins_with_tls: false,
    source: "netwerk/protocol/http/DnsAndConnectSocket.cpp; network.http.connection-retry-timeout; \
             network.dns.httpssvc.http3_fast_fallback_timeout",
};

/// Safari.
pub const SAFARI: RaceProfile = RaceProfile {
    name: "Safari",
    source: "RFC 8305 and draft-ietf-happy-happyeyeballs-v3, by the client’s authors; without a history \
             of the path",
    ..HAPPY_EYEBALLS_V3
};

/// curl.
pub const CURL: RaceProfile = RaceProfile {
    name: "curl",
    order: AttemptOrder::Ipv6ThenIpv4,
    attempt_delay_ms: 200.0,
    resolution_delay_ms: None,
    service_wait: ServiceWait::None,
    quic: QuicUse::Never,
    wins_with_tls: false,
    source: "CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS(3); without --http3",
};

/// The clients.
pub const PROFILES: [RaceProfile; 6] = [HAPPY_EYEBALLS_V3, RFC_8305, CHROME, FIREFOX, SAFARI, CURL];
