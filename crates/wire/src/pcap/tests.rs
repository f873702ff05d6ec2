use super::*;

/// Returns a file with one packet: `abc` of 60 bytes, at 1.5 s.
fn file(magic: u32, part: u32, link: u32, big_endian: bool) -> Vec<u8> {
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let head = [magic, 0, 0, 0, 65_535, link, 1, part, 3, 60];
    let mut file: Vec<u8> = head.into_iter().flat_map(word).collect();
    file.extend(b"abc");
    file
}

#[test]
fn reads_both_byte_orders_and_both_time_units() {
    for (magic, part) in [(MICROSECONDS, 500_000), (NANOSECONDS, 500_000_000)] {
        for big_endian in [false, true] {
            let file = file(magic, part, 101, big_endian);
            let format = Format::read(&file).unwrap();
            assert_eq!((format.link, format.snap), (Link::Ip, 65_535));
            let record = Record { at_ns: 1_500_000_000, length: 60, bytes: b"abc" };
            assert_eq!(format.next(&file[HEADER..]), NextRecord::Record(record, &[]));
        }
    }
}

#[test]
fn reads_back_what_it_writes() {
    let mut file = header(128, Link::Ethernet).to_vec();
    let records = [
        Record { at_ns: 1_763_000_000_123_456_789, length: 1_514, bytes: &[1; 128] },
        Record { at_ns: 0, length: 0, bytes: &[] },
    ];
    records.iter().for_each(|record| write_record(record, &mut file));
    let format = Format::read(&file).unwrap();
    assert_eq!((format.link, format.snap), (Link::Ethernet, 128));
    let mut rest = &file[HEADER..];
    for expected in &records {
        let NextRecord::Record(record, behind) = format.next(rest) else { panic!("a packet") };
        assert_eq!(record, *expected);
        rest = behind;
    }
    assert_eq!(format.next(rest), NextRecord::End);
}

#[test]
fn reports_how_many_bytes_a_truncated_record_needs() {
    let file = file(NANOSECONDS, 0, 1, false);
    let format = Format::read(&file).unwrap();
    for length in HEADER + 1..file.len() {
        let needed = if length < HEADER + RECORD { RECORD } else { RECORD + 3 };
        assert_eq!(format.next(&file[HEADER..length]), NextRecord::More(needed), "{length}");
    }
}

#[test]
fn rejects_other_files_with_a_reason() {
    let refused = |file: &[u8]| Format::read(file).unwrap_err();
    assert_eq!(refused(&[0; 23]), "is too short to be a capture file (pcap or pcapng)");
    assert_eq!(refused(&[0; 24]), "is not a capture file (pcap or pcapng)");
    let wireless = refused(&file(NANOSECONDS, 0, 105, true));
    assert_eq!(wireless, "has packets of link type 105, which is not supported");
}

#[test]
fn rejects_an_impossible_record_length() {
    for (kept, length) in [(u32::MAX, u32::MAX), (61, 60)] {
        let mut file = file(NANOSECONDS, 0, 1, false);
        file[32..36].copy_from_slice(&kept.to_le_bytes());
        file[36..40].copy_from_slice(&length.to_le_bytes());
        assert_eq!(Format::read(&file).unwrap().next(&file[HEADER..]), NextRecord::Broken);
    }
}
