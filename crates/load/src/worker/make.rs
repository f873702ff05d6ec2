//! Which request an exchange sends, and the messages that are made for it alone.

use std::sync::Arc;

use sixmark_http::Version;
use sixmark_http::http1::request::Manner;
use sixmark_model::mix::Choice;
use sixmark_model::pace::Pace;
use sixmark_model::template::Values;
use sixmark_sys::driver::{Driver, Handed, Message, Slot};

use super::Worker;
use crate::arrivals::Turn;
use crate::places::Place;
use crate::prepare::{MessageForm, Prepared};

/// Content up to this length is copied behind the head.
const SHORT: usize = 64 * 1024;

/// What decides what a worker sends.
#[derive(Debug)]
pub(super) struct Maker {
    /// Which request goes next, of the warm-up and of the measurement, where there are several.
    choices: Option<[Choice; 2]>,
    /// What requests are filled in with.
    pub(super) values: Values,
    /// What they are filled in to: empty in between.
    out: Vec<u8>,
    scratch: Vec<u8>,
    /// HTTP/1.0 is spoken.
    old: bool,
}

impl Maker {
    /// That of worker number `worker`.
    pub(super) fn new(prepared: &Prepared, worker: u32) -> Maker {
        let plan = &prepared.plan;
        let values = Values::new(plan.seed, worker, plan.load.threads.get());
        let (choices, old) = (choices(prepared, worker), plan.http.version == Version::Http10);
        Maker { choices, values, out: Vec::new(), scratch: Vec::new(), old }
    }

    /// Lets the mix say what an exchange sends, where there is one.
    pub(super) fn choose(&mut self, turn: &mut Turn) {
        if let Some(choices) = &mut self.choices {
            turn.request = choices[usize::from(turn.counted)].draw(turn.endpoint) as u32;
        }
    }
}

/// None where a timetable says what is sent, or there is no choice.
fn choices(prepared: &Prepared, worker: u32) -> Option<[Choice; 2]> {
    let plan = &prepared.plan;
    let listed = matches!(&plan.load.pace, Pace::Open(open) if open.timetable.is_some());
    let (endpoints, workers) = (prepared.endpoints.len(), plan.load.threads.get());
    let weights = plan.requests.weights();
    let new = |seed| Choice::new(&weights, endpoints, seed, worker, workers);
    (plan.requests.len() > 1 && !listed).then(|| [new(!plan.seed), new(plan.seed)])
}

impl<D: Driver> Worker<'_, D> {
    /// Sends the request of an exchange of which notes are taken, or that is filled in. With `last` it
    /// is the last one on its connection.
    pub(super) fn make_and_send(
        &mut self,
        slot: Slot,
        place: Place,
        form: &MessageForm,
        last: bool,
        starts: bool,
    ) {
        let which = self.which(slot, place);
        if let Some(notes) = &mut self.notes {
            notes.listen(place);
            if let Some(filled) = notes.fill(&which, &mut self.maker.values) {
                let old = self.maker.old;
                let head = filled.http1(which.authority(), Manner { old, last });
                return self.send_made(slot, place, head, filled.body(), starts);
            }
        }
        match form {
            MessageForm::Constant(message) => self.hand_over(slot, place, message, starts),
            MessageForm::Changing(changing) => {
                let mut out = std::mem::take(&mut self.maker.out);
                changing.render(&mut self.maker.values, &mut out, &mut self.maker.scratch);
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
        self.maker.out = bytes;
        if let Handed::Whole(at) = handed {
            if starts {
                self.places.get(place).start = at;
            }
            self.sent(slot, at);
        }
    }
}
