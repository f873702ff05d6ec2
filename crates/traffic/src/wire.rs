//! The bytes that a message occupies on the wire, including headers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::FlowProtocol;
use sixmark_units::family::Family;

/// The bytes of an Ethernet header. Frame check sequence, preamble and gap (another 24 bytes) are
/// not counted. The kernel's token buckets, whose limits these rates are compared with, do not
/// count them either.
pub const FRAME: f64 = 14.0;
/// The MTU that is assumed, in bytes.
const MTU: f64 = 1_500.0;
const UDP: f64 = 8.0;
/// The TCP header with timestamps (RFC 7323), which Linux uses by default, in bytes.
const TCP: f64 = 32.0;
/// The IPv6 fragment header (RFC 8200, 4.5), in bytes.
const FRAGMENT: f64 = 8.0;

/// The bytes that a rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The messages alone, as in MGEN.
    #[default]
    Payload,
    /// The messages with the headers of UDP or TCP, IP and Ethernet.
    Wire,
}

impl Basis {
    /// Returns the bytes that a message counts for.
    pub fn bytes(self, family: Family, protocol: FlowProtocol, payload: u32) -> f64 {
        match self {
            Basis::Payload => f64::from(payload),
            Basis::Wire => wire_bytes(family, protocol, payload),
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Basis::Payload => "payload",
            Basis::Wire => "wire",
        })
    }
}

impl FromStr for Basis {
    type Err = String;

    fn from_str(text: &str) -> Result<Basis, String> {
        match text {
            "payload" => Ok(Basis::Payload),
            "wire" => Ok(Basis::Wire),
            _ => Err(format!("'{text}' is not what a rate counts: payload or wire")),
        }
    }
}

/// Returns the bytes that a message occupies on Ethernet with an MTU of 1,500: its own and, for
/// each packet, the headers of UDP (8) or TCP (32), IP (20 or 40) and Ethernet (14).
///
/// A datagram is one packet or, if it is too large, several fragments. The messages of a stream are
/// assumed to fill segments completely, as Nagle's algorithm makes them do, so a message may count
/// for a fraction of a packet. Acknowledgements in the other direction are not counted.
pub fn wire_bytes(family: Family, protocol: FlowProtocol, payload: u32) -> f64 {
    let payload = f64::from(payload);
    let ip = match family {
        Family::Ipv6 => 40.0,
        Family::Ipv4 => 20.0,
    };
    match protocol {
        FlowProtocol::Tcp => payload + payload / (MTU - ip - TCP) * (FRAME + ip + TCP),
        FlowProtocol::Udp if payload + UDP + ip <= MTU => payload + UDP + ip + FRAME,
        FlowProtocol::Udp => {
            let extra = if family == Family::Ipv6 { FRAGMENT } else { 0.0 };
            // All fragments except the last hold a multiple of 8 bytes.
            let room = ((MTU - ip - extra) / 8.0).floor() * 8.0;
            payload + UDP + ((payload + UDP) / room).ceil() * (FRAME + ip + extra)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_count_once_a_packet() {
        use Family::{Ipv4, Ipv6};
        for (family, protocol, payload, bytes) in [
            (Ipv4, FlowProtocol::Udp, 1_460, 1_502.0),
            (Ipv6, FlowProtocol::Udp, 1_440, 1_502.0),
            (Ipv4, FlowProtocol::Udp, 28, 70.0),
            (Ipv4, FlowProtocol::Tcp, 1_448, 1_514.0),
            (Ipv6, FlowProtocol::Tcp, 1_428, 1_514.0),
            (Ipv4, FlowProtocol::Tcp, 2_896, 3_028.0),
            // Two fragments, of 1,480 and 8 bytes over IPv4, and of 1,448 and 13 bytes over IPv6.
            (Ipv4, FlowProtocol::Udp, 1_480, 1_488.0 + 2.0 * 34.0),
            (Ipv6, FlowProtocol::Udp, 1_453, 1_461.0 + 2.0 * 62.0),
        ] {
            assert_eq!(wire_bytes(family, protocol, payload), bytes, "{family} {protocol}");
        }
    }
}
