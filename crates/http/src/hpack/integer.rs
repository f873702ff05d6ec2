//! Integers that begin within a byte (RFC 7541, 5.1).

use super::HpackError;

/// The largest number of continuation bits. No permitted length or index needs as many; longer
/// integers are an attempt at overflow.
const MOST_BITS: u32 = 28;

/// Reads an integer from the front of `bytes`. It begins in the low `prefix` bits of the first
/// byte.
pub(crate) fn read_integer(bytes: &mut &[u8], prefix: u32) -> Result<usize, HpackError> {
    let (&first, mut rest) = bytes.split_first().ok_or(HpackError::Truncated)?;
    let full = (1usize << prefix) - 1;
    let mut value = usize::from(first) & full;
    if value == full {
        value += read_rest(&mut rest)?;
    }
    *bytes = rest;
    Ok(value)
}

fn read_rest(bytes: &mut &[u8]) -> Result<usize, HpackError> {
    let mut value = 0;
    for shift in (0..MOST_BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(HpackError::Truncated)?;
        *bytes = rest;
        value |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(HpackError::Integer)
}

/// Appends `value`; `first` contains the bits of the first byte that do not belong to the integer.
pub(crate) fn write_integer(out: &mut Vec<u8>, first: u8, prefix: u32, value: usize) {
    let full = (1usize << prefix) - 1;
    if value < full {
        out.push(first | value as u8);
        return;
    }
    out.push(first | full as u8);
    let mut left = value - full;
    while left >= 0x80 {
        out.push(0x80 | (left & 0x7f) as u8);
        left >>= 7;
    }
    out.push(left as u8);
}
