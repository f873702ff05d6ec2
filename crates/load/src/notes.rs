//! Notes on exchanges beside their times, if the plan needs them: contents of responses to check,
//! redirects, and the cookies of the simulated user of each concurrency slot.

use std::borrow::Cow;
use std::sync::Arc;

use sixmark_http::cookies::{CookieContext, Jar};
use sixmark_http::http1::ResponseVisitor;
use sixmark_http::http2::Parts;
use sixmark_http::redirect::{MOST_HOPS, Why, has_value, is_redirect, leads_to};
use sixmark_http::url::host_of_authority;
use sixmark_plan::check::{Inspection, KeptContent, Rejection};
use sixmark_plan::plan::{FilledRequest, Request};
use sixmark_plan::template::{Template, TemplateValues};

use super::exchange::ConcurrencySlot;
use super::prepare::{PreparedLoad, Requests, Sees};

/// The notes of a worker, by concurrency slot.
#[derive(Debug)]
pub(super) struct Notes {
    list: Vec<Note>,
    kept: KeptContent,
    /// The time of the events being processed, in milliseconds since 1970. Cookies expire by it.
    now_ms: i64,
}

/// What follows from a complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onward {
    /// Nothing: it is no redirect, or redirects are not followed, or not any more.
    Ends,
    /// Another exchange.
    Follows,
    /// Nothing, because the limit of redirects in a row is reached.
    IsCut,
    /// Nothing, because the redirect leads nowhere within the target.
    Stays(Why),
}

/// The notes on the exchange of a concurrency slot.
#[derive(Debug, Default)]
struct Note {
    /// The request without cookies, if it was built for this exchange alone.
    made: Option<FilledRequest>,
    inspection: Inspection,
    /// The value of the response's first Location field that has one.
    location: Option<Vec<u8>>,
    /// The number of redirects that led to it.
    hops: u8,
    /// The user's cookies, by target. They are kept across exchanges.
    jars: Vec<Jar>,
}

/// Identifies an exchange: the key for looking up its notes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExchangeKey<'a> {
    pub(super) prepared: &'a PreparedLoad,
    pub(super) endpoint: usize,
    pub(super) concurrency_slot: ConcurrencySlot,
    pub(super) request: u32,
}

impl<'a> ExchangeKey<'a> {
    fn target(&self) -> usize {
        self.prepared.endpoints[self.endpoint].target
    }

    pub(super) fn request(&self) -> &'a Request {
        &self.prepared.plan.requests[self.request as usize]
    }

    pub(super) fn scheme(&self) -> &'static str {
        self.prepared.plan.targets[self.target()].scheme()
    }

    /// Returns the value of the Host field.
    pub(super) fn authority(&self) -> &'a str {
        &self.prepared.plan.targets[self.target()].authority
    }

    pub(super) fn sees(&self) -> Sees {
        self.prepared.endpoints[self.endpoint].requests[self.request as usize].sees
    }

    fn filled(&self, values: &mut TemplateValues) -> FilledRequest {
        let target = &self.prepared.plan.targets[self.target()];
        FilledRequest::new(self.request(), &target.path, values)
    }

    /// Returns the Host field of a request whose fields are constant, if it has one of its own.
    fn constant_host(&self) -> Option<&'a str> {
        let fields = self.request().headers.iter().rev();
        let mut own = fields.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        own.next().and_then(|(_, value)| value.as_constant())
    }

    /// Returns the path of a request whose path is constant.
    fn constant_path(&self) -> &'a str {
        let own = self.request().path.as_ref().and_then(Template::as_constant);
        own.unwrap_or(&self.prepared.plan.targets[self.target()].path)
    }
}

/// A request that is about to be sent on a stream.
#[derive(Debug)]
pub(super) struct Outgoing<'a> {
    pub(super) which: ExchangeKey<'a>,
    pub(super) notes: Option<&'a mut Notes>,
    pub(super) values: &'a mut TemplateValues,
}

impl<'a> Outgoing<'a> {
    /// Returns the prepared request, in all protocols.
    pub(super) fn forms(&self) -> &'a Requests {
        let endpoint = &self.which.prepared.endpoints[self.which.endpoint];
        &endpoint.requests[self.which.request as usize]
    }

    /// Builds the request if this exchange needs one of its own. `None` if it sends the prepared
    /// one.
    pub(super) fn make<T>(
        self,
        make: impl FnOnce(&Parts<'_>, Option<Arc<Vec<u8>>>, bool) -> Result<T, String>,
    ) -> Option<T> {
        let (which, notes) = (self.which, self.notes?);
        notes.listen(which.concurrency_slot);
        let filled = notes.fill(&which, self.values)?;
        let parts = filled.parts(which.scheme(), which.authority());
        // An error is impossible: the names of the fields were checked before the load began.
        make(&parts, filled.body().cloned(), which.sees().anything()).ok()
    }
}

impl Notes {
    /// Creates the notes of one worker of `workers`.
    pub(super) fn new(workers: u32) -> Notes {
        Notes { list: Vec::new(), kept: KeptContent::of_worker(workers), now_ms: 0 }
    }

    /// Sets the time of the events that are processed next, in milliseconds since 1970.
    pub(super) fn set_time(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
    }

    fn note(&mut self, concurrency_slot: ConcurrencySlot) -> &mut Note {
        self.note_and_room(concurrency_slot).0
    }

    fn note_and_room(
        &mut self,
        concurrency_slot: ConcurrencySlot,
    ) -> (&mut Note, &mut KeptContent) {
        let concurrency_slot = concurrency_slot as usize;
        if self.list.len() <= concurrency_slot {
            self.list.resize_with(concurrency_slot + 1, Note::default);
        }
        (&mut self.list[concurrency_slot], &mut self.kept)
    }

    /// Releases the content that was kept of the exchange, which is over.
    pub(super) fn let_go(&mut self, concurrency_slot: ConcurrencySlot) {
        let (note, kept) = self.note_and_room(concurrency_slot);
        note.inspection.let_go(kept);
    }

    /// Resets the notes for a new exchange.
    pub(super) fn begin(&mut self, concurrency_slot: ConcurrencySlot) {
        let note = self.note(concurrency_slot);
        (note.made, note.location, note.hops) = (None, None, 0);
    }

    /// Resets what is known of the response, before the request is sent, perhaps again.
    pub(super) fn listen(&mut self, concurrency_slot: ConcurrencySlot) {
        let (note, kept) = self.note_and_room(concurrency_slot);
        note.inspection.begin(kept);
        note.location = None;
    }

    /// Returns the request of the exchange. `None` if it sends the prepared one, or one that is
    /// rendered from the prepared form.
    pub(super) fn fill(
        &mut self,
        which: &ExchangeKey<'_>,
        values: &mut TemplateValues,
    ) -> Option<FilledRequest> {
        let prepared = which.prepared;
        let endpoint = &prepared.endpoints[which.endpoint];
        let changes = !endpoint.requests[which.request as usize].constant;
        let now_ms = self.now_ms;
        let note = self.note(which.concurrency_slot);
        if note.made.is_none() && changes && prepared.fills() {
            note.made = Some(which.filled(values));
        }
        if prepared.plan.cookies {
            note.with_cookies(which, now_ms, values)
        } else {
            note.made.clone()
        }
    }

    /// Returns the method of the request that was built for the exchange alone. `None` if there is
    /// none, so that its method is that of the plan.
    pub(super) fn method(&mut self, concurrency_slot: ConcurrencySlot) -> Option<&str> {
        self.note(concurrency_slot).made.as_ref().map(FilledRequest::method)
    }

    /// Checks a complete response with this status.
    pub(super) fn verdict(
        &mut self,
        which: &ExchangeKey<'_>,
        status: u16,
    ) -> Result<(), Rejection> {
        self.note(which.concurrency_slot).inspection.finish(&which.request().checks, status)
    }

    /// Replaces the exchange's request by the one to which a response with this status redirects,
    /// if there is one.
    pub(super) fn follow(
        &mut self,
        which: &ExchangeKey<'_>,
        status: u16,
        values: &mut TemplateValues,
    ) -> Onward {
        if !which.prepared.plan.location || !is_redirect(status) {
            return Onward::Ends;
        }
        let note = self.note(which.concurrency_slot);
        if note.hops >= MOST_HOPS {
            return Onward::IsCut;
        }
        let Some(location) = note.location.take() else { return Onward::Stays(Why::NoLocation) };
        let from = note.made.take().unwrap_or_else(|| which.filled(values));
        let mut base = which.prepared.urls[which.target()].clone();
        from.path().clone_into(&mut base.path);
        match leads_to(&base, from.header("host"), &location) {
            Ok(path) => {
                note.hops += 1;
                note.made = Some(from.redirected(status, path));
                Onward::Follows
            }
            Err(why) => Onward::Stays(why),
        }
    }
}

impl Note {
    fn with_cookies(
        &mut self,
        which: &ExchangeKey<'_>,
        now_ms: i64,
        values: &mut TemplateValues,
    ) -> Option<FilledRequest> {
        if self.jar(which.target()).is_empty() {
            return self.made.clone();
        }
        let (host, path, secure) = self.context(which);
        let mut cookies = Vec::new();
        let of = CookieContext { host: &host, path: &path, secure, now_ms };
        self.jar(which.target()).header(of, &mut cookies);
        if cookies.is_empty() {
            return self.made.clone();
        }
        let filled = self.made.clone().unwrap_or_else(|| which.filled(values));
        Some(filled.with_cookies(&String::from_utf8_lossy(&cookies)))
    }

    fn path(&self, which: &ExchangeKey<'_>) -> Cow<'_, str> {
        match &self.made {
            Some(made) => Cow::Borrowed(made.path()),
            None => Cow::Owned(which.constant_path().to_owned()),
        }
    }

    /// Returns what cookies depend on of the request: its host, its path, and whether TLS carries
    /// it. A Host field names the host.
    fn context(&self, which: &ExchangeKey<'_>) -> (String, String, bool) {
        let own = match &self.made {
            Some(made) => made.header("host"),
            None => which.constant_host(),
        };
        let host = host_of_authority(own.unwrap_or(which.authority()));
        let secure = which.prepared.endpoints[which.endpoint].secure;
        (host.to_owned(), self.path(which).into_owned(), secure)
    }

    fn jar(&mut self, target: usize) -> &mut Jar {
        if self.jars.len() <= target {
            self.jars.resize_with(target + 1, Jar::default);
        }
        &mut self.jars[target]
    }

    fn keep_cookie(&mut self, which: &ExchangeKey<'_>, value: &[u8], now_ms: i64) {
        let (host, path, secure) = self.context(which);
        let of = CookieContext { host: &host, path: &path, secure, now_ms };
        self.jar(which.target()).set(value, of);
    }
}

/// Records the response of one exchange.
pub(super) struct NoteTaker<'a> {
    pub(super) notes: &'a mut Notes,
    pub(super) which: ExchangeKey<'a>,
}

impl ResponseVisitor for NoteTaker<'_> {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        let (which, plan) = (self.which, &self.which.prepared.plan);
        let now_ms = self.notes.now_ms;
        let note = self.notes.note(which.concurrency_slot);
        note.inspection.field(&which.request().checks, name, value);
        if plan.location
            && note.location.is_none()
            && name.eq_ignore_ascii_case(b"location")
            && has_value(value)
        {
            note.location = Some(value.to_vec());
        }
        if plan.cookies && name.eq_ignore_ascii_case(b"set-cookie") {
            note.keep_cookie(&which, value, now_ms);
        }
    }

    fn content(&mut self, bytes: &[u8]) {
        let which = self.which;
        if which.sees().content {
            let (note, kept) = self.notes.note_and_room(which.concurrency_slot);
            note.inspection.content(&which.request().checks, bytes, kept);
        }
    }
}
