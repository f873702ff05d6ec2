//! The examples of RFC 7541, Appendix C, and other valid and invalid blocks.

use super::{Decoder, HpackError, huffman, integer, write_field};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn read(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<String>, HpackError> {
    let mut fields = Vec::new();
    decoder.decode(block, |name, value| {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        fields.push(format!("{}: {}", text(name), text(value)));
    })?;
    Ok(fields)
}

fn table(decoder: &Decoder) -> Vec<String> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    decoder.table().fields().map(|(n, v)| format!("{}: {}", text(n), text(v))).collect()
}

#[test]
fn integers_match_rfc_7541_appendix_c_1() {
    for (hex, prefix, value) in [("0a", 5, 10), ("1f 9a 0a", 5, 1337), ("2a", 8, 42)] {
        let coded = bytes(hex);
        let mut rest = &coded[..];
        assert_eq!(integer::read_integer(&mut rest, prefix), Ok(value));
        assert_eq!(rest, b"");
        let mut out = Vec::new();
        integer::write_integer(&mut out, 0, prefix, value);
        assert_eq!(out, coded);
    }
}

#[test]
fn integers_survive_encoding_and_overlong_ones_are_rejected() {
    for prefix in 3..=8 {
        for value in (0..700).chain([16_383, 16_384, 1 << 20, (1 << 28) - 1]) {
            let mut out = Vec::new();
            integer::write_integer(&mut out, 0, prefix, value);
            let mut rest = &out[..];
            assert_eq!(integer::read_integer(&mut rest, prefix), Ok(value));
            (0..out.len()).for_each(|end| {
                assert_eq!(
                    integer::read_integer(&mut &out[..end], prefix),
                    Err(HpackError::Truncated)
                );
            });
        }
    }
    let endless = [0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0];
    assert_eq!(integer::read_integer(&mut &endless[..], 7), Err(HpackError::Integer));
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert_eq!(integer::read_integer(&mut &huge[..], 7), Err(HpackError::Integer));
}

#[test]
fn decodes_single_fields_of_rfc_7541_appendix_c_2() {
    for (hex, field, kept) in [
        (
            "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
            "custom-key: custom-header",
            1,
        ),
        ("040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path", 0),
        ("1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret", 0),
        ("82", ":method: GET", 0),
    ] {
        let mut decoder = Decoder::new(4096, 65536);
        assert_eq!(read(&mut decoder, &bytes(hex)), Ok(vec![field.to_owned()]));
        assert_eq!(table(&decoder).len(), kept);
    }
}

const REQUESTS: [[&str; 3]; 2] = [
    [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ],
    [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ],
];

#[test]
fn decodes_requests_of_rfc_7541_appendices_c_3_and_c_4() {
    for blocks in REQUESTS {
        let mut decoder = Decoder::new(4096, 65536);
        let read = blocks.map(|block| read(&mut decoder, &bytes(block)).unwrap().join(", "));
        let [first, second, third] = read;
        let start = ":method: GET, :scheme: http, :path: /, :authority: www.example.com";
        assert_eq!(first, start);
        assert_eq!(second, format!("{start}, cache-control: no-cache"));
        assert_eq!(
            third,
            ":method: GET, :scheme: https, :path: /index.html, :authority: www.example.com, \
             custom-key: custom-value"
        );
        assert_eq!(
            table(&decoder),
            ["custom-key: custom-value", "cache-control: no-cache", ":authority: www.example.com"]
        );
        assert_eq!(decoder.table().size(), 164);
    }
}

const RESPONSES: [[&str; 3]; 2] = [
    [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133
         2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70
         6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d
         54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049
         5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e
         3d31",
    ],
    [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6
         2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab
         77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f
         9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ],
];

#[test]
fn decodes_responses_of_rfc_7541_appendices_c_5_and_c_6() {
    for blocks in RESPONSES {
        let mut decoder = Decoder::new(256, 65536);
        let read = blocks.map(|block| read(&mut decoder, &bytes(block)).unwrap().join(", "));
        let date = "date: Mon, 21 Oct 2013 20:13:2";
        let place = "location: https://www.example.com";
        let cookie = "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
        assert_eq!(read[0], format!(":status: 302, cache-control: private, {date}1 GMT, {place}"));
        assert_eq!(read[1], format!(":status: 307, cache-control: private, {date}1 GMT, {place}"));
        assert_eq!(
            read[2],
            format!(
                ":status: 200, cache-control: private, {date}2 GMT, {place}, \
                 content-encoding: gzip, {cookie}"
            )
        );
        let date = format!("{date}2 GMT");
        assert_eq!(table(&decoder), [cookie, "content-encoding: gzip", &date]);
        assert_eq!(decoder.table().size(), 215);
    }
}

#[test]
fn rejects_truncated_and_invalid_blocks() {
    for (hex, error) in [
        ("80", HpackError::Index),
        ("be", HpackError::Index),
        ("ff ff ff ff ff 0f", HpackError::Integer),
        ("ff ff 7f", HpackError::Index),
        ("7e 00", HpackError::Index),
        ("0f 2f 00", HpackError::Index),
        ("40", HpackError::Truncated),
        ("40 01", HpackError::Truncated),
        ("40 01 61", HpackError::Truncated),
        ("40 01 61 02 62", HpackError::Truncated),
        ("00 01 61 82 ff ff", HpackError::Huffman),
        ("88 20", HpackError::TableSize),
        ("3f e2 1f", HpackError::TableSize),
    ] {
        let mut decoder = Decoder::new(4096, 65536);
        assert_eq!(read(&mut decoder, &bytes(hex)), Err(error), "{hex}");
    }
}

#[test]
fn the_peer_may_shrink_its_table_and_let_it_grow_again() {
    let mut decoder = Decoder::new(4096, 65536);
    read(&mut decoder, &bytes("4001 6101 62")).unwrap();
    assert_eq!(read(&mut decoder, &bytes("20 3fe11f 88")), Ok(vec![":status: 200".to_owned()]));
    assert_eq!(table(&decoder), [""; 0]);
    read(&mut decoder, &bytes("3e 4001 6101 62")).unwrap();
    assert_eq!(table(&decoder), [""; 0], "a field larger than the table");
    read(&mut decoder, &bytes("3f03 4001 6101 62")).unwrap();
    assert_eq!(table(&decoder), ["a: b"]);
}

#[test]
fn limits_the_total_length_of_referenced_fields() {
    let mut decoder = Decoder::new(4096, 65536);
    let mut block = vec![0x40, 1, b'a'];
    integer::write_integer(&mut block, 0, 7, 4000);
    block.extend([b'x'; 4000]);
    assert_eq!(read(&mut decoder, &block).map(|fields| fields.len()), Ok(1));
    assert_eq!(read(&mut decoder, &[0xbe; 16]).map(|fields| fields.len()), Ok(16));
    assert_eq!(read(&mut decoder, &[0xbe; 17]), Err(HpackError::TooLong));
}

#[test]
fn memory_stays_bounded_while_table_entries_are_replaced() {
    let mut decoder = Decoder::new(4096, 65536);
    for number in 0..100_000usize {
        let value = number.to_string();
        let block = [&[0x40, 1, b'a', value.len() as u8], value.as_bytes()].concat();
        assert_eq!(read(&mut decoder, &block), Ok(vec![format!("a: {number}")]));
        assert_eq!(read(&mut decoder, &[0xbe]), Ok(vec![format!("a: {number}")]));
    }
    let memory = decoder.table().memory();
    assert!(memory < 24_000, "{memory}");
}

#[test]
fn decodes_encoded_fields_without_adding_them_to_the_table() {
    let long = "x".repeat(300);
    let fields = [
        (":method", "GET"),
        (":method", "PATCH"),
        (":path", "/a?b=ä"),
        ("user-agent", "me"),
        ("x-own", &long),
        ("x-raw", "\u{7f}{}|~"),
        ("empty", ""),
    ];
    let mut block = Vec::new();
    fields.iter().for_each(|(name, value)| write_field(&mut block, name, value));
    let mut decoder = Decoder::new(0, 65536);
    let expected: Vec<_> = fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(read(&mut decoder, &block), Ok(expected));
    assert_eq!(decoder.changes(), 0);
    assert!(huffman::encoded_len(long.as_bytes()) < 300);
}

/// A response that puts all its fields into the table, like those of nginx.
fn response(date: u32) -> Vec<u8> {
    let date = format!("Sat, 21 Nov 2026 11:{:02}:{:02} GMT", date / 60, date % 60);
    let mut block = vec![0x88];
    for (name, value) in [("server", "nginx/1.22.1"), ("date", &date), ("content-length", "13")] {
        block.push(0x40);
        for text in [name, value] {
            block.push(text.len() as u8);
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

#[test]
fn a_repeated_block_can_be_skipped_if_it_leaves_the_table_unchanged() {
    let (mut every, mut some) = (Decoder::new(4096, 65536), Decoder::new(4096, 65536));
    let (mut known, mut left_out) = (None, 0);
    for n in 0..1_000 {
        // In between, a block that refers to an entry, whose meaning must be unchanged.
        let block = if n % 90 == 89 { vec![0x80 | 64] } else { response(n / 250) };
        let before = some.changes();
        let said = read(&mut every, &block).unwrap();
        if known.as_ref() == Some(&(block.clone(), before)) {
            left_out += 1;
        } else {
            assert_eq!(read(&mut some, &block).unwrap(), said);
            known = (some.changes() == before).then_some((block, before));
        }
        assert_eq!(table(&some), table(&every));
    }
    assert!((300..1_000).contains(&left_out), "{left_out}");
}

#[test]
fn alternating_blocks_always_change_the_table() {
    let mut decoder = Decoder::new(4096, 65536);
    for n in 0..1_000 {
        let before = decoder.changes();
        read(&mut decoder, &response(n % 2)).unwrap();
        assert!(decoder.changes() > before);
    }
}

#[test]
fn a_new_table_size_limit_counts_as_a_change() {
    let mut decoder = Decoder::new(4096, 65536);
    read(&mut decoder, &[0x20]).unwrap();
    for limit in [&[0x3f, 0x21][..], &[0x3f, 0xe1, 0x1f]] {
        let before = decoder.changes();
        read(&mut decoder, limit).unwrap();
        assert!(decoder.changes() > before);
        let before = decoder.changes();
        read(&mut decoder, limit).unwrap();
        assert_eq!(decoder.changes(), before);
    }
}

/// One large block must not occupy memory for the life of each connection.
#[test]
fn memory_for_a_large_block_is_given_back() {
    let long = "a".repeat(30_000);
    let mut block = Vec::new();
    write_field(&mut block, &long, &long);
    for first in [0x00, 0x40] {
        // As a literal that does not enter the table, and as one that does.
        block[0] = block[0] & 0x3f | first;
        let mut decoder = Decoder::new(4_096, 1 << 20);
        assert_eq!(read(&mut decoder, &block).unwrap(), [format!("{long}: {long}")]);
        let held = decoder.scratch();
        assert!(held.iter().all(|&held| held <= 4_096), "{held:?}");
        // The same for a block that is truncated.
        assert_eq!(read(&mut decoder, &block[..block.len() - 1]), Err(HpackError::Truncated));
        let held = decoder.scratch();
        assert!(held.iter().all(|&held| held <= 4_096), "{held:?}");
    }
}
