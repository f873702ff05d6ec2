//! A start of the user's client in the network of a scenario.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use sixmark_lab::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_units::family::Family;

use crate::app_scenario::ScenarioTwist;
use crate::app_start::AppStart;
use crate::filed_folder::observed_client;
use crate::scenario_lab::{CLIENT, SERVER, SITE, host_address};

use super::app_network::AppNetwork;
use super::started_program::StartedProgram;
use super::wire_capture::WireCapture;
use super::{AppCommand, CapturedStart, Only6Options, cannot};

/// The interval between two looks at the client.
const LOOK: Duration = Duration::from_millis(20);
/// How long packets are read after the client has ended: what it sent is captured by then.
const FLUSH: Duration = Duration::from_millis(60);
/// A client that got the content and sends and receives nothing for this time is done, as a browser is.
const QUIET: Duration = Duration::from_secs(3);

/// What a client opens.
struct ClientTarget {
    url: String,
    /// The name, or the address without brackets.
    host: String,
    /// The name or the address in brackets, and the port.
    authority: String,
}

impl AppNetwork {
    /// Starts the server, and then the client. `None` if it was stopped.
    pub(super) fn watch_client(
        &self,
        client: &AppCommand,
        options: &Only6Options<'_>,
    ) -> Result<Option<CapturedStart>, CommandError> {
        let Some(server) = self.start_server(options, &mut || Ok(()))? else { return Ok(None) };
        let sockets = server.sockets.clone();
        if sockets.is_empty() {
            // No client can show anything.
            let start = AppStart { server: server.end()?, ..AppStart::default() };
            return Ok(Some(CapturedStart { start, capture: Vec::new() }));
        }
        let host = self.host(CLIENT)?;
        let observed = observed_client(self.network.scenario, options.server.is_some());
        let mut capture = WireCapture::start(host, observed)?;
        let ClientTarget { url, host: target, authority } = self.target(options);
        let port = options.port.to_string();
        let places = [
            ("{url}", url.as_str()),
            ("{authority}", &authority),
            ("{host}", &target),
            ("{port}", &port),
        ];
        let mut command = client.fill(&places, Some(&url));
        let begun = Instant::now();
        let program = StartedProgram::start(host, &mut command)?;
        let is_stopped = watch(&program, host, &mut capture, options)?;
        let took_ms = begun.elapsed().as_secs_f64() * 1e3;
        let end = program.end(host)?;
        let server_end = server.end()?;
        if is_stopped {
            return Ok(None);
        }
        let seen = capture.end()?;
        let is_own = options.server.is_none();
        let start = AppStart {
            wire: seen.wire,
            client: Some(end),
            server: server_end.filter(|_| !is_own),
            took_ms,
            sockets: if is_own { Vec::new() } else { sockets },
            probes: Vec::new(),
            lost_packets: seen.lost,
            unkept_packets: seen.unkept,
        };
        Ok(Some(CapturedStart { start, capture: seen.file }))
    }

    /// Returns what the client opens.
    fn target(&self, options: &Only6Options<'_>) -> ClientTarget {
        let address: IpAddr = host_address(SERVER, Family::Ipv6);
        let (authority, host) = match self.network.scenario.twist {
            ScenarioTwist::Ipv6Literal => (format!("[{address}]"), address.to_string()),
            _ => (SITE.to_owned(), SITE.to_owned()),
        };
        let port = match options.port {
            80 => String::new(),
            port => format!(":{port}"),
        };
        let url = format!("http://{authority}{port}{}", options.path);
        ClientTarget { url, host, authority: format!("{authority}:{}", options.port) }
    }
}

/// Watches a client until all of it has ended, until it is quiet after its content arrived, or until its time is
/// over. Returns true if it was stopped.
fn watch(
    program: &StartedProgram,
    host: &Host,
    capture: &mut WireCapture,
    options: &Only6Options<'_>,
) -> Result<bool, CommandError> {
    let cannot_watch = |error| cannot("the client can't be watched", error);
    let mut until = Instant::now() + options.patience;
    let (mut heard, mut is_gone) = (Instant::now(), false);
    while Instant::now() < until {
        if options.stop.load(Ordering::Relaxed) {
            return Ok(true);
        }
        if capture.read(LOOK)? {
            heard = Instant::now();
        }
        if !is_gone && program.is_gone(host).map_err(cannot_watch)? {
            is_gone = true;
            until = until.min(Instant::now() + FLUSH);
        }
        let is_done = options.server.is_none() && capture.wire().content_ms().is_some();
        if !is_gone && is_done && heard.elapsed() > QUIET {
            return Ok(false);
        }
    }
    Ok(false)
}
