//! Messages of DHCPv4 as bytes (RFC 2131, 2; options of RFC 2132).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// The type of a message (RFC 2132, 9.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DhcpMessageType {
    Discover = 1,
    Offer = 2,
    Request = 3,
    Ack = 5,
    Nak = 6,
    Inform = 8,
}

/// A message of a client. Fields that are not set are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DhcpRequest {
    pub(crate) kind: DhcpMessageType,
    pub(crate) transaction: [u8; 4],
    pub(crate) flags: [u8; 2],
    /// The address that the client has and can be reached at (`ciaddr`).
    pub(crate) own: Ipv4Addr,
    pub(crate) hardware: [u8; 6],
    /// The address that it asks for, in an option.
    pub(crate) requested: Option<Ipv4Addr>,
    /// The server whose offer it accepts.
    pub(crate) server: Option<Ipv4Addr>,
    /// Whether it can do without IPv4: its Parameter Request List has the code of IPv6-Only Preferred.
    pub(crate) wants_v6only: bool,
    /// Its identifier, which a reply repeats (RFC 6842).
    pub(crate) client: Option<Vec<u8>>,
}

/// A message to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DhcpReply {
    pub(crate) kind: DhcpMessageType,
    /// The address that the client may use (`yiaddr`).
    pub(crate) address: Ipv4Addr,
    pub(crate) server: Ipv4Addr,
    /// Further options by their codes, in their order.
    pub(crate) options: Vec<(u8, Vec<u8>)>,
}

/// Codes of options (RFC 2132; RFC 8925, 3.1).
pub(crate) const SUBNET_MASK: u8 = 1;
pub(crate) const ROUTER: u8 = 3;
pub(crate) const NAME_SERVER: u8 = 6;
const REQUESTED_ADDRESS: u8 = 50;
pub(crate) const LEASE_TIME: u8 = 51;
const OVERLOAD: u8 = 52;
const MESSAGE_TYPE: u8 = 53;
const SERVER: u8 = 54;
const PARAMETER_LIST: u8 = 55;
const CLIENT: u8 = 61;
pub(crate) const V6ONLY_PREFERRED: u8 = 108;
const PAD: u8 = 0;
const END: u8 = 255;

/// What precedes the options, and the places of the fields that may hold more of them.
const MAGIC: [u8; 4] = [99, 130, 83, 99];
const OPTIONS: usize = 240;
const SNAME: std::ops::Range<usize> = 44..108;
const FILE: std::ops::Range<usize> = 108..236;
/// The first octets of each: a request or a reply, Ethernet, the length of its addresses.
const REQUEST_START: [u8; 3] = [1, 1, 6];
const REPLY_START: [u8; 4] = [2, 1, 6, 0];
/// The length of the shortest message that clients of BOOTP accept (RFC 1542, 2.1).
const SHORTEST: usize = 300;

impl DhcpRequest {
    /// Reads a message of a client. Returns `None` if it is not one, is malformed, or came through a relay, of which
    /// a lab has none.
    pub(crate) fn parse(bytes: &[u8]) -> Option<DhcpRequest> {
        let is_direct = bytes.get(24..28)? == [0; 4];
        let magic = bytes.get(OPTIONS - MAGIC.len()..OPTIONS)?;
        if !bytes.starts_with(&REQUEST_START) || !is_direct || magic != MAGIC {
            return None;
        }
        let options = read_options(bytes)?;
        let address = |code| -> Option<Ipv4Addr> {
            let octets: [u8; 4] = options.get(&code)?.as_slice().try_into().ok()?;
            Some(octets.into())
        };
        let own: [u8; 4] = bytes.get(12..16)?.try_into().ok()?;
        Some(DhcpRequest {
            kind: message_type(options.get(&MESSAGE_TYPE)?)?,
            transaction: bytes.get(4..8)?.try_into().ok()?,
            flags: bytes.get(10..12)?.try_into().ok()?,
            own: own.into(),
            hardware: bytes.get(28..34)?.try_into().ok()?,
            requested: address(REQUESTED_ADDRESS),
            server: address(SERVER),
            wants_v6only: options
                .get(&PARAMETER_LIST)
                .is_some_and(|codes| codes.contains(&V6ONLY_PREFERRED)),
            client: options.get(&CLIENT).filter(|id| id.len() <= 255).cloned(),
        })
    }

    /// Returns a reply as bytes.
    pub(crate) fn reply_bytes(&self, reply: &DhcpReply) -> Vec<u8> {
        let mut bytes = REPLY_START.to_vec();
        bytes.extend(self.transaction);
        bytes.extend([0; 2]);
        bytes.extend(self.flags);
        // A refusal names no address (RFC 2131, table 3).
        let own = if reply.kind == DhcpMessageType::Ack { self.own } else { Ipv4Addr::UNSPECIFIED };
        bytes.extend(own.octets());
        bytes.extend(reply.address.octets());
        // Neither a next server nor a relay.
        bytes.extend([0; 8]);
        bytes.extend(self.hardware);
        bytes.resize(OPTIONS - MAGIC.len(), 0);
        bytes.extend(MAGIC);
        let mut add = |code: u8, value: &[u8]| {
            bytes.extend([code, value.len() as u8]);
            bytes.extend(value);
        };
        add(MESSAGE_TYPE, &[reply.kind as u8]);
        add(SERVER, &reply.server.octets());
        reply.options.iter().for_each(|(code, value)| add(*code, value));
        self.client.iter().for_each(|id| add(CLIENT, id));
        bytes.push(END);
        bytes.resize(bytes.len().max(SHORTEST), PAD);
        bytes
    }
}

/// Returns the type of a message of a client; `None` for the others, which need no reply.
fn message_type(value: &[u8]) -> Option<DhcpMessageType> {
    match value {
        [1] => Some(DhcpMessageType::Discover),
        [3] => Some(DhcpMessageType::Request),
        [8] => Some(DhcpMessageType::Inform),
        _ => None,
    }
}

/// Returns the options by their codes, also those in other fields. Parts of one option are joined (RFC 3396). Returns
/// `None` if one is cut.
fn read_options(bytes: &[u8]) -> Option<BTreeMap<u8, Vec<u8>>> {
    let mut found = BTreeMap::new();
    add_options(bytes.get(OPTIONS..)?, &mut found)?;
    let overload = found.get(&OVERLOAD).and_then(|value| value.first()).copied().unwrap_or(0);
    if overload & 1 != 0 {
        add_options(bytes.get(FILE)?, &mut found)?;
    }
    if overload & 2 != 0 {
        add_options(bytes.get(SNAME)?, &mut found)?;
    }
    Some(found)
}

fn add_options(mut rest: &[u8], found: &mut BTreeMap<u8, Vec<u8>>) -> Option<()> {
    loop {
        match rest {
            [] | [END, ..] => return Some(()),
            [PAD, more @ ..] => rest = more,
            [code, length, more @ ..] => {
                let (value, more) = more.split_at_checked(usize::from(*length))?;
                found.entry(*code).or_default().extend(value);
                rest = more;
            }
            [_] => return None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a message of a client with these options.
    pub(crate) fn request_bytes(options: &[u8]) -> Vec<u8> {
        let mut bytes = vec![1, 1, 6, 0, 0xa, 0xb, 0xc, 0xd, 0, 0, 0x80, 0];
        bytes.resize(28, 0);
        bytes.extend([2, 0, 0, 0, 0, 7]);
        bytes.resize(236, 0);
        bytes.extend([99, 130, 83, 99]);
        bytes.extend(options);
        bytes
    }

    #[test]
    fn a_request_is_read_from_its_fields_and_options() {
        let options = [
            53, 1, 3, 0, 50, 4, 10, 0, 1, 2, 54, 4, 10, 0, 1, 1, 55, 3, 1, 3, 108, 61, 2, 9, 8,
            255, 1,
        ];
        let read = DhcpRequest::parse(&request_bytes(&options)).unwrap();
        let expected = DhcpRequest {
            kind: DhcpMessageType::Request,
            transaction: [0xa, 0xb, 0xc, 0xd],
            flags: [0x80, 0],
            own: Ipv4Addr::UNSPECIFIED,
            hardware: [2, 0, 0, 0, 0, 7],
            requested: Some(Ipv4Addr::new(10, 0, 1, 2)),
            server: Some(Ipv4Addr::new(10, 0, 1, 1)),
            wants_v6only: true,
            client: Some(vec![9, 8]),
        };
        assert_eq!(read, expected);
        let plain = DhcpRequest::parse(&request_bytes(&[53, 1, 1])).unwrap();
        assert_eq!((plain.kind, plain.wants_v6only), (DhcpMessageType::Discover, false));
        assert_eq!((plain.requested, plain.server, plain.client), (None, None, None));
    }

    #[test]
    fn options_may_be_in_other_fields_and_in_parts() {
        let mut bytes = request_bytes(&[53, 1, 1, 52, 1, 3, 55, 1, 1, 55, 1, 3]);
        bytes[FILE.start..FILE.start + 3].copy_from_slice(&[55, 1, 6]);
        bytes[SNAME.start..SNAME.start + 3].copy_from_slice(&[55, 1, 108]);
        assert!(DhcpRequest::parse(&bytes).unwrap().wants_v6only);
        assert_eq!(read_options(&bytes).unwrap()[&PARAMETER_LIST], [1, 3, 6, 108]);
    }

    #[test]
    fn what_is_not_a_request_of_a_client_is_ignored() {
        let good = request_bytes(&[53, 1, 1, 255]);
        let with = |at: usize, octet: u8| {
            let mut bytes = good.clone();
            bytes[at] = octet;
            bytes
        };
        assert!(DhcpRequest::parse(&good).is_some());
        // A reply, another medium, a longer address, a relay, another protocol, an offer.
        for (at, octet) in [(0, 2), (1, 6), (2, 16), (24, 10), (236, 0), (242, 2)] {
            assert_eq!(DhcpRequest::parse(&with(at, octet)), None, "{at}");
        }
        for cut in 0..good.len() - 1 {
            assert_eq!(DhcpRequest::parse(&good[..cut]), None, "{cut}");
        }
        for options in
            [&[][..], &[53], &[53, 2, 1], &[53, 0], &[53, 1, 1, 55, 9, 108], &[55, 1, 108]]
        {
            assert_eq!(DhcpRequest::parse(&request_bytes(options)), None, "{options:?}");
        }
    }

    #[test]
    fn a_reply_has_the_layout_of_rfc_2131() {
        let request = DhcpRequest::parse(&request_bytes(&[53, 1, 1, 61, 1, 5])).unwrap();
        let reply = DhcpReply {
            kind: DhcpMessageType::Offer,
            address: Ipv4Addr::new(10, 0, 1, 2),
            server: Ipv4Addr::new(10, 0, 1, 1),
            options: vec![(V6ONLY_PREFERRED, 1_800_u32.to_be_bytes().to_vec())],
        };
        let bytes = request.reply_bytes(&reply);
        assert_eq!(bytes.len(), 300);
        assert_eq!(bytes[..12], [2, 1, 6, 0, 0xa, 0xb, 0xc, 0xd, 0, 0, 0x80, 0]);
        assert_eq!(bytes[12..28], [0, 0, 0, 0, 10, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[28..34], [2, 0, 0, 0, 0, 7]);
        let options = [53, 1, 2, 54, 4, 10, 0, 1, 1, 108, 4, 0, 0, 7, 8, 61, 1, 5, 255];
        assert_eq!(bytes[236..259], [&[99, 130, 83, 99][..], &options].concat());
        assert!(bytes[259..].iter().all(|octet| *octet == 0));
    }
}
