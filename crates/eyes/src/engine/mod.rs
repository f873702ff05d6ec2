//! Starting a client in the network of a case, and watching its packets.
//!
//! The process must be in a lab's enclosure: the client's programs end with it.

mod name_server;

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_lab::plan::parse_lab;
use sixmark_lab::{Ground, Host, TEMPORARY, Up};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::enclosure::Rights;
use sixmark_sys::packets::{PacketRing, PacketRingSettings};
use sixmark_sys::process::Running;
use sixmark_units::family::Family;
use sixmark_wire::Link;

use crate::case_lab::{
    CLIENT, NAMES, SITE, SITE_PORT, client_address, lab_text, names_address, site_addresses,
};
use crate::client_trace::ClientTrace;
use crate::eyes_case::{EyesCase, SiteAddressFate};
use crate::packet_reader::{ObservedSite, PacketReader};
use name_server::CaseNameServer;

/// The bytes of each packet that are kept: messages of DNS are read whole.
const SNAP: u32 = 1_500;
/// How long the packets are watched after the content arrived or the client ended: a SYN that was not given
/// up is sent again after 1 s.
const AFTERWARDS: Duration = Duration::from_millis(1_300);
/// The interval between two looks at the client.
const LOOK: Duration = Duration::from_millis(20);
/// How long the client has to end after SIGTERM.
const END: Duration = Duration::from_secs(2);
/// How long a connection that prepares the network may take.
const PREPARE: Duration = Duration::from_secs(10);

/// How clients are watched.
#[derive(Clone, Copy, Debug)]
pub struct EyesOptions<'a> {
    /// The command and its arguments; `{url}` in them stands for the site's URL.
    pub command: &'a [String],
    /// How long a start may take.
    pub patience: Duration,
    /// The privileges in the enclosure.
    pub rights: Rights,
    /// Ends everything when set.
    pub stop: &'a AtomicBool,
}

/// The network of a case that is up, with its name server.
#[derive(Debug)]
pub struct CaseNetwork {
    case: &'static EyesCase,
    // It ends before the lab does.
    _names: CaseNameServer,
    lab: Up,
}

/// Returns the URL of the site.
pub fn site_url() -> String {
    format!("http://{SITE}/bytes/1000")
}

impl CaseNetwork {
    /// Builds the network of a case. `None` if it was stopped.
    ///
    /// # Errors
    /// Returns an error if the lab can't be built.
    pub fn build(
        case: &'static EyesCase,
        options: &EyesOptions<'_>,
    ) -> Result<Option<CaseNetwork>, CommandError> {
        let mistake = |_| CommandError::Measure(format!("the lab of {} has a mistake", case.name));
        let plan = parse_lab(&lab_text(case), None, &BTreeMap::new()).map_err(mistake)?;
        let folder = Path::new(TEMPORARY);
        let ground =
            Ground { rights: options.rights, logs: folder, www: folder, stop: options.stop };
        let Some(lab) = Up::build(plan, &ground)? else { return Ok(None) };
        let names = CaseNameServer::start(lab.hosts().get(NAMES)?, case)?;
        let network = CaseNetwork { case, _names: names, lab };
        network.prepare()?;
        Ok(Some(network))
    }

    fn client(&self) -> Result<&Host, CommandError> {
        self.lab.hosts().get(CLIENT)
    }

    /// Has the client ask the name server, and all hosts find their neighbours: that takes a round trip.
    fn prepare(&self) -> Result<(), CommandError> {
        let alive = Family::BOTH.into_iter().flat_map(|family| site_addresses(self.case, family));
        let alive: Vec<SocketAddr> = alive
            .filter(|(_, fate)| {
                matches!(fate, SiteAddressFate::Answers(_) | SiteAddressFate::Stalls)
            })
            .map(|(address, _)| SocketAddr::new(address, SITE_PORT))
            .collect();
        self.client()?.within(|| {
            let resolver = format!("nameserver {}\n", names_address());
            std::fs::write("/etc/resolv.conf", resolver).map_err(|error| {
                CommandError::Measure(format!("the client's resolver can't be set: {error}"))
            })?;
            for address in &alive {
                TcpStream::connect_timeout(address, PREPARE).map_err(|error| {
                    CommandError::Measure(format!("the lab's server does not answer: {error}"))
                })?;
            }
            Ok(())
        })
    }

    /// Starts the client once. Returns what it did; `None` if it was stopped.
    ///
    /// # Errors
    /// Returns an error if the client can't be started, or its packets can't be captured.
    pub fn watch_start(
        &self,
        options: &EyesOptions<'_>,
    ) -> Result<Option<ClientTrace>, CommandError> {
        let client = self.client()?;
        let settings = PacketRingSettings { snap: SNAP, ..PacketRingSettings::default() };
        let open = || PacketRing::open("router", &settings);
        let cannot =
            |what: &str, error: io::Error| CommandError::Measure(format!("{what}: {error}"));
        let mut ring = client
            .net()
            .within(open)
            .map_err(|error| cannot("packets can't be captured", error))?;
        let mut reader = PacketReader::new(self.observed_site());
        let mut running = client
            .start(&mut self.command(options), None)
            .map_err(|error| cannot("the client can't be started", error))?;
        let is_stopped = watch(&mut running, &mut ring, &mut reader, options)
            .map_err(|error| cannot("the client can't be watched", error))?;
        running.stop(END).map_err(|error| cannot("the client can't be ended", error))?;
        Ok((!is_stopped).then(|| reader.trace().clone()))
    }

    fn observed_site(&self) -> ObservedSite {
        let addresses = Family::BOTH.into_iter().flat_map(|of| site_addresses(self.case, of));
        ObservedSite {
            name: SITE.to_owned(),
            addresses: addresses.map(|of| of.0).collect(),
            ports: vec![SITE_PORT],
            client: Family::BOTH.map(client_address).to_vec(),
        }
    }

    fn command(&self, options: &EyesOptions<'_>) -> Command {
        let url = site_url();
        let (program, arguments) =
            options.command.split_first().map_or((String::new(), Vec::new()), |(program, rest)| {
                let filled: Vec<String> = rest.iter().map(|of| of.replace("{url}", &url)).collect();
                (program.clone(), filled)
            });
        let mut command = Command::new(program);
        command.args(&arguments);
        if !options.command.iter().any(|of| of.contains("{url}")) {
            command.arg(&url);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// Watches a client until some time after its content arrived or it ended, or until its time is over.
/// Returns true if it was stopped.
fn watch(
    running: &mut Running,
    ring: &mut PacketRing,
    reader: &mut PacketReader,
    options: &EyesOptions<'_>,
) -> io::Result<bool> {
    let mut until = Instant::now() + options.patience + AFTERWARDS;
    let mut is_over = false;
    while Instant::now() < until {
        if options.stop.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let has_ended = running.wait(LOOK)?.is_some();
        if has_ended {
            // What is left to be seen are packets.
            ring.wait(None, LOOK)?;
        }
        while let Some(block) = ring.block() {
            for frame in block.frames() {
                reader.take(Link::Ethernet, frame.bytes, frame.length as usize, frame.at_ns);
            }
        }
        if !is_over && (has_ended || reader.trace().content_ms().is_some()) {
            is_over = true;
            until = until.min(Instant::now() + AFTERWARDS);
        }
    }
    Ok(false)
}
