//! Everything a worker needs that can be made before the load begins.

use std::net::SocketAddr;

use sixmark_core::family::{Family, PerFamily};
use sixmark_core::http1::{Form, RequestKind};
use sixmark_core::plan::{Plan, Target};
use sixmark_core::template::Values;
use sixmark_sys::driver::Message;

use super::hope::Hope;

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
    pub(super) hope: Hope,
}

/// One address of one target, and what to send there.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    pub(super) family: Family,
    pub(super) no_delay: bool,
    /// What an exchange sends on a connection that may be used again.
    pub(super) request: Message,
    /// What the last one on a connection sends, with `Connection: close`.
    pub(super) last_request: Message,
}

impl Prepared {
    /// Builds the requests of every target.
    pub fn new(plan: &Plan) -> Prepared {
        let mut prepared = Prepared {
            plan: plan.clone(),
            kind: plan.requests.first().kind(),
            endpoints: Vec::new(),
            of_family: PerFamily::default(),
            hope: Hope::new(plan.load.threads.get()),
        };
        let requests: Vec<_> = plan.targets.iter().map(|target| requests(plan, target)).collect();
        for family in Family::BOTH {
            for endpoint in plan.endpoints(family) {
                let (request, last_request) = requests[endpoint.target].clone();
                prepared.of_family[family].push((prepared.endpoints.len(), endpoint.weight));
                let no_delay = request.length() > LONG;
                let address = endpoint.address;
                prepared.endpoints.push(Endpoint {
                    address,
                    family,
                    no_delay,
                    request,
                    last_request,
                });
            }
        }
        prepared
    }
}

/// A target's ordinary and last request.
fn requests(plan: &Plan, target: &Target) -> (Message, Message) {
    // The first alone: the others wait for the worker to know of them.
    let request = plan.requests.first();
    let message = |close| match Form::new(request, &target.path, &target.authority, close) {
        Form::Constant { head, body } => Message::with_body(head, body.as_ref()),
        Form::Changing(form) => {
            let (mut values, mut out) = (Values::new(plan.seed, 0, 1), Vec::new());
            form.render(&mut values, &mut out, &mut Vec::new());
            Message::with_body(out, form.body())
        }
    };
    (message(false), message(true))
}
