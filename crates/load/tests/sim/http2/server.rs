//! A server of HTTP/2 that does whatever a seed says.

use std::collections::BTreeMap;

use libc::{ECONNRESET, EPIPE};

use super::books::BAD_FIELD;
use super::frame::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, Frames, GOAWAY, HEADERS, PADDED, PING,
    PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE, frame,
};
use crate::random::Random;
use crate::script::{MICRO, MILLI, Passed, Reply, Step, Take};

/// The codes of goodbyes, the usual one more often.
pub(crate) const GOODBYES: [u32; 5] = [0, 0, 0, 2, 11];

/// What a server is like.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mood {
    /// Of a hundred answers so many go wrong.
    pub(crate) trouble: u64,
    /// Of a hundred passes so many find no room.
    pub(crate) hesitates: u64,
    /// A few passes fail.
    pub(crate) fails: bool,
    /// The most content of an answer.
    pub(crate) body: u64,
}

/// What comes when, counted from now.
type Steps = Vec<(u64, Step)>;

#[derive(Debug, Default)]
struct Peer {
    frames: Frames,
    greeted: bool,
    /// Opens no windows.
    mean: bool,
    /// The last stream that it has a mind to answer.
    last: Option<u32>,
    highest: u32,
    given_up: Vec<u32>,
}

/// Reads what is passed and answers.
pub(crate) fn server(mood: Mood) -> impl FnMut(&Passed, &mut Random) -> Reply {
    let mut peers: BTreeMap<usize, Peer> = BTreeMap::new();
    move |passed, random| {
        let peer = peers.entry(passed.connection).or_default();
        let mut steps = peer.read(&passed.bytes, mood, random);
        let mut take = Take::Whole;
        if random.chance(mood.hesitates) {
            take = Take::Later;
            steps.push((random.below(3 * MILLI), Step::Sent));
        } else if mood.fails && random.chance(2) {
            take = Take::Fails(random.pick(&[EPIPE, ECONNRESET]));
        }
        reply(take, steps)
    }
}

/// Puts steps in their order, each to come that long after the one before.
pub(crate) fn reply(take: Take, mut steps: Steps) -> Reply {
    steps.sort_by_key(|&(at, _)| at);
    let mut before = 0;
    for (at, _) in &mut steps {
        *at -= std::mem::replace(&mut before, *at);
    }
    Reply { take, steps }
}

impl Peer {
    fn read(&mut self, bytes: &[u8], mood: Mood, random: &mut Random) -> Steps {
        self.frames.push(bytes);
        let mut steps = Steps::new();
        if !std::mem::replace(&mut self.greeted, true) {
            self.frames.preface();
            steps.push((random.below(200) * MICRO / 2, Step::Bytes(self.greeting(mood, random))));
        }
        // Nothing comes before the greeting.
        let soon = 200 * MICRO;
        while let Some(frame) = self.frames.next() {
            let ends = frame.has(END_STREAM) && matches!(frame.kind, HEADERS | DATA);
            self.note(&frame, &mut steps, soon);
            let early = frame.kind == HEADERS && !ends && random.chance(3);
            let known = self.last.is_none_or(|last| frame.id <= last);
            if (ends || early) && known && !self.given_up.contains(&frame.id) {
                self.given_up.extend(early.then_some(frame.id));
                self.serve(frame.id, mood, random, soon, &mut steps);
            }
        }
        if random.chance(2) {
            steps.push((soon, Step::Bytes(frame(PING, 0, 0, &[1; 8]))));
        }
        steps
    }

    fn greeting(&mut self, mood: Mood, random: &mut Random) -> Vec<u8> {
        let mut settings = Vec::new();
        if random.chance(15) {
            let limit = random.pick(&[1u32, 2, 5, 100]);
            settings.extend([[0, 3].as_slice(), &limit.to_be_bytes()].concat());
        }
        if random.chance(10) {
            let window = random.pick(&[0u32, 1, 1_000, 1 << 20]);
            settings.extend([[0, 4].as_slice(), &window.to_be_bytes()].concat());
            self.mean = random.chance(mood.trouble);
        }
        if random.chance(10) {
            settings.extend([0, 1, 0, 0, 0, 0]);
        }
        frame(SETTINGS, 0, 0, &settings)
    }

    fn note(&mut self, came: &Frame, steps: &mut Steps, soon: u64) {
        match came.kind {
            HEADERS => {
                self.highest = self.highest.max(came.id);
                if !self.mean && !came.has(END_STREAM) {
                    steps.push((soon, Step::Bytes(update(came.id, 100_000))));
                }
            }
            DATA if !self.mean && came.length > 0 => {
                steps.push((soon, Step::Bytes(update(0, came.length as u32))));
            }
            SETTINGS if !came.has(ACK) => {
                steps.push((soon, Step::Bytes(frame(SETTINGS, ACK, 0, &[]))));
            }
            RST_STREAM => self.given_up.push(came.id),
            _ => {}
        }
    }

    fn serve(&mut self, id: u32, mood: Mood, random: &mut Random, soon: u64, steps: &mut Steps) {
        let mut at = soon + random.pick(&[0, 100 * MICRO, MILLI, 10 * MILLI]);
        let mut answer: Steps = Vec::new();
        for bytes in response(id, mood.body, random) {
            answer.push((at, Step::Bytes(bytes)));
            at += random.pick(&[0, 0, 10 * MICRO, MILLI]);
        }
        if random.chance(mood.trouble) {
            let cut = random.below(answer.len() as u64 + 1) as usize;
            self.spoil(id, cut, random, &mut answer);
        }
        steps.append(&mut answer);
    }

    /// Lets something go wrong on the way.
    fn spoil(&mut self, id: u32, cut: usize, random: &mut Random, answer: &mut Steps) {
        let at = answer.get(cut).or(answer.last()).map_or(0, |&(at, _)| at);
        match random.below(14) {
            0 => answer.truncate(cut),
            1..=3 => {
                answer.truncate(cut);
                let code = random.pick(&[2u32, 7, 7, 8, 11]);
                let reset = frame(RST_STREAM, 0, id, &code.to_be_bytes());
                answer.push((at, Step::Bytes(reset)));
            }
            4..=6 => self.leave(at, random, answer),
            7 => answer.push((at, Step::Fin)),
            8 => answer.push((at, Step::Error(ECONNRESET))),
            9 => answer.push((at, Step::Bytes(violation(id, random)))),
            10 => {
                answer.truncate(cut.min(1));
                let block = [literal(BAD_FIELD, "1", 0), status()].concat();
                let flags = END_HEADERS | END_STREAM;
                answer.push((at, Step::Bytes(frame(HEADERS, flags, id, &block))));
            }
            // Afterwards.
            11 => {
                let reset = frame(RST_STREAM, 0, id, &[0; 4]);
                let last = answer.last().map_or(0, |&(at, _)| at);
                answer.push((last, Step::Bytes(reset)));
            }
            12 => {
                let last = answer.last().map_or(0, |&(at, _)| at);
                answer.push((last, Step::Bytes(frame(DATA, 0, id, b"late"))));
            }
            _ => answer.push((at, Step::Bytes(frame(0x70, 0xff, id, &[7; 40])))),
        }
    }

    /// Says goodbye; what it disowns may be on its way nevertheless.
    fn leave(&mut self, at: u64, random: &mut Random, answer: &mut Steps) {
        let last = random.pick(&[0, 1, (self.highest / 2) | 1, self.highest, u32::MAX >> 1]);
        let last = last.min(self.last.unwrap_or(u32::MAX));
        self.last = Some(last);
        let code = random.pick(&GOODBYES);
        let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
        answer.push((at, Step::Bytes(frame(GOAWAY, 0, 0, &payload))));
        match random.below(5) {
            0 => answer.push((at + random.below(5 * MILLI), Step::Fin)),
            1 => answer.push((at + random.below(5 * MILLI), Step::Error(ECONNRESET))),
            _ => {}
        }
    }
}

/// Something that ends the connection.
fn violation(id: u32, random: &mut Random) -> Vec<u8> {
    match random.below(7) {
        0 => frame(PUSH_PROMISE, END_HEADERS, id, &[0; 8]),
        1 => frame(SETTINGS, 0, 0, &[0; 5]),
        2 => update(0, 0),
        3 => frame(DATA, 0, 2, b"x"),
        4 => frame(DATA, END_STREAM, id + 2_000, b"x"),
        5 => frame(HEADERS, END_HEADERS, 0, &[]),
        _ => {
            let piece = vec![0; 16_000];
            let mut bytes = frame(HEADERS, 0, id, &status());
            (0..5).for_each(|_| bytes.extend(frame(CONTINUATION, 0, id, &piece)));
            bytes
        }
    }
}

pub(crate) fn update(id: u32, by: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, id, &by.to_be_bytes())
}

/// A field without the table, or with `form` 0x40 to be put into it.
pub(crate) fn literal(name: &str, value: &str, form: u8) -> Vec<u8> {
    let mut block = vec![form];
    for text in [name, value] {
        match text.len() {
            short if short < 127 => block.push(short as u8),
            long => {
                block.push(127);
                let mut rest = long - 127;
                while rest > 127 {
                    block.push(rest as u8 | 128);
                    rest >>= 7;
                }
                block.push(rest as u8);
            }
        }
        block.extend_from_slice(text.as_bytes());
    }
    block
}

/// Status 200, from the table that everybody has.
pub(crate) fn status() -> Vec<u8> {
    vec![0x88]
}

/// A complete response in pieces of whole frames, HEADERS with all that goes on with them.
fn response(id: u32, most: u64, random: &mut Random) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    if random.chance(10) {
        pieces.push(frame(HEADERS, END_HEADERS, id, &literal(":status", "103", 0)));
    }
    let mut body = random.below(most + 1) as usize;
    let mut block = status();
    if random.chance(20) {
        body = 0;
    }
    if random.chance(30) {
        block.extend(literal("content-length", &body.to_string(), 0));
    }
    if random.chance(20) {
        block.extend(literal("date", &format!("{}", random.below(9)), 0x40));
    }
    if random.chance(3) {
        block.extend(literal("long", &"x".repeat(20_000), 0));
    }
    let trailers = random.chance(15);
    pieces.push(fields(id, &block, body == 0 && !trailers, random));
    while body > 0 {
        let piece = 1 + random.below(body.min(16_000) as u64) as usize;
        body -= piece;
        pieces.push(content(id, piece, body == 0 && !trailers, random));
    }
    if trailers {
        pieces.push(fields(id, &literal("trailer", "x", 0), true, random));
    }
    pieces
}

fn fields(id: u32, block: &[u8], ends: bool, random: &mut Random) -> Vec<u8> {
    let end = if ends { END_STREAM } else { 0 };
    let most = if random.chance(20) { block.len().div_ceil(3) } else { 16_000 };
    let mut bytes = Vec::new();
    let last = block.len().div_ceil(most) - 1;
    for (number, piece) in block.chunks(most).enumerate() {
        let (kind, flags) = if number == 0 { (HEADERS, end) } else { (CONTINUATION, 0) };
        let whole = if number == last { END_HEADERS } else { 0 };
        bytes.extend(frame(kind, flags | whole, id, piece));
    }
    bytes
}

fn content(id: u32, length: usize, ends: bool, random: &mut Random) -> Vec<u8> {
    let end = if ends { END_STREAM } else { 0 };
    if !random.chance(10) {
        return frame(DATA, end, id, &vec![b'x'; length]);
    }
    let padding = random.below(256) as u8;
    let payload = [&[padding], &vec![b'x'; length][..], &vec![0; padding.into()]].concat();
    frame(DATA, end | PADDED, id, &payload)
}
