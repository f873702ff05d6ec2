//! Compression of fields in HTTP/3 (RFC 9204) without a dynamic table: this side announces a
//! capacity of 0. Field sections consist of static indices and literals and do not depend on
//! earlier ones.

mod fixed;
mod instructions;
#[cfg(test)]
mod tests;

pub(crate) use instructions::{DecoderStream, EncoderStream};

use crate::hpack::{HpackError, integer, text};
use fixed::FIELDS;

/// The size of a field in addition to its name and value, in bytes (RFC 9114, 4.2.2).
const OVERHEAD: usize = 32;

/// Buffers for decoding sections, which different connections may share.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    name: Vec<u8>,
    value: Vec<u8>,
}

/// Decodes a whole section of up to `most` bytes of fields and passes the name and value of each
/// field to `field`.
pub(crate) fn decode_section(
    section: &[u8],
    most: usize,
    scratch: &mut Scratch,
    mut field: impl FnMut(&[u8], &[u8]),
) -> Result<(), HpackError> {
    let Scratch { name: names, value: values } = scratch;
    let mut rest = section;
    check_prefix(&mut rest)?;
    let mut left = most;
    while let Some(&first) = rest.first() {
        let (name, value) = match first {
            0xc0.. => {
                let (name, value) = known(integer::read_integer(&mut rest, 6)?)?;
                (name, value)
            }
            0x40..0x80 if first & 0x10 != 0 => {
                let (name, _) = known(integer::read_integer(&mut rest, 4)?)?;
                (name, text::read_string(&mut rest, 7, values)?)
            }
            0x20..0x40 => {
                (text::read_string(&mut rest, 3, names)?, text::read_string(&mut rest, 7, values)?)
            }
            // All other forms refer to the dynamic table.
            _ => return Err(HpackError::Index),
        };
        left = left.checked_sub(name.len() + value.len() + OVERHEAD).ok_or(HpackError::TooLong)?;
        field(name, value);
    }
    Ok(())
}

/// Checks the prefix of a section (RFC 9204, 4.5.1): without a table nothing has been inserted, and
/// the base is not below that.
fn check_prefix(rest: &mut &[u8]) -> Result<(), HpackError> {
    let inserted = integer::read_integer(rest, 8)?;
    let negative = rest.first().is_some_and(|&first| first >= 0x80);
    integer::read_integer(rest, 7)?;
    if inserted == 0 && !negative { Ok(()) } else { Err(HpackError::Index) }
}

fn known(index: usize) -> Result<(&'static [u8], &'static [u8]), HpackError> {
    let (name, value) = FIELDS.get(index).ok_or(HpackError::Index)?;
    Ok((name.as_bytes(), value.as_bytes()))
}

/// Appends the prefix of a section that does not refer to a dynamic table.
pub(crate) fn write_prefix(out: &mut Vec<u8>) {
    out.extend([0, 0]);
}

/// Appends a field in its shortest form (RFC 9204, 4.5.2, 4.5.4 and 4.5.6).
pub(crate) fn write_field(out: &mut Vec<u8>, name: &str, value: &str) {
    if let Some(at) = FIELDS.iter().position(|&known| known == (name, value)) {
        return integer::write_integer(out, 0xc0, 6, at);
    }
    match FIELDS.iter().position(|&(known, _)| known == name) {
        Some(at) => integer::write_integer(out, 0x50, 4, at),
        None => text::write_string(out, 0x20, 3, name.as_bytes()),
    }
    text::write_string(out, 0, 7, value.as_bytes());
}
