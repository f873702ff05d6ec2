//! The connection below hyper. hyper can only end a response in the ways HTTP allows; here a
//! body can ask for the others, and the socket carries them out.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::pause::Pauses;
use super::queue::Queue;

/// How a connection ends once the bytes handed to it so far are in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With a FIN: the client reads the end of the stream.
    Finish,
    /// With a RST: the client reads ECONNRESET.
    Reset,
}

/// What the requests of one connection share.
#[derive(Debug)]
pub(super) struct Session {
    /// The client's address, as the kernel gave it to accept.
    pub(super) peer: SocketAddr,
    /// When answers are held.
    pub(super) pauses: Pauses,
    /// The line at the address that it came in by.
    pub(super) queue: Arc<Queue>,
    ending: OnceLock<Ending>,
}

impl Session {
    pub(super) fn new(peer: SocketAddr, pauses: Pauses, queue: Arc<Queue>) -> Self {
        Session { peer, pauses, queue, ending: OnceLock::new() }
    }

    /// Ends the connection at the next flush. The first call decides.
    pub(super) fn end(&self, ending: Ending) {
        let _ = self.ending.set(ending);
    }
}

/// A TCP stream that stops hyper when its session is to end.
#[derive(Debug)]
pub(super) struct Wire {
    stream: TcpStream,
    session: Arc<Session>,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, session: Arc<Session>) -> Self {
        Wire { stream, session }
    }

    /// Closes the socket in the way the session asked for, by default with a FIN.
    pub(super) async fn close(self) {
        match self.session.ending.get() {
            // Zero linger turns the close that follows into a RST (RFC 9293, 3.10.5: ABORT).
            Some(Ending::Reset) => drop(self.stream.set_zero_linger()),
            Some(Ending::Finish) | None => finish(self.stream).await,
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

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper calls this when its own buffer is empty, so every byte before the ending is out.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.session.ending.get() {
            Some(_) => Poll::Ready(Err(io::Error::other("the response asked for this ending"))),
            None => Pin::new(&mut self.stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
