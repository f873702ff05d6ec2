//! TCP segments in Ethernet frames, in either direction.

use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, IpAddress, IpEndpoint, IpProtocol,
    Ipv4Packet, Ipv6Packet, TcpPacket, TcpSeqNumber,
};

/// The kinds of the TCP options that are examined (RFC 9293, 3.1; RFC 2018).
const END: u8 = 0;
const NOTHING: u8 = 1;
const SACK_PERMITTED: u8 = 4;

/// The header fields of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) source: IpEndpoint,
    pub(super) target: IpEndpoint,
    pub(super) seq: TcpSeqNumber,
    pub(super) ack: Option<TcpSeqNumber>,
    pub(super) window: u16,
    pub(super) syn: bool,
    pub(super) fin: bool,
    pub(super) rst: bool,
    /// The number of data bytes.
    pub(super) payload: usize,
    /// The ranges that it acknowledges selectively (RFC 2018): their first sequence number and the
    /// one after them.
    pub(super) sacked: [Option<(TcpSeqNumber, TcpSeqNumber)>; 3],
    /// The sender's hardware address.
    pub(super) from: EthernetAddress,
    /// The offset of the TCP header in the frame.
    at: usize,
}

impl Segment {
    /// Parses the segment in a frame. Returns `None` if the frame contains anything else, or a
    /// fragment.
    pub(super) fn read(frame: &[u8]) -> Option<Segment> {
        let ethernet = EthernetFrame::new_checked(frame).ok()?;
        let (source, target, inner) = match ethernet.ethertype() {
            EthernetProtocol::Ipv4 => ipv4(ethernet.payload())?,
            EthernetProtocol::Ipv6 => ipv6(ethernet.payload())?,
            _ => return None,
        };
        let tcp = TcpPacket::new_checked(inner).ok()?;
        Some(Segment {
            source: IpEndpoint::new(source, tcp.src_port()),
            target: IpEndpoint::new(target, tcp.dst_port()),
            seq: tcp.seq_number(),
            ack: tcp.ack().then(|| tcp.ack_number()),
            window: tcp.window_len(),
            syn: tcp.syn(),
            fin: tcp.fin(),
            rst: tcp.rst(),
            payload: tcp.payload().len(),
            sacked: tcp.selective_ack_ranges().unwrap_or_default().map(|range| {
                range.map(|(from, to)| (TcpSeqNumber(from as i32), TcpSeqNumber(to as i32)))
            }),
            from: ethernet.src_addr(),
            at: inner.as_ptr().addr() - frame.as_ptr().addr(),
        })
    }

    /// Returns the sequence number after the segment.
    pub(super) fn end(&self) -> TcpSeqNumber {
        self.seq + self.payload + usize::from(self.syn) + usize::from(self.fin)
    }

    /// Replaces the window of the segment, whose frame this is.
    pub(super) fn set_window(&self, window: u16, frame: &mut [u8]) {
        let inner = frame.get_mut(self.at..).unwrap_or_default();
        let Ok(mut tcp) = TcpPacket::new_checked(inner) else { return };
        tcp.set_window_len(window);
        tcp.fill_checksum(&self.source.addr, &self.target.addr);
    }

    /// Removes the SACK-permitted option from a SYN, whose frame this is.
    pub(super) fn refuse_sack(&self, frame: &mut [u8]) {
        let inner = frame.get_mut(self.at..).unwrap_or_default();
        let Ok(mut tcp) = TcpPacket::new_checked(inner) else { return };
        if let Some(place) = find_sack(tcp.options_mut()) {
            tcp.options_mut()[place..place + 2].fill(NOTHING);
            tcp.fill_checksum(&self.source.addr, &self.target.addr);
        }
    }
}

type Inner<'a> = (IpAddress, IpAddress, &'a [u8]);

fn ipv4(bytes: &[u8]) -> Option<Inner<'_>> {
    let packet = Ipv4Packet::new_checked(bytes).ok()?;
    let whole = !packet.more_frags() && packet.frag_offset() == 0;
    let tcp = packet.next_header() == IpProtocol::Tcp && whole;
    tcp.then(|| (packet.src_addr().into(), packet.dst_addr().into(), packet.payload()))
}

fn ipv6(bytes: &[u8]) -> Option<Inner<'_>> {
    let packet = Ipv6Packet::new_checked(bytes).ok()?;
    let tcp = packet.next_header() == IpProtocol::Tcp;
    tcp.then(|| (packet.src_addr().into(), packet.dst_addr().into(), packet.payload()))
}

/// Returns the offset of the SACK-permitted option.
fn find_sack(options: &[u8]) -> Option<usize> {
    let mut place = 0;
    loop {
        match options.get(place..)? {
            [END, ..] | [] => return None,
            [NOTHING, ..] => place += 1,
            [SACK_PERMITTED, 2, ..] => return Some(place),
            [_, length, ..] if *length >= 2 => place += usize::from(*length),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_sack_permitted_option_at_any_position() {
        for (options, place) in [
            (&[2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 3, 7][..], Some(4)),
            (&[1, 1, 4, 2], Some(2)),
            (&[2, 4, 5, 180], None),
            (&[3, 3, 4, 1], None),
            (&[0, 4, 2], None),
            (&[5, 0, 4, 2], None),
            (&[5], None),
            (&[], None),
        ] {
            assert_eq!(find_sack(options), place, "{options:?}");
        }
    }

    #[test]
    fn reads_no_segment_from_invalid_bytes() {
        for bytes in [&[][..], &[0; 14], &[0xff; 60]] {
            assert_eq!(Segment::read(bytes), None);
        }
    }
}
