//! What the simulated network and servers do, told as steps with delays.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

use sixmark_sys::driver::SocketRoute;
use sixmark_units::family::Family;

use super::http2::books::Books;
use super::random::Random;

pub(crate) const MICRO: u64 = 1_000;
pub(crate) const MILLI: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;

/// Decides what becomes of connects and requests.
pub(crate) struct Script {
    pub(crate) dial: Decides<SocketRoute, Dial>,
    pub(crate) reply: Decides<Request, Reply>,
    /// Sees bytes that are passed. Where there is none, each pass is a request.
    pub(crate) see: Option<Decides<Passed, Reply>>,
    /// Watches both ways of HTTP/2. Its servers may let steps overtake one another, each being of
    /// whole frames, and the network then cuts what they send as it likes.
    pub(crate) books: Option<Rc<RefCell<Books>>>,
    /// The time of the connect that is decided on, for those who look.
    pub(crate) clock: Rc<Cell<u64>>,
}

type Decides<A, B> = Box<dyn FnMut(&A, &mut Random) -> B>;

impl Script {
    pub(crate) fn new(
        dial: impl FnMut(&SocketRoute, &mut Random) -> Dial + 'static,
        reply: impl FnMut(&Request, &mut Random) -> Reply + 'static,
    ) -> Script {
        let (dial, reply, clock) = (Box::new(dial), Box::new(reply), Rc::default());
        Script { dial, reply, see: None, books: None, clock }
    }

    /// Passed bytes are part of a stream that only `see` knows how to read. What an exchange is
    /// then is its own to know: no request is written down.
    pub(crate) fn seeing(self, see: impl FnMut(&Passed, &mut Random) -> Reply + 'static) -> Script {
        Script { see: Some(Box::new(see)), ..self }
    }

    /// Both ways of what is passed are HTTP/2, and are written down.
    pub(crate) fn watched(self, books: &Rc<RefCell<Books>>) -> Script {
        Script { books: Some(Rc::clone(books)), ..self }
    }

    /// Every connect succeeds after a tenth of a millisecond.
    pub(crate) fn of_replies(
        reply: impl FnMut(&Request, &mut Random) -> Reply + 'static,
    ) -> Script {
        Script::new(|way, _| Dial::connects(way, 100 * MICRO), reply)
    }

    /// No connect succeeds.
    pub(crate) fn of_failures(errno: i32, after: u64) -> Script {
        let no_reply = |_: &Request, _: &mut Random| unreachable!("nothing is connected");
        Script::new(move |_, _| Dial::Fails { after, errno }, no_reply)
    }
}

/// What becomes of a connect.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dial {
    Connects { after: u64, peer: IpAddr },
    Fails { after: u64, errno: i32 },
    Silent,
}

impl Dial {
    pub(crate) fn connects(way: &SocketRoute, after: u64) -> Dial {
        Dial::Connects { after, peer: way.to.ip() }
    }
}

/// A request as the server sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) family: Family,
    /// It says `Connection: close`.
    pub(crate) last: bool,
    /// When it came.
    pub(crate) at: u64,
}

/// Bytes of a stream as the server sees them.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    /// The connection's number, in the order of connects.
    pub(crate) connection: usize,
    pub(crate) bytes: Vec<u8>,
}

/// How the kernel takes a request, and what comes then, each step that long after the one before.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) take: Take,
    pub(crate) steps: Vec<(u64, Step)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    Whole,
    /// Has no room for all of it before [`Step::Sent`].
    Later,
    Fails(i32),
}

/// One thing that happens to a connection.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Connected(IpAddr),
    Sent,
    /// The last byte sent left for the interface.
    Left,
    Bytes(Vec<u8>),
    /// The same, and with them the response is whole.
    LastBytes(Vec<u8>),
    Fin,
    Error(i32),
}

impl Reply {
    pub(crate) fn no_response() -> Reply {
        Reply { take: Take::Whole, steps: Vec::new() }
    }

    /// A complete response after `wait`, its last byte `transfer` after its first.
    pub(crate) fn timed(response: &[u8], wait: u64, transfer: u64) -> Reply {
        let (first, rest) = response.split_at(1);
        let steps =
            vec![(wait, Step::Bytes(first.to_vec())), (transfer, Step::LastBytes(rest.to_vec()))];
        Reply { take: Take::Whole, steps }
    }

    /// The usual: a tenth of a millisecond, then all at once.
    pub(crate) fn ok(request: &Request) -> Reply {
        let response = Response { close: request.last, ..Response::default() };
        Reply::of(100 * MICRO, Step::LastBytes(response.bytes()))
    }

    pub(crate) fn of(after: u64, step: Step) -> Reply {
        Reply::no_response().then(after, step)
    }

    pub(crate) fn then(mut self, after: u64, step: Step) -> Reply {
        self.steps.push((after, step));
        self
    }

    pub(crate) fn taken(self, take: Take) -> Reply {
        Reply { take, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Length,
    Chunked,
    UntilClose,
}

/// A legal response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    pub(crate) framing: Framing,
    pub(crate) body: usize,
    /// A 103 goes before it.
    pub(crate) hints: bool,
    pub(crate) close: bool,
    /// Bytes of a chunk.
    pub(crate) chunk: usize,
    /// It leads to `/next`.
    pub(crate) redirect: bool,
}

impl Default for Response {
    fn default() -> Response {
        Response {
            framing: Framing::Length,
            body: 100,
            hints: false,
            close: false,
            chunk: 64,
            redirect: false,
        }
    }
}

impl Response {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        if self.hints {
            text += "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        }
        text += if self.redirect {
            "HTTP/1.1 302 Found\r\nLocation: /next\r\n"
        } else {
            "HTTP/1.1 200 OK\r\n"
        };
        if self.close {
            text += "Connection: close\r\n";
        }
        match self.framing {
            Framing::Length => text += &format!("Content-Length: {}\r\n", self.body),
            Framing::Chunked => text += "Transfer-Encoding: chunked\r\n",
            Framing::UntilClose => {}
        }
        text += "\r\n";
        let mut bytes = text.into_bytes();
        let body = vec![b'x'; self.body];
        match self.framing {
            Framing::Chunked => {
                for chunk in body.chunks(self.chunk) {
                    bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                    bytes.extend_from_slice(chunk);
                    bytes.extend_from_slice(b"\r\n");
                }
                bytes.extend_from_slice(b"0\r\n\r\n");
            }
            _ => bytes.extend_from_slice(&body),
        }
        bytes
    }
}
