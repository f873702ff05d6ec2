//! The connection below hyper. hyper can only end a response in the ways HTTP allows; here a
//! body can ask for the others, and the socket carries them out.

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

/// What hyper may speak over.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    /// The socket itself.
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

/// A stream that stops hyper when its session is to end.
pub(super) struct StoppableStream<S> {
    stream: S,
    /// What has been read from the stream and not by hyper.
    read: Vec<u8>,
    session: Arc<Session>,
    /// An ending does not wait for what hyper has still to write.
    abrupt: bool,
}

impl<S: Stream> StoppableStream<S> {
    /// Gives hyper `read` first.
    pub(super) fn new(stream: S, session: Arc<Session>, read: Vec<u8>) -> Self {
        StoppableStream { stream, read, session, abrupt: false }
    }

    /// Ends at once where it is to end: what other requests wait for is lost.
    pub(super) fn abrupt(self) -> Self {
        StoppableStream { abrupt: true, ..self }
    }

    /// Closes the socket in the way the session asked for, by default with a FIN.
    pub(super) async fn close(self) {
        let socket = self.stream.into_socket();
        match self.session.ending() {
            // Zero linger turns the close that follows into a RST (RFC 9293, 3.10.5: ABORT).
            Some(Ending::Reset) => drop(socket.set_zero_linger()),
            Some(Ending::Finish) | None => finish(socket).await,
        }
    }

    /// An error where nothing more may be written.
    fn writable(&self) -> io::Result<()> {
        match self.abrupt {
            true => self.going_on(),
            false => Ok(()),
        }
    }

    fn going_on(&self) -> io::Result<()> {
        match self.session.ending() {
            Some(_) => Err(io::Error::other("the response asked for this ending")),
            None => Ok(()),
        }
    }
}

/// Sends a FIN, then waits for the client's. A close with unread bytes in the socket makes Linux
/// send a RST, which can overtake the response in the client.
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

    /// hyper calls this when its own buffer is empty, so every byte before the ending is out once
    /// TLS has no more of them.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        Poll::Ready(self.going_on())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
