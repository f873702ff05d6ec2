//! An HTTP client of the tests, independent of sixmark: one exchange over any version of HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use h3_quinn::quinn::crypto::rustls::QuicClientConfig;
use h3_quinn::quinn::{self, Endpoint};
use hyper::body::{Buf as _, Bytes};
use hyper::{HeaderMap, Request};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::DEADLINE;

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    Http3,
}

impl Protocol {
    /// All versions, the oldest first.
    pub const ALL: [Protocol; 3] = [Protocol::Http1, Protocol::Http2, Protocol::Http3];

    /// Returns the protocol's name in ALPN.
    pub fn alpn(self) -> &'static str {
        match self {
            Protocol::Http1 => "http/1.1",
            Protocol::Http2 => "h2",
            Protocol::Http3 => "h3",
        }
    }
}

/// A server's response.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The header fields.
    pub head: HeaderMap,
    /// The content that was received, which may be incomplete.
    pub body: Vec<u8>,
    /// The error with which the content ended, if it did not end regularly.
    pub fault: Option<String>,
}

impl Answer {
    /// Returns a header field. A field must be ASCII, and of repeated fields the first is returned.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.get(name).map(|value| value.to_str().unwrap())
    }
}

/// A request: method, path and content.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a>(pub &'a str, pub &'a str, pub &'a [u8]);

/// Performs one exchange on a new connection. With `authority` (PEM) it uses TLS, and the server's
/// certificate must be signed by that authority.
///
/// # Errors
/// Returns an error if there is no response.
pub fn ask(
    protocol: Protocol,
    address: SocketAddr,
    authority: Option<&str>,
    wish: Wish<'_>,
) -> Result<Answer, String> {
    together(async {
        match (protocol, authority) {
            (Protocol::Http1, None) => http1(tcp(address).await?, wish).await,
            (Protocol::Http1, Some(pem)) => http1(tls(address, pem, protocol).await?, wish).await,
            (Protocol::Http2, None) => Http2::over(tcp(address).await?).await?.ask(wish).await,
            (Protocol::Http2, Some(pem)) => {
                Http2::over(tls(address, pem, protocol).await?).await?.ask(wish).await
            }
            (Protocol::Http3, None) => Err("HTTP/3 is never in plain text".into()),
            (Protocol::Http3, Some(pem)) => Http3::to(address, pem).await?.ask(wish).await,
        }
    })
}

/// Runs a future to its end. Panics after a deadline that only a broken build reaches.
pub fn together<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limited = async { tokio::time::timeout(DEADLINE, future).await };
    runtime.block_on(limited).expect("it took too long")
}

/// Opens a connection in plain text.
///
/// # Errors
/// Returns the error of the kernel.
pub async fn tcp(address: SocketAddr) -> Result<TcpStream, String> {
    TcpStream::connect(address).await.map_err(told)
}

/// Opens a TLS connection that has negotiated this protocol, to a server whose certificate
/// `authority` (PEM) has signed.
///
/// # Errors
/// Returns the error of the kernel or of TLS, or the protocol that was negotiated instead.
pub async fn tls(
    address: SocketAddr,
    authority: &str,
    protocol: Protocol,
) -> Result<TlsStream<TcpStream>, String> {
    let connector = TlsConnector::from(Arc::new(trusting(authority, protocol)));
    let name = ServerName::from(address.ip());
    let stream = connector.connect(name, tcp(address).await?).await.map_err(told)?;
    let agreed = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
    let wanted = protocol.alpn();
    if agreed.as_deref() == Some(wanted.as_bytes()) {
        Ok(stream)
    } else {
        Err(format!("no {wanted}: {agreed:?}"))
    }
}

fn trusting(authority: &str, protocol: Protocol) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.alpn().into()];
    config
}

async fn http1<S>(mut stream: S, Wish(method, path, content): Wish<'_>) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let length = content.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), content].concat()).await.map_err(told)?;
    let mut all = Vec::new();
    let fault = stream.read_to_end(&mut all).await.err().map(told);
    let Some(end) = all.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Err(fault.unwrap_or_else(|| "no head".into()));
    };
    let text = String::from_utf8_lossy(&all[..end]).into_owned();
    let mut lines = text.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let fields = lines.map(|line| line.split_once(": ").unwrap());
    let fields = fields.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    let body = all.split_off(end + 4);
    Ok(Answer { status, head: HeaderMap::from_iter(fields), body, fault })
}

fn request(Wish(method, path, _): Wish<'_>) -> Request<()> {
    Request::builder().method(method).uri(format!("https://localhost{path}")).body(()).unwrap()
}

/// An HTTP/2 connection.
pub struct Http2 {
    send: h2::client::SendRequest<Bytes>,
    /// The task of the connection, which returns how it ends.
    pub connection: tokio::task::JoinHandle<Result<(), h2::Error>>,
}

impl Http2 {
    /// Opens a connection over a stream that has negotiated HTTP/2.
    ///
    /// # Errors
    /// Returns the error of the library.
    pub async fn over<S>(stream: S) -> Result<Http2, String>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (send, connection) = h2::client::handshake(stream).await.map_err(told)?;
        Ok(Http2 { send, connection: tokio::spawn(connection) })
    }

    /// Returns the number of concurrent streams that the server allows, once it has announced it.
    pub fn streams(&self) -> usize {
        self.send.current_max_send_streams()
    }

    /// Performs one exchange.
    ///
    /// # Errors
    /// Returns the error of the library if there is no response.
    pub async fn ask(&self, wish: Wish<'_>) -> Result<Answer, String> {
        let mut send = self.send.clone().ready().await.map_err(told)?;
        let (answer, mut upload) =
            send.send_request(request(wish), wish.2.is_empty()).map_err(told)?;
        if !wish.2.is_empty() {
            upload.send_data(Bytes::copy_from_slice(wish.2), true).map_err(told)?;
        }
        let (parts, mut content) = answer.await.map_err(told)?.into_parts();
        let (mut body, mut fault) = (Vec::new(), None);
        while let Some(piece) = content.data().await {
            match piece {
                Ok(piece) => {
                    content.flow_control().release_capacity(piece.len()).unwrap();
                    body.extend_from_slice(&piece);
                }
                Err(error) => {
                    fault = Some(told(error));
                    break;
                }
            }
        }
        Ok(Answer { status: parts.status.as_u16(), head: parts.headers, body, fault })
    }
}

/// An HTTP/3 connection.
pub struct Http3 {
    send: h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>,
    /// The QUIC connection.
    pub quic: quinn::Connection,
    /// Kept because the connection needs it.
    _endpoint: Endpoint,
}

impl Http3 {
    /// Connects to a server whose certificate `authority` (PEM) has signed.
    ///
    /// # Errors
    /// Returns the error of the library.
    pub async fn to(address: SocketAddr, authority: &str) -> Result<Http3, String> {
        let own = if address.is_ipv6() { "[::1]:0" } else { "127.0.0.1:0" };
        let endpoint = Endpoint::client(own.parse().unwrap()).map_err(told)?;
        let tls = QuicClientConfig::try_from(trusting(authority, Protocol::Http3)).unwrap();
        let config = quinn::ClientConfig::new(Arc::new(tls));
        let name = address.ip().to_string();
        let quic =
            endpoint.connect_with(config, address, &name).map_err(told)?.await.map_err(told)?;
        let (mut driver, send) =
            h3::client::new(h3_quinn::Connection::new(quic.clone())).await.map_err(told)?;
        tokio::spawn(async move { std::future::poll_fn(|cx| driver.poll_close(cx)).await });
        Ok(Http3 { send, quic, _endpoint: endpoint })
    }

    /// Performs one exchange.
    ///
    /// # Errors
    /// Returns the error of the library if there is no response.
    pub async fn ask(&self, wish: Wish<'_>) -> Result<Answer, String> {
        let mut stream = self.send.clone().send_request(request(wish)).await.map_err(told)?;
        if !wish.2.is_empty() {
            stream.send_data(Bytes::copy_from_slice(wish.2)).await.map_err(told)?;
        }
        stream.finish().await.map_err(told)?;
        let (parts, ()) = stream.recv_response().await.map_err(told)?.into_parts();
        let (mut body, mut fault) = (Vec::new(), None);
        loop {
            match stream.recv_data().await {
                Ok(Some(mut piece)) => {
                    body.extend_from_slice(&piece.copy_to_bytes(piece.remaining()));
                }
                Ok(None) => break,
                Err(error) => {
                    fault = Some(told(error));
                    break;
                }
            }
        }
        Ok(Answer { status: parts.status.as_u16(), head: parts.headers, body, fault })
    }

    /// Sends content to `path` without end, after the response too, until the server stops it.
    /// Returns the error of the library, which names the code.
    ///
    /// # Errors
    /// Returns the error of the library if there is no response.
    pub async fn upload_until_stopped(&self, path: &str) -> Result<String, String> {
        let wish = Wish("POST", path, b"");
        let mut stream = self.send.clone().send_request(request(wish)).await.map_err(told)?;
        stream.recv_response().await.map_err(told)?;
        loop {
            if let Err(error) = stream.send_data(Bytes::from_static(&[0; 1_000])).await {
                return Ok(told(error));
            }
        }
    }
}

fn told(error: impl ToString) -> String {
    error.to_string()
}
