//! The answers of a DHCPv4 server: each client gets the address that the lab has given to its host.

use std::net::Ipv4Addr;

use crate::dhcp_message::{
    DhcpMessageType, DhcpReply, DhcpRequest, LEASE_TIME, NAME_SERVER, ROUTER, SUBNET_MASK,
    V6ONLY_PREFERRED,
};

/// For how many seconds an address is given, a day. It is the host's own, so the time has no consequence.
const LEASE_S: u32 = 86_400;

/// What a server says on one of its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DhcpLink {
    /// The index of its interface.
    pub(crate) interface: u32,
    /// Its address there.
    pub(crate) server: Ipv4Addr,
    /// For how many seconds clients may do without IPv4, if they can (RFC 8925).
    pub(crate) v6only_wait_s: Option<u32>,
    pub(crate) leases: Vec<DhcpLease>,
}

/// The address of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DhcpLease {
    pub(crate) hardware: [u8; 6],
    pub(crate) address: Ipv4Addr,
    /// The length of its prefix in bits.
    pub(crate) length: u8,
    pub(crate) name_server: Option<Ipv4Addr>,
}

impl DhcpLink {
    /// Returns the answer to a message, as bytes, and the address to send it to. Returns `None` if it needs none: it
    /// is for another server, or from a host that the lab does not know.
    pub(crate) fn answer_to(&self, bytes: &[u8]) -> Option<(Vec<u8>, Ipv4Addr)> {
        let request = DhcpRequest::parse(bytes)?;
        let lease = self.leases.iter().find(|lease| lease.hardware == request.hardware)?;
        let reply = self.reply(&request, lease)?;
        // A client that has its address is reached there, each other one by a broadcast.
        let has_own = request.own == lease.address && reply.kind == DhcpMessageType::Ack;
        let to = if has_own { lease.address } else { Ipv4Addr::BROADCAST };
        Some((request.reply_bytes(&reply), to))
    }

    fn reply(&self, request: &DhcpRequest, lease: &DhcpLease) -> Option<DhcpReply> {
        let with =
            |kind, address, options| DhcpReply { kind, address, server: self.server, options };
        let given = |kind| with(kind, lease.address, self.options(request, lease, true));
        match request.kind {
            DhcpMessageType::Discover => Some(given(DhcpMessageType::Offer)),
            DhcpMessageType::Request if request.server.is_some_and(|of| of != self.server) => None,
            DhcpMessageType::Request => {
                // The address is in the option, or in the field when the client has it (RFC 2131, 4.3.2).
                let is_own = request.requested.unwrap_or(request.own) == lease.address;
                Some(if is_own {
                    given(DhcpMessageType::Ack)
                } else {
                    with(DhcpMessageType::Nak, Ipv4Addr::UNSPECIFIED, Vec::new())
                })
            }
            // A client that has an address from elsewhere gets neither one nor a time (RFC 2131, 4.3.5).
            DhcpMessageType::Inform => {
                let options = self.options(request, lease, false);
                Some(with(DhcpMessageType::Ack, Ipv4Addr::UNSPECIFIED, options))
            }
            DhcpMessageType::Offer | DhcpMessageType::Ack | DhcpMessageType::Nak => None,
        }
    }

    fn options(&self, request: &DhcpRequest, lease: &DhcpLease, timed: bool) -> Vec<(u8, Vec<u8>)> {
        let mask = u32::MAX.checked_shl(32 - u32::from(lease.length.min(32))).unwrap_or(0);
        let mut options = Vec::new();
        if timed {
            options.push((LEASE_TIME, LEASE_S.to_be_bytes().to_vec()));
        }
        options.push((SUBNET_MASK, mask.to_be_bytes().to_vec()));
        options.push((ROUTER, self.server.octets().to_vec()));
        options.extend(lease.name_server.map(|of| (NAME_SERVER, of.octets().to_vec())));
        // Only who asks for it gets it (RFC 8925, 3.3).
        let wait = self.v6only_wait_s.filter(|_| request.wants_v6only);
        options.extend(wait.map(|wait| (V6ONLY_PREFERRED, wait.to_be_bytes().to_vec())));
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dhcp_message::tests::request_bytes;
    use sixmark_units::random::Random;

    const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);
    const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);

    fn link(v6only_wait_s: Option<u32>) -> DhcpLink {
        let lease = DhcpLease {
            hardware: [2, 0, 0, 0, 0, 7],
            address: CLIENT,
            length: 24,
            name_server: Some(Ipv4Addr::new(10, 0, 2, 9)),
        };
        DhcpLink { interface: 3, server: SERVER, v6only_wait_s, leases: vec![lease] }
    }

    /// Returns the type, the address and the options of the answer.
    fn answer(link: &DhcpLink, own: Ipv4Addr, options: &[u8]) -> Option<(DhcpReply, Ipv4Addr)> {
        let mut bytes = request_bytes(options);
        bytes[12..16].copy_from_slice(&own.octets());
        let request = DhcpRequest::parse(&bytes)?;
        let reply = link.reply(&request, &link.leases[0])?;
        let (_, to) = link.answer_to(&bytes)?;
        Some((reply, to))
    }

    fn codes(reply: &DhcpReply) -> Vec<u8> {
        reply.options.iter().map(|(code, _)| *code).collect()
    }

    #[test]
    fn the_option_of_rfc_8925_is_sent_only_to_who_asks_and_only_if_the_lab_has_it() {
        let none = Ipv4Addr::UNSPECIFIED;
        for kind in [1, 3, 8] {
            let asked = [53, 1, kind, 50, 4, 10, 0, 1, 2, 55, 2, 1, 108];
            let without = [53, 1, kind, 50, 4, 10, 0, 1, 2, 55, 2, 1, 3];
            let value = |link: &DhcpLink, options: &[u8]| {
                let (reply, _) = answer(link, none, options).unwrap();
                let found = reply.options.into_iter().find(|(code, _)| *code == V6ONLY_PREFERRED);
                found.map(|(_, value)| value)
            };
            assert_eq!(value(&link(Some(1_800)), &asked), Some(vec![0, 0, 7, 8]), "{kind}");
            assert_eq!(value(&link(Some(1_800)), &without), None, "{kind}");
            assert_eq!(value(&link(None), &asked), None, "{kind}");
        }
    }

    #[test]
    fn a_client_is_offered_the_address_mask_router_and_name_server_of_the_lab() {
        let (offer, to) = answer(&link(None), Ipv4Addr::UNSPECIFIED, &[53, 1, 1]).unwrap();
        assert_eq!(
            (offer.kind, offer.address, to),
            (DhcpMessageType::Offer, CLIENT, Ipv4Addr::BROADCAST)
        );
        let expected: Vec<(u8, Vec<u8>)> = vec![
            (51, vec![0, 1, 81, 128]),
            (1, vec![255, 255, 255, 0]),
            (3, vec![10, 0, 1, 1]),
            (6, vec![10, 0, 2, 9]),
        ];
        assert_eq!(offer.options, expected);
    }

    #[test]
    fn requests_are_acknowledged_or_refused_as_rfc_2131_says() {
        let link = link(None);
        let none = Ipv4Addr::UNSPECIFIED;
        let kind = |own, options: &[u8]| answer(&link, own, options).map(|(of, to)| (of.kind, to));
        let (ack, nak) = (DhcpMessageType::Ack, DhcpMessageType::Nak);
        let all = Ipv4Addr::BROADCAST;
        // After an offer, of this server or of another one.
        assert_eq!(
            kind(none, &[53, 1, 3, 54, 4, 10, 0, 1, 1, 50, 4, 10, 0, 1, 2]),
            Some((ack, all))
        );
        assert_eq!(kind(none, &[53, 1, 3, 54, 4, 10, 0, 1, 9, 50, 4, 10, 0, 1, 2]), None);
        // After a restart, with the right address and a wrong one, and without.
        assert_eq!(kind(none, &[53, 1, 3, 50, 4, 10, 0, 1, 2]), Some((ack, all)));
        assert_eq!(kind(none, &[53, 1, 3, 50, 4, 10, 0, 1, 3]), Some((nak, all)));
        assert_eq!(kind(none, &[53, 1, 3]), Some((nak, all)));
        // When the time is over.
        assert_eq!(kind(CLIENT, &[53, 1, 3]), Some((ack, CLIENT)));
        assert_eq!(kind(Ipv4Addr::new(192, 0, 2, 1), &[53, 1, 3]), Some((nak, all)));
        let (refused, _) = answer(&link, none, &[53, 1, 3]).unwrap();
        assert_eq!((refused.address, codes(&refused)), (none, vec![]));
    }

    #[test]
    fn who_has_an_address_is_told_the_rest_without_one() {
        let (told, to) = answer(&link(None), CLIENT, &[53, 1, 8]).unwrap();
        assert_eq!(
            (told.kind, told.address, to),
            (DhcpMessageType::Ack, Ipv4Addr::UNSPECIFIED, CLIENT)
        );
        assert_eq!(codes(&told), [SUBNET_MASK, ROUTER, NAME_SERVER]);
        let stranger = Ipv4Addr::new(192, 0, 2, 1);
        let (_, to) = answer(&link(None), stranger, &[53, 1, 8]).unwrap();
        assert_eq!(to, Ipv4Addr::BROADCAST, "nothing is sent to other addresses");
    }

    #[test]
    fn answers_to_messages_with_random_octets_stay_short() {
        let mut random = Random::new(8_925, 0);
        let mut answered = 0;
        for _ in 0..20_000 {
            let mut bytes = request_bytes(&[53, 1, 1, 55, 2, 1, 108, 61, 3, 1, 2, 3, 52, 1, 3]);
            let rest = [0, 255, random.bits() as u8][random.below(3) as usize];
            bytes.resize(240 + random.below(400) as usize, rest);
            for _ in 0..random.below(4) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.bits() as u8;
            }
            if let Some((answer, to)) = link(Some(1_800)).answer_to(&bytes) {
                answered += 1;
                assert!((300..=576).contains(&answer.len()), "{bytes:?}");
                assert!([CLIENT, Ipv4Addr::BROADCAST].contains(&to), "{bytes:?}");
            }
        }
        assert!(answered > 1_000, "{answered}");
    }

    #[test]
    fn hosts_that_the_lab_does_not_know_get_no_answer() {
        let mut bytes = request_bytes(&[53, 1, 1]);
        assert!(link(None).answer_to(&bytes).is_some());
        bytes[33] = 8;
        assert_eq!(link(None).answer_to(&bytes), None);
    }
}
