//! Recording the responses of several exchanges on one connection.

use sixmark_http::observer::{Answer, Loss, Observer, Token};

use crate::exchange::ConcurrencySlot;
use crate::field_sampler::StreamFieldSampler;
use crate::notes::{ExchangeKey, NoteTaker, Notes};
use crate::prepare::PreparedLoad;
use crate::protocol::ResponseVisitor as _;
use crate::scheduler::ConcurrencySlots;

/// How an exchange on a shared connection ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum StreamEnd {
    Answered(Answer),
    Lost(Loss),
}

/// Records what a protocol reports.
pub(super) struct StreamObserver<'a> {
    pub(super) concurrency_slots: &'a mut ConcurrencySlots,
    pub(super) over: &'a mut Vec<(ConcurrencySlot, StreamEnd)>,
    pub(super) at: u64,
    /// How long before that the bytes being read had arrived, in nanoseconds, if it is known.
    pub(super) late: Option<u64>,
    /// When the first byte of the TLS record being read was received.
    pub(super) arrived: Option<u64>,
    /// The notes on exchanges. `None` if the plan needs none.
    pub(super) notes: Option<&'a mut Notes>,
    /// Where to count the fields of responses, if they are to be read.
    pub(super) sampler: Option<StreamFieldSampler<'a>>,
    pub(super) prepared: &'a PreparedLoad,
    pub(super) endpoint: usize,
}

impl StreamObserver<'_> {
    fn look(&mut self, concurrency_slot: ConcurrencySlot) -> Option<NoteTaker<'_>> {
        let (prepared, endpoint) = (self.prepared, self.endpoint);
        let request = self.concurrency_slots.get(concurrency_slot).request;
        let which = ExchangeKey { prepared, endpoint, concurrency_slot, request };
        self.notes.as_deref_mut().map(|notes| NoteTaker { notes, which })
    }
}

impl Observer for StreamObserver<'_> {
    fn begun(&mut self, token: Token) {
        self.concurrency_slots.get(token).note_first(self.at, self.late, self.arrived);
    }

    fn interim(&mut self, token: Token) {
        self.concurrency_slots.get(token).note_interim(self.at);
    }

    fn samples_fields(&self) -> bool {
        self.sampler.as_ref().is_some_and(StreamFieldSampler::wants_more)
    }

    fn field(&mut self, token: Token, name: &[u8], value: &[u8]) {
        if let Some(sampler) = &mut self.sampler
            && self.concurrency_slots.get(token).counted
        {
            sampler.note_field(token, name, value);
        }
        if let Some(mut look) = self.look(token)
            && look.which.sees().anything()
        {
            look.field(name, value);
        }
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
