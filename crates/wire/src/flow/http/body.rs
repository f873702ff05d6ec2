//! The framing of a message's content (RFC 9112, 6 and 7.1).

use crate::Span;

/// The framing of content and the position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyState {
    /// The number of bytes still to come.
    Length(u64),
    /// Chunked transfer coding.
    Chunked(Chunk),
    /// The content ends with the connection.
    ToEnd,
}

/// The position in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// In the chunk size: the value so far, and its number of digits.
    Size(u64, u8),
    /// In a chunk extension, with the chunk size.
    Extension(u64),
    /// In chunk data: the number of bytes still to come, including the line end after it.
    Data(u64),
    /// In the trailer section: the number of bytes in the current line.
    Trailer(u32),
}

/// The result of processing bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageProgress {
    /// The number of bytes that belong to the message.
    pub(super) used: usize,
    /// The number of those bytes that are content.
    pub(super) content: u64,
    /// The state of the message after them.
    pub(super) state: MessageState,
}

/// The state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageState {
    /// More bytes follow.
    More,
    /// The message is complete.
    End,
    /// Unknown: the framing was not captured or is invalid.
    Lost,
}

/// The maximum number of digits in a chunk size, so that it fits in 64 bits. No content is larger.
const MOST_DIGITS: u8 = 15;
/// The length of the line end after a chunk.
const LINE_END: u64 = 2;

impl BodyState {
    /// Returns the initial state of chunked content.
    pub(super) fn chunked() -> BodyState {
        BodyState::Chunked(Chunk::Size(0, 0))
    }

    /// Returns the number of bytes that follow and need not be examined.
    pub(super) fn unread(&self) -> u64 {
        match self {
            BodyState::Length(left) | BodyState::Chunked(Chunk::Data(left)) => *left,
            BodyState::Chunked(_) => 0,
            BodyState::ToEnd => u64::MAX,
        }
    }

    /// Processes the next bytes of the stream.
    pub(super) fn take(&mut self, all: Span<'_>) -> MessageProgress {
        let length = all.length as u64;
        match self {
            BodyState::ToEnd => {
                MessageProgress { used: all.length, content: length, state: MessageState::More }
            }
            BodyState::Length(left) => {
                let used = length.min(*left);
                *left -= used;
                let state = if *left == 0 { MessageState::End } else { MessageState::More };
                MessageProgress { used: used as usize, content: used, state }
            }
            BodyState::Chunked(chunk) => chunks(chunk, all),
        }
    }
}

fn chunks(chunk: &mut Chunk, all: Span<'_>) -> MessageProgress {
    let mut took = MessageProgress { used: 0, content: 0, state: MessageState::More };
    while took.state == MessageState::More && took.used < all.length {
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
        took.state = match all.bytes.get(took.used) {
            Some(byte) => framing(chunk, *byte),
            None => MessageState::Lost,
        };
        took.used += 1;
    }
    took
}

/// Processes a byte that is not content.
fn framing(chunk: &mut Chunk, byte: u8) -> MessageState {
    *chunk = match (*chunk, byte) {
        (Chunk::Size(_, 0), b'\n' | b'\r' | b';' | b' ' | b'\t') => return MessageState::Lost,
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
            _ => return MessageState::Lost,
        },
        (Chunk::Trailer(0), b'\n') => return MessageState::End,
        (Chunk::Trailer(_), b'\n') => Chunk::Trailer(0),
        (Chunk::Trailer(0), b'\r') => Chunk::Trailer(0),
        (Chunk::Trailer(length), _) => Chunk::Trailer(length.saturating_add(1)),
        (data @ Chunk::Data(_), _) => data,
    };
    MessageState::More
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKED: &[u8] = b"5\r\nhello\r\nA;x=\"y\"\r\n0123456789\r\n0\r\nT: v\r\n\r\nHTTP/1.1";
    const END: usize = CHUNKED.len() - 8;

    #[test]
    fn finds_the_end_of_chunks_split_at_any_byte() {
        for step in 1..CHUNKED.len() {
            let (mut body, mut used, mut content) = (BodyState::chunked(), 0, 0);
            for part in CHUNKED.chunks(step) {
                let took = body.take(Span::new(part, part.len()));
                (used, content) = (used + took.used, content + took.content);
                match took.state {
                    MessageState::End => break,
                    state => assert_eq!((state, took.used), (MessageState::More, part.len())),
                }
            }
            assert_eq!((used, content), (END, 15), "{step}");
        }
    }

    #[test]
    fn counts_content_that_was_not_captured() {
        let mut body = BodyState::Length(3_000);
        let took = body.take(Span::new(b"abc", 1_400));
        assert_eq!(
            took,
            MessageProgress { used: 1_400, content: 1_400, state: MessageState::More }
        );
        let took = body.take(Span::new(b"", 1_700));
        assert_eq!(took, MessageProgress { used: 1_600, content: 1_600, state: MessageState::End });
        let mut body = BodyState::chunked();
        let took = body.take(Span::new(b"7d0\r\nabc", 1_000));
        assert_eq!(took, MessageProgress { used: 1_000, content: 995, state: MessageState::More });
        assert_eq!(body.unread(), 1_007);
        assert_eq!(body.take(Span::new(b"", 1_007)).content, 1_005);
        assert_eq!(body.take(Span::new(b"", 5)).state, MessageState::Lost);
    }

    #[test]
    fn reports_a_body_with_an_invalid_chunk_size_as_lost() {
        for wrong in ["\r\n", "x", ";a\r\n", "1234567890123456\r\n", "-1\r\n"] {
            let took = BodyState::chunked().take(Span::new(wrong.as_bytes(), wrong.len()));
            assert_eq!(took.state, MessageState::Lost, "{wrong}");
        }
    }
}
