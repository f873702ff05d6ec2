//! The server of `/metrics` for Prometheus.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::{VitalsSample, prometheus};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use sixmark_sys::threads::no_thread;

/// The most ports to try until one is free at all addresses.
const ATTEMPTS: u32 = 16;
/// The backlog of a listening socket.
const BACKLOG: i32 = 128;
/// The most connections that are served at once. For another one, the oldest is closed: those who
/// send nothing, or slowly, keep nobody else out.
const MOST: usize = 64;
/// How long the head of a request may take to arrive, and how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(5);
/// How long a connection may last in all.
const CONNECTION: Duration = Duration::from_secs(60);

/// A server of the last sample, which runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    last: Last,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

type Last = Arc<Mutex<Option<VitalsSample>>>;

/// The data that responses need.
struct MetricsDesk {
    last: Last,
    names: Vec<String>,
    connections: Mutex<VecDeque<AbortHandle>>,
}

/// Returns the name of this host.
fn own_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned())
}

impl Server {
    /// Listens on each of these addresses, all with the same port if that is 0; `[::]` alone serves
    /// both families on one socket. Requests are answered if their host is one of `names`, an
    /// address, `localhost` or this host's own name. So a web page of another site can't read
    /// metrics by making its name resolve to this host (DNS rebinding).
    ///
    /// # Errors
    /// Returns an error if an address can't be listened on.
    pub fn start(at: &[SocketAddr], names: &[String]) -> io::Result<Server> {
        let listeners = bind_all(at)?;
        let first = listeners.first().ok_or(io::ErrorKind::InvalidInput)?;
        let address = first.local_addr()?;
        let (last, (stop, stopped)) = (Last::default(), oneshot::channel());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let desk = Arc::new(MetricsDesk {
            last: Arc::clone(&last),
            names: names.iter().cloned().chain(own_name()).collect(),
            connections: Mutex::default(),
        });
        let serve = move || {
            runtime.block_on(async {
                for listener in listeners {
                    drop(tokio::spawn(accept(listener, Arc::clone(&desk))));
                }
                let _ = stopped.await;
            });
        };
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(serve);
        let thread = thread.map_err(|error| no_thread(&error))?;
        Ok(Server { address, last, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the address on which it listens, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces the sample that is served.
    pub fn show(&self, sample: &VitalsSample) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Sockets may be read less often than the rest: their last reading stays.
        let known = last.as_ref().and_then(|last| last.network.sockets);
        let mut sample = sample.clone();
        sample.network.sockets = sample.network.sockets.or(known);
        *last = Some(sample);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The thread may have ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Opens listeners on all of these addresses. A port that is free at one address may be in use at
/// another, so several ports are tried.
fn bind_all(at: &[SocketAddr]) -> io::Result<Vec<TcpListener>> {
    let is_free_choice = at.iter().any(|address| address.port() == 0);
    for _ in 0..ATTEMPTS {
        match bind_once(at) {
            Err(error) if is_free_choice && error.kind() == io::ErrorKind::AddrInUse => {}
            done => return done,
        }
    }
    bind_once(at)
}

fn bind_once(at: &[SocketAddr]) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    for address in at {
        let first = listeners.first().map(TcpListener::local_addr).transpose()?;
        let port = first.filter(|_| address.port() == 0).map_or(address.port(), |at| at.port());
        listeners.push(bind_listener(SocketAddr::new(address.ip(), port), at.len() == 1)?);
    }
    Ok(listeners)
}

fn bind_listener(at: SocketAddr, alone: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, Some(Protocol::TCP))?;
    if at.is_ipv6() {
        socket.set_only_v6(!(alone && at.ip().is_unspecified()))?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&at.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

async fn accept(listener: TcpListener, desk: Arc<MetricsDesk>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        // The process may be out of descriptors; a later attempt may succeed.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let asked = Arc::clone(&desk);
        let service = service_fn(move |request| {
            let answer = asked.answer(&request);
            async move { Ok::<_, Infallible>(answer) }
        });
        let connection = tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // Errors here are the client's.
            let _ = timeout(CONNECTION, http.serve_connection(TokioIo::new(stream), service)).await;
        });
        desk.make_room_for(connection.abort_handle());
    }
}

impl MetricsDesk {
    /// Adds a connection, and closes the oldest one if there are too many.
    fn make_room_for(&self, connection: AbortHandle) {
        let mut all = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|connection| !connection.is_finished());
        if all.len() >= MOST
            && let Some(oldest) = all.pop_front()
        {
            oldest.abort();
        }
        all.push_back(connection);
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        if !host.is_none_or(|host| self.is_this(host)) {
            let line = "not this host; --prometheus-host NAME adds a name\n";
            return text_response(StatusCode::MISDIRECTED_REQUEST, line);
        }
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        match (is_read, request.uri().path()) {
            (true, "/metrics") => {
                let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                match last.as_ref() {
                    Some(sample) => respond(
                        StatusCode::OK,
                        prometheus::CONTENT_TYPE,
                        prometheus::prometheus_page(sample),
                    ),
                    None => text_response(StatusCode::SERVICE_UNAVAILABLE, "no sample yet\n"),
                }
            }
            (true, _) => text_response(StatusCode::NOT_FOUND, "see /metrics\n"),
            (false, _) => text_response(StatusCode::METHOD_NOT_ALLOWED, "GET /metrics\n"),
        }
    }

    /// Reports whether `host` is an address, which can't be the name of another site, or a name of
    /// this host.
    fn is_this(&self, host: &str) -> bool {
        let Ok(host) = host.parse::<Authority>() else { return false };
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        let is = |own: &str| own.eq_ignore_ascii_case(name);
        name.parse::<IpAddr>().is_ok() || is("localhost") || self.names.iter().any(|own| is(own))
    }
}

fn text_response(status: StatusCode, line: &str) -> Response<Full<Bytes>> {
    respond(status, "text/plain; charset=utf-8", line.to_owned())
}

fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;

    /// Those who open connections and send nothing, or a little, keep nobody else out.
    #[test]
    fn slow_clients_do_not_block_other_clients() {
        let server = Server::start(&["[::1]:0".parse().unwrap()], &[]).unwrap();
        let connect = || TcpStream::connect(server.address()).unwrap();
        let mut slow: Vec<TcpStream> = (0..2 * MOST + 20).map(|_| connect()).collect();
        for stream in slow.iter_mut().step_by(2) {
            // The server may have closed it by now.
            let _ = stream.write_all(b"GET /metrics HTT");
        }
        let mut answer = String::new();
        let mut asks = connect();
        asks.write_all(b"GET /metrics HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n")
            .unwrap();
        asks.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        // It did not wait until they had to be closed for being slow.
        let newest = slow.last_mut().unwrap();
        newest.set_nonblocking(true).unwrap();
        assert_eq!(newest.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
