//! The names of closures and protocols in documents and lists.

use sixmark_wire::flow::{Closure, PayloadProtocol};

/// Returns the name of a closure in documents and lists.
pub(super) fn closure(of: Closure) -> &'static str {
    match of {
        Closure::Open => "OPEN",
        Closure::Normal => "NORMAL",
        Closure::Reset { by_client: true } => "RESET_BY_CLIENT",
        Closure::Reset { by_client: false } => "RESET_BY_SERVER",
        Closure::Refused => "REFUSED",
        Closure::Timeout => "TIMEOUT",
        Closure::Evicted => "EVICTED",
    }
}

/// Returns the name of a protocol in documents and lists.
pub(super) fn payload_protocol(of: &PayloadProtocol) -> &'static str {
    match of {
        PayloadProtocol::Nothing => "nothing",
        PayloadProtocol::Unknown => "unknown",
        PayloadProtocol::Http1 => "http1",
        PayloadProtocol::Http2 => "http2",
        PayloadProtocol::Tls(_) => "tls",
        PayloadProtocol::Quic(_) => "quic",
    }
}

/// Returns the names of all closures.
#[cfg(feature = "schema")]
pub(super) fn closures() -> [&'static str; 7] {
    let reset = |by_client| Closure::Reset { by_client };
    [
        Closure::Open,
        Closure::Normal,
        reset(true),
        reset(false),
        Closure::Refused,
        Closure::Timeout,
        Closure::Evicted,
    ]
    .map(closure)
}

/// Returns the names of all protocols.
#[cfg(feature = "schema")]
pub(super) fn spoken_words() -> [&'static str; 6] {
    let hello = sixmark_wire::flow::Hello::default;
    [
        PayloadProtocol::Nothing,
        PayloadProtocol::Unknown,
        PayloadProtocol::Http1,
        PayloadProtocol::Http2,
        PayloadProtocol::Tls(hello()),
        PayloadProtocol::Quic(hello()),
    ]
    .map(|of| payload_protocol(&of))
}
