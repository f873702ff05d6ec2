//! What went over each connection of HTTP/2, both ways and in the order in which the worker had it,
//! and what must have become of each stream.

use std::collections::BTreeMap;

use sixmark_units::family::Family;

use super::frame::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, Frames, GOAWAY, HEADERS, PUSH_PROMISE,
    RST_STREAM, SETTINGS, WINDOW_UPDATE,
};

/// A field that no response may have, by which the books know that one is malformed.
pub(crate) const BAD_FIELD: &str = "X-Bad";
/// More of a block of fields is a violation.
const MAX_BLOCK: usize = 64 * 1024;

/// What became of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Open,
    /// The last byte of its response was told.
    Answered,
    Reset(u32),
    /// A GOAWAY said that nothing was done with it.
    Disowned,
    /// This side gave it up.
    Cancelled,
    /// Its response was none.
    Malformed,
    /// Its connection broke the rules, with this code.
    Violated(u32),
    /// Its connection ended before.
    Lost,
}

#[derive(Debug, Default)]
pub(crate) struct Books {
    pub(crate) connections: BTreeMap<usize, Page>,
    /// The most streams at once, on one connection and on all.
    pub(crate) most_on_one: usize,
    pub(crate) most: usize,
    open: usize,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) family: Family,
    pub(crate) streams: BTreeMap<u32, Stream>,
    pub(crate) goaway: bool,
    /// The server broke the rules.
    pub(crate) violation: bool,
    /// The client's last word, with its code.
    pub(crate) goodbye: Option<u32>,
    /// Bytes with the time of each, as they were passed and told.
    pub(crate) sent: Vec<(u64, usize)>,
    pub(crate) received: Vec<(u64, usize)>,
    /// How many streams the server lets be open.
    limit: Option<u32>,
    open: usize,
    /// More were.
    pub(crate) overdrawn: bool,
    over: bool,
    preface: bool,
    late_up_to: u32,
    /// The last stream before the server's limit was known; none while it isn't.
    unlimited_up_to: Option<u32>,
    up: Frames,
    down: Frames,
    /// Fields that go on: their stream, whether they end it, and they.
    block: Option<(u32, bool, Vec<u8>)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) fate: Fate,
    /// The request is whole.
    pub(crate) asked: bool,
}

impl Page {
    fn new(family: Family) -> Page {
        Page {
            family,
            streams: BTreeMap::new(),
            goaway: false,
            violation: false,
            goodbye: None,
            sent: Vec::new(),
            received: Vec::new(),
            limit: None,
            open: 0,
            overdrawn: false,
            over: false,
            preface: false,
            late_up_to: 0,
            unlimited_up_to: None,
            up: Frames::default(),
            down: Frames::default(),
            block: None,
        }
    }

    fn open(&self) -> usize {
        self.open
    }
}

impl Books {
    /// The client sent this.
    pub(crate) fn passed(&mut self, connection: usize, family: Family, at: u64, bytes: &[u8]) {
        let page = page(&mut self.connections, connection, family);
        page.sent.push((at, bytes.len()));
        page.up.push(bytes);
        if !std::mem::replace(&mut page.preface, true) {
            page.up.preface();
        }
        let before = page.open();
        while let Some(frame) = page.up.next() {
            page.asked(&frame);
        }
        let after = page.open();
        self.open = self.open + after - before;
        self.most_on_one = self.most_on_one.max(after);
        self.most = self.most.max(self.open);
    }

    /// The server sent this, and the client has it.
    pub(crate) fn told(&mut self, connection: usize, family: Family, at: u64, bytes: &[u8]) {
        let page = page(&mut self.connections, connection, family);
        page.received.push((at, bytes.len()));
        page.down.push(bytes);
        let before = page.open();
        while !page.over
            && let Some(frame) = page.down.peek()
        {
            if let Some(code) = page.violation(&frame) {
                page.violated(code);
                break;
            }
            let Some(frame) = page.down.next() else { break };
            if let Some(code) = page.answers(&frame) {
                page.violated(code);
            }
        }
        self.open = self.open + page.open() - before;
    }

    /// Nothing more comes or goes.
    pub(crate) fn over(&mut self, connection: usize) {
        if let Some(page) = self.connections.get_mut(&connection) {
            self.open -= page.open();
            page.end(Fate::Lost);
        }
    }

    /// How many streams to a family came to which end.
    pub(crate) fn fates(&self, family: Family) -> BTreeMap<Fate, u64> {
        let mut fates = BTreeMap::new();
        for page in self.connections.values().filter(|page| page.family == family) {
            page.streams.values().for_each(|stream| *fates.entry(stream.fate).or_default() += 1);
        }
        fates
    }
}

fn page(pages: &mut BTreeMap<usize, Page>, connection: usize, family: Family) -> &mut Page {
    pages.entry(connection).or_insert_with(|| Page::new(family))
}

impl Page {
    /// The client's side of the rules is checked here.
    fn asked(&mut self, frame: &Frame) {
        match frame.kind {
            HEADERS => {
                let (fate, asked) = (Fate::Open, frame.has(END_STREAM));
                let last = self.streams.last_key_value().map_or(0, |(&id, _)| id);
                assert!(frame.id % 2 == 1 && frame.id > last, "stream {} after {last}", frame.id);
                assert!(self.goodbye.is_none(), "a request after the goodbye");
                self.streams.insert(frame.id, Stream { fate, asked });
                self.open += 1;
                let open = self.open();
                self.overdrawn |= self.limit.is_some_and(|limit| open > limit as usize);
            }
            DATA => {
                let stream = self.streams.get_mut(&frame.id).expect("content before fields");
                assert!(!stream.asked, "content after the end");
                stream.asked |= frame.has(END_STREAM);
            }
            RST_STREAM => {
                assert!(self.streams.contains_key(&frame.id), "a reset of no stream");
                self.late_up_to = self.late_up_to.max(frame.id);
                self.settle(frame.id, Fate::Cancelled);
            }
            GOAWAY => self.goodbye = Some(frame.number(4)),
            _ => {}
        }
    }

    /// A violation that the head of a frame shows.
    fn violation(&self, frame: &Frame) -> Option<u32> {
        let known = self.streams.get(&frame.id);
        match frame.kind {
            PUSH_PROMISE => Some(1),
            SETTINGS if !frame.length.is_multiple_of(6) => Some(6),
            DATA | HEADERS if frame.id.is_multiple_of(2) || known.is_none() => Some(1),
            DATA | HEADERS
                if frame.id > self.late_up_to
                    && known.is_some_and(|stream| stream.fate != Fate::Open) =>
            {
                Some(5)
            }
            _ => None,
        }
    }

    /// What a whole frame means: a violation of the rules, perhaps.
    fn answers(&mut self, frame: &Frame) -> Option<u32> {
        match frame.kind {
            DATA if frame.has(END_STREAM) => self.answered(frame.id),
            HEADERS | CONTINUATION => return self.fields(frame),
            RST_STREAM => self.reset(frame.id, frame.number(0)),
            SETTINGS if !frame.has(ACK) => self.settings(frame),
            WINDOW_UPDATE if frame.id == 0 && frame.number(0) == 0 => return Some(1),
            GOAWAY => {
                self.goaway = true;
                let last = frame.number(0);
                let above: Vec<u32> = self.streams.range(last + 1..).map(|(&id, _)| id).collect();
                for id in above {
                    if self.streams[&id].fate == Fate::Open {
                        self.late_up_to = self.late_up_to.max(id);
                    }
                    self.settle(id, Fate::Disowned);
                }
            }
            _ => {}
        }
        None
    }

    /// What was refused (7) while its limit was unknown is sent again.
    fn reset(&mut self, id: u32, code: u32) {
        let unaware = code == 7 && self.unlimited_up_to.is_none_or(|last| id <= last);
        self.settle(id, if unaware { Fate::Disowned } else { Fate::Reset(code) });
    }

    fn settings(&mut self, frame: &Frame) {
        let last = self.streams.last_key_value().map_or(0, |(&id, _)| id);
        self.unlimited_up_to.get_or_insert(last);
        for setting in frame.payload.chunks(6) {
            if setting[..2] == [0, 3] {
                self.limit = Some(u32::from_be_bytes(setting[2..].try_into().unwrap()));
            }
        }
    }

    fn fields(&mut self, frame: &Frame) -> Option<u32> {
        let piece = frame.payload.clone();
        let first = (frame.id, frame.has(END_STREAM), Vec::new());
        let (id, ends, mut block) = self.block.take().unwrap_or(first);
        block.extend(piece);
        if block.len() > MAX_BLOCK {
            return Some(11);
        }
        if !frame.has(END_HEADERS) {
            self.block = Some((id, ends, block));
        } else if block.windows(BAD_FIELD.len()).any(|part| part == BAD_FIELD.as_bytes()) {
            if self.streams[&id].fate == Fate::Open {
                self.late_up_to = self.late_up_to.max(id);
            }
            self.settle(id, Fate::Malformed);
        } else if ends {
            self.answered(id);
        }
        None
    }

    fn answered(&mut self, id: u32) {
        // The rest of the request is then called off.
        let stream = self.streams[&id];
        if stream.fate == Fate::Open && !stream.asked {
            self.late_up_to = self.late_up_to.max(id);
        }
        self.settle(id, Fate::Answered);
    }

    fn settle(&mut self, id: u32, fate: Fate) {
        if let Some(stream) = self.streams.get_mut(&id)
            && stream.fate == Fate::Open
        {
            stream.fate = fate;
            self.open -= 1;
        }
    }

    fn violated(&mut self, code: u32) {
        self.violation = true;
        self.end(Fate::Violated(code));
    }

    fn end(&mut self, fate: Fate) {
        self.over = true;
        let ids: Vec<u32> = self.streams.keys().copied().collect();
        ids.into_iter().for_each(|id| self.settle(id, fate));
    }
}
