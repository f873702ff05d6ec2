//! From a listening socket to connections that are being served.

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

/// Long enough not to spin while no descriptor is free, short enough to go unnoticed after.
const PAUSE: Duration = Duration::from_millis(5);

/// Accepts until the runtime ends. No error is final: out of descriptors (EMFILE, ENFILE) or of
/// memory, the connections wait in the backlog for a while.
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
    // The option is an optimisation; a socket already reset by its client refuses it.
    let _ = stream.set_nodelay(true);
    // The rarer ones are boxed: a connection takes the memory of the largest.
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

/// TLS, then what was agreed in its handshake.
async fn secure(stream: TcpStream, tls: TlsAcceptor, session: Arc<Session>) {
    // An error here is the client's; it has had its alert.
    let Ok(stream) = tls.accept(stream).await else { return };
    let agreed = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let wire = StoppableStream::new(stream, session.clone(), Vec::new());
    match agreed {
        true => http2(wire, session).await,
        false => http1(wire, session).await,
    }
}

async fn http1<S: Stream>(mut wire: StoppableStream<S>, session: Arc<Session>) {
    let service = service_fn(move |request| answer(request, Arc::clone(&session)));
    // hyper's pipeline_flush stays off: it holds a response back while another request is
    // buffered, so a drip would not drip and a reset would not come.
    // half_close stays off too: a FIN is all that tells that the client of a stall has left.
    let connection = http1::Builder::new()
        // An idle connection is kept: ten thousand of them are a test, not an attack.
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(&mut wire), service);
    // An error here is the client's failure or an ending that was asked for.
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
