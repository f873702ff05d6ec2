//! HTTP/1 on a connection, as far as it shows.

mod exchange;

pub(super) use exchange::{About, Exchange};

use super::Segment;
use super::observed::Sink;
use super::stream::Brought;

/// What is known of HTTP on a connection.
#[derive(Debug, Default)]
pub(super) struct Http {
    exchange: Option<Exchange>,
    pub(super) exchanges: u32,
}

/// The methods of RFC 9110 and RFC 5789, each with the space behind it.
const METHODS: [&[u8]; 9] = [
    b"GET ",
    b"POST ",
    b"HEAD ",
    b"PUT ",
    b"DELETE ",
    b"OPTIONS ",
    b"PATCH ",
    b"CONNECT ",
    b"TRACE ",
];

/// Whether a request begins with these bytes.
pub(super) fn is_request(bytes: &[u8]) -> bool {
    METHODS.iter().any(|method| bytes.starts_with(method))
}

impl Http {
    pub(super) fn take(
        &mut self,
        by_client: bool,
        segment: &Segment<'_>,
        brought: &Brought,
        mss: Option<u16>,
    ) {
        if let Some(exchange) = &mut self.exchange {
            exchange.count(by_client, segment, brought, mss);
        }
    }

    pub(super) fn ask(&mut self, segment: &Segment<'_>, about: &About<'_>, sink: &mut impl Sink) {
        self.end(about, sink);
        self.exchanges += 1;
        let mut exchange = Exchange::new(self.exchanges, segment, about);
        exchange.found.path = path(segment.tcp.payload.bytes);
        self.exchange = Some(exchange);
    }

    pub(super) fn cut_off(&mut self, by_client: bool, segment: &Segment<'_>) {
        if let Some(exchange) = &mut self.exchange {
            exchange.cut_off(by_client, segment);
        }
    }

    pub(super) fn acknowledge(&mut self, to: i64, end: i64, finished: bool, at_ns: u64) {
        if let Some(exchange) = &mut self.exchange {
            exchange.acknowledge(to, end, finished, at_ns);
        }
    }

    pub(super) fn is_unanswered(&self) -> bool {
        self.exchange.as_ref().is_some_and(Exchange::is_unanswered)
    }

    pub(super) fn end(&mut self, about: &About<'_>, sink: &mut impl Sink) {
        if let Some(exchange) = self.exchange.take() {
            sink.exchange(&exchange.finish(about));
        }
    }
}

/// The path of a request, as far as it is there.
fn path(request: &[u8]) -> String {
    let mut words = request.split(|byte| *byte <= b' ');
    words.next();
    String::from_utf8_lossy(words.next().unwrap_or_default()).into_owned()
}
