//! The answers, each prepared when it is first asked for and kept for ever, so that the kernel can
//! read them whenever it likes.

use std::collections::HashMap;
use std::sync::LazyLock;

use sixmark_sys::turbo::RepeatedBytes;

use crate::body::BLOCK;

/// Bodies up to this size are kept with their heads: one send, usually one segment or a few.
const WHOLE: u64 = 16 * 1024;
/// Answers of a thread that are kept: what is prepared is never freed.
const MOST: usize = 4096;
/// The largest body, as at the other origin.
pub(super) const LARGEST: u64 = 1 << 40;

/// The block that larger bodies repeat: the origin's, so often that a send is worth its call.
static LARGE: LazyLock<Vec<u8>> = LazyLock::new(|| BLOCK.repeat(16));

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Dish {
    Hello,
    Bytes(u64),
    Received,
    Malformed,
    Missing,
    TooLarge,
    Unknown,
    Overfull,
}

/// What the answer says of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ConnectionManner {
    /// Nothing: HTTP/1.1 goes on.
    Plain,
    /// That it goes on, which HTTP/1.0 has to be told.
    KeepAlive,
    Close,
}

/// An answer asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Order {
    pub(super) dish: Dish,
    pub(super) manner: ConnectionManner,
    /// Without content: the answer to a HEAD.
    pub(super) bare: bool,
}

/// What a thread has prepared.
#[derive(Debug, Default)]
pub(super) struct Menu {
    prepared: HashMap<Order, &'static [u8]>,
}

impl Menu {
    /// The answer in one part or two, and whether it is the one asked for.
    pub(super) fn serve(&mut self, order: Order, say: &mut Vec<RepeatedBytes>) -> bool {
        let full = self.prepared.len() >= MOST && !self.prepared.contains_key(&order);
        let order = if full { Order { dish: Dish::Overfull, ..order } } else { order };
        let first = self.prepared.entry(order).or_insert_with(|| Vec::leak(prepare(order)));
        say.push(RepeatedBytes::once(first));
        if let (Dish::Bytes(count), false) = (order.dish, order.bare)
            && count > WHOLE
        {
            say.push(RepeatedBytes::repeated(&LARGE, count));
        }
        !full
    }
}

fn prepare(order: Order) -> Vec<u8> {
    let (status, length) = (status_of(order.dish), length(order.dish));
    let connection = match order.manner {
        ConnectionManner::Plain => "",
        ConnectionManner::KeepAlive => "Connection: keep-alive\r\n",
        ConnectionManner::Close => "Connection: close\r\n",
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{connection}\r\n");
    let mut bytes = head.into_bytes();
    if !order.bare {
        bytes.extend_from_slice(content(order.dish));
    }
    bytes
}

fn status_of(dish: Dish) -> &'static str {
    match dish {
        Dish::Hello | Dish::Bytes(_) | Dish::Received => "200 OK",
        Dish::Malformed => "400 Bad Request",
        Dish::Missing => "404 Not Found",
        Dish::TooLarge => "431 Request Header Fields Too Large",
        Dish::Unknown => "501 Not Implemented",
        Dish::Overfull => "503 Service Unavailable",
    }
}

fn length(dish: Dish) -> u64 {
    match dish {
        Dish::Bytes(count) => count,
        _ => content(dish).len() as u64,
    }
}

/// What goes with the head in one piece.
fn content(dish: Dish) -> &'static [u8] {
    match dish {
        Dish::Hello => b"hello, world\n",
        Dish::Bytes(count) if count <= WHOLE => &BLOCK[..count as usize],
        Dish::Bytes(_) => b"",
        Dish::Received => b"received\n",
        Dish::Malformed => b"this is not HTTP/1.1\n",
        Dish::Missing => b"there is /, /bytes/N and, for uploads, /sink\n",
        Dish::TooLarge => b"the head is larger than 16 KiB\n",
        Dish::Unknown => b"there is GET, HEAD, POST and PUT, and no transfer coding\n",
        Dish::Overfull => b"too many different answers were asked for\n",
    }
}
