//! Valid and invalid sections, encoder streams and decoder streams.

use super::{DecoderStream, EncoderStream, Scratch, decode_section, write_field, write_prefix};
use crate::hpack::HpackError;

fn read(section: &[u8]) -> Result<Vec<String>, HpackError> {
    let mut fields = Vec::new();
    decode_section(section, 65_536, &mut Scratch::default(), |name, value| {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        fields.push(format!("{}: {}", text(name), text(value)));
    })?;
    Ok(fields)
}

#[test]
fn decodes_the_section_of_rfc_9204_appendix_b_1() {
    let section = b"\x00\x00\x51\x0b/index.html";
    assert_eq!(read(section), Ok(vec![":path: /index.html".to_owned()]));
}

#[test]
fn decodes_encoded_fields() {
    let long = "x".repeat(300);
    let fields = [
        (":method", "GET"),
        (":method", "PATCH"),
        ("x-frame-options", "sameorigin"),
        ("user-agent", "me"),
        ("a", "b"),
        ("x-own-name", &long),
        ("x-raw", "\u{7f}{}|~"),
        ("empty", ""),
    ];
    let mut section = Vec::new();
    write_prefix(&mut section);
    fields.iter().for_each(|(name, value)| write_field(&mut section, name, value));
    let expected: Vec<_> = fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(read(&section), Ok(expected));
    assert_eq!(section[2], 0xc0 | 17);
}

#[test]
fn rejects_malformed_sections_and_those_with_a_dynamic_table() {
    for (name, section, error) in [
        ("no prefix", &b""[..], HpackError::Truncated),
        ("half a prefix", b"\0", HpackError::Truncated),
        ("insertions", b"\x02\0\xd1", HpackError::Index),
        ("a base below 0", b"\0\x80\xd1", HpackError::Index),
        ("dynamic", b"\0\0\x80", HpackError::Index),
        ("behind the base", b"\0\0\x10", HpackError::Index),
        ("dynamic name", b"\0\0\x40\x01a", HpackError::Index),
        ("name behind the base", b"\0\0\x00\x01a", HpackError::Index),
        ("beyond the table", b"\0\0\xff\x24", HpackError::Index),
        ("name beyond the table", b"\0\0\x5f\x54\x01a", HpackError::Index),
        ("half a name", b"\0\0\x22a", HpackError::Truncated),
        ("no value", b"\0\0\x21a", HpackError::Truncated),
        ("bad Huffman code", b"\0\0\x29\xff\x00", HpackError::Huffman),
    ] {
        assert_eq!(read(section), Err(error), "{name}");
    }
    assert_eq!(read(b"\0\x05\xd1").map(|fields| fields.len()), Ok(1), "any other base");
    let many = [&b"\0\0"[..], &[0xc1; 2000]].concat();
    assert_eq!(read(&many), Err(HpackError::TooLong));
}

#[test]
fn rejects_encoder_and_decoder_instructions_that_need_a_table() {
    assert!(EncoderStream.feed(b"") && EncoderStream.feed(b"\x20\x20"));
    for instruction in [&b"\x21"[..], b"\x3f\x01", b"\xc0\x01a", b"\x41a\x01b", b"\x00"] {
        assert!(!EncoderStream.feed(instruction), "{instruction:?}");
    }
    let all = |bytes: &[u8]| DecoderStream::default().feed(bytes);
    assert!(all(b"\x40\x44\x7f\x00\x7f\xff\xff\x01\x40"));
    for instruction in [&b"\x80"[..], b"\x84", b"\x01", b"\x00", b"\x7f\x00\x81"] {
        assert!(!all(instruction), "{instruction:?}");
    }
    assert!(!all(&[&b"\x7f"[..], &[0xff; 20]].concat()));
}
