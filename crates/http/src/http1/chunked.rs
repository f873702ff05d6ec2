//! The chunked transfer coding (RFC 9112, 7.1), read byte by byte: without a buffer, and with the
//! same result however the network splits the bytes.

use super::{Http1Violation, is_text_byte, is_token_byte};
use crate::semantics::MAX_HEAD;

/// The largest size line, in bytes. RFC 9112, 7.1.1 requires a recipient to limit the extensions.
const MAX_LINE: u32 = 16 * 1024;
/// The largest trailer section, in bytes: that of a head, because trailers are fields too.
const MAX_TRAILERS: u32 = MAX_HEAD as u32;

/// The state of reading a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunked {
    place: ChunkPart,
    /// The remaining data bytes of the current chunk; while its size is read, the size so far.
    left: u64,
    /// The framing bytes of the current size line or of the trailers.
    line: u32,
    /// Whether a trailer was read.
    trailed: bool,
}

/// The part of the coding that the next byte belongs to, in the order on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChunkPart {
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
        Chunked { place: ChunkPart::FirstDigit, left: 0, line: 0, trailed: false }
    }

    /// Reads up to the end of the body, adds the content to `body` and passes it to `tell`. Returns
    /// the number of bytes used and whether the body has ended.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        body: &mut u64,
        mut tell: impl FnMut(&[u8]),
    ) -> Result<(usize, bool), Http1Violation> {
        let mut used = 0;
        while let Some(&byte) = bytes.get(used) {
            if self.place == ChunkPart::Data {
                let taken = self.take_data(bytes.len() - used, body);
                tell(&bytes[used..used + taken]);
                used += taken;
                continue;
            }
            self.place = self.step(byte)?;
            used += 1;
            if self.place == ChunkPart::End {
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
            self.place = ChunkPart::DataCr;
        }
        taken
    }

    fn step(&mut self, byte: u8) -> Result<ChunkPart, Http1Violation> {
        match (self.place, byte) {
            (ChunkPart::DataCr, b'\r') => Ok(ChunkPart::DataLf),
            (ChunkPart::DataLf, b'\n') => {
                *self = Chunked::new();
                Ok(self.place)
            }
            // RFC 9112, 2.2 permits a bare LF only in the lines of a head. Here it would hide a
            // wrong size whenever the data has a newline in the right place.
            (ChunkPart::DataCr | ChunkPart::DataLf, _) => Err(Http1Violation::ChunkEnd),
            (place, _) if place < ChunkPart::Data => self.in_size_line(byte),
            _ => self.in_trailers(byte),
        }
    }

    fn in_size_line(&mut self, byte: u8) -> Result<ChunkPart, Http1Violation> {
        self.line += 1;
        if self.line > MAX_LINE {
            return Err(Http1Violation::ChunkLineTooLong);
        }
        match (self.place, byte) {
            (ChunkPart::FirstDigit | ChunkPart::Digits, _) if byte.is_ascii_hexdigit() => {
                self.digit(byte)
            }
            (ChunkPart::SizeLf, b'\n') => Ok(self.after_size_line()),
            (ChunkPart::SizeLf, _) | (_, b'\n') => Err(Http1Violation::ChunkLineEnd),
            (ChunkPart::FirstDigit, _) => Err(Http1Violation::ChunkSize),
            (ChunkPart::Digits | ChunkPart::AfterSize, _) => {
                next_part(byte, ChunkPart::AfterSize).ok_or(Http1Violation::ChunkSize)
            }
            (place, _) => in_extension(place, byte).ok_or(Http1Violation::ChunkExtension),
        }
    }

    fn digit(&mut self, byte: u8) -> Result<ChunkPart, Http1Violation> {
        let digit = char::from(byte).to_digit(16).ok_or(Http1Violation::ChunkSize)?;
        if self.left >> 60 != 0 {
            return Err(Http1Violation::ChunkTooLarge);
        }
        self.left = self.left << 4 | u64::from(digit);
        Ok(ChunkPart::Digits)
    }

    fn after_size_line(&mut self) -> ChunkPart {
        self.line = 0;
        if self.left == 0 { ChunkPart::TrailerStart } else { ChunkPart::Data }
    }

    /// Reads a byte of the trailers. They are fields, so the leniencies of a head apply: a bare LF,
    /// folding, and whitespace before the colon.
    fn in_trailers(&mut self, byte: u8) -> Result<ChunkPart, Http1Violation> {
        self.line += 1;
        if self.line > MAX_TRAILERS {
            return Err(Http1Violation::TrailersTooLong);
        }
        match (self.place, byte) {
            (ChunkPart::TrailerStart, b'\r') => Ok(ChunkPart::LastLf),
            (ChunkPart::TrailerStart | ChunkPart::LastLf, b'\n') => Ok(ChunkPart::End),
            (ChunkPart::TrailerStart, b' ' | b'\t') if self.trailed => Ok(ChunkPart::TrailerValue),
            (ChunkPart::TrailerStart, _) if is_token_byte(byte) => {
                self.trailed = true;
                Ok(ChunkPart::TrailerName)
            }
            (place, _) => in_trailer(place, byte).ok_or(Http1Violation::Trailer),
        }
    }
}

/// Returns the part that begins with `byte` after a size, an extension name or an extension value.
///
/// RFC 9112, 7.1.1 permits whitespace before a semicolon only, but servers have long padded sizes
/// with spaces to write them in place, and every client accepts it.
fn next_part(byte: u8, blank: ChunkPart) -> Option<ChunkPart> {
    match byte {
        b'\r' => Some(ChunkPart::SizeLf),
        b';' => Some(ChunkPart::ExtStart),
        b' ' | b'\t' => Some(blank),
        _ => None,
    }
}

/// Reads a byte of: chunk-ext = *( BWS ";" BWS name \[ BWS "=" BWS ( token / quoted-string ) \] )
fn in_extension(place: ChunkPart, byte: u8) -> Option<ChunkPart> {
    match (place, byte) {
        (ChunkPart::ExtStart | ChunkPart::ExtValueStart, b' ' | b'\t') => Some(place),
        (ChunkPart::ExtStart | ChunkPart::ExtName, _) if is_token_byte(byte) => {
            Some(ChunkPart::ExtName)
        }
        (ChunkPart::ExtName | ChunkPart::AfterExtName, b'=') => Some(ChunkPart::ExtValueStart),
        (ChunkPart::ExtName | ChunkPart::AfterExtName, _) => {
            next_part(byte, ChunkPart::AfterExtName)
        }
        (ChunkPart::ExtValueStart, b'"') => Some(ChunkPart::ExtQuoted),
        (ChunkPart::ExtValueStart | ChunkPart::ExtToken, _) if is_token_byte(byte) => {
            Some(ChunkPart::ExtToken)
        }
        (ChunkPart::ExtQuoted, b'"') => Some(ChunkPart::AfterExtValue),
        (ChunkPart::ExtQuoted, b'\\') => Some(ChunkPart::ExtEscaped),
        (ChunkPart::ExtQuoted | ChunkPart::ExtEscaped, _) => {
            is_text_byte(byte).then_some(ChunkPart::ExtQuoted)
        }
        (ChunkPart::ExtToken | ChunkPart::AfterExtValue, _) => {
            next_part(byte, ChunkPart::AfterExtValue)
        }
        _ => None,
    }
}

fn in_trailer(place: ChunkPart, byte: u8) -> Option<ChunkPart> {
    match (place, byte) {
        (ChunkPart::TrailerName | ChunkPart::AfterTrailerName, b':') => {
            Some(ChunkPart::TrailerValue)
        }
        (ChunkPart::TrailerName | ChunkPart::AfterTrailerName, b' ' | b'\t') => {
            Some(ChunkPart::AfterTrailerName)
        }
        (ChunkPart::TrailerName, _) => is_token_byte(byte).then_some(place),
        (ChunkPart::TrailerValue, b'\r') => Some(ChunkPart::TrailerLf),
        (ChunkPart::TrailerValue | ChunkPart::TrailerLf, b'\n') => Some(ChunkPart::TrailerStart),
        (ChunkPart::TrailerValue, _) => is_text_byte(byte).then_some(place),
        _ => None,
    }
}
