//! The connection below hyper. hyper can end a response only in ways that HTTP allows. Here a body
//! can request other ways, and the socket carries them out.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::place::{Ending, Session};

/// A stream that hyper can use.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    /// Returns the socket.
    fn into_socket(self) -> TcpStream;
}

impl Stream for TcpStream {
    fn into_socket(self) -> TcpStream {
        self
    }
}

impl Stream for TlsStream<TcpStream> {
    fn into_socket(self) -> TcpStream {
        self.into_inner().0
    }
}

/// A stream that fails, and thereby stops hyper, when its session is to end.
pub(super) struct StoppableStream<S> {
    stream: S,
    /// Bytes that were read from the stream but not yet by hyper.
    read: Vec<u8>,
    session: Arc<Session>,
    /// Whether to end without waiting until hyper has written what it has buffered.
    abrupt: bool,
}

impl<S: Stream> StoppableStream<S> {
    /// Creates a stream from which hyper first reads `read`.
    pub(super) fn new(stream: S, session: Arc<Session>, read: Vec<u8>) -> Self {
        StoppableStream { stream, read, session, abrupt: false }
    }

    /// Makes the stream end at once when requested. Responses to other requests are lost.
    pub(super) fn abrupt(self) -> Self {
        StoppableStream { abrupt: true, ..self }
    }

    /// Closes the socket in the way that the session requested; by default with a FIN.
    pub(super) async fn close(self) {
        let socket = self.stream.into_socket();
        match self.session.ending() {
            // With a linger time of 0, closing sends a RST (RFC 9293, 3.10.5: ABORT).
            Some(Ending::Reset) => drop(socket.set_zero_linger()),
            Some(Ending::Finish) | None => finish(socket).await,
        }
    }

    /// Fails if nothing more may be written.
    fn writable(&self) -> io::Result<()> {
        if self.abrupt { self.going_on() } else { Ok(()) }
    }

    fn going_on(&self) -> io::Result<()> {
        match self.session.ending() {
            Some(_) => Err(io::Error::other("the response asked for this ending")),
            None => Ok(()),
        }
    }
}

/// Sends a FIN, then waits for that of the client. If the socket had unread bytes when closed,
/// Linux would send a RST, after which the client may lose the end of the response.
async fn finish(mut stream: TcpStream) {
    const PATIENCE: Duration = Duration::from_secs(1);
    if poll_fn(|cx| Pin::new(&mut stream).poll_shutdown(cx)).await.is_ok() {
        let _ = tokio::time::timeout(PATIENCE, drain(&stream)).await;
    }
}

async fn drain(stream: &TcpStream) -> io::Result<()> {
    let mut bytes = [0; 2048];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

impl<S: Stream> AsyncRead for StoppableStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let count = self.read.len().min(buffer.remaining());
        buffer.put_slice(&self.read[..count]);
        self.read.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl<S: Stream> AsyncWrite for StoppableStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writable()?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writable()?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper calls this when its own buffer is empty. All bytes before the end have been written
    /// once TLS has flushed its own buffer.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        Poll::Ready(self.going_on())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
