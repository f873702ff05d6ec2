//! struct tcp_info (linux/tcp.h): what the kernel's TCP knows of a connection's path and of its
//! handshake.

/// The state of a connection in the kernel, from its beginning until the query. A value is absent
/// if the kernel is too old to report it or has no sample of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// The smoothed round trip time, nanoseconds.
    pub rtt: Option<u64>,
    /// The minimum round trip time of the last minutes (net.ipv4.tcp_min_rtt_wlen), nanoseconds.
    pub min_rtt: Option<u64>,
    /// Retransmitted segments, including the SYN.
    pub retransmitted: u32,
    /// Segments that the peer reported as received twice (DSACK, RFC 2883). Since Linux 4.20.
    pub duplicates: Option<u32>,
    /// Segments that the peer acknowledged, including the SYN.
    pub delivered: Option<u32>,
    /// The maximum size of a sent segment, in bytes without headers.
    pub mss: u32,
    /// The options that both sides agreed on in the handshake; `None` if the connection is not the
    /// kernel's own.
    pub options: Option<TcpOptions>,
    /// Segments received out of order: one before them was lost or overtaken. Since Linux 5.4.
    pub out_of_order: Option<u32>,
}

/// Options of TCP that both sides agreed on in the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Timestamps (RFC 7323, 3).
    pub timestamps: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Window scaling (RFC 7323, 2).
    pub window_scaling: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// A packet arrived that was marked as capable of it: the path does not clear the mark.
    pub ecn_seen: bool,
}

/// The kernel's timing of a handshake that has just completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpHandshake {
    /// The time from the SYN to the SYN-ACK, nanoseconds. The resolution of the kernel is 1 us.
    Took(u64),
    /// The SYN was retransmitted. It is unknown which SYN was answered, so that the kernel takes no
    /// sample, or takes one from the timestamp in the answer that excludes the time before the
    /// retransmission (RFC 6298, section 3; RFC 7323, section 4.1).
    SentAgain,
    /// The kernel has no sample, or none of the handshake alone.
    Untimed,
}

/// The number of bytes of struct tcp_info to request: up to the last field used. The kernel may
/// return fewer and may have more.
pub const TCP_INFO_BYTES: usize = 228;

/// Offsets of the fields in struct tcp_info (linux/tcp.h), which grows only at its end.
const OPTIONS: usize = 5;
const SND_MSS: usize = 16;
const RTT: usize = 68;
const TOTAL_RETRANS: usize = 100;
const BYTES_ACKED: usize = 120;
const SEGS_OUT: usize = 136;
const MIN_RTT: usize = 148;
const DELIVERED: usize = 192;
const DSACK_DUPS: usize = 216;
const RCV_OOOPACK: usize = 224;

/// Returns the retransmitted segments and all segments sent, present since Linux 4.2.
pub fn segments_of_tcp_info(info: &[u8]) -> Option<[u32; 2]> {
    Some([field(info, TOTAL_RETRANS)?, field(info, SEGS_OUT)?])
}

/// Parses as much of a struct tcp_info as the kernel returned.
pub fn parse_tcp_info(info: &[u8]) -> Option<TcpInfo> {
    let field = |at: usize| field(info, at);
    // Without a sample, one field is 0 and the other has all bits set.
    let nanos = |us: u32| (us != 0 && us != u32::MAX).then_some(u64::from(us) * 1_000);
    Some(TcpInfo {
        rtt: field(RTT).and_then(nanos),
        min_rtt: field(MIN_RTT).and_then(nanos),
        retransmitted: field(TOTAL_RETRANS)?,
        duplicates: field(DSACK_DUPS),
        delivered: field(DELIVERED),
        mss: field(SND_MSS)?,
        out_of_order: field(RCV_OOOPACK),
        options: info.get(OPTIONS).map(|bits| options_of(*bits)),
    })
}

/// Returns the options by the bits TCPI_OPT_* of linux/tcp.h.
fn options_of(bits: u8) -> TcpOptions {
    TcpOptions {
        timestamps: bits & 1 != 0,
        sack: bits & 2 != 0,
        window_scaling: bits & 4 != 0,
        ecn: bits & 8 != 0,
        ecn_seen: bits & 16 != 0,
    }
}

/// Parses the duration of the handshake. The smoothed round trip time is that of the handshake as
/// long as nothing but the SYN has been acknowledged: the first sample sets it, and data that the
/// peer sends on its own adds none.
pub fn parse_tcp_handshake(info: &[u8]) -> TcpHandshake {
    let acknowledged = info.get(BYTES_ACKED..BYTES_ACKED + 8);
    let acknowledged =
        acknowledged.and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
    match (field(info, TOTAL_RETRANS), field(info, RTT), acknowledged) {
        (Some(1..), ..) => TcpHandshake::SentAgain,
        // The SYN counts as one byte.
        (Some(0), Some(us @ 1..), Some(0 | 1)) => TcpHandshake::Took(u64::from(us) * 1_000),
        _ => TcpHandshake::Untimed,
    }
}

/// Returns a field of four bytes, or `None` if the kernel did not return it.
fn field(info: &[u8], at: usize) -> Option<u32> {
    info.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(usize, u32)], length: usize) -> Vec<u8> {
        let mut bytes = vec![0; TCP_INFO_BYTES];
        for (at, value) in fields {
            bytes[*at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    const FULL: [(usize, u32); 7] = [
        (SND_MSS, 1_428),
        (RTT, 250),
        (TOTAL_RETRANS, 3),
        (MIN_RTT, 200),
        (DELIVERED, 17),
        (DSACK_DUPS, 2),
        (RCV_OOOPACK, 5),
    ];

    #[test]
    fn reads_each_option_by_its_bit() {
        let options = |bits: u32| {
            let bytes = of(&[(4, u32::from_ne_bytes([0, bits as u8, 0, 0]))], TCP_INFO_BYTES);
            let TcpOptions { timestamps, sack, window_scaling, ecn, ecn_seen } =
                parse_tcp_info(&bytes).unwrap().options.unwrap();
            [timestamps, sack, window_scaling, ecn, ecn_seen]
        };
        assert_eq!(options(0), [false; 5]);
        for (number, bit) in [1, 2, 4, 8, 16].into_iter().enumerate() {
            let mut expected = [false; 5];
            expected[number] = true;
            assert_eq!(options(bit), expected, "bit {bit}");
        }
    }

    #[test]
    fn reads_every_field_of_tcp_info() {
        let path = parse_tcp_info(&of(&FULL, TCP_INFO_BYTES)).unwrap();
        let (rtt, min_rtt) = (Some(250_000), Some(200_000));
        let counted = (path.retransmitted, path.duplicates, path.delivered, path.mss);
        assert_eq!((path.rtt, path.min_rtt), (rtt, min_rtt));
        assert_eq!(counted, (3, Some(2), Some(17), 1_428));
        assert_eq!(path.out_of_order, Some(5));
    }

    /// Linux 4.18 has delivered but no duplicates, 4.6 has min_rtt but not delivered, 3.15 has none
    /// of them.
    #[test]
    fn fields_that_older_kernels_lack_are_absent() {
        let path = parse_tcp_info(&of(&FULL, 196)).unwrap();
        assert_eq!((path.delivered, path.duplicates), (Some(17), None));
        let path = parse_tcp_info(&of(&FULL, 160)).unwrap();
        assert_eq!((path.min_rtt, path.delivered), (Some(200_000), None));
        let path = parse_tcp_info(&of(&FULL, 104)).unwrap();
        assert_eq!((path.rtt, path.min_rtt, path.retransmitted), (Some(250_000), None, 3));
        assert_eq!(parse_tcp_info(&of(&FULL, 60)), None);
    }

    #[test]
    fn takes_the_first_round_trip_as_the_handshake_time() {
        let handshake = |fields: &[_]| parse_tcp_handshake(&of(fields, TCP_INFO_BYTES));
        assert_eq!(handshake(&[(RTT, 7), (BYTES_ACKED, 1)]), TcpHandshake::Took(7_000));
        assert_eq!(parse_tcp_handshake(&of(&[(RTT, 7)], 100)), TcpHandshake::Untimed);
        assert_eq!(handshake(&[(RTT, 0), (BYTES_ACKED, 1)]), TcpHandshake::Untimed);
    }

    #[test]
    fn does_not_time_the_handshake_once_data_was_acknowledged() {
        let bytes = of(&[(RTT, 7), (BYTES_ACKED, 2)], TCP_INFO_BYTES);
        assert_eq!(parse_tcp_handshake(&bytes), TcpHandshake::Untimed);
    }

    #[test]
    fn does_not_time_a_handshake_with_a_retransmitted_syn() {
        let bytes = of(&[(RTT, 7), (BYTES_ACKED, 1), (TOTAL_RETRANS, 1)], TCP_INFO_BYTES);
        assert_eq!(parse_tcp_handshake(&bytes), TcpHandshake::SentAgain);
    }

    #[test]
    fn reports_no_round_trip_without_a_sample() {
        let path = parse_tcp_info(&of(&[(MIN_RTT, u32::MAX)], TCP_INFO_BYTES)).unwrap();
        assert_eq!((path.rtt, path.min_rtt), (None, None));
    }
}
