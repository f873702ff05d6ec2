//! Which request an exchange sends, and what is made for it alone.

use std::sync::Arc;

use sixmark_http::HttpVersion;
use sixmark_http::http1::request::Manner;
use sixmark_record::check::Rejection;
use sixmark_record::mix::Choice;
use sixmark_record::pace::Pace;
use sixmark_record::template::TemplateValues;
use sixmark_sys::driver::Message;

use super::exchange::Permit;
use super::notes::{ExchangeKey, Notes, Outgoing};
use super::prepare::{MessageForm, PreparedLoad};

/// What decides what a worker sends.
#[derive(Debug)]
pub(super) struct RequestBuilder {
    /// Which request goes next, of the warm-up and of the measurement, where there are several.
    choices: Option<[Choice; 2]>,
    /// What requests are filled in with.
    values: TemplateValues,
    /// What they are filled in to: empty in between.
    out: Vec<u8>,
    scratch: Vec<u8>,
    /// HTTP/1.0 is spoken.
    old: bool,
    /// What is kept of exchanges beside their times, where anything is.
    pub(super) notes: Option<Box<Notes>>,
}

/// What an exchange sends.
pub(super) enum BuiltRequest<'a> {
    /// The same as others.
    Same(&'a Message),
    /// These bytes, and the content behind them.
    Own(Vec<u8>, Option<Arc<Vec<u8>>>),
}

impl RequestBuilder {
    /// That of worker number `worker`.
    pub(super) fn new(prepared: &PreparedLoad, worker: u32) -> RequestBuilder {
        let (plan, workers) = (&prepared.plan, prepared.plan.load.threads.get());
        RequestBuilder {
            choices: choices(prepared, worker),
            values: TemplateValues::new(plan.seed, worker, workers),
            out: Vec::new(),
            scratch: Vec::new(),
            old: plan.http.version == HttpVersion::Http10,
            notes: prepared.notes.then(|| Box::new(Notes::new(workers))),
        }
    }

    /// Lets the mix say which request goes to an endpoint next, of the measurement or of the warm-up; none
    /// where there is no mix.
    #[inline]
    pub(super) fn choose(&mut self, counted: bool, endpoint: usize) -> Option<u32> {
        let choices = self.choices.as_mut()?;
        Some(choices[usize::from(counted)].draw(endpoint) as u32)
    }

    /// A new exchange is under the permit.
    #[inline]
    pub(super) fn begin(&mut self, permit: Permit) {
        if let Some(notes) = &mut self.notes {
            notes.begin(permit);
        }
    }

    /// The exchange under a permit is over: its content is of no more use.
    #[inline]
    pub(super) fn let_go(&mut self, permit: Permit) {
        if let Some(notes) = &mut self.notes {
            notes.let_go(permit);
        }
    }

    /// What an exchange sends of which notes are taken, or whose `form` is filled in. With `last` it is
    /// the last one on its connection.
    pub(super) fn build<'f>(
        &mut self,
        which: &ExchangeKey<'_>,
        form: &'f MessageForm,
        last: bool,
    ) -> BuiltRequest<'f> {
        if let Some(notes) = &mut self.notes {
            notes.listen(which.permit);
            if let Some(filled) = notes.fill(which, &mut self.values) {
                let head = filled.http1(which.authority(), Manner { old: self.old, last });
                return BuiltRequest::Own(head, filled.body().cloned());
            }
        }
        match form {
            MessageForm::Constant(message) => BuiltRequest::Same(message),
            MessageForm::Changing(changing) => {
                let mut out = std::mem::take(&mut self.out);
                changing.render(&mut self.values, &mut out, &mut self.scratch);
                BuiltRequest::Own(out, changing.body().cloned())
            }
        }
    }

    /// Gives an empty buffer back that requests are filled in to.
    pub(super) fn reuse(&mut self, out: Vec<u8>) {
        self.out = out;
    }

    /// What an exchange sends on a stream.
    pub(super) fn outgoing<'a>(&'a mut self, which: ExchangeKey<'a>) -> Outgoing<'a> {
        Outgoing { which, notes: self.notes.as_deref_mut(), values: &mut self.values }
    }

    /// Turns the exchange into the one that its response leads to, if that `may` be: true where there is
    /// one that is to follow.
    pub(super) fn follow(&mut self, which: &ExchangeKey<'_>, status: u16, may: bool) -> bool {
        let Some(notes) = self.notes.as_deref_mut().filter(|_| may) else { return false };
        notes.follow(which, status, &mut self.values)
    }

    /// True where the response would lead on, and no more redirects are followed.
    pub(super) fn is_cut(&mut self, which: &ExchangeKey<'_>, status: u16) -> bool {
        self.notes.as_mut().is_some_and(|notes| notes.is_cut(which, status))
    }

    /// Whether a response with this status, which is here as a whole, is what it was to be.
    pub(super) fn verdict(
        &mut self,
        which: &ExchangeKey<'_>,
        status: u16,
    ) -> Result<(), Rejection> {
        self.notes.as_mut().map_or(Ok(()), |notes| notes.verdict(which, status))
    }
}

/// None where a timetable says what is sent, or there is no choice.
fn choices(prepared: &PreparedLoad, worker: u32) -> Option<[Choice; 2]> {
    let plan = &prepared.plan;
    let listed = matches!(&plan.load.pace, Pace::Open(open) if open.timetable.is_some());
    let (endpoints, workers) = (prepared.endpoints.len(), plan.load.threads.get());
    let weights = plan.requests.weights();
    let new = |seed| Choice::new(&weights, endpoints, seed, worker, workers);
    (plan.requests.len() > 1 && !listed).then(|| [new(!plan.seed), new(plan.seed)])
}
