//! `/metrics` for Prometheus.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use sixmark_core::vitals::{Sample, prometheus};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::oneshot;

/// Connections that may wait.
const BACKLOG: i32 = 128;

/// Serves the last sample until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    last: Last,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

type Last = Arc<Mutex<Option<Sample>>>;

impl Server {
    /// Listens; at `[::]` for both families on one socket.
    ///
    /// # Errors
    /// The address can't be had.
    pub fn start(at: SocketAddr) -> io::Result<Server> {
        let listener = bind(at)?;
        let address = listener.local_addr()?;
        let (last, (stop, stopped)) = (Last::default(), oneshot::channel());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shown = Arc::clone(&last);
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = accept(listener, shown) => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(serve)?;
        Ok(Server { address, last, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts a sample in the place of the last one.
    pub fn show(&self, sample: &Sample) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Sockets may be read less often: the last reading stays.
        let known = last.as_ref().and_then(|last| last.network.sockets);
        let mut sample = sample.clone();
        sample.network.sockets = sample.network.sockets.or(known);
        *last = Some(sample);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn bind(at: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, Some(Protocol::TCP))?;
    if at.is_ipv6() {
        socket.set_only_v6(!at.ip().is_unspecified())?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&at.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

async fn accept(listener: TcpListener, last: Last) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        // Out of descriptors, say: the next one may have more luck.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            continue;
        };
        let last = Arc::clone(&last);
        let service = service_fn(move |request| {
            let answer = answer(&request, &last);
            async move { Ok::<_, Infallible>(answer) }
        });
        drop(tokio::spawn(async move {
            // What goes wrong here is the client's.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        }));
    }
}

fn answer(request: &Request<Incoming>, last: &Last) -> Response<Full<Bytes>> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    match (is_read, request.uri().path()) {
        (true, "/metrics") => {
            let last = last.lock().unwrap_or_else(PoisonError::into_inner);
            match last.as_ref() {
                Some(sample) => {
                    respond(StatusCode::OK, prometheus::CONTENT_TYPE, prometheus::page(sample))
                }
                None => text(StatusCode::SERVICE_UNAVAILABLE, "no sample yet\n"),
            }
        }
        (true, _) => text(StatusCode::NOT_FOUND, "see /metrics\n"),
        (false, _) => text(StatusCode::METHOD_NOT_ALLOWED, "GET /metrics\n"),
    }
}

fn text(status: StatusCode, line: &str) -> Response<Full<Bytes>> {
    respond(status, "text/plain; charset=utf-8", line.to_owned())
}

fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}
