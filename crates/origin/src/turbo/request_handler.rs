//! A subset of HTTP/1.1 that suffices for benchmarks.

use httparse::{EMPTY_HEADER, Request, Status};
use sixmark_sys::turbo::{Handler, NextStep, RepeatedBytes};

use super::reply::{ConnectionManner, LARGEST, Order, Reply, ReplyCache};
use crate::host::is_acceptable;

/// The largest request head, in bytes.
const HEAD: usize = 16 * 1024;
/// The maximum number of header fields.
const FIELDS: usize = 64;
/// The longest request head that is cached, in bytes.
const REMEMBERED: usize = 2048;

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The handler of all connections of a thread.
#[derive(Debug, Default)]
pub(crate) struct RequestHandler {
    replies: ReplyCache,
    /// The number of requests answered.
    served: u64,
    /// The last request without a body. The next request is likely to be identical.
    last: Vec<u8>,
    last_order: Option<Order>,
}

/// The state of a connection.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The beginning of an incomplete head.
    head: Vec<u8>,
    /// The number of body bytes still to come, and the response to send after them.
    body: u64,
    after: Option<Order>,
}

/// A parsed request head.
#[derive(Clone, Copy, Debug)]
struct TurboRequest {
    order: Order,
    /// The length of the head, in bytes.
    head: usize,
    /// The length of the body, in bytes.
    body: u64,
    /// Whether the client expects a 100 (Continue) response.
    expects: bool,
}

/// The reason for which a head cannot be parsed.
#[derive(Clone, Copy, Debug)]
enum HeadError {
    /// The head is incomplete.
    Incomplete,
    /// The head is rejected with this response.
    Unacceptable(Reply),
}

impl Handler for RequestHandler {
    type Memory = Memory;

    fn on_bytes(
        &mut self,
        memory: &mut Memory,
        mut bytes: &[u8],
        say: &mut Vec<RepeatedBytes>,
    ) -> NextStep {
        while !bytes.is_empty() {
            let (next, used) = self.step(memory, bytes, say);
            if next != NextStep::Listen {
                return next;
            }
            bytes = &bytes[used.min(bytes.len())..];
        }
        NextStep::Listen
    }
}

impl RequestHandler {
    /// Returns the number of requests answered so far.
    pub(crate) fn served(&self) -> u64 {
        self.served
    }

    /// Processes bytes of a body, a request or the beginning of one. Returns how many bytes were
    /// used.
    fn step(
        &mut self,
        memory: &mut Memory,
        bytes: &[u8],
        say: &mut Vec<RepeatedBytes>,
    ) -> (NextStep, usize) {
        if memory.body > 0 {
            let used = memory.body.min(bytes.len() as u64);
            memory.body -= used;
            return (self.after_body(memory, say), used as usize);
        }
        if memory.head.is_empty() {
            if let Some(order) = self.last_order.filter(|_| bytes.starts_with(&self.last)) {
                return (self.serve(order, say), self.last.len());
            }
            return self.begin(memory, bytes, say);
        }
        self.go_on(memory, bytes, say)
    }

    fn begin(
        &mut self,
        memory: &mut Memory,
        bytes: &[u8],
        say: &mut Vec<RepeatedBytes>,
    ) -> (NextStep, usize) {
        match understand(bytes) {
            Ok(asked) => {
                if asked.body == 0 && asked.head <= REMEMBERED {
                    self.last = bytes[..asked.head].to_vec();
                    self.last_order = Some(asked.order);
                }
                (self.take(memory, asked, say), asked.head)
            }
            Err(HeadError::Incomplete) => {
                memory.head = bytes.to_vec();
                (NextStep::Listen, bytes.len())
            }
            Err(HeadError::Unacceptable(reply)) => (self.refuse(reply, say), 0),
        }
    }

    fn go_on(
        &mut self,
        memory: &mut Memory,
        bytes: &[u8],
        say: &mut Vec<RepeatedBytes>,
    ) -> (NextStep, usize) {
        let before = memory.head.len();
        memory.head.extend_from_slice(bytes);
        match understand(&memory.head) {
            Ok(asked) => {
                memory.head = Vec::new();
                (self.take(memory, asked, say), asked.head.saturating_sub(before))
            }
            Err(HeadError::Incomplete) => (NextStep::Listen, bytes.len()),
            Err(HeadError::Unacceptable(reply)) => (self.refuse(reply, say), 0),
        }
    }

    fn take(
        &mut self,
        memory: &mut Memory,
        asked: TurboRequest,
        say: &mut Vec<RepeatedBytes>,
    ) -> NextStep {
        memory.body = asked.body;
        memory.after = Some(asked.order);
        if asked.expects && asked.body > 0 {
            say.push(RepeatedBytes::once(CONTINUE));
        }
        self.after_body(memory, say)
    }

    fn after_body(&mut self, memory: &mut Memory, say: &mut Vec<RepeatedBytes>) -> NextStep {
        match memory.after.filter(|_| memory.body == 0) {
            Some(order) => self.serve(order, say),
            None => NextStep::Listen,
        }
    }

    fn serve(&mut self, order: Order, say: &mut Vec<RepeatedBytes>) -> NextStep {
        self.served += 1;
        let served = self.replies.serve(order, say);
        if served && order.manner != ConnectionManner::Close {
            NextStep::Listen
        } else {
            NextStep::End
        }
    }

    fn refuse(&mut self, reply: Reply, say: &mut Vec<RepeatedBytes>) -> NextStep {
        self.replies.serve(Order { reply, manner: ConnectionManner::Close, bare: false }, say);
        NextStep::Refuse
    }
}

fn understand(bytes: &[u8]) -> Result<TurboRequest, HeadError> {
    let mut fields = [EMPTY_HEADER; FIELDS];
    let mut request = Request::new(&mut fields);
    match request.parse(bytes) {
        Ok(Status::Complete(head)) if head <= HEAD => asked(&request, head),
        Ok(Status::Partial) if bytes.len() < HEAD => Err(HeadError::Incomplete),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => {
            Err(HeadError::Unacceptable(Reply::TooLarge))
        }
        Err(_) => Err(HeadError::Unacceptable(Reply::Malformed)),
    }
}

fn asked(request: &Request<'_, '_>, head: usize) -> Result<TurboRequest, HeadError> {
    if !is_acceptable(values(request, "host"), request.version == Some(0)) {
        return Err(HeadError::Unacceptable(Reply::WrongHost));
    }
    if values(request, "transfer-encoding").next().is_some() {
        return Err(HeadError::Unacceptable(Reply::Unknown));
    }
    let body = content_length(request).ok_or(HeadError::Unacceptable(Reply::Malformed))?;
    let expects = says(request, "expect", "100-continue");
    let path = request.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let (reply, bare) = match request.method.unwrap_or_default() {
        "GET" => (choose_reply(path), false),
        "HEAD" => (choose_reply(path), true),
        "POST" | "PUT" if path == "/sink" => (Reply::Received, false),
        "POST" | "PUT" => (Reply::Missing, false),
        _ => return Err(HeadError::Unacceptable(Reply::Unknown)),
    };
    let manner = manner(request);
    Ok(TurboRequest { order: Order { reply, manner, bare }, head, body, expects })
}

fn choose_reply(path: &str) -> Reply {
    let bytes = || path.strip_prefix("/bytes/")?.parse().ok().filter(|&count| count <= LARGEST);
    if path == "/" { Reply::Hello } else { bytes().map_or(Reply::Missing, Reply::Bytes) }
}

/// Decides whether the connection persists (RFC 9112, section 9.3).
fn manner(request: &Request<'_, '_>) -> ConnectionManner {
    let newer = request.version == Some(1);
    if says(request, "connection", "close") {
        ConnectionManner::Close
    } else if newer {
        ConnectionManner::Plain
    } else if says(request, "connection", "keep-alive") {
        ConnectionManner::KeepAlive
    } else {
        ConnectionManner::Close
    }
}

/// Returns the value of Content-Length, or 0 without one. Returns `None` if it is not a number or
/// occurs several times.
fn content_length(request: &Request<'_, '_>) -> Option<u64> {
    let mut lengths = values(request, "content-length");
    let Some(first) = lengths.next() else { return Some(0) };
    let digits = !first.is_empty() && first.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(first).ok().filter(|_| digits)?.parse().ok();
    number.filter(|_| lengths.next().is_none())
}

fn says(request: &Request<'_, '_>, name: &str, word: &str) -> bool {
    let mut words = values(request, name).flat_map(|value| value.split(|&byte| byte == b','));
    words.any(|one| one.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

fn values<'a>(request: &'a Request<'_, '_>, name: &str) -> impl Iterator<Item = &'a [u8]> {
    request.headers.iter().filter(move |f| f.name.eq_ignore_ascii_case(name)).map(|f| f.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_takes_little_memory() {
        assert!(size_of::<Memory>() <= 64, "{}", size_of::<Memory>());
    }
}
