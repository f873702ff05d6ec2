//! Parts of packets that may have been captured only in part.

use super::Skipped;

/// A part of a packet: the captured bytes, and its length on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// The captured bytes, a prefix of the part.
    pub bytes: &'a [u8],
    /// The length on the wire in bytes; at least the number of captured bytes.
    pub length: usize,
}

impl<'a> Span<'a> {
    /// Returns a span of `length` bytes on the wire, of which `bytes` were captured.
    pub fn new(bytes: &'a [u8], length: usize) -> Span<'a> {
        Span { bytes, length: length.max(bytes.len()) }
    }

    /// Returns the first `N` bytes.
    pub(super) fn head<const N: usize>(&self) -> Result<&'a [u8; N], Skipped> {
        self.bytes.first_chunk().ok_or_else(|| self.too_short(N))
    }

    /// Returns what follows the first `count` bytes, all of which must have been captured.
    pub(super) fn behind(self, count: usize) -> Result<Span<'a>, Skipped> {
        let bytes = self.bytes.get(count..).ok_or_else(|| self.too_short(count))?;
        Ok(Span { bytes, length: self.length - count })
    }

    /// Returns the first `length` bytes on the wire, without the padding after them.
    pub(super) fn only(self, length: usize) -> Result<Span<'a>, Skipped> {
        if length > self.length {
            return Err(Skipped::Malformed);
        }
        Ok(Span { bytes: &self.bytes[..self.bytes.len().min(length)], length })
    }

    /// Returns what follows the first `count` bytes, whether those were captured or not. The result
    /// is empty if the span is shorter.
    pub(crate) fn skip(self, count: usize) -> Span<'a> {
        let bytes = self.bytes.get(count..).unwrap_or_default();
        Span { bytes, length: self.length.saturating_sub(count) }
    }

    /// Returns the reason why fewer than `count` bytes are available: they were not sent, or not
    /// captured.
    fn too_short(&self, count: usize) -> Skipped {
        if self.length < count { Skipped::Malformed } else { Skipped::Cut }
    }
}

/// Reads a two-byte number of a header. Returns 0 if the bytes are absent.
pub(super) fn half(header: &[u8], at: usize) -> u16 {
    header.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |two| u16::from_be_bytes(*two))
}

/// Reads a four-byte number of a header. Returns 0 if the bytes are absent.
pub(super) fn word_at(header: &[u8], at: usize) -> u32 {
    header.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |four| u32::from_be_bytes(*four))
}
