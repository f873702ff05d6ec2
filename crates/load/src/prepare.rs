//! Everything a worker needs that can be prepared before the load begins.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use sixmark_http::HttpVersion;
use sixmark_http::http1::RequestKind;
use sixmark_http::http1::request::Manner;
use sixmark_http::url::Url;
use sixmark_http::{http2, http3};
use sixmark_plan::plan::{FilledRequest, Plan, Request, Target};
use sixmark_plan::request_form::{Changing, RequestForm};
use sixmark_plan::template::{Template, TemplateValues};
use sixmark_sys::driver::Message;
use sixmark_tally::by_request::RequestNames;
use sixmark_tally::tenth::{MOST_TENTHS, TENTH_NS};
use sixmark_units::family::{Family, PerFamily};

use super::reachability::Reachability;
use super::share::LoadShare;
use crate::tls;
use sixmark_sys::command_error::CommandError;

/// Requests longer than this, in bytes, are sent with TCP_NODELAY. Otherwise their last, short
/// segment would wait for an acknowledgement (RFC 9293, 3.7.4). A shorter request is a single
/// segment and never waits.
const LONG: usize = 1_024;
/// The duration in nanoseconds from which on a run is not recorded by tenths of a second.
const LONG_RUN: u128 = MOST_TENTHS as u128 * TENTH_NS as u128;

/// A plan that is ready to be executed once: its requests are encoded, and its endpoints are
/// numbered across both families.
#[derive(Debug)]
pub struct PreparedLoad {
    pub(super) plan: Plan,
    pub(super) endpoints: Vec<PreparedEndpoint>,
    /// The numbers and weights of each family's endpoints.
    pub(super) of_family: PerFamily<Vec<(usize, f64)>>,
    /// The targets' URLs. Empty unless redirects are followed.
    pub(super) urls: Vec<Url>,
    /// The number of each request's name. Empty unless requests are counted by name.
    pub(super) names: Arc<[u32]>,
    /// True if something is recorded of each exchange beside its times.
    pub(super) notes: bool,
    /// True if every connection and exchange is recorded individually.
    pub(super) told: bool,
    /// True if each slice contains all counts so far.
    pub(super) whole: bool,
    /// The number of agents among which the workers are divided; 1 if there is no fleet.
    pub(super) agents: u32,
    /// True if each slice is also reported by tenths of a second, in the first 10 s.
    pub(super) tenths: bool,
    pub(super) tls: Option<tls::Setup>,
    pub(super) reachability: Reachability,
}

/// One address of one target, and the requests to send there.
#[derive(Clone, Debug)]
pub(super) struct PreparedEndpoint {
    pub(super) address: SocketAddr,
    pub(super) family: Family,
    /// The number of the target.
    pub(super) target: usize,
    /// True if it uses TLS.
    pub(super) secure: bool,
    pub(super) no_delay: bool,
    /// The requests, by their numbers in the plan.
    pub(super) requests: Arc<[Requests]>,
}

/// A request of the plan to one target, encoded for each version of HTTP that may carry it.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    /// The kind of request, which decides how its responses are read.
    pub(super) kind: RequestKind,
    /// True if it sends the same bytes each time.
    pub(super) constant: bool,
    /// The parts of its responses that must be inspected.
    pub(super) sees: Sees,
    /// The HTTP/1.1 message on a connection that may be reused.
    usual: MessageForm,
    /// The last HTTP/1.1 message on a connection, with `Connection: close`.
    last: MessageForm,
    /// The HTTP/2 request. `None` for other versions. If it differs for each exchange, this is an
    /// example of it.
    pub(super) http2: Option<Arc<http2::Http2Request>>,
    /// The HTTP/3 request, likewise.
    pub(super) http3: Option<Arc<http3::Http3Request>>,
}

/// The message of an exchange.
#[derive(Clone, Debug)]
pub(super) enum MessageForm {
    /// The same message each time.
    Constant(Message),
    /// A message that is filled in for each exchange.
    Changing(Arc<Changing>),
}

/// The parts of responses that must be inspected.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sees {
    pub(super) fields: bool,
    pub(super) content: bool,
}

impl Sees {
    fn new(plan: &Plan, request: &Request) -> Sees {
        let needs = request.checks.needs();
        let fields = needs.fields || plan.location || plan.cookies;
        Sees { fields, content: needs.content }
    }

    pub(super) fn anything(self) -> bool {
        self.fields || self.content
    }
}

impl PreparedLoad {
    /// Encodes the requests of every target, and reads the files that TLS needs.
    ///
    /// # Errors
    /// A request can't be sent, or a file that TLS needs is wrong.
    pub fn new(plan: &Plan) -> Result<PreparedLoad, CommandError> {
        let mut prepared = PreparedLoad {
            tls: tls::Setup::new(plan)?,
            plan: plan.clone(),
            endpoints: Vec::new(),
            of_family: PerFamily::default(),
            urls: urls(plan)?,
            names: RequestNames::new(&plan.requests).places(),
            notes: takes_notes(plan),
            told: false,
            whole: false,
            agents: 1,
            tenths: false,
            reachability: Reachability::new(plan.load.threads.get()),
        };
        let requests = plan.targets.iter().map(|target| requests_of_target(plan, target));
        let requests = requests.collect::<Result<Vec<_>, _>>()?;
        for family in Family::BOTH {
            for endpoint in plan.endpoints(family) {
                let (target, address) = (endpoint.target, endpoint.address);
                let requests = Arc::clone(&requests[target]);
                let secure = plan.targets[target].secure();
                prepared.of_family[family].push((prepared.endpoints.len(), endpoint.weight));
                // TLS, HTTP/2 and HTTP/3 send several small pieces.
                let pieces = secure || !plan.http.version.is_http1();
                let long = || requests.iter().any(Requests::may_be_long);
                let no_delay = pieces || plan.cookies || long();
                let endpoint =
                    PreparedEndpoint { address, family, target, secure, no_delay, requests };
                prepared.endpoints.push(endpoint);
            }
        }
        Ok(prepared)
    }

    /// Returns the same load, with every connection and exchange recorded individually. This costs
    /// one system call per connection, and memory.
    pub fn telling(self) -> PreparedLoad {
        PreparedLoad { told: true, ..self }
    }

    /// Returns the same load, whose counts are also reported by tenths of a second if it may be
    /// shorter than 10 s. A worker ends a tenth as it ends a second; an exchange costs no more.
    pub fn in_tenths(self) -> PreparedLoad {
        let is_long = |duration: Duration| duration.as_nanos() >= LONG_RUN;
        let long = self.plan.load.duration.is_some_and(is_long);
        PreparedLoad { tenths: !long || self.plan.load.requests.is_some(), ..self }
    }

    /// Returns the same load, of which only a share runs here.
    pub(super) fn of_share(self, share: &LoadShare) -> PreparedLoad {
        let reachability = Reachability::new(share.number());
        PreparedLoad { whole: share.whole, agents: share.agents, reachability, ..self }
    }

    /// Returns the plan for which it was prepared.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns true if requests that differ are built for each exchange: HTTP/2 and HTTP/3 have no
    /// other way, and redirects must be resolved against the request that was sent.
    pub(super) fn fills(&self) -> bool {
        !self.plan.http.version.is_http1() || self.plan.location || self.plan.cookies
    }
}

fn takes_notes(plan: &Plan) -> bool {
    let filled = !plan.http.version.is_http1();
    let changes = || plan.requests.iter().any(|request| !request.is_constant());
    plan.location || plan.cookies || plan.requests.check_anything() || (filled && changes())
}

fn urls(plan: &Plan) -> Result<Vec<Url>, CommandError> {
    if plan.location {
        plan.targets.iter().map(|t| t.url.parse().map_err(CommandError::Usage)).collect()
    } else {
        Ok(Vec::new())
    }
}

fn requests_of_target(plan: &Plan, target: &Target) -> Result<Arc<[Requests]>, CommandError> {
    plan.requests.iter().map(|request| Requests::new(plan, target, request)).collect()
}

impl Requests {
    fn new(plan: &Plan, target: &Target, request: &Request) -> Result<Requests, CommandError> {
        let version = |version| plan.http.version == version;
        let http2 = version(HttpVersion::Http2)
            .then(|| with_parts(plan, target, request, http2::Http2Request::new))
            .transpose()?;
        let http3 = version(HttpVersion::Http3)
            .then(|| with_parts(plan, target, request, http3::Http3Request::new))
            .transpose()?;
        // Only the forms that are ever sent are encoded.
        let (lasting, most) = (plan.connection.lasting(), plan.connection.requests);
        let last = (!lasting || most.is_some()).then(|| http1(plan, target, request, true));
        let usual = || http1(plan, target, request, false);
        let usual = last.clone().filter(|_| !lasting).unwrap_or_else(usual);
        Ok(Requests {
            kind: request.kind(),
            constant: request.is_constant(),
            sees: Sees::new(plan, request),
            last: last.unwrap_or_else(|| usual.clone()),
            usual,
            http2,
            http3,
        })
    }

    /// Returns the HTTP/1.1 message; `last` means the last one on its connection.
    pub(super) fn message(&self, last: bool) -> &MessageForm {
        if last { &self.last } else { &self.usual }
    }

    /// Returns true if the message is longer than [`LONG`], or its length is not known beforehand.
    fn may_be_long(&self) -> bool {
        match &self.usual {
            MessageForm::Constant(message) => message.length() > LONG,
            MessageForm::Changing(_) => true,
        }
    }
}

fn http1(plan: &Plan, target: &Target, request: &Request, close: bool) -> MessageForm {
    if !plan.http.version.is_http1() {
        return MessageForm::Constant(Message::new([]));
    }
    let manner = Manner { old: plan.http.version == HttpVersion::Http10, last: close };
    match RequestForm::new(request, &target.path, &target.authority, manner) {
        RequestForm::Constant { head, body } => {
            MessageForm::Constant(Message::with_body(head, body.as_ref()))
        }
        RequestForm::Changing(changing) => MessageForm::Changing(Arc::new(changing)),
    }
}

/// Builds a request of HTTP/2 or HTTP/3.
fn with_parts<T>(
    plan: &Plan,
    target: &Target,
    request: &Request,
    make: impl FnOnce(&http2::Parts<'_>, Option<Arc<Vec<u8>>>, bool) -> Result<T, String>,
) -> Result<Arc<T>, CommandError> {
    // `te` is the only field that is valid only with a certain value. A value that is filled in
    // during the run could not be refused any more.
    let filled_in = |(name, value): &(String, Template)| {
        name.eq_ignore_ascii_case("te") && value.as_constant().is_none()
    };
    if request.headers.iter().any(filled_in) {
        let message = "header te can't be filled in for each request: it may only say \"trailers\"";
        return Err(CommandError::Usage(message.to_owned()));
    }
    let filled =
        FilledRequest::new(request, &target.path, &mut TemplateValues::new(plan.seed, 0, 1));
    let sees = Sees::new(plan, request).anything();
    let parts = filled.parts(target.scheme(), &target.authority);
    make(&parts, filled.body().cloned(), sees).map(Arc::new).map_err(CommandError::Usage)
}
