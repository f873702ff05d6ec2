//! String literals, plain or in Huffman code (RFC 7541, 5.2).

use super::{HpackError, huffman, integer};

/// Reads a string from the front of `bytes`: one bit for Huffman, then its length in `prefix` bits.
/// A Huffman-coded string is decoded into `scratch`.
pub(crate) fn read_string<'a, 's>(
    bytes: &mut &'a [u8],
    prefix: u32,
    scratch: &'s mut Vec<u8>,
) -> Result<&'s [u8], HpackError>
where
    'a: 's,
{
    let coded = bytes.first().is_some_and(|&first| first >> prefix & 1 == 1);
    let length = integer::read_integer(bytes, prefix)?;
    let (text, rest) = bytes.split_at_checked(length).ok_or(HpackError::Truncated)?;
    *bytes = rest;
    if !coded {
        return Ok(text);
    }
    scratch.clear();
    huffman::decode_huffman(text, scratch)?;
    Ok(scratch)
}

/// Appends `text` in the shorter of its forms; `first` contains the bits above the one for Huffman.
pub(crate) fn write_string(out: &mut Vec<u8>, first: u8, prefix: u32, text: &[u8]) {
    let coded = huffman::encoded_len(text);
    if coded < text.len() {
        integer::write_integer(out, first | 1 << prefix, prefix, coded);
        huffman::encode_huffman(text, out);
    } else {
        integer::write_integer(out, first, prefix, text.len());
        out.extend_from_slice(text);
    }
}
