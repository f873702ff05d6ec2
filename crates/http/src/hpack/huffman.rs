//! The Huffman code of HTTP fields (RFC 7541, 5.2 and Appendix B).
//!
//! The code is canonical, so the lengths of the codes determine it: codes of the same length are
//! consecutive in the order of their symbols, and longer codes follow shorter ones.

use super::HpackError;

const SYMBOLS: usize = 257;
const EOS: u16 = 256;
const LONGEST: usize = 30;
/// Codes of up to this number of bits, which are nearly all that occur, are found with one look-up.
const SHORT: u32 = 8;

/// The number of bits of each symbol's code (RFC 7541, Appendix B).
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

/// The symbols in the order of their codes.
const ORDER: [u16; SYMBOLS] = order();
/// For each length, the first code, left-aligned to 32 bits, and its position in [`ORDER`].
const FIRST: [(u32, u16); LONGEST + 2] = first();
const CODES: [u32; SYMBOLS] = codes();
/// For each value of the next eight bits, the symbol and the length of its code; 0 if the code is
/// longer.
static NEXT: [(u8, u8); 1 << SHORT] = next();

const fn order() -> [u16; SYMBOLS] {
    let mut order = [0; SYMBOLS];
    let (mut length, mut at) = (1, 0);
    while length <= LONGEST {
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as usize == length {
                order[at] = symbol as u16;
                at += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    order
}

const fn first() -> [(u32, u16); LONGEST + 2] {
    let mut first = [(u32::MAX, SYMBOLS as u16); LONGEST + 2];
    let (mut length, mut at, mut code) = (0, 0, 0u64);
    while length <= LONGEST {
        first[length] = ((code << (32 - length)) as u32, at as u16);
        while at < SYMBOLS && LENGTHS[ORDER[at] as usize] as usize == length {
            at += 1;
            code += 1;
        }
        code <<= 1;
        length += 1;
    }
    first
}

const fn codes() -> [u32; SYMBOLS] {
    let mut codes = [0; SYMBOLS];
    let mut at = 0;
    while at < SYMBOLS {
        let symbol = ORDER[at] as usize;
        let length = LENGTHS[symbol] as usize;
        let (code, place) = FIRST[length];
        codes[symbol] = (code >> (32 - length)) + (at as u32 - place as u32);
        at += 1;
    }
    codes
}

const fn next() -> [(u8, u8); 1 << SHORT] {
    let mut next = [(0, 0); 1 << SHORT];
    let mut symbol = 0;
    while symbol < SYMBOLS {
        let length = LENGTHS[symbol] as u32;
        if length <= SHORT {
            let spare = SHORT - length;
            let mut at = (CODES[symbol] << spare) as usize;
            let end = at + (1 << spare);
            while at < end {
                next[at] = (symbol as u8, length as u8);
                at += 1;
            }
        }
        symbol += 1;
    }
    next
}

/// Decodes `coded` and appends the text to `out`.
pub(crate) fn decode_huffman(coded: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    let mut rest = coded;
    // The bits not yet decoded, left-aligned, and their number.
    let (mut bits, mut left) = (0u64, 0);
    out.reserve(coded.len() * 8 / 5);
    loop {
        refill(&mut rest, &mut bits, &mut left);
        let (symbol, length) = look_up((bits >> 32) as u32);
        if length > left {
            return check_padding(bits, left);
        }
        out.push(u8::try_from(symbol).map_err(|_| HpackError::Huffman)?);
        bits <<= length;
        left -= length;
    }
}

fn refill(rest: &mut &[u8], bits: &mut u64, left: &mut u32) {
    if *left > 32 {
        return;
    }
    if let Some((chunk, after)) = rest.split_first_chunk::<4>() {
        *bits |= u64::from(u32::from_be_bytes(*chunk)) << (32 - *left);
        *left += 32;
        *rest = after;
        return;
    }
    for &byte in *rest {
        *bits |= u64::from(byte) << (56 - *left);
        *left += 8;
    }
    *rest = &[];
}

fn look_up(bits: u32) -> (u16, u32) {
    match NEXT[(bits >> (32 - SHORT)) as usize] {
        (_, 0) => look_up_long(bits),
        (symbol, length) => (u16::from(symbol), u32::from(length)),
    }
}

#[cold]
fn look_up_long(bits: u32) -> (u16, u32) {
    // The code has the last length whose first code does not exceed the bits; lengths without codes
    // share the first code of the next.
    let length = (SHORT as usize + 1..=LONGEST)
        .take_while(|&length| FIRST[length].0 <= bits)
        .last()
        .unwrap_or(LONGEST);
    let (code, place) = FIRST[length];
    let at = usize::from(place) + ((bits - code) >> (32 - length)) as usize;
    (ORDER.get(at).copied().unwrap_or(EOS), length as u32)
}

/// Checks that the remaining bits are the beginning of the end-of-string code and shorter than a
/// byte.
fn check_padding(bits: u64, left: u32) -> Result<(), HpackError> {
    let ones = left == 0 || bits >> (64 - left) == (1 << left) - 1;
    if left < 8 && ones { Ok(()) } else { Err(HpackError::Huffman) }
}

/// Returns the number of bytes that `text` occupies once encoded.
pub(crate) fn encoded_len(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|&byte| usize::from(LENGTHS[usize::from(byte)])).sum();
    bits.div_ceil(8)
}

/// Appends the code of `text`, padded with ones.
pub(crate) fn encode_huffman(text: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut held) = (0u64, 0);
    for &byte in text {
        let length = u32::from(LENGTHS[usize::from(byte)]);
        bits = bits << length | u64::from(CODES[usize::from(byte)]);
        held += length;
        while held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    if held > 0 {
        let spare = 8 - held;
        out.push((bits << spare) as u8 | ((1u16 << spare) - 1) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(coded: &[u8]) -> Result<Vec<u8>, HpackError> {
        let mut out = Vec::new();
        decode_huffman(coded, &mut out).map(|()| out)
    }

    #[test]
    fn huffman_codes_match_rfc_7541() {
        for (symbol, code, length) in [
            (0, 0x1ff8, 13),
            (10, 0x3fff_fffc, 30),
            (32, 0x14, 6),
            (48, 0, 5),
            (92, 0x7_fff0, 19),
            (122, 0x7b, 7),
            (127, 0xfff_fffc, 28),
            (128, 0xf_ffe6, 20),
            (199, 0x1ff_ffec, 25),
            (220, 0xfff_fffd, 28),
            (255, 0x3ff_ffee, 26),
            (256, 0x3fff_ffff, 30),
        ] {
            assert_eq!((CODES[symbol], LENGTHS[symbol]), (code, length), "{symbol}");
        }
    }

    #[test]
    fn decodes_every_encoded_byte_at_any_position() {
        for byte in 0..=255u8 {
            for before in 0..9 {
                for after in 0..4 {
                    let text = [vec![b'0'; before], vec![byte], vec![b'X'; after]].concat();
                    let mut coded = Vec::new();
                    encode_huffman(&text, &mut coded);
                    assert_eq!(coded.len(), encoded_len(&text));
                    assert_eq!(decoded(&coded), Ok(text));
                }
            }
        }
    }

    #[test]
    fn padding_is_ones_and_shorter_than_a_byte() {
        assert_eq!(decoded(&[]), Ok(vec![]));
        assert_eq!(decoded(&[0b0000_0111]), Ok(b"0".to_vec()));
        assert_eq!(decoded(&[0b0000_0011]), Err(HpackError::Huffman), "a zero in it");
        assert_eq!(decoded(&[0b0000_0111, 0xff]), Err(HpackError::Huffman), "11 bits");
        assert_eq!(decoded(&[0xff]), Err(HpackError::Huffman), "8 bits");
        assert_eq!(
            decoded(&[0xff, 0xff, 0xff, 0xff]),
            Err(HpackError::Huffman),
            "the end of string"
        );
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xfc, 0]), Err(HpackError::Huffman), "and more");
        assert_eq!(decoded(&[0xff, 0xff]), Err(HpackError::Huffman), "half a code");
    }
}
