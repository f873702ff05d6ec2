//! One worker's side of TLS: the sessions it may resume, and whose turn it is to.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use sixmark_record::mix::EvenShare;
use sixmark_record::plan::Plan;
use sixmark_record::plan::tls::Millionths;
use sixmark_units::family::{Family, PerFamily};

use super::failure::Failure;
use super::quic::Handshakes;
use super::session::{Room, Session};
use super::setup::Setup;
use super::store::{Store, WriteOnlyStore};

/// What one worker makes its sessions of. Nothing of it is another worker's.
#[derive(Debug)]
pub struct Client {
    endpoints: Vec<Option<TlsEndpoint>>,
    turns: PerFamily<EvenShare>,
}

/// One address of one `https://` target.
#[derive(Debug)]
struct TlsEndpoint {
    name: ServerName<'static>,
    family: Family,
    full: Arc<ClientConfig>,
    /// Absent where nothing is ever resumed.
    again: Option<(Arc<ClientConfig>, Arc<Store>)>,
}

impl Client {
    /// For the plan's endpoints: those of IPv6 in their order, then those of IPv4, as workers number
    /// them.
    pub fn new(setup: &Setup, plan: &Plan) -> Client {
        // A copy, so that no reference count is another worker's too.
        let own = Arc::new((*setup.config).clone());
        let of = |family| plan.endpoints(family).into_iter().map(move |e| (family, e.target));
        let all = Family::BOTH.into_iter().flat_map(of);
        let endpoints: Vec<_> =
            all.map(|(family, target)| endpoint(setup, &own, family, target)).collect();
        warm_up(endpoints.iter().flatten().next());
        Client { endpoints, turns: PerFamily::from_fn(|_| EvenShare::new(setup.resume)) }
    }

    /// A session for a new connection to endpoint number `endpoint`; none where that has no TLS. It
    /// tries to resume an earlier one where it is its turn and there is one.
    pub fn session(&mut self, endpoint: usize) -> Option<Result<Box<Session>, Failure>> {
        let endpoint = self.endpoints.get(endpoint)?.as_ref()?;
        let resume = self.turns[endpoint.family].draw();
        let made = match &endpoint.again {
            Some((config, store)) if resume => Session::new(config, &endpoint.name, Some(store)),
            _ => Session::new(&endpoint.full, &endpoint.name, None),
        };
        Some(made.map(Box::new))
    }

    /// As [`session`](Client::session), for a new connection of QUIC.
    pub fn quic(&mut self, endpoint: usize) -> Option<QuicStart> {
        let endpoint = self.endpoints.get(endpoint)?.as_ref()?;
        let resume = self.turns[endpoint.family].draw();
        let (config, store) = match &endpoint.again {
            Some((config, store)) if resume => (config, Some(store.clone())),
            _ => (&endpoint.full, None),
        };
        let (config, name) = (config.clone(), endpoint.name.clone());
        Some(QuicStart { crypto: Arc::new(Handshakes { config, name }), store })
    }
}

/// Makes a first flight for nobody: what the library does once for each thread (gathering entropy
/// takes it tens of milliseconds) must not be told as the time of the first handshake.
fn warm_up(endpoint: Option<&TlsEndpoint>) {
    let Some(endpoint) = endpoint else { return };
    if let Ok(mut session) = Session::new(&endpoint.full, &endpoint.name, None) {
        // Where it fails so will the first handshake, which counts it.
        let _ = session.start(&mut Room::default(), &mut Vec::new());
    }
}

/// How a connection of QUIC begins.
pub struct QuicStart {
    /// What the library is to shake hands by.
    pub crypto: Arc<dyn quinn_proto::crypto::ClientConfig>,
    store: Option<Arc<Store>>,
}

impl QuicStart {
    /// Whether a session was offered to be resumed; to be asked once, after the connection began.
    pub fn offered(&self) -> bool {
        self.store.as_ref().is_some_and(|store| store.was_taken())
    }
}

fn endpoint(
    setup: &Setup,
    own: &Arc<ClientConfig>,
    family: Family,
    target: usize,
) -> Option<TlsEndpoint> {
    let name = setup.names.get(target)?.clone()?;
    if setup.resume == Millionths::NONE {
        return Some(TlsEndpoint { name, family, full: own.clone(), again: None });
    }
    let store = Arc::new(Store::default());
    let with = |resumption| {
        let mut config = (**own).clone();
        config.resumption = resumption;
        Arc::new(config)
    };
    let full = with(Resumption::store(Arc::new(WriteOnlyStore(store.clone()))));
    let again = with(Resumption::store(store.clone()));
    Some(TlsEndpoint { name, family, full, again: Some((again, store)) })
}
