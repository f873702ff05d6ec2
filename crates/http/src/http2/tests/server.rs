//! A small server that randomly does whatever is allowed: it interleaves and pads, resizes its
//! table, opens and shrinks its windows. Its bytes and the client's are split anywhere.

use std::collections::BTreeMap;

use super::super::{Connection, Options};
use super::wire::{flag, frame, frames, kind, number, settings};
use super::{Log, request};
use crate::hpack::{self, Decoder, integer};
use sixmark_units::random::Random;

const PREFACE: usize = 24;

/// An exchange as seen by the server.
#[derive(Default)]
struct Exchange {
    asked: usize,
    asked_all: bool,
    /// How many bytes of the body the client may still send.
    window: i64,
    /// How many bytes may still be sent to the client.
    credit: i64,
    head_sent: bool,
    left: usize,
}

struct Server {
    random: Random,
    bytes: Vec<u8>,
    decoder: Decoder,
    table: Vec<(String, String)>,
    exchanges: BTreeMap<u32, Exchange>,
    greeted: bool,
    window: i64,
    first_window: i64,
    credit: i64,
    /// Windows that the client has not acknowledged yet, oldest first.
    announced: Vec<i64>,
    done: BTreeMap<u32, usize>,
}

/// The sizes of the `number`th request body and of its response, in bytes.
fn sizes(number: u32) -> (usize, usize) {
    let mut random = Random::new(3, u64::from(number));
    let mut size = |most: u64| {
        let bits = random.bits();
        if bits.is_multiple_of(3) { 0 } else { (bits >> 8) % most }
    };
    (size(150_000) as usize, size(200_000) as usize)
}

impl Server {
    fn new(seed: u64) -> Server {
        Server {
            random: Random::new(seed, 1),
            bytes: Vec::new(),
            decoder: Decoder::new(4096, 65_536),
            table: Vec::new(),
            exchanges: BTreeMap::new(),
            greeted: false,
            window: 65_535,
            first_window: 65_535,
            credit: 65_535,
            announced: vec![65_535],
            done: BTreeMap::new(),
        }
    }

    fn chance(&mut self, of: u64) -> bool {
        self.random.bits().is_multiple_of(of)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.random.bits() % most.max(1) as u64) as usize
    }

    /// Reads what the client sent, and checks that it respects the announced windows.
    fn read(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if !self.greeted && self.bytes.len() >= PREFACE {
            assert!(self.bytes.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
            self.bytes.drain(..PREFACE);
            self.greeted = true;
        }
        if !self.greeted {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let (found, rest) = frames(&bytes);
        for (frame, payload) in found {
            match frame.kind {
                kind::HEADERS => self.headers(frame.id, frame.has(flag::END_STREAM), payload),
                kind::DATA => self.data(frame.id, frame.has(flag::END_STREAM), payload.len()),
                kind::WINDOW_UPDATE => {
                    let by = i64::from(u32::from_be_bytes(*payload.first_chunk().unwrap()));
                    match self.exchanges.get_mut(&frame.id) {
                        Some(exchange) => exchange.credit += by,
                        None if frame.id == 0 => self.credit += by,
                        None => {}
                    }
                }
                kind::SETTINGS if frame.has(flag::ACK) => self.acknowledged(),
                kind::SETTINGS | kind::PING => {}
                kind::RST_STREAM => panic!("nothing here deserves a reset"),
                other => panic!("a client has no reason to send {other}"),
            }
        }
        self.bytes = rest.to_vec();
    }

    /// Applies the announced window, which the client must respect from now on, as counted in RFC
    /// 9113, 6.9.2.
    fn acknowledged(&mut self) {
        if !self.announced.is_empty() {
            let window = self.announced.remove(0);
            let by = window - std::mem::replace(&mut self.first_window, window);
            self.exchanges.values_mut().for_each(|exchange| exchange.window += by);
        }
    }

    fn headers(&mut self, id: u32, ends: bool, block: &[u8]) {
        let mut names = 0;
        self.decoder.decode(block, |_, _| names += 1).unwrap();
        assert!(names >= 6);
        let (window, credit) = (self.first_window, 65_535);
        let left = sizes(id / 2).1;
        let exchange = Exchange { asked_all: ends, window, credit, left, ..Exchange::default() };
        assert!(self.exchanges.insert(id, exchange).is_none());
    }

    fn data(&mut self, id: u32, ends: bool, length: usize) {
        self.window -= length as i64;
        let exchange = self.exchanges.get_mut(&id).unwrap();
        exchange.asked += length;
        exchange.asked_all = ends;
        exchange.window -= length as i64;
        assert!(exchange.window >= 0 && self.window >= 0, "more than the windows allow");
    }

    /// Returns something that a server may send now.
    fn write(&mut self) -> Vec<u8> {
        match self.random.bits() % 12 {
            0 => frame(kind::PING, 0, 0, [7; 8]),
            1 => frame(0xfa, 3, 1, [0; 20]),
            2 if self.announced.len() < 3 => self.write_settings(),
            3 | 4 => self.open(0),
            5 | 6 => self.any().map_or(Vec::new(), |id| self.open(id)),
            _ => self.any().map_or(Vec::new(), |id| self.answer(id)),
        }
    }

    fn any(&mut self) -> Option<u32> {
        let at = self.below(self.exchanges.len());
        self.exchanges.keys().nth(at).copied()
    }

    fn write_settings(&mut self) -> Vec<u8> {
        let window = self.below(100_000) as u32;
        self.announced.push(i64::from(window));
        let frame = 16_384 + self.below(100_000) as u32;
        let table = self.below(8_000) as u32;
        settings(&[(4, window), (5, frame), (1, table), (77, 1)])
    }

    fn open(&mut self, id: u32) -> Vec<u8> {
        let by = 1 + self.below(60_000);
        match self.exchanges.get_mut(&id) {
            Some(exchange) if exchange.window > 1 << 20 => return Vec::new(),
            Some(exchange) => exchange.window += by as i64,
            None if self.window > 1 << 20 => return Vec::new(),
            None => self.window += by as i64,
        }
        number(kind::WINDOW_UPDATE, id, by as u32)
    }

    fn answer(&mut self, id: u32) -> Vec<u8> {
        let Some(exchange) = self.exchanges.get(&id) else { return Vec::new() };
        if !exchange.asked_all {
            return Vec::new();
        }
        if !exchange.head_sent {
            return self.answer_head(id);
        }
        let (left, room) = (exchange.left, exchange.credit.min(self.credit).min(16_384));
        let padded = self.chance(4);
        let padding = if padded { self.below(200) } else { 0 };
        let extra = padding + usize::from(padded);
        let Some(room) = usize::try_from(room).ok().and_then(|room| room.checked_sub(extra)) else {
            return Vec::new();
        };
        let most = self.below(20_000);
        let length = left.min(room).min(most);
        let trailers = self.chance(3);
        let ends = length == left;
        let mut payload = if padded { vec![padding as u8] } else { vec![] };
        payload.resize(payload.len() + length, b'd');
        payload.resize(payload.len() + padding, 0);
        self.credit -= payload.len() as i64;
        let exchange = self.exchanges.get_mut(&id).unwrap();
        exchange.credit -= payload.len() as i64;
        exchange.left -= length;
        let flags = if padded { flag::PADDED } else { 0 };
        let end = if ends && !trailers { flag::END_STREAM } else { 0 };
        let mut bytes = frame(kind::DATA, flags | end, id, payload);
        if ends {
            if trailers {
                let block = self.block(&[("x-sum", "1")]);
                bytes.extend(self.fields(id, flag::END_STREAM, &block));
            }
            let asked = self.exchanges.remove(&id).unwrap().asked;
            self.done.insert(id, asked);
        }
        bytes
    }

    fn answer_head(&mut self, id: u32) -> Vec<u8> {
        let exchange = self.exchanges.get_mut(&id).unwrap();
        exchange.head_sent = true;
        let length = exchange.left.to_string();
        let value = self.below(50).to_string();
        let mut bytes = Vec::new();
        if self.chance(4) {
            let block = self.block(&[(":status", "103")]);
            bytes.extend(self.fields(id, 0, &block));
        }
        let mut list = vec![(":status", "200"), ("server", "small"), ("x-some", &value)];
        if self.chance(2) {
            list.push(("content-length", &length));
        }
        let block = self.block(&list);
        bytes.extend(self.fields(id, 0, &block));
        bytes
    }

    /// Compresses with a table of its own, which it empties now and then.
    fn block(&mut self, list: &[(&str, &str)]) -> Vec<u8> {
        let mut block = Vec::new();
        if self.chance(10) {
            self.table.clear();
            integer::write_integer(&mut block, 0x20, 5, 0);
            integer::write_integer(&mut block, 0x20, 5, 4_096);
        }
        for &(name, value) in list {
            let owned = (name.to_owned(), value.to_owned());
            if let Some(age) = self.table.iter().rev().position(|field| *field == owned) {
                integer::write_integer(&mut block, 0x80, 7, 62 + age);
            } else if self.chance(2) {
                hpack::write_field(&mut block, name, value);
            } else {
                block.push(0x40);
                hpack::text::write_string(&mut block, 0, 7, name.as_bytes());
                hpack::text::write_string(&mut block, 0, 7, value.as_bytes());
                self.table.push(owned);
                let size = |table: &[(String, String)]| -> usize {
                    table.iter().map(|(name, value)| name.len() + value.len() + 32).sum()
                };
                while size(&self.table) > 4_096 {
                    self.table.remove(0);
                }
            }
        }
        block
    }

    /// Returns HEADERS, sometimes with CONTINUATION.
    fn fields(&mut self, id: u32, flags: u8, block: &[u8]) -> Vec<u8> {
        let (first, second) = block.split_at(self.below(block.len() + 1));
        if self.chance(2) {
            return frame(kind::HEADERS, flags | flag::END_HEADERS, id, block);
        }
        let head = frame(kind::HEADERS, flags, id, first);
        [head, frame(kind::CONTINUATION, flag::END_HEADERS, id, second)].concat()
    }
}

#[test]
fn completes_every_exchange_with_a_server_of_random_legal_behavior() {
    (0..30).for_each(run);
}

fn begin(connection: &mut Connection, number: u32, observed: bool) {
    let body = Some(sizes(number).0).filter(|&body| body > 0).map(|body| vec![b'b'; body]);
    let method = if body.is_some() { "POST" } else { "GET" };
    assert!(connection.begin(number, &request(method, body, observed)));
}

fn run(seed: u64) {
    const EXCHANGES: u32 = 60;
    let mut random = Random::new(seed, 2);
    let mut connection = Connection::new(&Options { streams: 8, window: 65_535 });
    let mut server = Server::new(seed);
    let mut log = Log::default();
    let (mut begun, mut written) = (0, 0);
    let mut to_client = settings(&[]);
    for _ in 0..200_000 {
        if begun < EXCHANGES && connection.room() > 0 && random.bits().is_multiple_of(3) {
            let observed = random.bits().is_multiple_of(2);
            begin(&mut connection, begun, observed);
            begun += 1;
        }
        let out = connection.output();
        let taken = (random.bits() % (out.len() as u64 + 1)) as usize;
        let bytes: Vec<u8> = out.drain(..taken).collect();
        while connection.next_written().is_some() {
            written += 1;
        }
        server.read(&bytes);
        if to_client.len() < 100_000 {
            to_client.extend(server.write());
        }
        let fed = (random.bits() % (to_client.len() as u64 + 1)) as usize;
        connection.feed(&to_client[..fed], &mut log).unwrap();
        to_client.drain(..fed);
        if begun == EXCHANGES && connection.in_flight() == 0 {
            break;
        }
    }
    let text = log.text();
    for number in 0..EXCHANGES {
        let (asked, answered) = sizes(number);
        assert_eq!(server.done.get(&(2 * number + 1)), Some(&asked), "seed {seed}");
        let line = format!("complete {number} 200 {answered}\n");
        assert_eq!(text.matches(&line).count(), 1, "seed {seed}: {line}");
    }
    assert_eq!(written, EXCHANGES, "seed {seed}");
}
