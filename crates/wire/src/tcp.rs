//! TCP segments (RFC 9293), with the options of RFC 7323 and RFC 2018. Checksums are not looked at:
//! packets that never left the machine have none.

use super::Skipped;
use super::span::{Span, half, word_at};

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp<'a> {
    /// The sender's port.
    pub source: u16,
    /// The receiver's port.
    pub destination: u16,
    /// The number of its first byte.
    pub sequence: u32,
    /// The next byte that its sender waits for, where `flags` has ACK.
    pub acknowledgement: u32,
    /// What it does beside carrying bytes.
    pub flags: Flags,
    /// How many bytes its sender takes, before scaling.
    pub window: u16,
    options: &'a [u8],
    /// What it carries.
    pub payload: Span<'a>,
}

/// The flags of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// The sender has said its last.
    pub fn fin(self) -> bool {
        self.0 & 1 != 0
    }

    /// It begins a connection.
    pub fn syn(self) -> bool {
        self.0 & 2 != 0
    }

    /// It cuts the connection off.
    pub fn rst(self) -> bool {
        self.0 & 4 != 0
    }

    /// It acknowledges.
    pub fn ack(self) -> bool {
        self.0 & 16 != 0
    }
}

/// The options that are of use. A length that is wrong ends the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The most bytes that a segment to its sender may carry.
    pub mss: Option<u16>,
    /// By how many bits windows are shifted: no more than 14 (RFC 7323, 2.3).
    pub window_scale: Option<u8>,
    /// Its sender takes selective acknowledgements.
    pub sack_permitted: bool,
    /// The sender's clock, and what it last read of the other's.
    pub timestamps: Option<(u32, u32)>,
}

/// As RFC 7323's appendix A advises: no operation twice, then timestamps, and nothing else.
const TIMESTAMPS_ALONE: [u8; 4] = [1, 1, 8, 10];
/// More blocks than four have no room among options.
const MOST_BLOCKS: usize = 4;

impl Tcp<'_> {
    /// The first number and that behind the last of each block of bytes that its sender has beyond the
    /// hole at `acknowledgement` (SACK, RFC 2018), the first being that which has just grown.
    pub fn selective(&self) -> impl Iterator<Item = (u32, u32)> {
        let blocks = if self.has_plain_options() { &[] } else { self.blocks() };
        let pairs = blocks.chunks_exact(8).take(MOST_BLOCKS);
        pairs.map(|block| (word_at(block, 0), word_at(block, 4)))
    }

    /// Nearly all segments have no options but timestamps.
    fn has_plain_options(&self) -> bool {
        self.options.is_empty()
            || (self.options.len() == 12 && self.options.starts_with(&TIMESTAMPS_ALONE))
    }

    fn blocks(&self) -> &[u8] {
        let mut rest = self.options;
        loop {
            rest = match rest {
                [1, behind @ ..] => behind,
                [0, ..] | [] | [_] => return &[],
                [kind, length, values @ ..] => {
                    let length = usize::from(*length).wrapping_sub(2);
                    let Some((value, behind)) = values.split_at_checked(length) else { return &[] };
                    if *kind == 5 {
                        return value;
                    }
                    behind
                }
            }
        }
    }

    /// Its options.
    pub fn options(&self) -> Options {
        let (mut found, mut rest) = (Options::default(), self.options);
        while let [kind, behind @ ..] = rest {
            rest = match (kind, behind) {
                (0, _) => break,
                (1, _) => behind,
                (_, [length, values @ ..]) => {
                    let Some(values) =
                        values.split_at_checked(usize::from(*length).wrapping_sub(2))
                    else {
                        break;
                    };
                    found.take(*kind, values.0);
                    values.1
                }
                _ => break,
            };
        }
        found
    }
}

impl Options {
    fn take(&mut self, kind: u8, value: &[u8]) {
        match (kind, value.len()) {
            (2, 2) => self.mss = Some(half(value, 0)),
            (3, 1) => self.window_scale = Some(value[0].min(14)),
            (4, 0) => self.sack_permitted = true,
            (8, 8) => self.timestamps = Some((word_at(value, 0), word_at(value, 4))),
            _ => {}
        }
    }
}

pub(super) fn read_tcp(segment: Span<'_>) -> Result<Tcp<'_>, Skipped> {
    let header: &[u8; 20] = segment.head()?;
    let length = usize::from(header[12] >> 4) * 4;
    if length < header.len() {
        return Err(Skipped::Malformed);
    }
    // The options are within the header, whose end `behind` has seen.
    let payload = segment.behind(length)?;
    Ok(Tcp {
        source: half(header, 0),
        destination: half(header, 2),
        sequence: word_at(header, 4),
        acknowledgement: word_at(header, 8),
        flags: Flags(header[13]),
        window: half(header, 14),
        options: &segment.bytes[header.len()..length],
        payload,
    })
}
