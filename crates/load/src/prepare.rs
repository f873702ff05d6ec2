//! Everything a worker needs that can be made before the load begins.

use std::net::SocketAddr;
use std::sync::Arc;

use sixmark_http::HttpVersion;
use sixmark_http::http1::RequestKind;
use sixmark_http::http1::request::Manner;
use sixmark_http::url::Url;
use sixmark_http::{http2, http3};
use sixmark_record::by_request::RequestNames;
use sixmark_record::plan::{FilledRequest, Plan, Request, Target};
use sixmark_record::request_form::{Changing, RequestForm};
use sixmark_record::template::{Template, TemplateValues};
use sixmark_sys::driver::Message;
use sixmark_units::family::{Family, PerFamily};

use super::reachability::Reachability;
use crate::tls;
use sixmark_sys::command_error::CommandError;

/// Requests longer than this are sent with TCP_NODELAY: their last, short segment would else wait
/// for an acknowledgement (RFC 9293, 3.7.4). A short one is a single segment and never waits.
const LONG: usize = 1_024;

/// A plan made ready to be carried out once: request bytes, and endpoints numbered over both families.
#[derive(Debug)]
pub struct PreparedLoad {
    pub(super) plan: Plan,
    pub(super) endpoints: Vec<PreparedEndpoint>,
    /// The numbers of each family's endpoints, and their weights.
    pub(super) of_family: PerFamily<Vec<(usize, f64)>>,
    /// The targets' URLs, where redirects or cookies are looked at.
    pub(super) urls: Vec<Url>,
    /// The number of each request's name, where requests are counted by name.
    pub(super) names: Arc<[u32]>,
    /// Something is kept of each exchange beside its times.
    pub(super) notes: bool,
    /// Every connection and exchange is reported one by one.
    pub(super) told: bool,
    pub(super) tls: Option<tls::Setup>,
    pub(super) reachability: Reachability,
}

/// One address of one target, and what to send there.
#[derive(Clone, Debug)]
pub(super) struct PreparedEndpoint {
    pub(super) address: SocketAddr,
    pub(super) family: Family,
    /// The number of the target.
    pub(super) target: usize,
    /// It is spoken to through TLS.
    pub(super) secure: bool,
    pub(super) no_delay: bool,
    /// By the numbers of the plan's requests.
    pub(super) requests: Arc<[Requests]>,
}

/// What one of the plan's requests sends to one target, in each version that may carry it.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    /// What its responses answer.
    pub(super) kind: RequestKind,
    /// It sends the same bytes each time.
    pub(super) constant: bool,
    /// What has to be seen of its responses.
    pub(super) sees: Sees,
    /// What an exchange sends on a connection of HTTP/1.1 that may be used again.
    usual: MessageForm,
    /// What the last one on a connection sends, with `Connection: close`.
    last: MessageForm,
    /// The same for HTTP/2, where that is spoken. One that changes is made anew for each exchange:
    /// this is then one of those that it may be.
    pub(super) http2: Option<Arc<http2::Http2Request>>,
    /// The same for HTTP/3.
    pub(super) http3: Option<Arc<http3::Http3Request>>,
}

/// What an exchange sends as a message of its own.
#[derive(Clone, Debug)]
pub(super) enum MessageForm {
    /// The same each time.
    Constant(Message),
    /// To be filled in.
    Changing(Arc<Changing>),
}

/// What has to be seen of responses.
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
    /// Builds the requests of every target, and reads what TLS needs.
    ///
    /// # Errors
    /// What can't be sent, or a file that TLS needs and that is wrong.
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
                // What TLS and the later versions send comes in several small pieces.
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

    /// The same, with every connection and exchange reported one by one: it costs a system call a
    /// connection, and memory.
    pub fn telling(self) -> PreparedLoad {
        PreparedLoad { told: true, ..self }
    }

    /// What it was prepared for.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// True where what is sent is made for each exchange, as far as it is not the same for all: the
    /// later versions have no other way, and a redirect has to be resolved against what was sent.
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
    match plan.location || plan.cookies {
        true => plan.targets.iter().map(|t| t.url.parse().map_err(CommandError::Usage)).collect(),
        false => Ok(Vec::new()),
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
        // Of many requests only what is ever sent.
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

    /// What an exchange sends over HTTP/1.1, perhaps as the last one on its connection.
    pub(super) fn message(&self, last: bool) -> &MessageForm {
        if last { &self.last } else { &self.usual }
    }

    /// Longer than [`LONG`], or of a length that is not known before.
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

/// Makes a request of HTTP/2 or HTTP/3.
fn with_parts<T>(
    plan: &Plan,
    target: &Target,
    request: &Request,
    make: impl FnOnce(&http2::Parts<'_>, Option<Arc<Vec<u8>>>, bool) -> Result<T, String>,
) -> Result<Arc<T>, CommandError> {
    // The one field whose fitness depends on its value: what is made in the run can't be refused.
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
