//! TCP segments (RFC 9293) with the options of RFC 7323 and RFC 2018. Checksums are not verified:
//! packets that never left the machine have none.

use super::Skipped;
use super::span::{Span, half, word_at};

/// A TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp<'a> {
    /// The source port.
    pub source: u16,
    /// The destination port.
    pub destination: u16,
    /// The sequence number of the first byte.
    pub sequence: u32,
    /// The sequence number that the sender expects next; valid if `flags` contains ACK.
    pub acknowledgement: u32,
    /// The flags.
    pub flags: Flags,
    /// The receive window of the sender in bytes, before scaling.
    pub window: u16,
    options: &'a [u8],
    /// The payload.
    pub payload: Span<'a>,
}

/// The flags of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// Returns whether FIN is set: the sender has no more data.
    pub fn fin(self) -> bool {
        self.0 & 1 != 0
    }

    /// Returns whether SYN is set: the segment opens a connection.
    pub fn syn(self) -> bool {
        self.0 & 2 != 0
    }

    /// Returns whether RST is set: the segment aborts the connection.
    pub fn rst(self) -> bool {
        self.0 & 4 != 0
    }

    /// Returns whether ACK is set: the acknowledgement number is valid.
    pub fn ack(self) -> bool {
        self.0 & 16 != 0
    }
}

/// The options used by sixmark. Parsing stops at an option with an invalid length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The maximum segment size that the sender accepts, in bytes of payload.
    pub mss: Option<u16>,
    /// The window scale shift, capped at 14 (RFC 7323, 2.3).
    pub window_scale: Option<u8>,
    /// True if the sender accepts selective acknowledgements.
    pub sack_permitted: bool,
    /// The timestamp value of the sender, and the last value it received from its peer (echo
    /// reply).
    pub timestamps: Option<(u32, u32)>,
}

/// The usual layout (RFC 7323, appendix A): two no-operation options, then timestamps, nothing
/// else.
const TIMESTAMPS_ALONE: [u8; 4] = [1, 1, 8, 10];
/// The options have no room for more than four SACK blocks.
const MOST_BLOCKS: usize = 4;

impl Tcp<'_> {
    /// Returns whether the segment is nothing but an ACK.
    pub(crate) fn is_pure_ack(&self) -> bool {
        let Flags(flags) = self.flags;
        self.flags.ack() && flags & 0b111 == 0 && self.payload.length == 0
    }

    /// Returns the left and right edges of the SACK blocks (RFC 2018): data that the sender has
    /// received beyond the gap at `acknowledgement`. The right edge is exclusive. The first block
    /// is the one that has changed last.
    pub fn selective(&self) -> impl Iterator<Item = (u32, u32)> {
        let blocks = if self.has_plain_options() { &[] } else { self.blocks() };
        let pairs = blocks.chunks_exact(8).take(MOST_BLOCKS);
        pairs.map(|block| (word_at(block, 0), word_at(block, 4)))
    }

    /// Returns whether the segment has no options other than timestamps, as nearly all segments do.
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

    /// Parses the options.
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
