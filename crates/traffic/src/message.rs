//! The format of messages. It is that of MGEN (format version 2, as in MGEN 4 and 5), so that MGEN
//! can be either end.
//!
//! | bytes | |
//! |---|---|
//! | 2 | length of the message, or of this part of it |
//! | 1, 1 | version, flags |
//! | 4, 4 | flow number, sequence number |
//! | 4, 4 | time of sending: seconds since 1970, microseconds |
//! | 2 | destination port |
//! | 1, 1, 4 or 16 | destination address: type, length, bytes |
//! | 2, 1, 1 | port of the sending host, type and length of its address: all 0 |
//! | 12, 1 | latitude, longitude, altitude, and status of the position: unknown |
//! | 1, 2 | reserved, length of the user payload: 0 |
//!
//! All numbers are big-endian. If a message is too short for the fields from the sending host's
//! port on, they are omitted, which MGEN accepts. Over TCP, a message longer than its two-byte
//! length field can express is sent in parts with the same sequence number.

use std::net::{IpAddr, SocketAddr};

use sixmark_units::family::Family;

/// The size of the largest message over TCP, in bytes.
pub const LARGEST: u32 = 64 << 20;

const VERSION: u8 = 2;
/// Flag: another part of the same message follows.
const CONTINUES: u8 = 0x01;
/// Flag: this is the last of several parts.
const END: u8 = 0x02;
/// Flag: the sender flushes its buffer after this message.
const LAST_BUFFER: u8 = 0x08;
/// The largest part in bytes, limited by the two-byte length field.
const PART: usize = 0xffff;
/// The bytes up to the end of the time of sending. Only these are read.
const READ: usize = 20;
/// The header fields after the destination address: no host address, 999 degrees of latitude and
/// longitude and -999 metres of altitude, by which MGEN marks an unknown position, and no payload.
const NOWHERE: [u8; 20] =
    [0, 0, 0, 0, 4, 0x37, 0x68, 0x20, 4, 0x37, 0x68, 0x20, 0xff, 0xff, 0xfc, 0x19, 0, 0, 0, 0];

/// The header of a message, or of a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The length of this part in bytes.
    pub length: usize,
    /// Whether another part of this message follows.
    pub continues: bool,
    /// The flow number.
    pub flow: u32,
    /// The sequence number of the message, from 0.
    pub sequence: u32,
    /// The time of sending, in microseconds since 1970.
    pub sent_us: u64,
}

/// The error for bytes that are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign;

/// Returns the size in bytes of the shortest message to an address of this family.
pub fn least(family: Family) -> u32 {
    match family {
        Family::Ipv6 => 40,
        Family::Ipv4 => 28,
    }
}

/// Appends a message of `bytes` bytes to `out`, in several parts if it is too long for one.
pub fn put_message(
    out: &mut Vec<u8>,
    (flow, sequence): (u32, u32),
    sent_us: u64,
    to: &SocketAddr,
    bytes: usize,
) {
    let mut left = bytes;
    while left > 0 {
        // The remainder must have room for a header of its own.
        let part = if left > PART { PART.min(left - 64) } else { left };
        left -= part;
        let several = bytes > PART;
        let end = if several { END } else { LAST_BUFFER };
        let header = Header { length: part, continues: left > 0, flow, sequence, sent_us };
        let start = out.len();
        out.resize(start + part, 0);
        header.write(&mut out[start..], if left > 0 { CONTINUES } else { end }, to);
    }
}

impl Header {
    /// Writes the header, without the fields that do not fit into `into`.
    fn write(&self, into: &mut [u8], flags: u8, to: &SocketAddr) {
        let mut rest = into;
        let (seconds, us) = (self.sent_us / 1_000_000, self.sent_us % 1_000_000);
        put(&mut rest, &(self.length as u16).to_be_bytes());
        put(&mut rest, &[VERSION, flags]);
        for number in [self.flow, self.sequence, seconds as u32, us as u32] {
            put(&mut rest, &number.to_be_bytes());
        }
        put(&mut rest, &to.port().to_be_bytes());
        match to.ip() {
            IpAddr::V4(address) => {
                put(&mut rest, &[1, 4]);
                put(&mut rest, &address.octets());
            }
            IpAddr::V6(address) => {
                put(&mut rest, &[2, 16]);
                put(&mut rest, &address.octets());
            }
        }
        if rest.len() >= NOWHERE.len() {
            put(&mut rest, &NOWHERE);
        }
    }

    /// Reads a header. The fields after the time of sending may be missing.
    ///
    /// # Errors
    /// Returns [`Foreign`] if the bytes do not begin with a valid header.
    pub fn read(bytes: &[u8]) -> Result<Header, Foreign> {
        let number = |at: usize| {
            let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map(u32::from_be_bytes).ok_or(Foreign)
        };
        let head = number(0)?.to_be_bytes();
        let length = usize::from(u16::from_be_bytes([head[0], head[1]]));
        let us = number(16)?;
        if head[2] != VERSION || length < READ || us >= 1_000_000 {
            return Err(Foreign);
        }
        Ok(Header {
            length,
            continues: head[3] & CONTINUES != 0,
            flow: number(4)?,
            sequence: number(8)?,
            sent_us: u64::from(number(12)?) * 1_000_000 + u64::from(us),
        })
    }

    /// The number of bytes that [`Header::read`] needs.
    pub const SIZE: usize = READ;
}

/// Writes `bytes` to `rest` and advances it past them. Writes nothing if not all of them fit.
fn put(rest: &mut &mut [u8], bytes: &[u8]) {
    if rest.len() >= bytes.len() {
        let (these, others) = std::mem::take(rest).split_at_mut(bytes.len());
        these.copy_from_slice(bytes);
        *rest = others;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V6: &str = "[::1]:51746";
    const V4: &str = "127.0.0.1:46823";

    fn message(to: &str, us: u64, bytes: usize) -> Vec<u8> {
        let mut out = Vec::new();
        put_message(&mut out, (7, 0), us, &to.parse().unwrap(), bytes);
        out
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Compares messages with those captured from MGEN 5.02.
    #[test]
    fn messages_match_those_captured_from_mgen() {
        let v4 = "0064020800000007000000006b0201130001d6c2b6e701047f000001000000000437682004376820fffffc19000000";
        let us = 0x6b02_0113 * 1_000_000 + 0x1_d6c2;
        let found = hex(&message(V4, us, 100));
        assert_eq!(&found[..v4.len()], v4);
        assert_eq!((found.len(), &found[v4.len()..]), (200, &*"0".repeat(200 - v4.len())));
        let v6 = "0064020800000007000000006b020131000221ddca2202100000000000000000000000000000000100000000";
        let found = hex(&message(V6, 0x6b02_0131 * 1_000_000 + 0x2_21dd, 100));
        assert_eq!(&found[..v6.len()], v6);
    }

    #[test]
    fn reads_back_the_header_it_wrote() {
        for (to, family) in [(V6, Family::Ipv6), (V4, Family::Ipv4)] {
            for bytes in [least(family) as usize, 59, 60, 1_440, 65_535] {
                let written = message(to, 1_234_567_890_123_456, bytes);
                let header = Header::read(&written[..Header::SIZE]).unwrap();
                assert_eq!((written.len(), header.length), (bytes, bytes));
                assert_eq!((header.flow, header.sequence, header.continues), (7, 0, false));
                assert_eq!(header.sent_us, 1_234_567_890_123_456);
            }
        }
    }

    #[test]
    fn splits_long_messages_into_parts_with_a_header_each() {
        for bytes in [65_536, 65_540, 131_070, 200_000] {
            let written = message(V6, 5, bytes);
            let (mut at, mut parts) = (0, Vec::new());
            while at < written.len() {
                let header = Header::read(&written[at..]).unwrap();
                assert!(header.length >= 60);
                at += header.length;
                parts.push(header.continues);
            }
            assert_eq!((at, parts.pop()), (bytes, Some(false)));
            assert!(parts.iter().all(|&continues| continues) && !parts.is_empty());
        }
    }

    #[test]
    fn rejects_bytes_that_are_not_a_message() {
        let good = message(V4, 5, 100);
        assert!(Header::read(&good[..19]).is_err());
        for (at, byte) in [(2, 9), (16, 0xff)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert_eq!(Header::read(&bad), Err(Foreign), "{at}");
        }
        let short = [&[0, 19][..], &good[2..]].concat();
        assert_eq!(Header::read(&short), Err(Foreign));
    }
}
