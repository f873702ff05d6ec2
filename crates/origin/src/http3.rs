//! HTTP/3: the same responses over QUIC.

use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use h3::error::{Code, StreamError};
use h3::server::{RequestResolver, RequestStream};
use h3_quinn::{RecvStream, SendStream};
use hyper::body::{Body, Buf, Bytes, Frame};
use hyper::{Request, Response};
use quinn::{Connection, Endpoint, Incoming, VarInt};
use tokio::task::JoinSet;

use super::answer::answer;
use super::body::{Broken, Payload};
use super::place::{Place, Session};

/// An error of a connection or exchange. The server ignores it; the client reports it.
type Failure = Box<dyn Error + Send + Sync>;

/// How long to wait for further requests after GOAWAY, and for the client to close the connection.
const PATIENCE: Duration = Duration::from_secs(1);

/// Accepts connections until the endpoint is closed.
pub(super) async fn accept(endpoint: Endpoint, place: Arc<Place>) {
    while let Some(incoming) = endpoint.accept().await {
        if place.limits.retry && !incoming.remote_address_validated() {
            // A retry fails only if the address has been validated, which was checked above.
            let _ = incoming.retry();
            continue;
        }
        drop(tokio::spawn(serve(incoming, Arc::clone(&place))));
    }
}

async fn serve(incoming: Incoming, place: Arc<Place>) -> Result<(), Failure> {
    let connection = incoming.await?;
    let session = Arc::new(Session::new(connection.remote_address(), &place));
    let quic = h3_quinn::Connection::new(connection.clone());
    let mut http: h3::server::Connection<_, Bytes> = h3::server::builder().build(quic).await?;
    // The exchanges are aborted with the connection, including stalled ones.
    let mut exchanges = JoinSet::new();
    let mut going = false;
    loop {
        let idle = going && exchanges.is_empty();
        tokio::select! {
            next = http.accept() => match next? {
                Some(request) => {
                    let (connection, session) = (connection.clone(), Arc::clone(&session));
                    exchanges.spawn(exchange(request, connection, session));
                }
                None => break,
            },
            Some(_) = exchanges.join_next() => {}
            () = session.enough(), if !going => {
                going = true;
                // h3 announces the last accepted request plus this number as the first that is
                // rejected.
                http.shutdown(1).await?;
            }
            // Waits for a request that the client may have sent before it received GOAWAY.
            () = tokio::time::sleep(PATIENCE), if idle => break,
            _ = connection.closed() => break,
        }
    }
    // Closing would discard data that the client has not acknowledged, so the client closes.
    let _ = tokio::time::timeout(PATIENCE, connection.closed()).await;
    Ok(())
}

async fn exchange(
    request: RequestResolver<h3_quinn::Connection, Bytes>,
    connection: Connection,
    session: Arc<Session>,
) -> Result<(), Failure> {
    let (request, stream) = request.resolve_request().await?;
    let (mut send, receive) = stream.split();
    let request: Request<Upload> = request.map(|()| Upload::new(receive));
    let Ok(response) = answer(request, session).await else {
        connection.close(no_error(), b"");
        return Ok(());
    };
    let (head, body) = response.into_parts();
    send.send_response(Response::from_parts(head, ())).await?;
    Ok(content(body, &mut send).await?)
}

async fn content(
    mut body: Payload,
    send: &mut RequestStream<SendStream<Bytes>, Bytes>,
) -> Result<(), StreamError> {
    loop {
        match poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            Some(Ok(frame)) => {
                if let Ok(bytes) = frame.into_data() {
                    send.send_data(bytes).await?;
                }
            }
            Some(Err(Broken)) => {
                send.stop_stream(Code::H3_INTERNAL_ERROR);
                return Ok(());
            }
            None => return send.finish().await,
        }
    }
}

/// Returns the error code for closing without an error (RFC 9114, 8.1: H3_NO_ERROR).
pub(super) fn no_error() -> VarInt {
    VarInt::from_u32(0x100)
}

/// The body of a request.
struct Upload {
    stream: RequestStream<RecvStream, Bytes>,
    /// Whether it has been read to its end or has failed.
    over: bool,
    /// Whether a read is in progress. The read owns the stream, which then cannot be told to stop.
    reading: bool,
}

impl Upload {
    fn new(stream: RequestStream<RecvStream, Bytes>) -> Upload {
        Upload { stream, over: false, reading: false }
    }
}

/// Asks the client to stop sending a body that the response did not need, without an error (RFC
/// 9114, 4.1). A stream that is merely dropped is stopped with code 0, which is not an HTTP/3 code.
impl Drop for Upload {
    fn drop(&mut self) {
        if !self.over && !self.reading {
            self.stream.stop_sending(Code::H3_NO_ERROR);
        }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = StreamError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StreamError>>> {
        self.reading = true;
        let data = ready!(self.stream.poll_recv_data(cx));
        self.reading = false;
        self.over = !matches!(data, Ok(Some(_)));
        let data = data?;
        Poll::Ready(data.map(|mut data| Ok(Frame::data(data.copy_to_bytes(data.remaining())))))
    }
}
