//! One fetch from one address: a new connection, a request and its response.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use sha2::{Digest as _, Sha256};
use sixmark_http::http1::request::{Manner, encode_request};
use sixmark_http::http1::{KnownHead, RequestKind, ResponseReader};
use sixmark_http::http2::{Connection, Http2Request, Options, Parts};
use sixmark_http::url::{Scheme, Url};
use sixmark_sys::path::{read_handshake, read_path};
use sixmark_units::tcp_info::TcpHandshake;
use sixmark_wire::x509;
use socket2::{Domain, Protocol, Socket, Type};

use super::collected::{CollectedResponse, MOST_CONTENT, hex};
use super::trust::{NotingVerifier, TrustedRoots};
use crate::path_probe::{LARGE_REQUEST_BYTES, ProbeKind, SMALL_SEGMENT_BYTES};
use crate::site_fetch::{FetchEnd, FetchPhase, FetchTcp, FetchTls, SiteFetch};

/// How long a connection may take to be established. A SYN that is lost is sent again after 1 s.
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// How long nothing may arrive.
const SILENCE_LIMIT: Duration = Duration::from_secs(4);
/// How long a fetch may take from the established connection on.
const FETCH_LIMIT: Duration = Duration::from_secs(8);
/// The bytes of one read.
const PIECE: usize = 16 << 10;

/// What is fetched.
pub(super) struct FetchedUrl<'a> {
    pub(super) url: &'a Url,
    /// GET or HEAD.
    pub(super) method: &'a str,
    /// The fields that the user adds to requests.
    pub(super) headers: &'a [(String, String)],
    pub(super) roots: &'a TrustedRoots,
    /// What is different about it, if it is a probe.
    pub(super) probe: Option<ProbeKind>,
    /// True to wait as long as a fetch may take: a slow server is not a silent one.
    pub(super) waits_longer: bool,
}

impl FetchedUrl<'_> {
    /// Returns a connection that is established in time.
    fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
        if self.probe.is_some_and(ProbeKind::has_small_segments) {
            socket.set_tcp_mss(SMALL_SEGMENT_BYTES)?;
        }
        socket.connect_timeout(&to.into(), CONNECT_LIMIT)?;
        Ok(socket.into())
    }

    /// Returns the fields that are added to the request.
    fn own_fields(&self, is_refused: bool) -> Vec<(String, String)> {
        // Whoever presents a certificate that is not accepted gets nothing of the user's.
        let mut fields = if is_refused { Vec::new() } else { self.headers.to_vec() };
        if self.probe.is_some_and(ProbeKind::is_large) {
            // HPACK's code has eight bits for this character (RFC 7541, Appendix B).
            fields.push(("X-Sixmark-Padding".to_owned(), "X".repeat(LARGE_REQUEST_BYTES)));
        }
        fields
    }
}

/// A fetch, and the beginning of its content.
pub(super) struct FetchedSite {
    pub(super) fetch: SiteFetch,
    pub(super) searched: Vec<u8>,
}

/// A socket whose every read and write ends in time, also those that TLS makes by itself.
struct TimedSocket {
    socket: TcpStream,
    until: Instant,
    /// How long nothing may arrive.
    silence: Duration,
}

impl TimedSocket {
    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now()).min(self.silence);
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for TimedSocket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(Some(self.left()?))?;
        self.socket.read(bytes)
    }
}

impl Write for TimedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(Some(self.left()?))?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// A connection that carries HTTP.
enum Carried {
    Plain(TimedSocket),
    Secure(Box<StreamOwned<ClientConnection, TimedSocket>>),
}

impl Carried {
    fn socket(&self) -> &TcpStream {
        match self {
            Carried::Plain(timed) => &timed.socket,
            Carried::Secure(stream) => &stream.sock.socket,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Carried::Plain(socket) => socket.write_all(bytes),
            Carried::Secure(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Carried::Plain(socket) => socket.read(piece),
            Carried::Secure(stream) => stream.read(piece),
        };
        match read {
            // Servers often close without the alert that TLS asks for.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }
}

/// Fetches a URL from an address. It always returns within 3 s + 8 s.
pub(super) fn fetch(what: &FetchedUrl<'_>, to: SocketAddr) -> FetchedSite {
    let mut fetch = SiteFetch::default();
    let mut collected = CollectedResponse::default();
    let begin = Instant::now();
    if let Err(failed) = try_fetch(what, to, &mut fetch, &mut collected) {
        fetch.end = failed.end;
        fetch.why = Some(failed.why);
    }
    if fetch.end == FetchEnd::TimedOut
        && collected.content_bytes > 0
        && begin.elapsed() >= FETCH_LIMIT
    {
        fetch.end = FetchEnd::TooSlow;
        fetch.why =
            Some(format!("the content was still arriving after {} s", FETCH_LIMIT.as_secs()));
    }
    fetch.content_bytes = collected.content_bytes;
    fetch.location = collected.location.take();
    fetch.is_rate_limited =
        fetch.status == Some(429) || fetch.status == Some(503) && collected.asks_to_wait;
    if fetch.is_complete() {
        fetch.content_sha256 = Some(collected.content_sha256());
    }
    fetch.fields = std::mem::take(&mut collected.fields);
    FetchedSite { fetch, searched: collected.searched }
}

/// Why a fetch failed.
struct FailedFetch {
    end: FetchEnd,
    why: String,
}

impl FailedFetch {
    fn new(end: FetchEnd, why: impl Into<String>) -> FailedFetch {
        FailedFetch { end, why: why.into() }
    }
}

impl From<io::Error> for FailedFetch {
    fn from(error: io::Error) -> FailedFetch {
        let end = match error.kind() {
            ErrorKind::ConnectionRefused => FetchEnd::Refused,
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
                FetchEnd::Reset
            }
            ErrorKind::TimedOut | ErrorKind::WouldBlock => FetchEnd::TimedOut,
            ErrorKind::InvalidData => FetchEnd::Tls,
            ErrorKind::UnexpectedEof => FetchEnd::Closed,
            _ => FetchEnd::Unreachable,
        };
        let text = error.to_string();
        let text = text.split(" (os error").next().unwrap_or(&text).to_owned();
        let why =
            if end == FetchEnd::TimedOut { "nothing arrived in time".to_owned() } else { text };
        FailedFetch { end, why }
    }
}

fn try_fetch(
    what: &FetchedUrl<'_>,
    to: SocketAddr,
    fetch: &mut SiteFetch,
    collected: &mut CollectedResponse,
) -> Result<(), FailedFetch> {
    let begin = Instant::now();
    let connected = what.connect(to);
    fetch.connect_us = micros(begin);
    let socket = connected?;
    fetch.reached = FetchPhase::Tls;
    if let TcpHandshake::Took(nanos) = read_handshake(&socket) {
        fetch.round_trip_us = Some(nanos as f64 / 1e3);
    }
    socket.set_nodelay(true)?;
    let silence = if what.waits_longer { FETCH_LIMIT } else { SILENCE_LIMIT };
    let socket = TimedSocket { socket, until: Instant::now() + FETCH_LIMIT, silence };
    let mut carried = match what.url.scheme {
        Scheme::Http => Carried::Plain(socket),
        Scheme::Https => secure(what, socket, fetch)?,
    };
    let headers = &what.own_fields(fetch.tls.as_ref().is_some_and(|tls| tls.refused.is_some()));
    let what = &FetchedUrl { headers, ..*what };
    fetch.reached = FetchPhase::Wait;
    let is_http2 = fetch.tls.as_ref().is_some_and(|tls| tls.alpn.as_deref() == Some("h2"));
    let exchanged = if is_http2 {
        exchange_http2(what, &mut carried, fetch, collected)
    } else {
        exchange_http1(what, &mut carried, fetch, collected)
    };
    fetch.tcp = read_tcp(carried.socket());
    exchanged?;
    fetch.end = FetchEnd::Complete;
    Ok(())
}

pub(super) fn micros(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}

fn read_tcp(socket: &TcpStream) -> Option<FetchTcp> {
    let info = read_path(socket)?;
    let options = info.options?;
    Some(FetchTcp {
        mss: info.mss,
        // Probes of what had arrived are no losses.
        retransmitted: info.retransmitted.saturating_sub(info.duplicates.unwrap_or(0)),
        timestamps: options.timestamps,
        sack: options.sack,
        window_scaling: options.window_scaling,
        ecn: options.ecn,
        ecn_seen: options.ecn_seen,
    })
}

fn secure(
    what: &FetchedUrl<'_>,
    mut socket: TimedSocket,
    fetch: &mut SiteFetch,
) -> Result<Carried, FailedFetch> {
    let failed = |why: String| FailedFetch::new(FetchEnd::Tls, why);
    let name =
        ServerName::try_from(what.url.server_name()).map_err(|error| failed(error.to_string()))?;
    let (config, noting) = what
        .roots
        .config(&["h2", "http/1.1"], what.probe == Some(ProbeKind::SmallHello))
        .map_err(|error| failed(error.to_string()))?;
    let mut client =
        ClientConnection::new(config, name).map_err(|error| failed(error.to_string()))?;
    // What this program prepares is no part of the handshake.
    let begin = Instant::now();
    while client.is_handshaking() {
        client.complete_io(&mut socket)?;
    }
    fetch.tls_us = micros(begin);
    fetch.tls = Some(facts_of(&client, &noting));
    Ok(Carried::Secure(Box::new(StreamOwned::new(client, socket))))
}

fn facts_of(client: &ClientConnection, noting: &Arc<NotingVerifier>) -> FetchTls {
    let certificate = client.peer_certificates().and_then(|chain| chain.first());
    let suite = client.negotiated_cipher_suite();
    FetchTls {
        version: match client.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3".to_owned(),
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2".to_owned(),
            other => format!("{other:?}"),
        },
        cipher: suite.map_or_else(String::new, |suite| {
            suite.suite().as_str().unwrap_or_default().to_owned()
        }),
        group: client.negotiated_key_exchange_group().map(|group| format!("{:?}", group.name())),
        alpn: client.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned()),
        certificate_sha256: certificate.map_or_else(String::new, |der| hex(&Sha256::digest(der))),
        not_after: certificate.and_then(|der| x509::not_after(der)).map(x509::rfc3339),
        refused: noting.refused(),
    }
}

fn exchange_http1(
    what: &FetchedUrl<'_>,
    carried: &mut Carried,
    fetch: &mut SiteFetch,
    collected: &mut CollectedResponse,
) -> Result<(), FailedFetch> {
    let (method, url) = (what.method, what.url);
    let request =
        encode_request(method, &url.path, &url.authority(), what.headers, None, Manner::from(true));
    let kind = if method == "HEAD" { RequestKind::Head } else { RequestKind::Ordinary };
    let mut reader = ResponseReader::new();
    reader.begin(kind);
    let sending = Instant::now();
    carried.write(&request)?;
    fetch.send_us = micros(sending);
    let mut clock = ResponseClock::begin();
    let mut piece = vec![0; PIECE];
    loop {
        let length = carried.read(&mut piece)?;
        let complete = if length == 0 {
            let early = |_| FailedFetch::new(FetchEnd::Closed, "the connection ended early");
            Some(reader.finish().map_err(early)?)
        } else {
            clock.note(fetch);
            let violation = |error: sixmark_http::http1::Http1Violation| {
                FailedFetch::new(FetchEnd::Protocol, error.to_string())
            };
            let known = &mut KnownHead::default();
            reader.feed_seeing(&piece[..length], known, collected).map_err(violation)?.complete
        };
        if let Some(complete) = complete {
            clock.end(fetch);
            fetch.status = Some(complete.status);
            fetch.protocol = Some("HTTP/1.1".to_owned());
            return Ok(());
        }
        check_length(collected)?;
    }
}

fn exchange_http2(
    what: &FetchedUrl<'_>,
    carried: &mut Carried,
    fetch: &mut SiteFetch,
    collected: &mut CollectedResponse,
) -> Result<(), FailedFetch> {
    let authority = what.url.authority();
    let parts = Parts {
        method: what.method,
        scheme: "https",
        authority: &authority,
        path: &what.url.path,
        headers: what.headers,
    };
    let protocol = |why: String| FailedFetch::new(FetchEnd::Protocol, why);
    let request = Http2Request::new(&parts, None, true).map_err(protocol)?;
    let mut connection = Connection::new(&Options::default());
    if !connection.begin(0, &request) {
        return Err(protocol("no stream may begin".to_owned()));
    }
    let sending = Instant::now();
    carried.write(&std::mem::take(connection.output()))?;
    fetch.send_us = micros(sending);
    let mut clock = ResponseClock::begin();
    let mut piece = vec![0; PIECE];
    loop {
        let length = carried.read(&mut piece)?;
        if length == 0 {
            return Err(FailedFetch::new(FetchEnd::Closed, "the connection ended early"));
        }
        connection
            .feed(&piece[..length], collected)
            .map_err(|violation| protocol(violation.to_string()))?;
        if collected.has_begun {
            clock.note(fetch);
        }
        if let Some(why) = collected.lost.take() {
            return Err(FailedFetch::new(FetchEnd::Reset, why));
        }
        if let Some(status) = collected.status {
            clock.end(fetch);
            fetch.status = Some(status);
            fetch.protocol = Some("HTTP/2".to_owned());
            return Ok(());
        }
        check_length(collected)?;
        let answers = std::mem::take(connection.output());
        if !answers.is_empty() {
            carried.write(&answers)?;
        }
    }
}

fn check_length(collected: &CollectedResponse) -> Result<(), FailedFetch> {
    if collected.content_bytes <= MOST_CONTENT {
        return Ok(());
    }
    let most = MOST_CONTENT >> 20;
    Err(FailedFetch::new(FetchEnd::TooLong, format!("the content is longer than {most} MiB")))
}

/// When a response began and ended.
pub(super) struct ResponseClock {
    sent: Instant,
    first: Option<Instant>,
}

impl ResponseClock {
    pub(super) fn begin() -> ResponseClock {
        ResponseClock { sent: Instant::now(), first: None }
    }

    /// Notes that a part of the response arrived.
    pub(super) fn note(&mut self, fetch: &mut SiteFetch) {
        if self.first.is_none() {
            let now = Instant::now();
            self.first = Some(now);
            fetch.wait_us = (now - self.sent).as_secs_f64() * 1e6;
            fetch.reached = FetchPhase::Transfer;
        }
    }

    pub(super) fn end(&mut self, fetch: &mut SiteFetch) {
        self.note(fetch);
        fetch.transfer_us = self.first.map_or(0.0, micros);
    }
}
