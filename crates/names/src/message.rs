//! DNS messages: a query for the addresses of a name, and the reading of its response (RFC 1035, 4;
//! RFC 3596). It opens no socket and reads no clock.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sixmark_units::family::Family;

/// The length of the header, bytes.
const HEADER: usize = 12;
/// The class IN.
const INTERNET: u16 = 1;
/// The flag TC in the third byte: the message was cut to fit a datagram.
const TRUNCATED: u8 = 0x02;
/// The flag QR in the third byte: the message is a response.
const RESPONSE: u8 = 0x80;
/// The flag RD in the third byte: the server is to ask others.
const RECURSION: u8 = 0x01;

/// What a response says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsResponse {
    /// The response code: 0 is NOERROR, 3 NXDOMAIN.
    pub rcode: u8,
    /// Whether it was cut to fit a datagram: the rest comes over TCP.
    pub truncated: bool,
    /// The addresses of the type that was asked for, each once.
    pub addresses: Vec<IpAddr>,
}

/// Returns the type of record that holds addresses of a family.
pub fn record_type(family: Family) -> u16 {
    match family {
        Family::Ipv6 => 28,
        Family::Ipv4 => 1,
    }
}

/// Returns the name of the type of record that holds addresses of a family.
pub fn name_record_type(family: Family) -> &'static str {
    match family {
        Family::Ipv6 => "AAAA",
        Family::Ipv4 => "A",
    }
}

/// Returns the name of a response code, as in dig(1) (RFC 6895, 2.3).
pub fn describe_rcode(rcode: u8) -> String {
    let names = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];
    names.get(usize::from(rcode)).map_or_else(|| format!("RCODE {rcode}"), |n| (*n).to_owned())
}

/// Returns the query for the addresses of `name`. `None` if DNS can't carry the name: a label is
/// empty or longer than 63 bytes, or all are longer than 255.
pub fn encode_query(id: u16, name: &str, family: Family) -> Option<Vec<u8>> {
    let mut query = Vec::with_capacity(HEADER + name.len() + 6);
    query.extend(id.to_be_bytes());
    query.extend([RECURSION, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.strip_suffix('.').unwrap_or(name).split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length))?;
        query.push(length);
        query.extend(label.as_bytes());
    }
    query.push(0);
    if query.len() - HEADER > 255 {
        return None;
    }
    query.extend(record_type(family).to_be_bytes());
    query.extend(INTERNET.to_be_bytes());
    Some(query)
}

/// Reads a response to `query`, one of [`encode_query`]. `None` if it is none: it has another id or
/// another question, or is cut short.
pub fn read_response(message: &[u8], query: &[u8], family: Family) -> Option<DnsResponse> {
    let header = message.get(..HEADER)?;
    if header[..2] != query[..2] || header[2] & RESPONSE == 0 {
        return None;
    }
    let rcode = header[3] & 0x0f;
    let count = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let question = query.get(HEADER..)?;
    let mut at = HEADER;
    match count(4) {
        // Some servers refuse with a header alone.
        0 if rcode != 0 => {}
        1 => {
            let found = message.get(HEADER..HEADER + question.len())?;
            if !found.eq_ignore_ascii_case(question) {
                return None;
            }
            at += question.len();
        }
        _ => return None,
    }
    let truncated = header[2] & TRUNCATED != 0;
    let (addresses, whole) = read_addresses(message, at, count(6), family);
    (whole || truncated || rcode != 0).then_some(DnsResponse { rcode, truncated, addresses })
}

/// Reads `count` records from `at` on. Returns the addresses of the family, and whether all records
/// were there. The owner of a record may be an alias of the name: it is not compared.
fn read_addresses(
    message: &[u8],
    mut at: usize,
    count: u16,
    family: Family,
) -> (Vec<IpAddr>, bool) {
    let mut addresses = Vec::new();
    for _ in 0..count {
        let Some(record) = read_record(message, at) else { return (addresses, false) };
        at = record.end;
        let address = address_of(&record, family);
        addresses.extend(address.filter(|address| !addresses.contains(address)));
    }
    (addresses, true)
}

/// A resource record, without its owner and time to live.
struct DnsRecord<'a> {
    kind: u16,
    class: u16,
    data: &'a [u8],
    /// Where the next record begins.
    end: usize,
}

fn read_record(message: &[u8], at: usize) -> Option<DnsRecord<'_>> {
    let fixed_at = skip_name(message, at)?;
    let fixed = message.get(fixed_at..fixed_at + 10)?;
    let number = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let begin = fixed_at + 10;
    let end = begin + usize::from(number(8));
    Some(DnsRecord { kind: number(0), class: number(2), data: message.get(begin..end)?, end })
}

/// Returns where a name ends. A pointer ends it; where it points to is of no interest.
fn skip_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let length = *message.get(at)?;
        match length {
            0 => return Some(at + 1),
            0xc0.. => return Some(at + 2),
            1..=63 => at += 1 + usize::from(length),
            _ => return None,
        }
    }
}

fn address_of(record: &DnsRecord<'_>, family: Family) -> Option<IpAddr> {
    if record.class != INTERNET || record.kind != record_type(family) {
        return None;
    }
    match family {
        Family::Ipv6 => <[u8; 16]>::try_from(record.data).ok().map(|a| Ipv6Addr::from(a).into()),
        Family::Ipv4 => <[u8; 4]>::try_from(record.data).ok().map(|a| Ipv4Addr::from(a).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query() -> Vec<u8> {
        encode_query(7, "a.example", Family::Ipv6).unwrap()
    }

    /// A response with a header of these flags, the question, and records.
    fn response(flags: [u8; 2], records: &[&[u8]]) -> Vec<u8> {
        let query = query();
        let mut message = vec![0, 7, flags[0], flags[1], 0, 1, 0, records.len() as u8, 0, 0, 0, 0];
        message.extend(&query[HEADER..]);
        records.iter().for_each(|record| message.extend(*record));
        message
    }

    fn record(kind: u8, data: &[u8]) -> Vec<u8> {
        let mut record = vec![0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 60, 0, data.len() as u8];
        record.extend(data);
        record
    }

    fn read(message: &[u8]) -> Option<DnsResponse> {
        read_response(message, &query(), Family::Ipv6)
    }

    #[test]
    fn encodes_a_query_as_in_rfc_1035() {
        let expected =
            b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x07example\x00\x00\x1c\x00\x01";
        assert_eq!(query(), expected);
        assert_eq!(encode_query(7, "a.example.", Family::Ipv6).unwrap(), expected);
        let long = "a".repeat(64);
        let all = ["a"; 128].join(".");
        for name in ["", ".", "a..b", &long, &all] {
            assert_eq!(encode_query(7, name, Family::Ipv4), None, "{name}");
        }
    }

    #[test]
    fn reads_addresses_behind_an_alias_without_duplicates() {
        let one = Ipv6Addr::LOCALHOST;
        let records = [
            record(5, b"\x01b\xc0\x0e"),
            record(28, &one.octets()),
            record(28, &one.octets()),
            record(1, &[127, 0, 0, 1]),
            record(28, &[0; 4]),
        ];
        let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        let found = read(&response([0x81, 0x80], &records)).unwrap();
        assert_eq!((found.rcode, found.truncated, found.addresses), (0, false, vec![one.into()]));
    }

    #[test]
    fn rejects_an_incomplete_response_without_the_truncation_flag() {
        let whole = response([0x81, 0x80], &[&record(28, &[0; 16])]);
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]), None, "{length}");
        }
        let cut = response([0x83, 0x80], &[&record(28, &[0; 16])]);
        let found = read(&cut[..cut.len() - 1]).unwrap();
        assert!(found.truncated && found.addresses.is_empty());
    }

    #[test]
    fn rejects_the_response_to_another_query() {
        let good = response([0x81, 0x82], &[]);
        assert_eq!(read(&good).unwrap().rcode, 2);
        let changed = |at: usize| {
            let mut message = good.clone();
            message[at] ^= 0x40;
            message
        };
        // The id, the flag of responses, a letter of the name, the type.
        for at in [1, 13 + 2, good.len() - 3] {
            assert_eq!(read(&changed(at)), None, "{at}");
        }
        assert_eq!(read(&query()), None);
        let bare = [0, 7, 0x81, 0x85, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(describe_rcode(read(&bare).unwrap().rcode), "REFUSED");
        assert_eq!(describe_rcode(11), "RCODE 11");
    }
}
