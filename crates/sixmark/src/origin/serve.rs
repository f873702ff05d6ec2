//! From a listening socket to connections that are being served.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::answer::answer;
use super::pause::Pauses;
use super::queue::Queue;
use super::wire::{Session, Wire};

/// Long enough not to spin while no descriptor is free, short enough to go unnoticed after.
const PAUSE: Duration = Duration::from_millis(5);

/// Accepts until the runtime ends. No error is final: out of descriptors (EMFILE, ENFILE) or of
/// memory, the connections wait in the backlog for a while.
pub(super) async fn accept(listener: TcpListener, pauses: Pauses) {
    let queue = Arc::new(Queue::new());
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                drop(tokio::spawn(serve(stream, peer, pauses, Arc::clone(&queue))))
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, peer: SocketAddr, pauses: Pauses, queue: Arc<Queue>) {
    // The option is an optimisation; a socket already reset by its client refuses it.
    let _ = stream.set_nodelay(true);
    let session = Arc::new(Session::new(peer, pauses, queue));
    let wire = Wire::new(stream, Arc::clone(&session));
    let service = service_fn(move |request| answer(request, Arc::clone(&session)));
    // hyper's pipeline_flush stays off: it holds a response back while another request is
    // buffered, so a drip would not drip and a reset would not come.
    // half_close stays off too: a FIN is all that tells that the client of a stall has left.
    let mut connection = http1::Builder::new()
        // An idle connection is kept: ten thousand of them are a test, not an attack.
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(wire), service);
    // An error here is the client's failure or an ending that was asked for.
    let _ = (&mut connection).await;
    connection.into_parts().io.into_inner().close().await;
}
