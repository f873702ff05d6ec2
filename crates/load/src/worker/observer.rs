//! What is noted while the responses of several exchanges are read from one connection.

use sixmark_http::observer::{Answer, Loss, Observer, Token};

use crate::exchange::Place;
use crate::notes::{Look, Notes, Which};
use crate::prepare::Prepared;
use crate::protocol::Sight as _;
use crate::scheduler::Places;

/// How an exchange ended that shares its connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum StreamEnd {
    Answered(Answer),
    Lost(Loss),
}

/// Notes what a machine tells.
pub(super) struct StreamObserver<'a> {
    pub(super) places: &'a mut Places,
    pub(super) over: &'a mut Vec<(Place, StreamEnd)>,
    pub(super) at: u64,
    /// For what is seen of responses, where anything is.
    pub(super) notes: Option<&'a mut Notes>,
    pub(super) prepared: &'a Prepared,
    pub(super) endpoint: usize,
}

impl StreamObserver<'_> {
    fn look(&mut self, place: Place) -> Option<Look<'_>> {
        let (prepared, endpoint) = (self.prepared, self.endpoint);
        let request = self.places.get(place).request;
        let which = Which { prepared, endpoint, place, request };
        self.notes.as_deref_mut().map(|notes| Look { notes, which })
    }
}

impl Observer for StreamObserver<'_> {
    fn begun(&mut self, token: Token) {
        self.places.get(token).note_first(self.at);
    }

    fn field(&mut self, token: Token, name: &[u8], value: &[u8]) {
        self.look(token).into_iter().for_each(|mut look| look.field(name, value));
    }

    fn content(&mut self, token: Token, bytes: &[u8]) {
        self.look(token).into_iter().for_each(|mut look| look.content(bytes));
    }

    fn complete(&mut self, token: Token, answer: Answer) {
        self.over.push((token, StreamEnd::Answered(answer)));
    }

    fn lost(&mut self, token: Token, loss: Loss) {
        self.over.push((token, StreamEnd::Lost(loss)));
    }
}
