//! Requests of HTTP/1.1 that are made for one exchange.

use std::sync::Arc;

use sixmark_sys::driver::{Driver, Handed, Message, Slot};

use super::Worker;
use crate::load::places::Place;
use crate::load::prepare::Http1;

/// Content up to this length is copied behind the head.
const SHORT: usize = 64 * 1024;

impl<D: Driver> Worker<'_, D> {
    /// Sends the request of an exchange of which notes are taken, or that is filled in. With `last` it
    /// is the last one on its connection.
    pub(super) fn make_and_send(
        &mut self,
        slot: Slot,
        place: Place,
        form: &Http1,
        last: bool,
        starts: bool,
    ) {
        let which = self.which(slot, place);
        if let Some(notes) = &mut self.notes {
            notes.listen(place);
            if let Some(filled) = notes.fill(&which, &mut self.values) {
                let head = filled.http1(which.authority(), last);
                return self.send_made(slot, place, head, filled.body(), starts);
            }
        }
        match form {
            Http1::Constant(message) => self.hand_over(slot, place, message, starts),
            Http1::Changing(changing) => {
                let mut out = std::mem::take(&mut self.filling.out);
                changing.render(&mut self.values, &mut out, &mut self.filling.scratch);
                self.send_made(slot, place, out, changing.body(), starts);
            }
        }
    }

    /// Sends these bytes and the content behind them.
    fn send_made(
        &mut self,
        slot: Slot,
        place: Place,
        mut bytes: Vec<u8>,
        body: Option<&Arc<Vec<u8>>>,
        starts: bool,
    ) {
        let long = body.is_some_and(|body| body.len() > SHORT);
        if long || self.connections.get(slot).outlet.is_some() {
            return self.hand_over(slot, place, &Message::with_body(bytes, body), starts);
        }
        bytes.extend_from_slice(body.map_or(&[], |body| body.as_slice()));
        self.places.get(place).length = bytes.len() as u64;
        // The exchange before is over, so that its request was answered.
        let handed = self.driver.pass(slot, &mut bytes);
        self.filling.out = bytes;
        if let Handed::Whole(at) = handed {
            if starts {
                self.places.get(place).start = at;
            }
            self.sent(slot, at);
        }
    }
}
