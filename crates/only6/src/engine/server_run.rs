//! A start of the user's server in the network of a scenario.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use sixmark_sys::command_error::CommandError;

use crate::app_start::{AppStart, AskedHost, ServerProbe, ServerWay};
use crate::filed_folder::observed_server;
use crate::scenario_lab::{CLIENT, SERVER, SITE};

use super::app_network::AppNetwork;
use super::probe::{Probe, send_probes};
use super::wire_capture::WireCapture;
use super::{CapturedStart, Only6Options};

/// The interval between two looks at the probes.
const LOOK: Duration = Duration::from_millis(20);
/// How long packets are read after the last answer.
const FLUSH: Duration = Duration::from_millis(60);

impl AppNetwork {
    /// Starts the server, and asks it by each way. `None` if it was stopped.
    pub(super) fn watch_server(
        &self,
        options: &Only6Options<'_>,
    ) -> Result<Option<CapturedStart>, CommandError> {
        let backend = match self.backend {
            Some(_) => match self.start_backend(options)? {
                Some(backend) => Some(backend),
                None => return Ok(None),
            },
            None => None,
        };
        let host = self.host(SERVER)?;
        let mut capture = WireCapture::start(host, observed_server(self.network.scenario))?;
        let begun = Instant::now();
        let mut read = || capture.read(Duration::ZERO).map(|_| ());
        let Some(server) = self.start_server(options, &mut read)? else { return Ok(None) };
        let sockets = server.sockets.clone();
        let probes = match sockets.is_empty() {
            true => Vec::new(),
            false => self.probe_server(&mut capture, options)?,
        };
        let until = Instant::now() + FLUSH;
        // A server that sends without end must not keep the time from being looked at.
        while Instant::now() < until {
            capture.read(until.saturating_duration_since(Instant::now()))?;
        }
        let took_ms = begun.elapsed().as_secs_f64() * 1e3;
        let end = server.end()?;
        if let Some(backend) = backend {
            backend.end()?;
        }
        if options.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let seen = capture.end()?;
        let start = AppStart {
            wire: seen.wire,
            client: None,
            server: end,
            took_ms,
            sockets,
            probes,
            lost_packets: seen.lost,
            unkept_packets: seen.unkept,
        };
        Ok(Some(CapturedStart { start, capture: seen.file }))
    }

    /// Asks the server by each way, by its name and by its address.
    fn probe_server(
        &self,
        capture: &mut WireCapture,
        options: &Only6Options<'_>,
    ) -> Result<Vec<ServerProbe>, CommandError> {
        let ways = self.network.server_ways();
        let asked = ways.iter().flat_map(|way| {
            // Behind a translator the client knows another address than the server.
            let is_native = matches!(way.0, ServerWay::Ipv6 | ServerWay::Ipv4);
            let by_address = is_native.then_some((*way, AskedHost::Address));
            std::iter::once((*way, AskedHost::Name)).chain(by_address)
        });
        let probe = |((way, address), asked)| Probe {
            way,
            asked,
            to: SocketAddr::new(address, options.port),
            name: SITE,
            path: options.path,
        };
        let probes: Vec<Probe<'_>> = asked.map(probe).collect();
        let client = self.host(CLIENT)?;
        thread::scope(|scope| {
            let send =
                || client.within(|| Ok(send_probes(&probes, options.patience, options.stop)));
            let sending = scope.spawn(send);
            while !sending.is_finished() {
                capture.read(LOOK)?;
            }
            let lost = |_| CommandError::Measure("the server can't be asked".to_owned());
            sending.join().map_err(lost)?
        })
    }
}
