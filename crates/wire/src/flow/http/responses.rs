//! The reader of responses.

use super::half::{AfterHead, Reader};
use super::head;
use super::track::Track;

/// The first bytes of a response.
pub(super) const VERSION: &[u8] = b"HTTP/1.";

/// Receives the parts of responses and updates the exchanges.
pub(super) struct Responses<'a>(pub(super) &'a mut Track);

/// Returns the status in the first bytes of a response.
pub(super) fn status_of(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.get(9..12).filter(|digits| digits.iter().all(u8::is_ascii_digit));
    std::str::from_utf8(digits?).ok()?.parse().ok().filter(|status| *status >= 100)
}

impl Reader for Responses<'_> {
    fn begins(&mut self, bytes: &[u8], at_ns: u64) -> bool {
        let Some(exchange) = self.0.awaited() else { return false };
        let known = bytes.len().min(VERSION.len());
        if known == 0 || bytes[..known] != VERSION[..known] {
            return false;
        }
        exchange.is_answered(at_ns);
        // The part that is present; the rest may not have been captured.
        exchange.found.status = status_of(bytes);
        true
    }

    fn head(&mut self, head: &[u8], now_ns: u64) -> Option<AfterHead> {
        let exchange = self.0.awaited()?;
        let method = exchange.found.method.as_str();
        let answered = head::response(head, method)?;
        let tunnel = method == "CONNECT" && (200..300).contains(&answered.status);
        exchange.found.status = Some(answered.status);
        if tunnel || answered.status == 101 {
            exchange.is_whole(now_ns);
            self.0.switched = true;
            return Some(AfterHead::Other);
        }
        Some(match (answered.status, answered.body) {
            // Another head follows.
            (100..200, _) => {
                exchange.is_interim(now_ns);
                AfterHead::Head
            }
            (_, None) => AfterHead::End,
            (_, Some(body)) => AfterHead::Body(body),
        })
    }

    fn content(&mut self, bytes: u64) {
        if let Some(exchange) = self.0.awaited() {
            exchange.found.content_bytes += bytes;
        }
    }

    fn ends(&mut self, at_ns: u64) {
        if let Some(exchange) = self.0.awaited() {
            exchange.is_whole(at_ns);
        }
    }
}
