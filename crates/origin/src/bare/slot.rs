//! The connections of one socket, one after another.

use std::collections::VecDeque;

use sixmark_sys::turbo::{Handler as _, NextStep, RepeatedBytes};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{Socket, State};
use smoltcp::wire::IpEndpoint;

use crate::turbo::request_handler::{Memory, RequestHandler};

/// The number of parts waiting to be sent at which reading is suspended.
const ENOUGH: usize = 64;

/// The state of a socket, which waits for a connection or has one.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    pub(super) socket: SocketHandle,
    /// The endpoints of the connection, the client's first; `None` while waiting for one.
    pub(super) ends: Option<(IpEndpoint, IpEndpoint)>,
    memory: Memory,
    /// The data to send.
    parts: VecDeque<RepeatedBytes>,
    /// Whether received data is ignored because the connection is ending.
    ending: bool,
}

impl ConnectionSlot {
    /// Creates the state of a socket that waits for a connection.
    pub(super) fn new(socket: SocketHandle) -> ConnectionSlot {
        ConnectionSlot {
            socket,
            ends: None,
            memory: Memory::default(),
            parts: VecDeque::new(),
            ending: false,
        }
    }

    /// Checks whether a connection has been established. Returns true if it is new.
    pub(super) fn accept(&mut self, socket: &Socket<'_>) -> bool {
        let new = self.ends.is_none() && established(socket);
        if new {
            self.ends = socket.remote_endpoint().zip(socket.local_endpoint());
        }
        new
    }

    /// Reads requests and sends responses. Returns true if anything changed.
    pub(super) fn go_on(&mut self, socket: &mut Socket<'_>, handler: &mut RequestHandler) -> bool {
        let heard = self.receive(socket, handler);
        let said = self.say(socket);
        self.end(socket) || heard || said
    }

    fn receive(&mut self, socket: &mut Socket<'_>, handler: &mut RequestHandler) -> bool {
        let mut heard = false;
        while socket.can_recv() && (self.ending || self.parts.len() < ENOUGH) {
            let mut listen = |bytes: &mut [u8]| (bytes.len(), self.take(bytes, handler));
            if socket.recv(&mut listen).is_err() {
                break;
            }
            heard = true;
        }
        heard
    }

    fn take(&mut self, bytes: &[u8], handler: &mut RequestHandler) {
        if self.ending {
            return;
        }
        let mut say = Vec::new();
        self.ending = handler.on_bytes(&mut self.memory, bytes, &mut say) != NextStep::Listen;
        self.parts.extend(say);
    }

    fn say(&mut self, socket: &mut Socket<'_>) -> bool {
        let mut said = false;
        while let Some(part) = self.parts.front_mut() {
            match part.next() {
                [] => drop(self.parts.pop_front()),
                bytes => match socket.send_slice(bytes) {
                    Ok(count) if count > 0 => {
                        part.advance(count as u64);
                        said = true;
                    }
                    _ => break,
                },
            }
        }
        said
    }

    /// Closes the connection if nothing is left to send and no further request will be read.
    fn end(&self, socket: &mut Socket<'_>) -> bool {
        let over = self.ending || (self.ends.is_some() && !socket.may_recv());
        let close = over && self.parts.is_empty() && socket.may_send();
        if close {
            socket.close();
        }
        close
    }
}

fn established(socket: &Socket<'_>) -> bool {
    !matches!(socket.state(), State::Closed | State::Listen | State::SynReceived)
}
