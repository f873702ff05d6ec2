//! Building the request of each exchange.

use std::sync::Arc;

use sixmark_http::HttpVersion;
use sixmark_http::http1::request::Manner;
use sixmark_http::semantics::request::is_idempotent;
use sixmark_plan::check::Rejection;
use sixmark_plan::mix::{Choice, divide_by_weights};
use sixmark_plan::pace::Pace;
use sixmark_plan::template::TemplateValues;
use sixmark_sys::clock;
use sixmark_sys::driver::Message;
use sixmark_units::random::Random;

use super::drawn::{counts_of_endpoints, is_poisson};
use super::exchange::ConcurrencySlot;
use super::notes::{ExchangeKey, Notes, Onward, Outgoing};
use super::prepare::{MessageForm, PreparedLoad};

/// Chooses and builds the requests of a worker.
#[derive(Debug)]
pub(super) struct RequestBuilder {
    /// The choice of the next request, in the warm-up and in the measurement. `None` if there is
    /// only one request or a timetable decides.
    choices: Option<[Choice; 2]>,
    /// The values with which templates are filled in.
    values: TemplateValues,
    /// The buffer for filled-in requests. It is empty between exchanges.
    out: Vec<u8>,
    /// The last filled-in requests that may be sent again, by concurrency slot.
    kept: Vec<Vec<u8>>,
    scratch: Vec<u8>,
    /// True for HTTP/1.0.
    old: bool,
    /// Notes on exchanges beside their times. `None` if the plan needs none.
    pub(super) notes: Option<Box<Notes>>,
    /// CLOCK_REALTIME minus the driver's clock when the worker was created, in nanoseconds. A clock
    /// that is set later changes nothing.
    real_ahead_ns: i64,
}

/// Whether the filled-in bytes of a request are kept, so that they can be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeptBytes {
    /// It is filled in, and never sent again.
    Ignore,
    /// It is filled in and kept.
    Keep,
    /// It is sent again as it was kept.
    Use,
}

/// The request of an exchange.
pub(super) enum BuiltRequest<'a> {
    /// A message that other exchanges send as well.
    Same(&'a Message),
    /// These bytes, followed by this content.
    Own(Vec<u8>, Option<Arc<Vec<u8>>>),
}

impl RequestBuilder {
    /// Creates the builder of worker number `worker`, whose driver's clock shows `now`.
    pub(super) fn new(prepared: &PreparedLoad, worker: u32, now: u64) -> RequestBuilder {
        let (plan, workers) = (&prepared.plan, prepared.plan.load.threads.get());
        RequestBuilder {
            choices: choices(prepared, worker),
            values: TemplateValues::new(plan.seed, worker, workers),
            out: Vec::new(),
            kept: Vec::new(),
            scratch: Vec::new(),
            old: plan.http.version == HttpVersion::Http10,
            notes: prepared.notes.then(|| Box::new(Notes::new(workers))),
            real_ahead_ns: clock::real().cast_signed().saturating_sub(now.cast_signed()),
        }
    }

    /// Sets the time of the events that are processed next, by the driver's clock.
    #[inline]
    pub(super) fn set_time(&mut self, now: u64) {
        if let Some(notes) = &mut self.notes {
            notes.set_time(self.real_ahead_ns.saturating_add(now.cast_signed()) / 1_000_000);
        }
    }

    /// Returns the number of the next request to an endpoint, in the measurement if `counted`, else
    /// in the warm-up. `None` if there is no mix.
    #[inline]
    pub(super) fn choose(&mut self, counted: bool, endpoint: usize) -> Option<u32> {
        let choices = self.choices.as_mut()?;
        Some(choices[usize::from(counted)].draw(endpoint) as u32)
    }

    /// Records that a new exchange uses the concurrency slot.
    #[inline]
    pub(super) fn begin(&mut self, concurrency_slot: ConcurrencySlot) {
        if let Some(notes) = &mut self.notes {
            notes.begin(concurrency_slot);
        }
    }

    /// Releases the content kept for the exchange of a concurrency slot, which is over.
    #[inline]
    pub(super) fn let_go(&mut self, concurrency_slot: ConcurrencySlot) {
        if let Some(notes) = &mut self.notes {
            notes.let_go(concurrency_slot);
        }
    }

    /// Builds the request of an exchange. `last` means that it is the last one on its connection.
    pub(super) fn build<'f>(
        &mut self,
        which: &ExchangeKey<'_>,
        form: &'f MessageForm,
        last: bool,
        kept: KeptBytes,
    ) -> BuiltRequest<'f> {
        if let Some(notes) = &mut self.notes {
            notes.listen(which.concurrency_slot);
            if let Some(filled) = notes.fill(which, &mut self.values) {
                let head = filled.http1(which.authority(), Manner { old: self.old, last });
                return BuiltRequest::Own(head, filled.body().cloned());
            }
        }
        match form {
            MessageForm::Constant(message) => BuiltRequest::Same(message),
            MessageForm::Changing(changing) => {
                let mut out = std::mem::take(&mut self.out);
                match kept {
                    KeptBytes::Use => out.clone_from(self.kept(which.concurrency_slot)),
                    KeptBytes::Ignore | KeptBytes::Keep => {
                        changing.render(&mut self.values, &mut out, &mut self.scratch);
                    }
                }
                if kept == KeptBytes::Keep {
                    self.kept(which.concurrency_slot).clone_from(&out);
                }
                BuiltRequest::Own(out, changing.body().cloned())
            }
        }
    }

    /// Returns the request that was kept of a concurrency slot.
    fn kept(&mut self, concurrency_slot: ConcurrencySlot) -> &mut Vec<u8> {
        let index = concurrency_slot as usize;
        if self.kept.len() <= index {
            self.kept.resize_with(index + 1, Vec::new);
        }
        &mut self.kept[index]
    }

    /// Returns true if sending the request of an exchange twice means the same as sending it once.
    pub(super) fn is_idempotent(&mut self, which: &ExchangeKey<'_>) -> bool {
        let made = self.notes.as_mut().and_then(|notes| notes.method(which.concurrency_slot));
        is_idempotent(made.unwrap_or(&which.request().method))
    }

    /// Returns an empty buffer for filled-in requests.
    pub(super) fn reuse(&mut self, out: Vec<u8>) {
        self.out = out;
    }

    /// Returns what is needed to build the request of a stream.
    pub(super) fn outgoing<'a>(&'a mut self, which: ExchangeKey<'a>) -> Outgoing<'a> {
        Outgoing { which, notes: self.notes.as_deref_mut(), values: &mut self.values }
    }

    /// Replaces the exchange's request by the one to which its response redirects, if there is one.
    /// If `may` is false, nothing is followed.
    pub(super) fn follow(&mut self, which: &ExchangeKey<'_>, status: u16, may: bool) -> Onward {
        let notes = self.notes.as_deref_mut().filter(|_| may);
        notes.map_or(Onward::Ends, |notes| notes.follow(which, status, &mut self.values))
    }

    /// Checks a complete response with this status. Returns an error if it fails a check.
    pub(super) fn verdict(
        &mut self,
        which: &ExchangeKey<'_>,
        status: u16,
    ) -> Result<(), Rejection> {
        self.notes.as_mut().map_or(Ok(()), |notes| notes.verdict(which, status))
    }
}

/// Returns the choices. `None` if a timetable decides the requests, or there is only one.
fn choices(prepared: &PreparedLoad, worker: u32) -> Option<[Choice; 2]> {
    let plan = &prepared.plan;
    let listed = matches!(&plan.load.pace, Pace::Open(open) if open.timetable.is_some());
    let (endpoints, workers) = (prepared.endpoints.len(), plan.load.threads.get());
    let weights = plan.requests.weights();
    if plan.requests.len() < 2 || listed {
        return None;
    }
    if is_poisson(prepared) {
        return Some(drawn_choices(prepared, &weights, worker));
    }
    let new = |seed| Choice::new(&weights, endpoints, seed, worker, workers);
    Some([new(!plan.seed), new(plan.seed)])
}

/// Returns the choices for Poisson arrivals, whose requests are drawn independently. Where the plan
/// gives the number of exchanges, those to each endpoint have the mix exactly.
fn drawn_choices(prepared: &PreparedLoad, weights: &[f64], worker: u32) -> [Choice; 2] {
    let (seed, endpoints) = (prepared.plan.seed, prepared.endpoints.len());
    // Endpoints are numbered in this order.
    let counts = counts_of_endpoints(prepared, worker).map(|c| [c.ipv6, c.ipv4].concat());
    let of_mix = |endpoint: usize, random: &mut Random| {
        let count = counts.as_ref()?.get(endpoint)?;
        Some(divide_by_weights(*count, weights, random))
    };
    let warm_up = Choice::drawn(weights, endpoints, !seed, worker, |_, _| None);
    [warm_up, Choice::drawn(weights, endpoints, seed, worker, of_mix)]
}
