//! The chunked transfer coding (RFC 9112, 7.1), one byte of framing at a time: no buffer, and the
//! same result however the network cuts it.

use super::{Violation, is_text_byte, is_token_byte};
use crate::semantics::MAX_HEAD;

/// RFC 9112, 7.1.1 has a recipient limit the extensions it is willing to skip.
const MAX_LINE: u32 = 16 * 1024;
/// As much as a head may take: trailers are fields too.
const MAX_TRAILERS: u32 = MAX_HEAD as u32;

/// A chunked body being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunked {
    place: Place,
    /// Bytes of the current chunk's data still to come; while its size is read, the size so far.
    left: u64,
    /// Framing bytes of the current size line, or of the trailers.
    line: u32,
    /// A trailer was read.
    trailed: bool,
}

/// What the next byte belongs to, in the order of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    FirstDigit,
    Digits,
    AfterSize,
    ExtStart,
    ExtName,
    AfterExtName,
    ExtValueStart,
    ExtToken,
    ExtQuoted,
    ExtEscaped,
    AfterExtValue,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    AfterTrailerName,
    TrailerValue,
    TrailerLf,
    LastLf,
    End,
}

impl Chunked {
    pub(super) fn new() -> Chunked {
        Chunked { place: Place::FirstDigit, left: 0, line: 0, trailed: false }
    }

    /// Reads up to the end of the body, adding content to `body` and telling of it. Returns the bytes
    /// used, and whether the body has ended.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        body: &mut u64,
        mut tell: impl FnMut(&[u8]),
    ) -> Result<(usize, bool), Violation> {
        let mut used = 0;
        while let Some(&byte) = bytes.get(used) {
            if self.place == Place::Data {
                let taken = self.take_data(bytes.len() - used, body);
                tell(&bytes[used..used + taken]);
                used += taken;
                continue;
            }
            self.place = self.step(byte)?;
            used += 1;
            if self.place == Place::End {
                return Ok((used, true));
            }
        }
        Ok((used, false))
    }

    fn take_data(&mut self, available: usize, body: &mut u64) -> usize {
        let taken = usize::try_from(self.left).unwrap_or(usize::MAX).min(available);
        self.left -= taken as u64;
        *body = body.saturating_add(taken as u64);
        if self.left == 0 {
            self.place = Place::DataCr;
        }
        taken
    }

    fn step(&mut self, byte: u8) -> Result<Place, Violation> {
        match (self.place, byte) {
            (Place::DataCr, b'\r') => Ok(Place::DataLf),
            (Place::DataLf, b'\n') => {
                *self = Chunked::new();
                Ok(self.place)
            }
            // RFC 9112, 2.2 lets a bare LF end the lines of a head only. Here it would let a
            // wrong size go unnoticed as long as the data has a newline in the right place.
            (Place::DataCr | Place::DataLf, _) => Err(Violation::ChunkEnd),
            (place, _) if place < Place::Data => self.in_size_line(byte),
            _ => self.in_trailers(byte),
        }
    }

    fn in_size_line(&mut self, byte: u8) -> Result<Place, Violation> {
        self.line += 1;
        if self.line > MAX_LINE {
            return Err(Violation::ChunkLineTooLong);
        }
        match (self.place, byte) {
            (Place::FirstDigit | Place::Digits, _) if byte.is_ascii_hexdigit() => self.digit(byte),
            (Place::SizeLf, b'\n') => Ok(self.after_size_line()),
            (Place::SizeLf, _) | (_, b'\n') => Err(Violation::ChunkLineEnd),
            (Place::FirstDigit, _) => Err(Violation::ChunkSize),
            (Place::Digits | Place::AfterSize, _) => {
                next_part(byte, Place::AfterSize).ok_or(Violation::ChunkSize)
            }
            (place, _) => in_extension(place, byte).ok_or(Violation::ChunkExtension),
        }
    }

    fn digit(&mut self, byte: u8) -> Result<Place, Violation> {
        let digit = char::from(byte).to_digit(16).ok_or(Violation::ChunkSize)?;
        if self.left >> 60 != 0 {
            return Err(Violation::ChunkTooLarge);
        }
        self.left = self.left << 4 | u64::from(digit);
        Ok(Place::Digits)
    }

    fn after_size_line(&mut self) -> Place {
        self.line = 0;
        if self.left == 0 { Place::TrailerStart } else { Place::Data }
    }

    /// Trailers are fields, so the leniencies of a head apply: a bare LF, folding, whitespace
    /// before the colon.
    fn in_trailers(&mut self, byte: u8) -> Result<Place, Violation> {
        self.line += 1;
        if self.line > MAX_TRAILERS {
            return Err(Violation::TrailersTooLong);
        }
        match (self.place, byte) {
            (Place::TrailerStart, b'\r') => Ok(Place::LastLf),
            (Place::TrailerStart | Place::LastLf, b'\n') => Ok(Place::End),
            (Place::TrailerStart, b' ' | b'\t') if self.trailed => Ok(Place::TrailerValue),
            (Place::TrailerStart, _) if is_token_byte(byte) => {
                self.trailed = true;
                Ok(Place::TrailerName)
            }
            (place, _) => in_trailer(place, byte).ok_or(Violation::Trailer),
        }
    }
}

/// What `byte` begins after a size, an extension's name or its value.
///
/// RFC 9112, 7.1.1 has whitespace only before a semicolon, but servers have long padded sizes with
/// spaces to write them into place, and every client reads that.
fn next_part(byte: u8, blank: Place) -> Option<Place> {
    match byte {
        b'\r' => Some(Place::SizeLf),
        b';' => Some(Place::ExtStart),
        b' ' | b'\t' => Some(blank),
        _ => None,
    }
}

/// chunk-ext = *( BWS ";" BWS name \[ BWS "=" BWS ( token / quoted-string ) \] )
fn in_extension(place: Place, byte: u8) -> Option<Place> {
    match (place, byte) {
        (Place::ExtStart | Place::ExtValueStart, b' ' | b'\t') => Some(place),
        (Place::ExtStart | Place::ExtName, _) if is_token_byte(byte) => Some(Place::ExtName),
        (Place::ExtName | Place::AfterExtName, b'=') => Some(Place::ExtValueStart),
        (Place::ExtName | Place::AfterExtName, _) => next_part(byte, Place::AfterExtName),
        (Place::ExtValueStart, b'"') => Some(Place::ExtQuoted),
        (Place::ExtValueStart | Place::ExtToken, _) if is_token_byte(byte) => Some(Place::ExtToken),
        (Place::ExtQuoted, b'"') => Some(Place::AfterExtValue),
        (Place::ExtQuoted, b'\\') => Some(Place::ExtEscaped),
        (Place::ExtQuoted | Place::ExtEscaped, _) => is_text_byte(byte).then_some(Place::ExtQuoted),
        (Place::ExtToken | Place::AfterExtValue, _) => next_part(byte, Place::AfterExtValue),
        _ => None,
    }
}

fn in_trailer(place: Place, byte: u8) -> Option<Place> {
    match (place, byte) {
        (Place::TrailerName | Place::AfterTrailerName, b':') => Some(Place::TrailerValue),
        (Place::TrailerName | Place::AfterTrailerName, b' ' | b'\t') => {
            Some(Place::AfterTrailerName)
        }
        (Place::TrailerName, _) => is_token_byte(byte).then_some(place),
        (Place::TrailerValue, b'\r') => Some(Place::TrailerLf),
        (Place::TrailerValue | Place::TrailerLf, b'\n') => Some(Place::TrailerStart),
        (Place::TrailerValue, _) => is_text_byte(byte).then_some(place),
        _ => None,
    }
}
