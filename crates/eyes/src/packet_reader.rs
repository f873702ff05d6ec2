//! Reading what a client did from the packets at its interface, in the order of time.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::SystemTime;

use hickory_proto::op::{Message, MessageType};
use hickory_proto::rr::RecordType;
use sixmark_units::family::Family;
use sixmark_wire::{Icmp, Ip, IpPayload, Link, Span, Tcp, Udp, find_payload, ip};

use crate::client_trace::{ClientTrace, SeenAttempt, SeenElsewhere, SeenQuery, SeenTransport};

/// The port of name servers.
const DNS: u16 = 53;
/// The first byte of a record of TLS that carries application data (RFC 8446, 5.1).
const APPLICATION_DATA: u8 = 23;
/// The first byte of a record of TLS that carries a handshake.
const HANDSHAKE: u8 = 22;
/// The first byte of a record of TLS that carries a change of ciphers.
const CHANGE_CIPHER: u8 = 20;
/// The bit of a packet of QUIC that has a long header: it belongs to a handshake (RFC 9000, 17.2).
const LONG_HEADER: u8 = 0x80;
/// The most attempts that are kept: a client that begins more does nothing that more of them would show.
const MOST: usize = 200;
/// The most queries whose answers are waited for.
const MOST_QUERIES: usize = 1_000;
/// The most other places that are kept.
const MOST_ELSEWHERE: usize = 5;
/// The types of ICMP and ICMPv6 by which a router says that an address can't be reached.
const UNREACHABLE: [u8; 2] = [3, 1];

/// What is looked for in packets.
#[derive(Clone, Debug)]
pub struct ObservedSite {
    /// The site's name in lower case, without the final dot.
    pub name: String,
    /// The site's addresses, also those that do not answer.
    pub addresses: Vec<IpAddr>,
    /// The site's ports.
    pub ports: Vec<u16>,
    /// The least bytes over TCP that are the content.
    pub content_bytes: u64,
    /// The addresses of its name servers.
    pub name_servers: Vec<IpAddr>,
    /// The addresses of the client; empty if they are not known.
    pub client: Vec<IpAddr>,
}

/// An attempt by its ends: the address of the site, its port, and the client's port.
type AttemptKey = (SeenTransport, IpAddr, u16, u16);

/// A query by its number, the client's port and the type of record: an answer is to one that was asked.
type QueryKey = (u16, u16, RecordType);

/// Reads packets.
#[derive(Debug)]
pub struct PacketReader {
    site: ObservedSite,
    first_ns: Option<u64>,
    trace: ClientTrace,
    attempts: BTreeMap<AttemptKey, usize>,
    /// Whether the first data of an attempt was TLS.
    is_tls: BTreeMap<usize, bool>,
    /// The bytes that arrived over an attempt after its request.
    received: BTreeMap<usize, u64>,
    asked: BTreeSet<QueryKey>,
}

impl PacketReader {
    /// Creates a reader that has seen no packet.
    pub fn new(site: ObservedSite) -> PacketReader {
        PacketReader {
            site,
            first_ns: None,
            trace: ClientTrace::default(),
            attempts: BTreeMap::new(),
            is_tls: BTreeMap::new(),
            received: BTreeMap::new(),
            asked: BTreeSet::new(),
        }
    }

    /// Returns what was seen so far.
    pub fn trace(&self) -> &ClientTrace {
        &self.trace
    }

    /// Takes a frame: its bytes as captured, its length on the wire, and when it passed. What is not about
    /// the site is ignored, as is what can't be parsed.
    pub fn take(&mut self, link: Link, bytes: &[u8], length: usize, at_ns: u64) {
        let Ok(packet) = ip(link, Span::new(bytes, length)) else { return };
        match find_payload(&packet) {
            Ok(IpPayload::Tcp(tcp)) => self.take_tcp(&packet, &tcp, at_ns),
            Ok(IpPayload::Udp(udp)) if self.is_dns(&packet, &udp) => self.take_dns(&udp, at_ns),
            Ok(IpPayload::Udp(udp)) => self.take_quic(&packet, &udp, at_ns),
            Ok(IpPayload::Icmp(icmp)) => self.take_icmp(&packet, &icmp, at_ns),
            _ => {}
        }
    }

    /// Notes until when the client ran, or was watched if it runs on.
    pub fn end_watch(&mut self, at: SystemTime) {
        let since_epoch = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let first = self.first_ns;
        self.trace.watched_ms =
            first.map(|first| (since_epoch.as_nanos() as u64).saturating_sub(first) as f64 / 1e6);
    }

    /// Returns the time since the client's first packet, in milliseconds.
    fn since_first(&mut self, at_ns: u64) -> f64 {
        let first = *self.first_ns.get_or_insert(at_ns);
        at_ns.saturating_sub(first) as f64 / 1e6
    }

    fn is_site(&self, address: IpAddr, port: u16) -> bool {
        self.site.addresses.contains(&address) && self.site.ports.contains(&port)
    }

    /// Returns the attempt of these ends, which begins now if there is none and `begins` is true.
    fn attempt(&mut self, key: AttemptKey, begins: bool, at_ns: u64) -> Option<usize> {
        if let Some(known) = self.attempts.get(&key) {
            return Some(*known);
        }
        if !begins {
            return None;
        }
        if self.trace.attempts.len() >= MOST {
            self.trace.uncounted = self.trace.uncounted.saturating_add(1);
            return None;
        }
        let (transport, address, _, from_port) = key;
        let begun_ms = self.since_first(at_ns);
        self.trace.attempts.push(SeenAttempt {
            address,
            family: Family::of(address),
            transport,
            from_port,
            begun_ms,
            tries: 0,
            last_try_ms: begun_ms,
            established_ms: None,
            confirmed_ms: None,
            heard_ms: None,
            failed_ms: None,
            request_ms: None,
            content_ms: None,
            closed_ms: None,
        });
        let number = self.trace.attempts.len() - 1;
        self.attempts.insert(key, number);
        Some(number)
    }

    fn take_tcp(&mut self, packet: &Ip<'_>, tcp: &Tcp<'_>, at_ns: u64) {
        let (flags, has_data) = (tcp.flags, tcp.payload.length > 0);
        if self.is_site(packet.destination, tcp.destination) {
            let key = (SeenTransport::Tcp, packet.destination, tcp.destination, tcp.source);
            let begins = flags.syn() && !flags.ack();
            let Some(number) = self.attempt(key, begins, at_ns) else { return };
            let at_ms = self.since_first(at_ns);
            let is_request = has_data && self.is_request(number, tcp.payload.bytes);
            let of = &mut self.trace.attempts[number];
            if begins {
                of.tries += 1;
                of.last_try_ms = at_ms;
            }
            if flags.ack() && !flags.rst() && of.established_ms.is_some() {
                of.confirmed_ms.get_or_insert(at_ms);
            }
            if is_request {
                of.request_ms.get_or_insert(at_ms);
            }
            if flags.fin() || flags.rst() {
                of.closed_ms.get_or_insert(at_ms);
            }
        } else if self.is_site(packet.source, tcp.source) {
            let key = (SeenTransport::Tcp, packet.source, tcp.source, tcp.destination);
            let Some(number) = self.attempt(key, false, at_ns) else { return };
            let at_ms = self.since_first(at_ns);
            let of = &mut self.trace.attempts[number];
            if flags.rst() && of.closed_ms.is_none() {
                of.failed_ms.get_or_insert(at_ms);
            } else if flags.syn() && flags.ack() {
                of.established_ms.get_or_insert(at_ms);
            } else if has_data {
                of.heard_ms.get_or_insert(at_ms);
                if of.request_ms.is_none() {
                    return;
                }
                // Session tickets of TLS come behind the handshake, also for a client that asks nothing.
                let received = self.received.entry(number).or_default();
                *received += tcp.payload.length as u64;
                if *received >= self.site.content_bytes {
                    of.content_ms.get_or_insert(at_ms);
                }
            }
        } else if flags.syn() && !flags.ack() {
            self.take_elsewhere(packet, tcp.destination, false);
        }
    }

    /// Returns true if a datagram is to or from the site's name servers.
    fn is_dns(&self, packet: &Ip<'_>, udp: &Udp<'_>) -> bool {
        let is_server = |address: IpAddr| self.site.name_servers.contains(&address);
        udp.destination == DNS && is_server(packet.destination)
            || udp.source == DNS && is_server(packet.source)
    }

    /// Notes that the client sent something to others than the site and its name servers.
    fn take_elsewhere(&mut self, packet: &Ip<'_>, port: u16, is_udp: bool) {
        let address = packet.destination;
        let is_for_all = match address {
            IpAddr::V4(address) => {
                address.is_multicast() || address.is_broadcast() || address.is_link_local()
            }
            IpAddr::V6(address) => address.is_multicast() || address.is_unicast_link_local(),
        };
        if is_for_all || !self.site.client.contains(&packet.source) {
            return;
        }
        let elsewhere = &mut self.trace.elsewhere;
        let of = SeenElsewhere { address, port, is_udp };
        if elsewhere.len() < MOST_ELSEWHERE && !elsewhere.contains(&of) {
            elsewhere.push(of);
        }
    }

    /// Returns true if a client's data is a request, or a part of one: not a part of a TLS handshake.
    fn is_request(&mut self, number: usize, bytes: &[u8]) -> bool {
        let first = bytes.first().copied();
        let is_tls = *self.is_tls.entry(number).or_insert(first == Some(HANDSHAKE));
        if !is_tls {
            return true;
        }
        has_application_data(bytes)
    }

    fn take_quic(&mut self, packet: &Ip<'_>, udp: &Udp<'_>, at_ns: u64) {
        let first = udp.payload.bytes.first().copied().unwrap_or_default();
        let is_long = first & LONG_HEADER != 0;
        if self.is_site(packet.destination, udp.destination) {
            let key = (SeenTransport::Quic, packet.destination, udp.destination, udp.source);
            let Some(number) = self.attempt(key, is_long, at_ns) else { return };
            let at_ms = self.since_first(at_ns);
            let of = &mut self.trace.attempts[number];
            if of.established_ms.is_none() {
                of.tries += 1;
                of.last_try_ms = at_ms;
            }
            if !is_long && of.established_ms.is_some() {
                of.request_ms.get_or_insert(at_ms);
            }
        } else if self.is_site(packet.source, udp.source) {
            let key = (SeenTransport::Quic, packet.source, udp.source, udp.destination);
            let Some(number) = self.attempt(key, false, at_ns) else { return };
            let at_ms = self.since_first(at_ns);
            let of = &mut self.trace.attempts[number];
            of.established_ms.get_or_insert(at_ms);
            of.heard_ms.get_or_insert(at_ms);
            if of.request_ms.is_some() {
                of.content_ms = Some(at_ms);
            }
        } else {
            self.take_elsewhere(packet, udp.destination, true);
        }
    }

    /// Notes that an address can't be reached: it ends the attempt that the message is about, if that is not
    /// established.
    fn take_icmp(&mut self, packet: &Ip<'_>, icmp: &Icmp, at_ns: u64) {
        let is_v6 = packet.source.is_ipv6();
        let is_to_client =
            self.site.client.is_empty() || self.site.client.contains(&packet.destination);
        if icmp.kind != UNREACHABLE[usize::from(is_v6)] || !is_to_client {
            return;
        }
        let Some((address, from_port)) = inner_ends(packet) else { return };
        let is_meant = |of: &SeenAttempt| {
            of.address == address
                && of.established_ms.is_none()
                && from_port.is_none_or(|port| of.from_port == port)
        };
        let Some(number) = self.trace.attempts.iter().rposition(is_meant) else { return };
        let at_ms = self.since_first(at_ns);
        self.trace.attempts[number].failed_ms.get_or_insert(at_ms);
    }

    fn take_dns(&mut self, udp: &Udp<'_>, at_ns: u64) {
        let Ok(message) = Message::from_vec(udp.payload.bytes) else { return };
        let Some(question) = message.queries.first() else { return };
        let name = question.name().to_ascii().trim_end_matches('.').to_ascii_lowercase();
        let kind = match question.query_type() {
            RecordType::A => "A",
            RecordType::AAAA => "AAAA",
            RecordType::HTTPS => "HTTPS",
            _ => return,
        };
        if name != self.site.name {
            return;
        }
        let is_answer = message.metadata.message_type == MessageType::Response;
        let port = if is_answer { udp.destination } else { udp.source };
        let asked = (message.metadata.id, port, question.query_type());
        if is_answer && !self.asked.contains(&asked) {
            return;
        }
        if !is_answer && self.asked.len() < MOST_QUERIES {
            self.asked.insert(asked);
        }
        let at_ms = self.since_first(at_ns);
        let known = self.trace.queries.iter_mut().find(|of| of.kind == kind);
        match (message.metadata.message_type, known) {
            (MessageType::Query, Some(known)) => known.times += 1,
            (MessageType::Query, None) => self.trace.queries.push(SeenQuery {
                kind: kind.to_owned(),
                sent_ms: at_ms,
                answered_ms: None,
                rcode: None,
                times: 1,
            }),
            (MessageType::Response, Some(known)) => {
                known.answered_ms.get_or_insert(at_ms);
                let code = u16::from(message.metadata.response_code);
                known.rcode.get_or_insert_with(|| rcode_name(code));
            }
            (MessageType::Response, None) => {}
        }
    }
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

/// Returns true if the records of TLS that begin in these bytes contain application data. In TLS 1.3 the
/// end of the client's handshake looks like that too: it is the shorter of two, and comes with the request
/// or just before it.
fn has_application_data(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    // A segment that continues a record may begin with any byte, but seldom with a version too.
    while let [kind, 3, 1..=4, high, low, behind @ ..] = rest {
        match *kind {
            APPLICATION_DATA => return true,
            HANDSHAKE | CHANGE_CIPHER => {}
            // It does not begin with a record.
            _ => return false,
        }
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some(next) = behind.get(length..) else { return false };
        rest = next;
    }
    false
}

/// Returns the destination of the packet that an ICMP message is about, and its source port if the message has
/// that much of it.
fn inner_ends(packet: &Ip<'_>) -> Option<(IpAddr, Option<u16>)> {
    const ICMP_HEADER: usize = 8;
    let inner = packet.payload.bytes.get(ICMP_HEADER..)?;
    let (address, header) = match packet.source {
        IpAddr::V6(_) => {
            let octets: [u8; 16] = inner.get(24..40)?.try_into().ok()?;
            // A client sends SYNs without extension headers.
            (IpAddr::from(octets), 40)
        }
        IpAddr::V4(_) => {
            let octets: [u8; 4] = inner.get(16..20)?.try_into().ok()?;
            (IpAddr::from(octets), 4 * usize::from(inner.first()? & 15))
        }
    };
    let port =
        inner.get(header..).and_then(|of| Some(u16::from_be_bytes([*of.first()?, *of.get(1)?])));
    Some((address, port))
}

#[cfg(test)]
mod tests;
