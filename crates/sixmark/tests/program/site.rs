//! A web site that remembers all it was asked for, over whatever carries HTTP.

mod desk;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{Receiver, Sender, channel};

use h3::server::RequestResolver;
use http_body_util::BodyExt as _;
use hyper::body::{Buf as _, Bytes};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{HeaderMap, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, Incoming};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use sixmark_testkit::DEADLINE;
use sixmark_units::family::Family;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use desk::Desk;

/// What carries the exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Http1,
    Https1,
    Plain2,
    Https2,
    Http3,
}

impl Over {
    pub(crate) const ALL: [Over; 5] =
        [Over::Http1, Over::Https1, Over::Plain2, Over::Https2, Over::Http3];

    pub(crate) fn is_secure(self) -> bool {
        matches!(self, Over::Https1 | Over::Https2 | Over::Http3)
    }

    pub(crate) fn has_streams(self) -> bool {
        matches!(self, Over::Plain2 | Over::Https2 | Over::Http3)
    }

    /// What it agrees on by ALPN, the preferred one first.
    fn alpn(self) -> &'static [&'static [u8]] {
        match self {
            Over::Http1 | Over::Https1 => &[b"http/1.1"],
            Over::Plain2 | Over::Https2 => &[b"h2"],
            // The second one is HTTP as well, but not this one.
            Over::Http3 => &[b"hq-interop", b"h3"],
        }
    }

    /// What `sixmark run` has to be told of it.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            Over::Http1 => &[],
            Over::Https1 => &["--insecure"],
            Over::Plain2 => &["--http2-prior-knowledge", "--streams", "3"],
            Over::Https2 => &["--insecure", "--http2", "--streams", "3"],
            Over::Http3 => &["--insecure", "--http3", "--streams", "3"],
        }
    }
}

/// A request as the site saw it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) family: Family,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) head: HeaderMap,
    pub(crate) body: String,
}

impl Asked {
    /// A field of the head, in ASCII.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.get(name).map(|value| value.to_str().unwrap())
    }
}

/// The site, on loopback of both families. It ends when dropped.
pub(crate) struct Site {
    over: Over,
    addresses: [SocketAddr; 2],
    asked: Receiver<Asked>,
    _end: oneshot::Sender<()>,
}

impl Site {
    /// One over HTTP/3 that takes no connections, and says so.
    pub(crate) fn full() -> Site {
        Site::with(Over::Http3, true)
    }

    pub(crate) fn start(over: Over) -> Site {
        Site::with(over, false)
    }

    fn with(over: Over, full: bool) -> Site {
        let (sender, asked) = channel();
        let (tell, told) = channel();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                tell.send(listen(over, full, &sender).await).unwrap();
                let _: Result<(), _> = ended.await;
            });
        });
        Site { over, addresses: told.recv().unwrap(), asked, _end: end }
    }

    /// The URLs of `path`, IPv6 first.
    pub(crate) fn urls(&self, path: &str) -> [String; 2] {
        let scheme = if self.over.is_secure() { "https" } else { "http" };
        self.addresses.map(|address| format!("{scheme}://{address}{path}"))
    }

    /// The requests seen and not yet taken; all of them once their client has ended.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.try_iter().collect()
    }

    /// Waits for that many requests.
    pub(crate) fn next(&self, count: usize) -> Vec<Asked> {
        (0..count).map(|_| self.asked.recv_timeout(DEADLINE).unwrap()).collect()
    }
}

async fn listen(over: Over, full: bool, asked: &Sender<Asked>) -> [SocketAddr; 2] {
    let tls = Arc::new(config(over));
    let visitors = Arc::new(AtomicU32::new(0));
    let mut addresses = Vec::new();
    for own in [IpAddr::from(Ipv6Addr::LOCALHOST), IpAddr::from(Ipv4Addr::LOCALHOST)] {
        let desk =
            Desk { family: Family::of(own), asked: asked.clone(), visitors: visitors.clone() };
        addresses.push(match over {
            Over::Http3 => listen_over_quic(own, tls.clone(), (!full).then_some(desk)),
            _ => listen_over_tcp(own, over, tls.clone(), desk).await,
        });
    }
    [addresses[0], addresses[1]]
}

async fn listen_over_tcp(
    own: IpAddr,
    over: Over,
    tls: Arc<ServerConfig>,
    desk: Desk,
) -> SocketAddr {
    let listener = TcpListener::bind((own, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let tls = TlsAcceptor::from(tls);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, over, tls.clone(), desk.clone()));
        }
    });
    address
}

fn listen_over_quic(own: IpAddr, tls: Arc<ServerConfig>, desk: Option<Desk>) -> SocketAddr {
    let endpoint = endpoint(own, tls);
    let address = endpoint.local_addr().unwrap();
    tokio::spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            match &desk {
                Some(desk) => drop(tokio::spawn(speak_http3(incoming, desk.clone()))),
                None => incoming.refuse(),
            }
        }
    });
    address
}

fn endpoint(own: IpAddr, tls: Arc<ServerConfig>) -> Endpoint {
    let crypto = QuicServerConfig::try_from(tls).unwrap();
    let config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    Endpoint::server(config, (own, 0).into()).unwrap()
}

fn config(over: Over) -> ServerConfig {
    let names = ["localhost", "::1", "127.0.0.1"].map(str::to_owned);
    let own = rcgen::generate_simple_self_signed(names).unwrap();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let provider = rustls::crypto::aws_lc_rs::default_provider().into();
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key.into())
        .unwrap();
    config.alpn_protocols = over.alpn().iter().map(|name| name.to_vec()).collect();
    config
}

async fn serve(stream: TcpStream, over: Over, tls: TlsAcceptor, desk: Desk) {
    stream.set_nodelay(true).unwrap();
    if over.is_secure() {
        if let Ok(stream) = tls.accept(stream).await {
            speak(stream, over, desk).await;
        }
    } else {
        speak(stream, over, desk).await
    }
}

/// Until the client goes away; its ways to do so are not errors here.
async fn speak<S>(stream: S, over: Over, desk: Desk)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = service_fn(move |request| {
        let desk = desk.clone();
        async move { desk.answer_to(request).await }
    });
    let io = TokioIo::new(stream);
    if over.has_streams() {
        drop(http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await)
    } else {
        drop(http1::Builder::new().serve_connection(io, service).await)
    }
}

/// The same over QUIC.
async fn speak_http3(incoming: Incoming, desk: Desk) -> Result<(), Gone> {
    let quic = h3_quinn::Connection::new(incoming.await?);
    let mut http = h3::server::Connection::<_, Bytes>::new(quic).await?;
    while let Some(request) = http.accept().await? {
        tokio::spawn(exchange(request, desk.clone()));
    }
    Ok(())
}

async fn exchange(
    request: RequestResolver<h3_quinn::Connection, Bytes>,
    desk: Desk,
) -> Result<(), Gone> {
    let (request, mut stream) = request.resolve_request().await?;
    let mut body = Vec::new();
    while let Some(piece) = stream.recv_data().await? {
        body.extend_from_slice(piece.chunk());
    }
    let (head, body) = desk.answer(request.into_parts().0, &body).into_parts();
    stream.send_response(Response::from_parts(head, ())).await?;
    stream.send_data(body.collect().await?.to_bytes()).await?;
    Ok(stream.finish().await?)
}

/// The client went away.
type Gone = Box<dyn std::error::Error + Send + Sync>;
