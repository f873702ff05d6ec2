//! Reading what a program did from the packets at its interface, in the order of time.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hickory_proto::op::{Message, MessageType};
use hickory_proto::rr::{RData, RecordType};
use sixmark_units::family::Family;
use sixmark_units::visible::visible;
use sixmark_wire::{Icmp, Ip, IpPayload, Link, Span, Tcp, Udp, find_payload, ip};

use crate::app_wire::{AppWire, AttemptFailure, WireAttempt, WireQuery};

/// The port of name servers.
const DNS: u16 = 53;
/// The most queries, and the most attempts, that are kept: a program that begins more does nothing that more
/// of them would show.
const MOST: usize = 200;
/// The most addresses of an answer that are kept.
const MOST_ADDRESSES: usize = 20;
/// The most characters of a name or a field that are kept.
const LONGEST_TEXT: usize = 200;
/// The bytes before a message of DNS over TCP, its length (RFC 1035, 4.2.2).
const TCP_LENGTH: usize = 2;
/// The types of ICMP and ICMPv6 by which a router reports that an address can't be reached.
const UNREACHABLE: [(bool, u8); 2] = [(false, 3), (true, 1)];
/// The code of ICMP "fragmentation needed", which is no failure.
const FRAGMENTATION_NEEDED: u8 = 4;

/// The host of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedHost {
    /// Its addresses on the link.
    pub addresses: Vec<IpAddr>,
    /// The prefix that stands for the IPv4 address of its CLAT, of 96 bits, if it has one.
    pub clat: Option<Ipv6Addr>,
    /// The prefix of the NAT64, of 96 bits.
    pub nat64: Ipv6Addr,
    /// The least bytes from the other side that are the content.
    pub content_bytes: u64,
}

/// The ends of a packet, as the program sees them: before its CLAT.
#[derive(Clone, Copy, Debug)]
struct SeenEnds {
    remote: IpAddr,
    is_outgoing: bool,
}

/// An attempt by its ends: datagrams or not, the other address and port, the program's port.
type AttemptEnds = (bool, IpAddr, u16, u16);

/// Reads packets.
#[derive(Debug)]
pub struct WireReader {
    host: ObservedHost,
    first_ns: Option<u64>,
    wire: AppWire,
    attempts: BTreeMap<AttemptEnds, usize>,
}

impl WireReader {
    /// Creates a reader that has seen no packet.
    pub fn new(host: ObservedHost) -> WireReader {
        let (wire, attempts) = (AppWire::default(), BTreeMap::new());
        WireReader { host, first_ns: None, wire, attempts }
    }

    /// Returns what was seen so far.
    pub fn wire(&self) -> &AppWire {
        &self.wire
    }

    /// Takes an Ethernet frame: its bytes as captured, its length on the wire, and when it passed. What can't be
    /// parsed is counted and otherwise ignored.
    pub fn take(&mut self, bytes: &[u8], length: usize, at_ns: u64) {
        self.wire.packets += 1;
        let Ok(packet) = ip(Link::Ethernet, Span::new(bytes, length)) else { return };
        let Some(ends) = self.ends(&packet) else { return };
        match find_payload(&packet) {
            Ok(IpPayload::Tcp(tcp)) if is_dns(tcp.source, tcp.destination) => {
                let message = tcp.payload.bytes.get(TCP_LENGTH..).unwrap_or_default();
                let is_read = self.take_dns(message, at_ns);
                self.wire.uncounted += u64::from(!is_read && tcp.payload.length > TCP_LENGTH);
            }
            Ok(IpPayload::Tcp(tcp)) => self.take_tcp(ends, &tcp, at_ns),
            Ok(IpPayload::Udp(udp)) if is_dns(udp.source, udp.destination) => {
                let is_read = self.take_dns(udp.payload.bytes, at_ns);
                let is_cut = udp.payload.length > udp.payload.bytes.len();
                self.wire.uncounted += u64::from(!is_read && is_cut);
            }
            Ok(IpPayload::Udp(udp)) => self.take_datagram(ends, &udp, at_ns),
            Ok(IpPayload::Icmp(icmp)) if !ends.is_outgoing => self.take_icmp(&packet, &icmp),
            _ => {}
        }
    }

    /// Returns the ends of a packet; `None` if it is not the host's.
    fn ends(&self, packet: &Ip<'_>) -> Option<SeenEnds> {
        let is_own = |address: IpAddr| self.host.addresses.contains(&address);
        let is_of_clat = |address: IpAddr| {
            self.host.clat.is_some_and(|prefix| embedded_address(prefix, address).is_some())
        };
        let (source, destination) = (packet.source, packet.destination);
        let before =
            |address: IpAddr| embedded_address(self.host.nat64, address).unwrap_or(address);
        if is_own(source) {
            Some(SeenEnds { remote: destination, is_outgoing: true })
        } else if is_own(destination) {
            Some(SeenEnds { remote: source, is_outgoing: false })
        } else if is_of_clat(source) {
            Some(SeenEnds { remote: before(destination), is_outgoing: true })
        } else if is_of_clat(destination) {
            Some(SeenEnds { remote: before(source), is_outgoing: false })
        } else {
            None
        }
    }

    /// Returns the time since the first query or attempt, in milliseconds.
    fn since_first(&mut self, at_ns: u64) -> f64 {
        let first = *self.first_ns.get_or_insert(at_ns);
        at_ns.saturating_sub(first) as f64 / 1e6
    }

    /// Returns the attempt of these ends, which begins now if there is none and `begins` is true.
    fn attempt(&mut self, ends: AttemptEnds, begins: bool, at_ns: u64) -> Option<usize> {
        if let Some(known) = self.attempts.get(&ends) {
            return Some(*known);
        }
        if !begins {
            return None;
        }
        if self.wire.attempts.len() >= MOST {
            self.wire.uncounted += 1;
            return None;
        }
        let (is_udp, address, port, from_port) = ends;
        let begun_ms = self.since_first(at_ns);
        self.wire.attempts.push(WireAttempt {
            address,
            family: Family::of(address),
            port,
            from_port,
            is_udp,
            begun_ms,
            tries: 0,
            established_ms: None,
            failed: None,
            sent_bytes: 0,
            received_bytes: 0,
            host: None,
            content_ms: None,
        });
        let number = self.wire.attempts.len() - 1;
        self.attempts.insert(ends, number);
        Some(number)
    }

    fn take_tcp(&mut self, ends: SeenEnds, tcp: &Tcp<'_>, at_ns: u64) {
        let (flags, length) = (tcp.flags, tcp.payload.length as u64);
        let ports = match ends.is_outgoing {
            true => (tcp.destination, tcp.source),
            false => (tcp.source, tcp.destination),
        };
        let begins = ends.is_outgoing && flags.syn() && !flags.ack();
        let key = (false, ends.remote, ports.0, ports.1);
        let Some(number) = self.attempt(key, begins, at_ns) else { return };
        let at_ms = self.since_first(at_ns);
        let content_bytes = self.host.content_bytes;
        let of = &mut self.wire.attempts[number];
        if ends.is_outgoing {
            of.tries += u32::from(begins);
            of.sent_bytes += length;
            if of.host.is_none() {
                of.host = read_host(tcp.payload.bytes);
            }
        } else if flags.rst() && of.established_ms.is_none() {
            of.failed.get_or_insert(AttemptFailure::Refused);
        } else {
            if flags.syn() && flags.ack() {
                of.established_ms.get_or_insert(at_ms);
            }
            of.received_bytes += length;
            if length > 0 && of.received_bytes >= content_bytes {
                of.content_ms.get_or_insert(at_ms);
            }
        }
    }

    /// Takes a datagram that is not of DNS: content over QUIC is not visible, and is not looked for.
    fn take_datagram(&mut self, ends: SeenEnds, udp: &Udp<'_>, at_ns: u64) {
        if is_for_all(ends.remote) {
            return;
        }
        let ports = match ends.is_outgoing {
            true => (udp.destination, udp.source),
            false => (udp.source, udp.destination),
        };
        let key = (true, ends.remote, ports.0, ports.1);
        let Some(number) = self.attempt(key, ends.is_outgoing, at_ns) else { return };
        let at_ms = self.since_first(at_ns);
        let of = &mut self.wire.attempts[number];
        if ends.is_outgoing {
            of.tries += 1;
            of.sent_bytes += udp.payload.length as u64;
        } else {
            of.established_ms.get_or_insert(at_ms);
            of.received_bytes += udp.payload.length as u64;
        }
    }

    /// Notes that an address can't be reached: it ends the attempt that the message is about, if that is not
    /// established.
    fn take_icmp(&mut self, packet: &Ip<'_>, icmp: &Icmp) {
        let is_v6 = packet.source.is_ipv6();
        let is_too_big = !is_v6 && icmp.code == FRAGMENTATION_NEEDED;
        if !UNREACHABLE.contains(&(is_v6, icmp.kind)) || is_too_big {
            return;
        }
        let Some((address, port)) = inner_ends(packet) else { return };
        let before = embedded_address(self.host.nat64, address);
        let is_meant = |of: &WireAttempt| {
            (of.address == address || Some(of.address) == before)
                && of.from_port == port
                && of.established_ms.is_none()
        };
        if let Some(number) = self.wire.attempts.iter().rposition(is_meant) {
            self.wire.attempts[number].failed.get_or_insert(AttemptFailure::Unreachable);
        }
    }

    /// Takes a message of DNS. Returns false if it can't be read.
    fn take_dns(&mut self, bytes: &[u8], at_ns: u64) -> bool {
        let Ok(message) = Message::from_vec(bytes) else { return false };
        let Some(question) = message.queries.first() else { return true };
        let name = question.name().to_ascii().trim_end_matches('.').to_ascii_lowercase();
        let name: String = visible(&name).chars().take(LONGEST_TEXT).collect();
        let kind = question.query_type().to_string();
        let is_full = self.wire.queries.len() >= MOST;
        let known = self.wire.queries.iter_mut().find(|of| of.name == name && of.kind == kind);
        match (message.metadata.message_type, known) {
            (MessageType::Query, Some(known)) => known.times += 1,
            (MessageType::Query, None) if is_full => {
                self.wire.uncounted += 1;
            }
            (MessageType::Query, None) => {
                let sent_ms = self.since_first(at_ns);
                let (rcode, addresses) = (None, Vec::new());
                self.wire.queries.push(WireQuery {
                    name,
                    kind,
                    sent_ms,
                    times: 1,
                    rcode,
                    addresses,
                });
            }
            (MessageType::Response, Some(known)) => {
                // A client that asks again, or over TCP, uses the answer that has addresses.
                let addresses = answer_addresses(&message);
                if known.rcode.is_none() || !addresses.is_empty() {
                    known.rcode = Some(rcode_name(message.metadata.response_code.into()));
                }
                for address in addresses {
                    if !known.addresses.contains(&address) && known.addresses.len() < MOST_ADDRESSES
                    {
                        known.addresses.push(address);
                    }
                }
            }
            // An answer to what was not asked.
            (MessageType::Response, None) => {}
        }
        true
    }
}

fn is_dns(source: u16, destination: u16) -> bool {
    source == DNS || destination == DNS
}

/// Returns the IPv4 address in an IPv6 address behind a prefix of 96 bits (RFC 6052, 2.2); `None` if it has
/// another prefix.
pub fn embedded_address(prefix: Ipv6Addr, address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(address) = address else { return None };
    let octets = address.octets();
    let (head, last) = octets.split_at(12);
    let last: [u8; 4] = last.try_into().ok()?;
    prefix.octets().starts_with(head).then(|| Ipv4Addr::from(last).into())
}

/// Returns true if packets to an address are for a whole link: such as queries of mDNS.
fn is_for_all(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_multicast() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_multicast(),
    }
}

fn answer_addresses(message: &Message) -> Vec<IpAddr> {
    let address = |data: &RData| match data {
        RData::A(address) => Some(IpAddr::V4(address.0)),
        RData::AAAA(address) => Some(IpAddr::V6(address.0)),
        _ => None,
    };
    let answers = message
        .answers
        .iter()
        .filter(|of| matches!(of.record_type(), RecordType::A | RecordType::AAAA));
    answers.filter_map(|of| address(&of.data)).take(MOST_ADDRESSES).collect()
}

/// Returns the name of a response code, or its number.
fn rcode_name(code: u16) -> String {
    match code {
        0 => "NOERROR".to_owned(),
        2 => "SERVFAIL".to_owned(),
        3 => "NXDOMAIN".to_owned(),
        5 => "REFUSED".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the Host field of a request of HTTP/1.1 in plain text; `None` if the bytes are none.
fn read_host(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.split("\r\n");
    if !lines.next()?.contains(" HTTP/1.") {
        return None;
    }
    let is_host = |line: &&str| line.get(..5).is_some_and(|of| of.eq_ignore_ascii_case("host:"));
    let value = lines.take_while(|line| !line.is_empty()).find(is_host)?.get(5..)?;
    Some(visible(value.trim()).chars().take(LONGEST_TEXT).collect())
}

/// Returns the destination of the packet that an ICMP message is about, and its source port.
fn inner_ends(packet: &Ip<'_>) -> Option<(IpAddr, u16)> {
    const ICMP_HEADER: usize = 8;
    let inner = packet.payload.bytes.get(ICMP_HEADER..)?;
    let (address, header) = match packet.source {
        IpAddr::V6(_) => {
            let octets: [u8; 16] = inner.get(24..40)?.try_into().ok()?;
            // Programs send without extension headers.
            (IpAddr::from(octets), 40)
        }
        IpAddr::V4(_) => {
            let octets: [u8; 4] = inner.get(16..20)?.try_into().ok()?;
            (IpAddr::from(octets), 4 * usize::from(inner.first()? & 15))
        }
    };
    let port = inner.get(header..header + 2)?;
    Some((address, u16::from_be_bytes([port[0], port[1]])))
}

#[cfg(test)]
mod tests;
