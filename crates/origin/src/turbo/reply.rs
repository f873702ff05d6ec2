//! The responses. Each is prepared when first requested and then kept for ever, so that the kernel
//! can read it at any time.

use std::collections::HashMap;
use std::sync::LazyLock;

use sixmark_sys::turbo::RepeatedBytes;

use crate::body::BLOCK;
use crate::host::WRONG_HOST;

/// The largest body that is stored with its head and sent in one operation, in bytes.
const WHOLE: u64 = 16 * 1024;
/// The maximum number of responses that a thread keeps, because they are never freed.
const MOST: usize = 4096;
/// The largest body in bytes, as in the ordinary origin.
pub(super) const LARGEST: u64 = 1 << 40;

/// The block that larger bodies repeat: the origin's block several times, so that each send carries
/// enough data.
static LARGE: LazyLock<Vec<u8>> = LazyLock::new(|| BLOCK.repeat(16));

/// The kinds of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reply {
    Hello,
    Bytes(u64),
    Received,
    Malformed,
    WrongHost,
    Missing,
    TooLarge,
    Unknown,
    Overfull,
}

/// The content of the response's Connection header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ConnectionManner {
    /// No header: an HTTP/1.1 connection persists by default.
    Plain,
    /// `keep-alive`: an HTTP/1.0 connection persists only if told so.
    KeepAlive,
    Close,
}

/// A response to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Order {
    pub(super) reply: Reply,
    pub(super) manner: ConnectionManner,
    /// Whether to omit the body, as in a response to HEAD.
    pub(super) bare: bool,
}

/// The responses that a thread has prepared.
#[derive(Debug, Default)]
pub(super) struct ReplyCache {
    prepared: HashMap<Order, &'static [u8]>,
}

impl ReplyCache {
    /// Appends the response to `say` in one or two parts. Returns false if the cache is full, in
    /// which case the response is an error.
    pub(super) fn serve(&mut self, order: Order, say: &mut Vec<RepeatedBytes>) -> bool {
        let full = self.prepared.len() >= MOST && !self.prepared.contains_key(&order);
        let order = if full { Order { reply: Reply::Overfull, ..order } } else { order };
        let first = self.prepared.entry(order).or_insert_with(|| Vec::leak(prepare(order)));
        say.push(RepeatedBytes::once(first));
        if let (Reply::Bytes(count), false) = (order.reply, order.bare)
            && count > WHOLE
        {
            say.push(RepeatedBytes::repeated(&LARGE, count));
        }
        !full
    }
}

fn prepare(order: Order) -> Vec<u8> {
    let (status, length) = (status_of(order.reply), length(order.reply));
    let connection = match order.manner {
        ConnectionManner::Plain => "",
        ConnectionManner::KeepAlive => "Connection: keep-alive\r\n",
        ConnectionManner::Close => "Connection: close\r\n",
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{connection}\r\n");
    let mut bytes = head.into_bytes();
    if !order.bare {
        bytes.extend_from_slice(content(order.reply));
    }
    bytes
}

fn status_of(reply: Reply) -> &'static str {
    match reply {
        Reply::Hello | Reply::Bytes(_) | Reply::Received => "200 OK",
        Reply::Malformed | Reply::WrongHost => "400 Bad Request",
        Reply::Missing => "404 Not Found",
        Reply::TooLarge => "431 Request Header Fields Too Large",
        Reply::Unknown => "501 Not Implemented",
        Reply::Overfull => "503 Service Unavailable",
    }
}

fn length(reply: Reply) -> u64 {
    match reply {
        Reply::Bytes(count) => count,
        _ => content(reply).len() as u64,
    }
}

/// Returns the body that is sent together with the head.
fn content(reply: Reply) -> &'static [u8] {
    match reply {
        Reply::Hello => b"hello, world\n",
        Reply::Bytes(count) if count <= WHOLE => &BLOCK[..count as usize],
        Reply::Bytes(_) => b"",
        Reply::Received => b"received\n",
        Reply::Malformed => b"this is not HTTP/1.1\n",
        Reply::WrongHost => WRONG_HOST.as_bytes(),
        Reply::Missing => b"there is /, /bytes/N and, for uploads, /sink\n",
        Reply::TooLarge => b"the head is larger than 16 KiB\n",
        Reply::Unknown => b"there is GET, HEAD, POST and PUT, and no transfer coding\n",
        Reply::Overfull => b"too many different answers were asked for\n",
    }
}
