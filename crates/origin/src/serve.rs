//! Accepts TCP connections and serves them.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::answer::answer;
use super::place::{Place, Session};
use super::preface;
use super::wire::{StoppableStream, Stream};

/// The pause after a failed accept: long enough not to spin while no descriptor is free, short
/// enough not to be noticed.
const PAUSE: Duration = Duration::from_millis(5);

/// Accepts connections until the runtime ends. No error is final: if descriptors (EMFILE, ENFILE)
/// or memory are exhausted, connections wait in the backlog.
pub(super) async fn accept(listener: TcpListener, place: Arc<Place>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let session = Arc::new(Session::new(peer, &place));
                drop(tokio::spawn(serve(stream, session)));
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, session: Arc<Session>) {
    // This is only an optimisation. It fails if the client has already reset the socket.
    let _ = stream.set_nodelay(true);
    // The less common cases are boxed, because a future is as large as its largest case.
    match &session.place.tls {
        Some(tls) => Box::pin(secure(stream, tls.clone(), session)).await,
        None => match preface::read_preface(&stream).await {
            Ok(first) if first.is_http2 => {
                Box::pin(http2(StoppableStream::new(stream, session.clone(), first.read), session))
                    .await;
            }
            Ok(first) => {
                http1(StoppableStream::new(stream, session.clone(), first.read), session).await
            }
            Err(_) => {}
        },
    }
}

/// Performs the TLS handshake and serves the negotiated protocol.
async fn secure(stream: TcpStream, tls: TlsAcceptor, session: Arc<Session>) {
    // An error here is the client's; it has received an alert.
    let Ok(stream) = tls.accept(stream).await else { return };
    let agreed = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let wire = StoppableStream::new(stream, session.clone(), Vec::new());
    if agreed { http2(wire, session).await } else { http1(wire, session).await }
}

async fn http1<S: Stream>(mut wire: StoppableStream<S>, session: Arc<Session>) {
    let service = service_fn(move |request| answer(request, Arc::clone(&session)));
    // hyper's `pipeline_flush` stays off: it delays a response while another request is buffered,
    // which would defeat the drip and reset paths. `half_close` stays off too: a FIN is the only
    // sign that the client of a stalled response has disconnected.
    let connection = http1::Builder::new()
        // Idle connections are kept open; a load generator may have ten thousand of them.
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(&mut wire), service);
    // An error here was caused by the client, or by a requested end of the connection.
    let _ = connection.await;
    wire.close().await;
}

async fn http2<S: Stream>(wire: StoppableStream<S>, session: Arc<Session>) {
    let mut wire = wire.abrupt();
    let each = Arc::clone(&session);
    let service = service_fn(move |request| answer(request, Arc::clone(&each)));
    let connection = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(session.place.limits.streams)
        .serve_connection(TokioIo::new(&mut wire), service);
    {
        let mut connection = pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => {}
            () = session.enough() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    }
    wire.close().await;
}
