//! QUIC for one worker: the endpoint of all its connections, their clock and their timers.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, ConnectError, Connection, ConnectionHandle, Endpoint, EndpointConfig,
    EndpointEvent, Event, IdleTimeout, MtuDiscoveryConfig, NoneTokenStore, TransportConfig, VarInt,
};
use sixmark_sys::driver::Slot;
use sixmark_tally::quic::QuicEnding;
use sixmark_units::family::{Family, PerFamily};

use crate::tls::{Agreed, QuicStart, VERSION};

/// Maximum number of datagrams handed to the kernel at once. A buffer of 64 KiB holds this many of
/// the usual size.
pub(super) const TOGETHER: usize = 40;
/// Maximum packet size that path MTU discovery tries (Ethernet's payload), in bytes. The Internet
/// has no larger packets, and over loopback each peer would choose another size.
const LARGEST_PACKET: u16 = 1_500;
/// Maximum number of bytes of requests that wait in QUIC to be sent or acknowledged. This is the
/// maximum of a TCP socket's buffer on Linux (tcp_wmem), so that handing over data means the same
/// for both.
const SEND_WINDOW: u64 = 4 << 20;
/// Number of bytes of received datagrams for which memory is allocated at once.
const RECEIVED: usize = 64 * 1024;
/// Receive windows of a stream and of a connection, in bytes. Data is read at once, so a peer never
/// has to wait. A peer that omits the first byte of a stream can make this side buffer no more than
/// this.
const STREAM_WINDOW: u32 = 16 << 20;
const WINDOW: u32 = 64 << 20;
/// Maximum number of unidirectional streams that a peer may have open. HTTP/3 needs three (RFC
/// 9114, 6.2); those of unknown types are stopped.
const THEIR_STREAMS: u32 = 16;
/// Size of the IP header, without options, and the UDP header, in bytes.
const HEADERS: PerFamily<u16> = PerFamily { ipv6: 48, ipv4: 28 };
/// Connections that are idle for this time are closed. Most servers close them earlier.
const IDLE: Duration = Duration::from_secs(60);

/// The QUIC endpoint of a worker.
pub(super) struct Quic {
    endpoint: Endpoint,
    transport: PerFamily<Arc<TransportConfig>>,
    /// A moment, and the time of the driver's clock at that moment.
    origin: (Instant, u64),
    /// The timers of connections, the earliest first.
    timers: BTreeSet<(u64, Slot)>,
    /// Datagrams to be sent.
    pub(super) out: Vec<u8>,
    /// Room for received datagrams, whose content is decrypted and read in place.
    received: BytesMut,
}

/// A QUIC connection, without the protocol that it carries.
pub(super) struct QuicLink {
    pub(super) connection: Connection,
    handle: ConnectionHandle,
    /// True if this side offered to resume a session.
    pub(super) offered: bool,
    /// The time at which its timer expires.
    timer: Option<u64>,
    /// The application error code with which to close it.
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
    /// Creates an endpoint without connections. `now` is the current time of the driver's clock.
    pub(super) fn new(now: u64) -> Quic {
        let config = Arc::new(EndpointConfig::default());
        Quic {
            endpoint: Endpoint::new(config, None, true, None),
            transport: PerFamily::from_fn(|family| Arc::new(transport(family))),
            origin: (Instant::now(), now),
            timers: BTreeSet::new(),
            out: Vec::new(),
            received: BytesMut::new(),
        }
    }

    /// Converts a time of the driver's clock for the QUIC library.
    pub(super) fn instant(&self, at: u64) -> Instant {
        let (instant, origin) = self.origin;
        instant + Duration::from_nanos(at.saturating_sub(origin))
    }

    /// Creates a connection.
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
        // No address tokens are kept: a server would treat a later connection differently from a
        // first one.
        config.token_store(Arc::new(NoneTokenStore));
        // The server name is in `start`; this argument only concerns the token store.
        let begun = self.endpoint.connect(self.instant(now), config, reachable(to), "");
        let (handle, connection) = begun?;
        Ok(QuicLink { connection, handle, offered: start.offered(), timer: None, close_by: 0 })
    }

    /// Processes a datagram received for a connection.
    pub(super) fn take(&mut self, link: &mut QuicLink, datagram: &[u8], (at, ecn): (u64, u8)) {
        use quinn_proto::{DatagramEvent, EcnCodepoint};
        if self.received.capacity() < datagram.len() {
            // Takes back the room of earlier datagrams that were read, or allocates.
            self.received.reserve(RECEIVED);
        }
        self.received.extend_from_slice(datagram);
        let datagram = self.received.split();
        let (now, from) = (self.instant(at), link.connection.remote_address());
        let ecn = EcnCodepoint::from_bits(ecn);
        self.out.clear();
        let event = self.endpoint.handle(now, from, None, ecn, datagram, &mut self.out);
        match event {
            Some(DatagramEvent::ConnectionEvent(of, event)) if of == link.handle => {
                link.connection.handle_event(event);
            }
            // Datagrams that belong to no connection are not answered.
            _ => {}
        }
    }

    /// Returns the next event of a connection, after passing the events between it and its
    /// endpoint.
    pub(super) fn next_event(&mut self, link: &mut QuicLink) -> Option<Event> {
        while let Some(event) = link.connection.poll_endpoint_events() {
            // It is forgotten once, when its slot is freed.
            if !event.is_drained()
                && let Some(event) = self.endpoint.handle_event(link.handle, event)
            {
                link.connection.handle_event(event);
            }
        }
        link.connection.poll()
    }

    /// Removes a connection that is closed.
    pub(super) fn forget(&mut self, slot: Slot, link: &mut QuicLink) {
        self.change_timer(slot, link, None);
        self.endpoint.handle_event(link.handle, EndpointEvent::drained());
    }

    /// Handles the expired timer of a connection.
    pub(super) fn wake(&mut self, slot: Slot, link: &mut QuicLink, now: u64) {
        self.change_timer(slot, link, None);
        link.connection.handle_timeout(self.instant(now));
    }

    /// Updates the timer of a connection.
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

    /// Returns the earliest timer and its connection.
    pub(super) fn next_timer(&self) -> Option<(u64, Slot)> {
        self.timers.first().copied()
    }
}

/// Returns the address to which Linux sends datagrams for `to`: loopback for the unspecified
/// address, to which the QUIC library would not connect.
fn reachable(to: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match to {
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
    };
    if to.ip().is_unspecified() { SocketAddr::new(loopback, to.port()) } else { to }
}

/// Returns the transport configuration of connections over a family. What it does not set is as
/// RFC 9000 and RFC 9002 recommend: an acknowledgement of every second packet, an initial window of
/// 10 packets, CUBIC, pacing. Fewer acknowledgements made Caddy send in smaller pieces, which cost
/// the client more than it saved; the window and the pacing never limited a request of one packet.
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

/// Returns the final state of a connection.
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
    use quinn_proto::{DatagramEvent, Dir, ServerConfig, WriteError};
    use rustls::RootCertStore;
    use rustls::pki_types::PrivatePkcs8KeyDer;

    use super::*;

    const NAME: &str = "localhost";

    /// One side: its endpoint, and its connection if there is one.
    struct QuicSide {
        endpoint: Endpoint,
        connection: Option<(ConnectionHandle, Connection)>,
        address: SocketAddr,
    }

    impl QuicSide {
        /// Sends everything that is ready. Returns true if there was something.
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

        /// Returns how many bytes it may send on each of the new unidirectional streams while the
        /// peer does not read.
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
    fn flow_control_windows_limit_what_a_server_sends_unread() {
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
