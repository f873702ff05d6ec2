//! Sockets of both families, over sock_diag(7).

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;

use crate::network::{SocketCounters, Sockets};
use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants as kernel;
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_SOCK_DIAG};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::tcp_info::segments_of_tcp_info;

/// A netlink socket in the namespace in which it was opened.
pub(super) struct Diag {
    socket: Socket,
    sequence: u32,
    /// The counters of each live socket at the last reading, by the kernel's cookie of the socket.
    known: HashMap<[u8; 8], [u32; 2]>,
    begun: bool,
    sums: PerFamily<SocketCounters>,
    /// Sockets in TIME-WAIT at the last reading that included them.
    time_wait: PerFamily<u64>,
}

impl std::fmt::Debug for Diag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Diag").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl Diag {
    pub(super) fn open() -> io::Result<Diag> {
        let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Diag {
            socket,
            sequence: 0,
            known: HashMap::new(),
            begun: false,
            sums: PerFamily::default(),
            time_wait: PerFamily::default(),
        })
    }

    /// Reads all sockets. Those in TIME-WAIT, of which there may be very many, are only read if
    /// `all` is set; otherwise their numbers are those of the last reading of them.
    pub(super) fn read(&mut self, all: bool) -> io::Result<PerFamily<Sockets>> {
        let mut found = PerFamily::<Sockets>::default();
        let mut seen = HashMap::with_capacity(self.known.len());
        for (domain, id) in
            [(kernel::AF_INET6, SocketId::new_v6()), (kernel::AF_INET, SocketId::new_v4())]
        {
            for protocol in [kernel::IPPROTO_TCP, kernel::IPPROTO_UDP] {
                self.ask(domain, protocol, id.clone(), all)?;
                self.answers(|response| match protocol {
                    kernel::IPPROTO_UDP => found[family_of_socket(&response)].udp += 1,
                    _ => count_socket(&response, &mut found, &mut seen),
                })?;
            }
        }
        self.sum_up(seen);
        if all {
            self.time_wait = PerFamily::from_fn(|family| found[family].time_wait);
        }
        for family in Family::BOTH {
            found[family].counters = self.sums[family];
            found[family].time_wait = self.time_wait[family];
        }
        Ok(found)
    }

    fn ask(&mut self, family: u8, protocol: u8, socket_id: SocketId, all: bool) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        header.sequence_number = self.sequence;
        let is_tcp = protocol == kernel::IPPROTO_TCP;
        let extensions = if is_tcp { ExtensionFlags::INFO } else { ExtensionFlags::empty() };
        // State 12 is a connection request that no listener has accepted yet (TCP_NEW_SYN_RECV);
        // the crate has no name for it.
        let without = if all { StateFlags::empty() } else { StateFlags::TIME_WAIT };
        let states = StateFlags::from_bits_retain(u32::MAX).difference(without);
        let request = InetRequest { family, protocol, extensions, states, socket_id };
        let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map(drop)
    }

    fn answers(&self, mut see: impl FnMut(InetResponse)) -> io::Result<()> {
        loop {
            let (bytes, _) = self.socket.recv_from_full()?;
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest)
                    .map_err(|error| io::Error::other(error.to_string()))?;
                // Messages are aligned to four bytes.
                let length = (message.header.length as usize).next_multiple_of(4);
                rest = rest.get(length.max(4)..).unwrap_or_default();
                match message.payload {
                    NetlinkPayload::Done(_) => return Ok(()),
                    // The kernel lacks one of the families, or sock_diag for UDP.
                    NetlinkPayload::Error(error) if is_absent(&error.to_io()) => return Ok(()),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                        see(*response);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Adds what live sockets did since the last reading. What sockets did before the first reading
    /// is not counted.
    fn sum_up(&mut self, seen: Seen) {
        let mut known = HashMap::with_capacity(seen.len());
        for (cookie, (family, now)) in seen {
            let before = match self.known.get(&cookie) {
                Some(before) => *before,
                None if self.begun => [0, 0],
                None => now,
            };
            let sums = &mut self.sums[family];
            sums.retransmitted.0 += u64::from(now[0].wrapping_sub(before[0]));
            sums.segments_out.0 += u64::from(now[1].wrapping_sub(before[1]));
            known.insert(cookie, now);
        }
        self.known = known;
        self.begun = true;
    }
}

/// Live sockets by their cookie: the family, retransmitted segments and all sent segments.
type Seen = HashMap<[u8; 8], (Family, [u32; 2])>;

fn is_absent(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EAFNOSUPPORT))
}

/// Returns the family of a socket's peer, or of its own address if it has no peer.
fn family_of_socket(response: &InetResponse) -> Family {
    let SocketId { source_address, destination_address, .. } = &response.header.socket_id;
    let address =
        if destination_address.is_unspecified() { source_address } else { destination_address };
    match (address, response.header.family) {
        // A socket bound to no address has the family with which it was opened.
        (IpAddr::V6(address), _) if address.is_unspecified() => Family::Ipv6,
        (address, _) => Family::of(*address),
    }
}

fn count_socket(response: &InetResponse, found: &mut PerFamily<Sockets>, seen: &mut Seen) {
    let family = family_of_socket(response);
    let of = &mut found[family];
    let state = match response.header.state {
        kernel::TCP_ESTABLISHED => &mut of.established,
        kernel::TCP_SYN_SENT => &mut of.syn_sent,
        kernel::TCP_FIN_WAIT1 => &mut of.fin_wait_1,
        kernel::TCP_FIN_WAIT2 => &mut of.fin_wait_2,
        kernel::TCP_TIME_WAIT => &mut of.time_wait,
        kernel::TCP_CLOSE => &mut of.closed,
        kernel::TCP_CLOSE_WAIT => &mut of.close_wait,
        kernel::TCP_LAST_ACK => &mut of.last_ack,
        kernel::TCP_LISTEN => &mut of.listening,
        kernel::TCP_CLOSING => &mut of.closing,
        _ => &mut of.syn_received,
    };
    *state += 1;
    let info = response.nlas.iter().find_map(|nla| match nla {
        // The library's own parser requires the complete structure of one kernel version.
        Nla::TcpInfo(bytes) => segments_of_tcp_info(bytes),
        _ => None,
    });
    if let Some(info) = info.filter(|_| response.header.state != kernel::TCP_LISTEN) {
        seen.insert(response.header.socket_id.cookie, (family, info));
    }
}
