//! Starts the tasks that serve, from the options.

use std::io;
use std::net::{TcpListener, UdpSocket};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use quinn::crypto::rustls::QuicServerConfig;
use quinn::{
    Endpoint, EndpointConfig, IdleTimeout, ServerConfig, TokioRuntime, TransportConfig, VarInt,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::pause::Pauses;
use super::place::Place;
use super::queue::Queue;
use super::{Identity, Options, http3, listen, serve};
use sixmark_sys::threads;

/// The number of attempts to find a port that is free for both TCP and UDP, if the kernel chooses
/// the port.
const TRIES: u32 = 20;

/// The idle timeout of QUIC connections, in milliseconds. It is long, so that the client's timeout
/// ends a stalled exchange.
const IDLE: VarInt = VarInt::from_u32(3_600_000);

/// How long to wait for QUIC clients to be informed of the end.
const FAREWELL: Duration = Duration::from_millis(100);

/// The bound sockets, not served yet. The UDP sockets, if any, are in the same order as the TCP
/// sockets.
pub(super) struct Sockets {
    pub(super) tcp: Vec<TcpListener>,
    udp: Vec<UdpSocket>,
}

/// Binds all sockets, or none if one fails.
pub(super) fn bind_sockets(options: &Options) -> io::Result<Sockets> {
    if !options.http3 {
        return Ok(Sockets { tcp: listen::bind_all(&options.listen)?, udp: Vec::new() });
    }
    let chosen = options.listen.iter().all(|address| address.port() != 0);
    let mut left = if chosen { 1 } else { TRIES };
    loop {
        left -= 1;
        let tcp = listen::bind_all(&options.listen)?;
        match listen::bind_all_udp(&tcp) {
            Ok(udp) => return Ok(Sockets { tcp, udp }),
            Err(error) if left == 0 => return Err(error),
            Err(_) => {}
        }
    }
}

/// The running server: a runtime with all its tasks.
pub(super) struct Running {
    runtime: Runtime,
    endpoints: Vec<Endpoint>,
}

impl Running {
    pub(super) fn start(sockets: Sockets, options: &Options) -> io::Result<Running> {
        let available = || thread::available_parallelism().map_or(1, NonZero::get);
        let workers = if options.threads > 0 { options.threads } else { available() };
        threads::demand(workers)?;
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(workers);
        let runtime = builder.thread_name("origin-worker").enable_all().build()?;
        let endpoints = {
            let _context = runtime.enter();
            open_endpoints(sockets, options)?
        };
        Ok(Running { runtime, endpoints })
    }

    /// Serves until the sender signals the end or is dropped.
    pub(super) fn until(self, stopped: oneshot::Receiver<()>) {
        let _ = self.runtime.block_on(stopped);
        self.runtime.block_on(async {
            for endpoint in &self.endpoints {
                endpoint.close(http3::no_error(), b"");
                let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
            }
        });
    }
}

/// Starts the tasks that accept connections. Must be called inside a runtime.
fn open_endpoints(sockets: Sockets, options: &Options) -> io::Result<Vec<Endpoint>> {
    let places = places(options, sockets.tcp.len())?;
    for (listener, place) in sockets.tcp.into_iter().zip(&places) {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        drop(tokio::spawn(serve::accept(listener, Arc::clone(place))));
    }
    let mut endpoints = Vec::new();
    for (socket, place) in sockets.udp.into_iter().zip(&places) {
        let endpoint = endpoint(socket, options)?;
        drop(tokio::spawn(http3::accept(endpoint.clone(), Arc::clone(place))));
        endpoints.push(endpoint);
    }
    Ok(endpoints)
}

fn places(options: &Options, count: usize) -> io::Result<Vec<Arc<Place>>> {
    let pauses = Pauses::start(options.pause);
    let tls = match &options.identity {
        Some(identity) => Some(acceptor(identity).map_err(io::Error::other)?),
        None => None,
    };
    let place = || {
        Arc::new(Place { pauses, queue: Queue::new(), limits: options.limits, tls: tls.clone() })
    };
    Ok((0..count).map(|_| place()).collect())
}

fn acceptor(identity: &Identity) -> Result<TlsAcceptor, rustls::Error> {
    Ok(TlsAcceptor::from(Arc::new(identity.server(&[b"h2", b"http/1.1"])?)))
}

fn endpoint(socket: UdpSocket, options: &Options) -> io::Result<Endpoint> {
    let Some(identity) = &options.identity else {
        return Err(io::Error::other("HTTP/3 needs a certificate"));
    };
    let tls = identity.server(&[b"h3"]).map_err(io::Error::other)?;
    let quic = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let mut server = ServerConfig::with_crypto(Arc::new(quic));
    server.transport_config(Arc::new(transport(options.limits.streams)));
    Endpoint::new(EndpointConfig::default(), Some(server), socket, Arc::new(TokioRuntime))
}

fn transport(streams: u32) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.max_concurrent_bidi_streams(streams.into());
    transport.max_idle_timeout(Some(IdleTimeout::from(IDLE)));
    transport
}
