//! Where a message's content ends (RFC 9112, 6 and 7.1).

use crate::Span;

/// Content on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyState {
    /// So many bytes are missing.
    Length(u64),
    /// In chunks.
    Chunked(Chunk),
    /// Until the connection ends.
    ToEnd,
}

/// Where in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// In its length, of which so much was read, in so many digits.
    Size(u64, u8),
    /// In what follows the length in its line.
    Extension(u64),
    /// So many bytes of it are missing, the line's end behind them counted.
    Data(u64),
    /// Behind the last, in a line of the trailer that has so many bytes.
    Trailer(u32),
}

/// What became of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Took {
    /// So many belong to the message.
    pub(super) used: usize,
    /// So many of them are content.
    pub(super) content: u64,
    /// How it goes on.
    pub(super) then: Then,
}

/// How it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// More belongs to it.
    More,
    /// It ends here.
    End,
    /// Nobody knows: framing was not kept, or is none.
    Lost,
}

/// 16^16 are more than any content has.
const MOST_DIGITS: u8 = 15;
/// The line's end behind a chunk.
const LINE_END: u64 = 2;

impl BodyState {
    /// Content that begins.
    pub(super) fn chunked() -> BodyState {
        BodyState::Chunked(Chunk::Size(0, 0))
    }

    /// How many bytes follow that nobody reads.
    pub(super) fn unread(&self) -> u64 {
        match self {
            BodyState::Length(left) | BodyState::Chunked(Chunk::Data(left)) => *left,
            BodyState::Chunked(_) => 0,
            BodyState::ToEnd => u64::MAX,
        }
    }

    /// Takes what comes next of the stream.
    pub(super) fn take(&mut self, all: Span<'_>) -> Took {
        let length = all.length as u64;
        match self {
            BodyState::ToEnd => Took { used: all.length, content: length, then: Then::More },
            BodyState::Length(left) => {
                let used = length.min(*left);
                *left -= used;
                let then = if *left == 0 { Then::End } else { Then::More };
                Took { used: used as usize, content: used, then }
            }
            BodyState::Chunked(chunk) => chunks(chunk, all),
        }
    }
}

fn chunks(chunk: &mut Chunk, all: Span<'_>) -> Took {
    let mut took = Took { used: 0, content: 0, then: Then::More };
    while took.then == Then::More && took.used < all.length {
        if let Chunk::Data(left) = chunk {
            let here = (*left).min((all.length - took.used) as u64);
            let ends = left.saturating_sub(LINE_END).min(here);
            took.content += ends;
            took.used += here as usize;
            *left -= here;
            if *left == 0 {
                *chunk = Chunk::Size(0, 0);
            }
            continue;
        }
        took.then = match all.bytes.get(took.used) {
            Some(byte) => framing(chunk, *byte),
            None => Then::Lost,
        };
        took.used += 1;
    }
    took
}

/// A byte that is no content.
fn framing(chunk: &mut Chunk, byte: u8) -> Then {
    *chunk = match (*chunk, byte) {
        (Chunk::Size(_, 0), b'\n' | b'\r' | b';' | b' ' | b'\t') => return Then::Lost,
        (Chunk::Size(size, _) | Chunk::Extension(size), b'\n') => match size {
            0 => Chunk::Trailer(0),
            _ => Chunk::Data(size + LINE_END),
        },
        (Chunk::Size(size, _), b'\r' | b';' | b' ' | b'\t') => Chunk::Extension(size),
        (Chunk::Extension(size), _) => Chunk::Extension(size),
        (Chunk::Size(size, digits), digit) => match char::from(digit).to_digit(16) {
            Some(value) if digits < MOST_DIGITS => {
                Chunk::Size(size << 4 | u64::from(value), digits + 1)
            }
            _ => return Then::Lost,
        },
        (Chunk::Trailer(0), b'\n') => return Then::End,
        (Chunk::Trailer(_), b'\n') => Chunk::Trailer(0),
        (Chunk::Trailer(0), b'\r') => Chunk::Trailer(0),
        (Chunk::Trailer(length), _) => Chunk::Trailer(length.saturating_add(1)),
        (data @ Chunk::Data(_), _) => data,
    };
    Then::More
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKED: &[u8] = b"5\r\nhello\r\nA;x=\"y\"\r\n0123456789\r\n0\r\nT: v\r\n\r\nHTTP/1.1";
    const END: usize = CHUNKED.len() - 8;

    #[test]
    fn chunks_end_where_they_say_however_they_are_cut_up() {
        for step in 1..CHUNKED.len() {
            let (mut body, mut used, mut content) = (BodyState::chunked(), 0, 0);
            for part in CHUNKED.chunks(step) {
                let took = body.take(Span::new(part, part.len()));
                (used, content) = (used + took.used, content + took.content);
                match took.then {
                    Then::End => break,
                    then => assert_eq!((then, took.used), (Then::More, part.len())),
                }
            }
            assert_eq!((used, content), (END, 15), "{step}");
        }
    }

    #[test]
    fn of_content_only_the_length_is_needed() {
        let mut body = BodyState::Length(3_000);
        let took = body.take(Span::new(b"abc", 1_400));
        assert_eq!(took, Took { used: 1_400, content: 1_400, then: Then::More });
        let took = body.take(Span::new(b"", 1_700));
        assert_eq!(took, Took { used: 1_600, content: 1_600, then: Then::End });
        let mut body = BodyState::chunked();
        let took = body.take(Span::new(b"7d0\r\nabc", 1_000));
        assert_eq!(took, Took { used: 1_000, content: 995, then: Then::More });
        assert_eq!(body.unread(), 1_007);
        assert_eq!(body.take(Span::new(b"", 1_007)).content, 1_005);
        assert_eq!(body.take(Span::new(b"", 5)).then, Then::Lost);
    }

    #[test]
    fn what_is_no_chunk_is_lost() {
        for wrong in ["\r\n", "x", ";a\r\n", "1234567890123456\r\n", "-1\r\n"] {
            let took = BodyState::chunked().take(Span::new(wrong.as_bytes(), wrong.len()));
            assert_eq!(took.then, Then::Lost, "{wrong}");
        }
    }
}
