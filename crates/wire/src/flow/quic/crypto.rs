//! The ClientHello in the Initial packets of QUIC. Browsers send its CRYPTO frames in arbitrary
//! order (RFC 9000, 19.6).

use super::super::connection_report::Hello;
use super::super::hello;
use super::super::seen::Seen;
use super::header::varint;

/// The maximum length of a ClientHello.
const LONGEST: usize = 16 << 10;

/// The first bytes of the client's TLS stream that have been received.
#[derive(Debug, Default)]
pub(super) struct Crypto {
    bytes: Vec<u8>,
    seen: Seen,
}

impl Crypto {
    /// Returns the number of bytes buffered.
    pub(super) fn kept(&self) -> usize {
        self.bytes.len()
    }

    /// Processes the frames of an Initial packet. Returns true if the ClientHello is complete and
    /// was read.
    pub(super) fn take(&mut self, mut frames: &[u8], hello: &mut Hello) -> bool {
        while let Some(rest) = self.frame(frames) {
            frames = rest;
        }
        let Some((kind, body)) = hello::message(&self.bytes) else { return false };
        self.seen.has(0..body.len() as i64 + 4) && hello::read_message(kind, body, hello)
    }

    /// Processes a frame and returns the bytes after it. Returns `None` at the end, or if the frame
    /// is not permitted in an Initial packet.
    fn frame<'a>(&mut self, frames: &'a [u8]) -> Option<&'a [u8]> {
        let (kind, rest) = frames.split_first()?;
        match kind {
            // PADDING and PING.
            0 | 1 => Some(rest),
            2 | 3 => acknowledgement(rest, *kind == 3),
            6 => self.crypto(rest),
            _ => None,
        }
    }

    fn crypto<'a>(&mut self, rest: &'a [u8]) -> Option<&'a [u8]> {
        let (offset, rest) = varint(rest)?;
        let (length, rest) = varint(rest)?;
        let (bytes, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let begin = usize::try_from(offset).ok()?;
        let end = begin.checked_add(bytes.len()).filter(|end| *end <= LONGEST)?;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes.get_mut(begin..end)?.copy_from_slice(bytes);
        self.seen.add(begin as i64..end as i64);
        Some(rest)
    }
}

/// Skips an ACK frame, with or without ECN counts.
fn acknowledgement(rest: &[u8], ecn: bool) -> Option<&[u8]> {
    let number = |rest| varint(rest).map(|(_, rest)| rest);
    let rest = number(number(rest)?)?;
    let (ranges, rest) = varint(rest)?;
    let mut rest = number(rest)?;
    for _ in 0..ranges.checked_mul(2)? {
        rest = number(rest)?;
    }
    if ecn { number(number(number(rest)?)?) } else { Some(rest) }
}

#[cfg(test)]
mod tests {
    use super::super::super::hello::made;
    use super::*;

    /// Returns a CRYPTO frame with offset and length encoded in two bytes each.
    pub(super) fn frame(offset: usize, bytes: &[u8]) -> Vec<u8> {
        let two = |n: usize| (n as u16 | 0x4000).to_be_bytes();
        [&[6][..], &two(offset), &two(bytes.len()), bytes].concat()
    }

    #[test]
    fn a_hello_in_any_order_of_frames_is_read() {
        let all = made::client("example.org", &["h3"]);
        let mut frames: Vec<_> =
            all.chunks(100).enumerate().map(|(n, part)| frame(n * 100, part)).collect();
        frames.reverse();
        let last = frames.split_off(5).concat();
        let first =
            [vec![0, 1, 2, 5, 7, 1, 2, 0, 3, 3, 1, 1, 0, 1, 9, 8, 7], frames.concat()].concat();
        let (mut crypto, mut hello) = (Crypto::default(), Hello::default());
        assert!(!crypto.take(&first, &mut hello));
        assert!(crypto.take(&[&last[..], &[0; 30]].concat(), &mut hello));
        assert_eq!(hello.server_name.as_deref(), Some("example.org"));
        assert_eq!(hello.offered, ["h3"]);
        assert_eq!(crypto.kept(), all.len());
    }

    #[test]
    fn ignores_malformed_frames() {
        let huge = [6, 0xff, 255, 255, 255, 255, 255, 255, 255, 1, 7];
        let far = frame(0x3fff, &[1; 100]);
        let endless = [2, 0, 0, 0xff, 255, 255, 255, 255, 255, 255, 255, 0];
        for evil in [&huge[..], &far, &endless, &[6], &[2, 0x40]] {
            let mut crypto = Crypto::default();
            assert!(!crypto.take(evil, &mut Hello::default()));
            assert_eq!(crypto.kept(), 0);
        }
    }
}
