//! QUIC for one worker: the endpoint of all its connections, their clock and their timers.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::{
    ClientConfig, ConnectError, Connection, ConnectionHandle, Endpoint, EndpointConfig,
    EndpointEvent, Event, IdleTimeout, MtuDiscoveryConfig, NoneTokenStore, TransportConfig, VarInt,
};
use sixmark_record::quic::QuicEnding;
use sixmark_sys::driver::Slot;
use sixmark_units::family::{Family, PerFamily};

use crate::tls::{Agreed, QuicStart, VERSION};

/// The most datagrams that are handed to the kernel at once: a buffer of 64 KiB holds that many of
/// the usual size.
pub(super) const TOGETHER: usize = 40;
/// Packets larger than this are not tried (Ethernet's payload): the Internet has no larger ones, and
/// over loopback each peer would choose another size.
const LARGEST_PACKET: u16 = 1_500;
/// The most of requests that waits in QUIC to be sent or acknowledged, in bytes: as much as a socket
/// of TCP keeps at the most on Linux (tcp_wmem), so that handing over means the same.
const SEND_WINDOW: u64 = 4 << 20;
/// What a peer may send on a stream, and on a connection, before it was read. It is read at once, so
/// that a peer never waits for more; one that leaves out the first byte of a stream can have no more
/// than this kept for it.
const STREAM_WINDOW: u32 = 16 << 20;
const WINDOW: u32 = 64 << 20;
/// Streams in one direction that a peer may have open: HTTP/3 needs three (RFC 9114, 6.2), and those of
/// unknown types are stopped.
const THEIR_STREAMS: u32 = 16;
/// Bytes of the headers of IP, without options, and of UDP.
const HEADERS: PerFamily<u16> = PerFamily { ipv6: 48, ipv4: 28 };
/// Connections on which nothing came for so long are given up; most servers do so earlier.
const IDLE: Duration = Duration::from_secs(60);

/// The QUIC of a worker.
pub(super) struct Quic {
    endpoint: Endpoint,
    transport: PerFamily<Arc<TransportConfig>>,
    /// A moment, and what the driver's clock said then.
    origin: (Instant, u64),
    /// When connections want to be looked at.
    timers: BTreeSet<(u64, Slot)>,
    /// Datagrams on their way out.
    pub(super) out: Vec<u8>,
}

/// One connection of QUIC, below the protocol that it carries.
pub(super) struct QuicLink {
    pub(super) connection: Connection,
    handle: ConnectionHandle,
    /// A session was offered to be resumed.
    pub(super) offered: bool,
    /// When it wants to be looked at.
    timer: Option<u64>,
    /// The code of the protocol to close it with.
    pub(super) close_by: u64,
}

impl std::fmt::Debug for QuicLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuicLink").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Quic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Quic").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl Quic {
    /// Without connections, at `now` on the driver's clock.
    pub(super) fn new(now: u64) -> Quic {
        let config = Arc::new(EndpointConfig::default());
        Quic {
            endpoint: Endpoint::new(config, None, true, None),
            transport: PerFamily::from_fn(|family| Arc::new(transport(family))),
            origin: (Instant::now(), now),
            timers: BTreeSet::new(),
            out: Vec::new(),
        }
    }

    /// A time of the driver's as the library wants it.
    pub(super) fn instant(&self, at: u64) -> Instant {
        let (instant, origin) = self.origin;
        instant + Duration::from_nanos(at.saturating_sub(origin))
    }

    /// Begins a connection.
    pub(super) fn connect(
        &mut self,
        start: &QuicStart,
        family: Family,
        to: SocketAddr,
        now: u64,
    ) -> Result<QuicLink, ConnectError> {
        let mut config = ClientConfig::new(start.crypto.clone());
        config.version(VERSION);
        config.transport_config(self.transport[family].clone());
        // A server that remembers an address would treat a later visit otherwise than a first.
        config.token_store(Arc::new(NoneTokenStore));
        // The name is in `start`; this one is for the token store alone.
        let begun = self.endpoint.connect(self.instant(now), config, reachable(to), "");
        let (handle, connection) = begun?;
        Ok(QuicLink { connection, handle, offered: start.offered(), timer: None, close_by: 0 })
    }

    /// Takes a datagram that came for a connection.
    pub(super) fn take(
        &mut self,
        link: &mut QuicLink,
        datagram: bytes::BytesMut,
        (at, ecn): (u64, u8),
    ) {
        use quinn_proto::{DatagramEvent, EcnCodepoint};
        let (now, from) = (self.instant(at), link.connection.remote_address());
        let ecn = EcnCodepoint::from_bits(ecn);
        self.out.clear();
        let event = self.endpoint.handle(now, from, None, ecn, datagram, &mut self.out);
        match event {
            Some(DatagramEvent::ConnectionEvent(of, event)) if of == link.handle => {
                link.connection.handle_event(event);
            }
            // No answer is owed to what is for nobody here.
            _ => {}
        }
    }

    /// What a connection tells next, having carried what it and its endpoint have to tell each other.
    pub(super) fn next_event(&mut self, link: &mut QuicLink) -> Option<Event> {
        while let Some(event) = link.connection.poll_endpoint_events() {
            // It goes when its slot does, once.
            if !event.is_drained()
                && let Some(event) = self.endpoint.handle_event(link.handle, event)
            {
                link.connection.handle_event(event);
            }
        }
        link.connection.poll()
    }

    /// A connection is gone.
    pub(super) fn forget(&mut self, slot: Slot, link: &mut QuicLink) {
        self.change_timer(slot, link, None);
        self.endpoint.handle_event(link.handle, EndpointEvent::drained());
    }

    /// Lets a connection that wanted to be looked at do what is due at `now`.
    pub(super) fn wake(&mut self, slot: Slot, link: &mut QuicLink, now: u64) {
        self.change_timer(slot, link, None);
        link.connection.handle_timeout(self.instant(now));
    }

    /// Notes when a connection now wants to be looked at.
    pub(super) fn set_timer(&mut self, slot: Slot, link: &mut QuicLink) {
        let (instant, origin) = self.origin;
        let at = link.connection.poll_timeout();
        let at = at.map(|at| origin + at.saturating_duration_since(instant).as_nanos() as u64);
        self.change_timer(slot, link, at);
    }

    fn change_timer(&mut self, slot: Slot, link: &mut QuicLink, at: Option<u64>) {
        if link.timer != at {
            if let Some(before) = link.timer {
                self.timers.remove(&(before, slot));
            }
            self.timers.extend(at.map(|at| (at, slot)));
        }
        link.timer = at;
    }

    /// When the first connection wants to be looked at, and which.
    pub(super) fn next_timer(&self) -> Option<(u64, Slot)> {
        self.timers.first().copied()
    }
}

/// Where Linux sends what is for `to`: loopback, for the unspecified address, which the library
/// would not connect to.
fn reachable(to: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match to {
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
    };
    match to.ip().is_unspecified() {
        true => SocketAddr::new(loopback, to.port()),
        false => to,
    }
}

/// How connections over a family are to behave.
fn transport(family: Family) -> TransportConfig {
    let mut transport = TransportConfig::default();
    let mut probes = MtuDiscoveryConfig::default();
    probes.upper_bound(LARGEST_PACKET - HEADERS[family]);
    transport
        .max_idle_timeout(IdleTimeout::try_from(IDLE).ok())
        .stream_receive_window(STREAM_WINDOW.into())
        .receive_window(WINDOW.into())
        .send_window(SEND_WINDOW)
        .max_concurrent_uni_streams(THEIR_STREAMS.into())
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .mtu_discovery_config(Some(probes));
    transport
}

/// What is known of a connection at its end.
pub(super) fn ending(connection: &Connection, dropped: u64) -> QuicEnding {
    let path = connection.stats().path;
    QuicEnding {
        mtu: path.current_mtu,
        version: VERSION,
        rtt: path.rtt.as_nanos() as u64,
        sent: path.sent_packets.saturating_sub(path.sent_plpmtud_probes),
        lost: path.lost_packets,
        retried: Agreed::of(connection).is_some_and(|agreed| agreed.retried),
        dropped,
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use quinn_proto::{DatagramEvent, Dir, ServerConfig, WriteError};
    use rustls::RootCertStore;
    use rustls::pki_types::PrivatePkcs8KeyDer;

    use super::*;

    const NAME: &str = "localhost";

    /// One side: its endpoint, and its connection once there is one.
    struct QuicSide {
        endpoint: Endpoint,
        connection: Option<(ConnectionHandle, Connection)>,
        address: SocketAddr,
    }

    impl QuicSide {
        /// Sends all that there is to send; true where there was something.
        fn send(&mut self, to: &mut QuicSide, now: Instant) -> bool {
            let mut sent = false;
            let Some((handle, connection)) = &mut self.connection else { return false };
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            let mut out = Vec::new();
            while let Some(cast) = connection.poll_transmit(now, 1, &mut out) {
                to.take(self.address, &out[..cast.size], now);
                (sent, out) = (true, Vec::new());
            }
            sent
        }

        fn take(&mut self, from: SocketAddr, datagram: &[u8], now: Instant) {
            let (bytes, mut out) = (BytesMut::from(datagram), Vec::new());
            match self.endpoint.handle(now, from, None, None, bytes, &mut out) {
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    self.connection.as_mut().unwrap().1.handle_event(event);
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    let accepted = self.endpoint.accept(incoming, now, &mut out, None);
                    self.connection = accepted.ok();
                }
                _ => {}
            }
        }

        /// What it may send on new streams in one direction that the peer does not read.
        fn fill(&mut self) -> Vec<usize> {
            let piece = vec![0x21; 1 << 20];
            let connection = &mut self.connection.as_mut().unwrap().1;
            let mut written = Vec::new();
            while let Some(id) = connection.streams().open(Dir::Uni) {
                let mut of_stream = 0;
                let end = loop {
                    match connection.send_stream(id).write(&piece) {
                        Ok(count) => of_stream += count,
                        Err(error) => break error,
                    }
                };
                assert_eq!(end, WriteError::Blocked);
                written.push(of_stream);
            }
            written
        }
    }

    fn pair(now: Instant) -> [QuicSide; 2] {
        let own = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
        let mut roots = RootCertStore::empty();
        roots.add(own.cert.der().clone()).unwrap();
        let chain = vec![own.cert.der().clone()];
        let mut server = ServerConfig::with_single_cert(chain, key.into()).unwrap();
        let mut generous = TransportConfig::default();
        generous.send_window(u64::MAX);
        server.transport = Arc::new(generous);
        let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
        client.transport_config(Arc::new(transport(Family::Ipv6)));
        let config = Arc::new(EndpointConfig::default());
        let endpoint = |server: Option<ServerConfig>| {
            Endpoint::new(config.clone(), server.map(Arc::new), true, None)
        };
        let address = |port| SocketAddr::from((Ipv6Addr::LOCALHOST, port));
        let mut here = QuicSide { endpoint: endpoint(None), connection: None, address: address(1) };
        let begun = here.endpoint.connect(now, client, address(2), NAME).unwrap();
        here.connection = Some(begun);
        let there =
            QuicSide { endpoint: endpoint(Some(server)), connection: None, address: address(2) };
        [here, there]
    }

    #[test]
    fn a_server_whose_streams_are_not_read_may_send_no_more_than_the_windows() {
        let now = Instant::now();
        let [mut client, mut server] = pair(now);
        while client.send(&mut server, now) | server.send(&mut client, now) {}
        assert!(!server.connection.as_ref().unwrap().1.is_handshaking());
        let written = server.fill();
        assert_eq!(written.len(), THEIR_STREAMS as usize);
        assert_eq!(written.iter().max(), Some(&(STREAM_WINDOW as usize)));
        assert_eq!(written.iter().sum::<usize>(), WINDOW as usize);
    }
}
