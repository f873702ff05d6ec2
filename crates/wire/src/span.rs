//! Bytes of which only the first may have been kept.

use super::Skipped;

/// A part of a packet: what was kept of it, and how long it was on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// How many there were; no fewer than were kept.
    pub length: usize,
}

impl<'a> Span<'a> {
    /// Of so many bytes these.
    pub fn new(bytes: &'a [u8], length: usize) -> Span<'a> {
        Span { bytes, length: length.max(bytes.len()) }
    }

    /// The first `N` bytes.
    pub(super) fn head<const N: usize>(&self) -> Result<&'a [u8; N], Skipped> {
        self.bytes.first_chunk().ok_or_else(|| self.too_short(N))
    }

    /// What is behind the first `count` bytes, all of which were kept.
    pub(super) fn behind(self, count: usize) -> Result<Span<'a>, Skipped> {
        let bytes = self.bytes.get(count..).ok_or_else(|| self.too_short(count))?;
        Ok(Span { bytes, length: self.length - count })
    }

    /// The first `length` bytes of those on the wire: what is behind them is padding.
    pub(super) fn only(self, length: usize) -> Result<Span<'a>, Skipped> {
        if length > self.length {
            return Err(Skipped::Malformed);
        }
        Ok(Span { bytes: &self.bytes[..self.bytes.len().min(length)], length })
    }

    /// What is behind the first `count` bytes, whether those were kept or not. Nothing where there are
    /// not so many.
    pub(crate) fn skip(self, count: usize) -> Span<'a> {
        let bytes = self.bytes.get(count..).unwrap_or_default();
        Span { bytes, length: self.length.saturating_sub(count) }
    }

    /// Why there are not so many: they were never sent, or not kept.
    fn too_short(&self, count: usize) -> Skipped {
        if self.length < count { Skipped::Malformed } else { Skipped::Cut }
    }
}

/// Two bytes of a header as a number.
pub(super) fn half(header: &[u8], at: usize) -> u16 {
    header.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |two| u16::from_be_bytes(*two))
}

/// Four bytes of a header as a number.
pub(super) fn word_at(header: &[u8], at: usize) -> u32 {
    header.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |four| u32::from_be_bytes(*four))
}
