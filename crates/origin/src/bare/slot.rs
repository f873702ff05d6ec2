//! One connection after the other on one socket.

use std::collections::VecDeque;

use sixmark_sys::turbo::{Handler as _, NextStep, RepeatedBytes};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{Socket, State};
use smoltcp::wire::IpEndpoint;

use crate::turbo::request_handler::{Memory, RequestHandler};

/// Parts that wait to be sent, beyond which nothing more is listened to.
const ENOUGH: usize = 64;

/// A socket's place: it waits for a connection or has one.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    pub(super) socket: SocketHandle,
    /// Both ends of the connection, the client's first; none while it waits for one.
    pub(super) ends: Option<(IpEndpoint, IpEndpoint)>,
    memory: Memory,
    /// What is to be sent.
    parts: VecDeque<RepeatedBytes>,
    /// Nothing more is listened to.
    ending: bool,
}

impl ConnectionSlot {
    /// Waits for a connection.
    pub(super) fn new(socket: SocketHandle) -> ConnectionSlot {
        ConnectionSlot {
            socket,
            ends: None,
            memory: Memory::default(),
            parts: VecDeque::new(),
            ending: false,
        }
    }

    /// Notes a connection that has come; true where it is new.
    pub(super) fn accept(&mut self, socket: &Socket<'_>) -> bool {
        let new = self.ends.is_none() && established(socket);
        if new {
            self.ends = socket.remote_endpoint().zip(socket.local_endpoint());
        }
        new
    }

    /// Hears what came and says what is to be said; true where anything changed.
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

    /// Ends it where there is nothing more to say, or nobody who would ask.
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
