//! Everything a worker needs that can be made before the load begins.

use std::net::SocketAddr;
use std::sync::Arc;

use sixmark_core::family::{Family, PerFamily};
use sixmark_core::http1::{Form, RequestKind};
use sixmark_core::plan::http::Version;
use sixmark_core::plan::{Body, Plan, Target};
use sixmark_core::template::{Template, Values};
use sixmark_core::{http2, http3};
use sixmark_sys::driver::Message;

use super::hope::Hope;
use crate::{Error, tls};

/// Requests longer than this are sent with TCP_NODELAY: their last, short segment would else wait
/// for an acknowledgement (RFC 9293, 3.7.4). A short one is a single segment and never waits.
const LONG: usize = 1_024;

/// A plan made ready: request bytes, and endpoints numbered over both families.
#[derive(Debug)]
pub struct Prepared {
    pub(super) plan: Plan,
    pub(super) kind: RequestKind,
    pub(super) endpoints: Vec<Endpoint>,
    /// The numbers of each family's endpoints, and their weights.
    pub(super) of_family: PerFamily<Vec<(usize, f64)>>,
    pub(super) tls: Option<tls::Setup>,
    pub(super) hope: Hope,
}

/// One address of one target, and what to send there.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    pub(super) family: Family,
    /// It is spoken to through TLS.
    pub(super) secure: bool,
    pub(super) no_delay: bool,
    pub(super) requests: Requests,
}

/// What is sent, built once.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    /// What an exchange sends on a connection of HTTP/1.1 that may be used again.
    pub(super) usual: Message,
    /// What the last one on a connection sends, with `Connection: close`.
    pub(super) last: Message,
    /// The same for HTTP/2, where that is spoken.
    pub(super) http2: Option<Arc<http2::Request>>,
    /// The same for HTTP/3.
    pub(super) http3: Option<Arc<http3::Request>>,
}

impl Prepared {
    /// Builds the requests of every target, and reads what TLS needs.
    ///
    /// # Errors
    /// What can't be sent, or a file that TLS needs and that is wrong.
    pub fn new(plan: &Plan) -> Result<Prepared, Error> {
        let mut prepared = Prepared {
            tls: tls::Setup::new(plan)?,
            plan: plan.clone(),
            kind: plan.requests.first().kind(),
            endpoints: Vec::new(),
            of_family: PerFamily::default(),
            hope: Hope::new(plan.load.threads.get()),
        };
        let requests = plan.targets.iter().map(|target| Requests::new(plan, target));
        let requests = requests.collect::<Result<Vec<_>, _>>()?;
        for family in Family::BOTH {
            for endpoint in plan.endpoints(family) {
                let requests = requests[endpoint.target].clone();
                let secure = plan.targets[endpoint.target].server_name.is_some();
                prepared.of_family[family].push((prepared.endpoints.len(), endpoint.weight));
                // What TLS and HTTP/2 send comes in several small pieces.
                let pieces = secure || requests.http2.is_some();
                let no_delay = pieces || requests.usual.length() > LONG;
                let address = endpoint.address;
                prepared.endpoints.push(Endpoint { address, family, secure, no_delay, requests });
            }
        }
        Ok(prepared)
    }
}

impl Requests {
    fn new(plan: &Plan, target: &Target) -> Result<Requests, Error> {
        let version = |version| plan.http.version == version;
        let http2 = version(Version::Http2).then(|| {
            with_parts(plan, target, |parts, body| http2::Request::new(parts, body, false))
        });
        let http3 = version(Version::Http3).then(|| {
            with_parts(plan, target, |parts, body| http3::Request::new(parts, body, false))
        });
        Ok(Requests {
            usual: http1(plan, target, false),
            last: http1(plan, target, true),
            http2: http2.transpose()?,
            http3: http3.transpose()?,
        })
    }
}

fn http1(plan: &Plan, target: &Target, close: bool) -> Message {
    // The first alone: the others wait for the worker to know of them.
    let request = plan.requests.first();
    match Form::new(request, &target.path, &target.authority, close) {
        Form::Constant { head, body } => Message::with_body(head, body.as_ref()),
        Form::Changing(form) => {
            let (mut values, mut out) = (Values::new(plan.seed, 0, 1), Vec::new());
            form.render(&mut values, &mut out, &mut Vec::new());
            Message::with_body(out, form.body())
        }
    }
}

/// Makes a request of HTTP/2 or HTTP/3.
fn with_parts<T>(
    plan: &Plan,
    target: &Target,
    make: impl FnOnce(&http2::Parts<'_>, Option<Arc<Vec<u8>>>) -> Result<T, String>,
) -> Result<Arc<T>, Error> {
    // The first alone, as it is written: the others wait for the worker to know of them.
    let request = plan.requests.first();
    let scheme = if target.secure() { "https" } else { "http" };
    let path = request.path.as_ref().map_or(target.path.as_str(), Template::source);
    let written = |(name, value): &(String, Template)| (name.clone(), value.source().to_owned());
    let headers: Vec<_> = request.headers.iter().map(written).collect();
    let (method, authority) = (&request.method, &target.authority);
    let parts = http2::Parts { method, scheme, authority, path, headers: &headers };
    let body = match &request.body {
        Some(Body::Constant(body)) => Some(Arc::clone(body)),
        Some(Body::Template(template)) => Some(Arc::new(template.source().into())),
        None => None,
    };
    make(&parts, body).map(Arc::new).map_err(Error::Usage)
}
