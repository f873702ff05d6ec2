use super::*;

/// A byte order in which numbers are written.
#[derive(Clone, Copy)]
struct Order(bool);

impl Order {
    fn words(self, words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| if self.0 { w.to_be_bytes() } else { w.to_le_bytes() }).collect()
    }

    fn halves(self, halves: &[u16]) -> Vec<u8> {
        halves.iter().flat_map(|h| if self.0 { h.to_be_bytes() } else { h.to_le_bytes() }).collect()
    }

    fn long(self, value: u64) -> Vec<u8> {
        if self.0 { value.to_be_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = (body.len() + AROUND) as u32;
        [self.words(&[kind, length]), body, self.words(&[length])].concat()
    }

    fn section(self) -> Vec<u8> {
        let body = [self.words(&[ORDER]), self.halves(&[1, 0]), self.long(u64::MAX)].concat();
        self.block(SECTION, &body)
    }

    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut option = [self.halves(&[code, value.len() as u16]), value.to_vec()].concat();
        option.resize(option.len().next_multiple_of(4), 0);
        option
    }

    fn interface(self, link: u16, snap: u32, options: &[u8]) -> Vec<u8> {
        let body = [self.halves(&[link, 0]), self.words(&[snap]), options.to_vec()].concat();
        self.block(INTERFACE, &body)
    }

    fn packet(self, interface: u32, units: u64, bytes: &[u8], options: &[u8]) -> Vec<u8> {
        let times = [(units >> 32) as u32, units as u32];
        let lengths = [bytes.len() as u32, 60];
        let mut body = self.words(&[&[interface], &times[..], &lengths[..]].concat());
        body.extend(bytes);
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend(options);
        self.block(ENHANCED, &body)
    }
}

/// A packet: link type, time, length, captured bytes.
type Read = (Option<Link>, u64, u32, Vec<u8>);

/// Reads a whole file. Returns the packets, the state of the reader, and the error.
fn read(file: &[u8]) -> (Vec<Read>, Sections, Option<&'static str>) {
    let (mut sections, mut rest, mut found) = (Sections::default(), file, Vec::new());
    loop {
        match sections.step(rest) {
            ReadStep::Packet(packet, used) => {
                found.push((packet.link, packet.at_ns, packet.length, packet.bytes.to_vec()));
                rest = &rest[used..];
            }
            ReadStep::Nothing(used) => rest = &rest[used..],
            ReadStep::End => return (found, sections, None),
            ReadStep::More(_) => return (found, sections, Some("more")),
            ReadStep::Broken(wrong) => return (found, sections, Some(wrong)),
        }
    }
}

#[test]
fn reads_both_byte_orders_and_the_interfaces_of_each_section() {
    let mut file = Vec::new();
    for order in [Order(false), Order(true)] {
        file.extend(order.section());
        file.extend(order.interface(1, 128, &[]));
        file.extend(order.interface(101, 0, &order.option(RESOLUTION, &[9])));
        file.extend(order.block(0x0bad, &[1, 2, 3, 4, 5]));
        file.extend(order.packet(0, 1_500_000, b"abc", &[]));
        file.extend(order.packet(1, 1_500_000_001, b"defg", &[]));
    }
    let (found, sections, wrong) = read(&file);
    let one = (Some(Link::Ethernet), 1_500_000_000, 60, b"abc".to_vec());
    let other = (Some(Link::Ip), 1_500_000_001, 60, b"defg".to_vec());
    assert_eq!((found, wrong), (vec![one.clone(), other.clone(), one, other], None));
    assert_eq!(sections.links(), [Some(Link::Ethernet), Some(Link::Ip)]);
    assert_eq!((sections.snap(), sections.dropped()), (0, None));
}

const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;

#[test]
fn applies_the_time_resolution_and_offset_of_the_interface() {
    let order = Order(false);
    let at = |resolution: u8, offset: i64, units: u64| {
        let options =
            [order.option(RESOLUTION, &[resolution]), order.option(OFFSET, &offset.to_le_bytes())];
        let file = [
            order.section(),
            order.interface(1, 0, &options.concat()),
            order.packet(0, units, b"", &[]),
        ];
        read(&file.concat()).0[0].1
    };
    for (resolution, offset, units, expected) in [
        (6, 0, 7, 7_000),
        (0, 0, 7, 7_000_000_000),
        (12, 0, 7_999, 7),
        (0x80 | 10, 0, 512, 500_000_000),
        (6, 3, 1, 3_000_001_000),
        (6, -3, 1, 0),
        (0, 0, u64::MAX, u64::MAX),
        (127, i64::MAX, u64::MAX, u64::MAX),
        (0xff, i64::MIN, u64::MAX, 0),
    ] {
        assert_eq!(at(resolution, offset, units), expected, "{resolution} {offset} {units}");
    }
}

#[test]
fn reads_obsolete_and_simple_packet_blocks() {
    let order = Order(true);
    let mut old = [order.halves(&[0, u16::MAX]), order.words(&[0, 5, 3, 99])].concat();
    old.extend(b"abc");
    let simple = [order.words(&[99]), b"abcdef".to_vec()].concat();
    let file = [
        order.section(),
        order.interface(1, 4, &[]),
        order.block(OBSOLETE, &old),
        order.block(SIMPLE, &simple),
    ];
    let (found, sections, wrong) = read(&file.concat());
    let link = Some(Link::Ethernet);
    let expected = vec![(link, 5_000, 99, b"abc".to_vec()), (link, 5_000, 99, b"abcd".to_vec())];
    assert_eq!((found, wrong, sections.untimed()), (expected, None, 1));
}

#[test]
fn losses_are_taken_from_statistics_else_from_packets() {
    let order = Order(false);
    let lost = order.option(OPTION_DROPPED_BEFORE, &order.long(2));
    let packet = order.packet(0, 1, b"abcde", &lost);
    let begin = [order.section(), order.interface(1, 0, &[])].concat();
    let only = [begin.clone(), packet.clone(), packet.clone()].concat();
    assert_eq!(read(&only).1.dropped(), Some(4));
    let options =
        [order.option(OPTION_DROPPED, &order.long(5)), order.option(7, &order.long(1))].concat();
    let statistics = order.block(STATISTICS, &[order.words(&[0, 0, 0]), options].concat());
    let told = [only, statistics.clone(), statistics].concat();
    assert_eq!(read(&told).1.dropped(), Some(6));
    let twice = [told, begin, packet].concat();
    assert_eq!(read(&twice).1.dropped(), Some(8), "the section before has not been forgotten");
}

#[test]
fn reads_packets_of_unsupported_links_without_a_link_type() {
    let order = Order(false);
    let file = [order.section(), order.interface(105, 0, &[]), order.packet(0, 0, b"x", &[])];
    assert_eq!(read(&file.concat()).0, [(None, 0, 60, b"x".to_vec())]);
}

#[test]
fn reports_how_many_bytes_a_truncated_block_needs() {
    let order = Order(false);
    let begin = [order.section(), order.interface(1, 0, &[])].concat();
    let file = [begin.clone(), order.packet(0, 0, b"abc", &[])].concat();
    for length in begin.len() + 1..file.len() {
        let mut sections = Sections::default();
        let used = sections.step(&file[..length]);
        assert!(matches!(used, ReadStep::Nothing(28)), "{used:?}");
        assert!(matches!(sections.step(&file[28..length]), ReadStep::Nothing(_)));
        let needed = if length < begin.len() + AROUND { AROUND } else { file.len() - begin.len() };
        assert_eq!(sections.step(&file[begin.len()..length]), ReadStep::More(needed), "{length}");
    }
}

#[test]
fn rejects_contradictory_blocks_with_a_reason() {
    let order = Order(false);
    let begin = [order.section(), order.interface(1, 0, &[])].concat();
    let wrong = |block: Vec<u8>| read(&[begin.clone(), block].concat()).2;
    let mut lengths = order.packet(0, 0, b"abc", &[]);
    let end = lengths.len() - 4;
    lengths[end] += 4;
    assert_eq!(wrong(lengths), Some("a block's two lengths differ"));
    let longer = order.block(ENHANCED, &order.words(&[0, 0, 0, 5, 60, 0]));
    assert_eq!(wrong(longer), Some("a packet has an impossible length"));
    let cheat = order.block(ENHANCED, &order.words(&[0, 0, 0, 4, 3, 0]));
    assert_eq!(wrong(cheat), Some("a packet has an impossible length"));
    let other = order.packet(7, 0, b"abc", &[]);
    assert_eq!(wrong(other), Some("a packet refers to an unknown interface"));
    assert_eq!(wrong(order.block(ENHANCED, &[0; 8])), Some("a packet's block is too short"));
    assert_eq!(wrong(order.words(&[ENHANCED, 30, 0])), Some("a block has an impossible length"));
    assert_eq!(wrong(order.words(&[ENHANCED, 1 << 25, 0])), Some("a block is impossibly long"));
    assert_eq!(wrong(order.words(&[SECTION, 28, 0])), Some("a section's byte order is invalid"));
}

#[test]
fn skips_a_long_block_of_another_kind_by_its_header_alone() {
    let order = Order(true);
    let mut sections = Sections::default();
    let section = order.section();
    assert_eq!(sections.step(&section), ReadStep::Nothing(28));
    let secrets = order.words(&[10, 1 << 30, 0]);
    assert_eq!(sections.step(&secrets), ReadStep::Nothing(1 << 30));
}
