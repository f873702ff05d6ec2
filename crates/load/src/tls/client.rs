//! The TLS client of a worker: the sessions that it may resume, and the choice of connections that
//! do.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use sixmark_plan::mix::{EvenShare, ShareTurns};
use sixmark_plan::pace::{ArrivalProcess, Pace};
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::tls::Millionths;
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::random::Random;

use super::failure::Failure;
use super::quic::Handshakes;
use super::session::{Room, Session};
use super::setup::Setup;
use super::store::{Store, WriteOnlyStore};

/// Separates these random numbers from others with the same seed.
const RESUME: u64 = 0x7265_7375_0000_0001;

/// The TLS client of one worker. It shares nothing with other workers.
#[derive(Debug)]
pub struct Client {
    endpoints: Vec<Option<TlsEndpoint>>,
    turns: PerFamily<ShareTurns>,
}

/// An address of an `https://` target.
#[derive(Debug)]
struct TlsEndpoint {
    name: ServerName<'static>,
    family: Family,
    full: Arc<ClientConfig>,
    /// The configuration for resumption, and the store of sessions. `None` if nothing is ever
    /// resumed.
    again: Option<(Arc<ClientConfig>, Arc<Store>)>,
}

impl Client {
    /// Creates the client of worker number `worker` for the endpoints of the plan: those of IPv6 in
    /// their order, then those of IPv4, as workers number them.
    pub fn new(setup: &Setup, plan: &Plan, worker: u32) -> Client {
        // A copy, so that workers share no reference count.
        let own = Arc::new((*setup.config).clone());
        let of = |family| plan.endpoints(family).into_iter().map(move |e| (family, e.target));
        let all = Family::BOTH.into_iter().flat_map(of);
        let endpoints: Vec<_> =
            all.map(|(family, target)| endpoint(setup, &own, family, target)).collect();
        warm_up(endpoints.iter().flatten().next());
        Client { endpoints, turns: PerFamily::from_fn(|f| turns(setup.resume, plan, worker, f)) }
    }

    /// Creates a session for a new connection to endpoint number `endpoint`. `None` if that has no
    /// TLS. The session tries to resume an earlier one if it is drawn for that and there is one.
    pub fn session(&mut self, endpoint: usize) -> Option<Result<Box<Session>, Failure>> {
        let endpoint = self.endpoints.get(endpoint)?.as_ref()?;
        let resume = self.turns[endpoint.family].draw();
        let made = match &endpoint.again {
            Some((config, store)) if resume => Session::new(config, &endpoint.name, Some(store)),
            _ => Session::new(&endpoint.full, &endpoint.name, None),
        };
        Some(made.map(Box::new))
    }

    /// Creates the start of a QUIC connection, as [`session`](Client::session) does for TCP.
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

/// Returns which connections of a family resume a session.
fn turns(resume: Millionths, plan: &Plan, worker: u32, family: Family) -> ShareTurns {
    match &plan.load.pace {
        // Full handshakes are to be a Poisson process too.
        Pace::Open(open) if open.arrivals == ArrivalProcess::Poisson => {
            let stream = u64::from(worker) << 1 | family as u64;
            ShareTurns::Drawn(resume, Random::new(plan.seed ^ RESUME, stream))
        }
        _ => ShareTurns::Even(EvenShare::new(resume)),
    }
}

/// Creates the first flight of a session that is not used. The library initializes itself once per
/// thread (gathering entropy takes tens of milliseconds), which must not count as time of the first
/// handshake.
fn warm_up(endpoint: Option<&TlsEndpoint>) {
    let Some(endpoint) = endpoint else { return };
    if let Ok(mut session) = Session::new(&endpoint.full, &endpoint.name, None) {
        // If this fails, the first handshake fails too and counts the failure.
        let _ = session.start(&mut Room::default(), &mut Vec::new());
    }
}

/// The parameters with which a QUIC connection begins.
pub struct QuicStart {
    /// The TLS configuration for the QUIC library.
    pub crypto: Arc<dyn quinn_proto::crypto::ClientConfig>,
    store: Option<Arc<Store>>,
}

impl QuicStart {
    /// Returns true if the resumption of a session was offered. Must be called once, after the
    /// connection has begun.
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
