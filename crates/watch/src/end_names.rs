//! The names of closures and protocols in documents and lists.

use sixmark_wire::flow::{Closure, Spoken};

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
pub(super) fn spoken(of: &Spoken) -> &'static str {
    match of {
        Spoken::Nothing => "nothing",
        Spoken::Unknown => "unknown",
        Spoken::Http1 => "http1",
        Spoken::Http2 => "http2",
        Spoken::Tls(_) => "tls",
        Spoken::Quic(_) => "quic",
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
        Spoken::Nothing,
        Spoken::Unknown,
        Spoken::Http1,
        Spoken::Http2,
        Spoken::Tls(hello()),
        Spoken::Quic(hello()),
    ]
    .map(|of| spoken(&of))
}
