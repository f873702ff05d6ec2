//! Starting a client in the network of a case, and watching its packets.
//!
//! The process must be in a lab's enclosure: the client's programs end with it.

mod client_command;
mod name_server;
mod served_link;
mod site_identity;
mod started_client;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sixmark_lab::plan::parse_lab;
use sixmark_lab::{Ground, Host, TEMPORARY, Up};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::enclosure::Rights;
use sixmark_sys::packets::{PacketRing, PacketRingSettings};
use sixmark_units::family::Family;
use sixmark_wire::Link;

use crate::behaviour::losers_shown_ms;
use crate::case_lab::{
    CLIENT, ClientPlace, NAMES, ROUTER, SITE, ServedSite, client_address, hinted_address, lab_text,
    names_address, names_address_of, site_addresses,
};
use crate::client_trace::ClientTrace;
use crate::eyes_case::{EyesCase, SiteAddressFate, SiteScheme};
use crate::packet_reader::{ObservedSite, PacketReader};
use client_command::ClientFolder;
pub use client_command::WatchedClient;
use name_server::CaseNameServer;
use served_link::watch_served;
pub use served_link::{ServedLink, describe_served_link};
pub use site_identity::SiteIdentity;
use started_client::watch_command;

/// The bytes of each packet that are kept: messages of DNS are read whole.
const SNAP: u32 = 1_500;
/// How long the packets are watched at least after the content arrived: a SYN that was not given
/// up is sent again after 1 s.
const AFTERWARDS: Duration = Duration::from_millis(1_300);
/// How long they are watched at most after it.
const LONGEST_AFTERWARDS: Duration = Duration::from_secs(5);
/// The interval between two looks at the client.
const LOOK: Duration = Duration::from_millis(20);
/// The bytes of the page that clients open.
const CONTENT_BYTES: u64 = 1_000;
/// The most blocks of captured packets that are read between two looks at the time.
const MOST_BLOCKS: usize = 32;
/// How long a connection that prepares the network may take.
const PREPARE: Duration = Duration::from_secs(10);

/// How clients are watched.
#[derive(Clone, Copy, Debug)]
pub struct EyesOptions<'a> {
    /// The client.
    pub client: WatchedClient<'a>,
    /// The client's program; empty if it is not started here.
    pub program: &'a Path,
    /// The identity of the site over TLS; `None` for a site over plain HTTP.
    pub identity: Option<&'a SiteIdentity>,
    /// How long a start may take.
    pub patience: Duration,
    /// The privileges in the enclosure.
    pub rights: Rights,
    /// Ends everything when set.
    pub stop: &'a AtomicBool,
}

impl EyesOptions<'_> {
    fn site(&self) -> ServedSite<'_> {
        self.identity.map_or(ServedSite::Plain, SiteIdentity::site)
    }

    /// Returns how the site is served.
    pub fn scheme(&self) -> SiteScheme {
        self.site().scheme()
    }
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
pub fn site_url(scheme: SiteScheme) -> String {
    format!("{}://{SITE}/bytes/{CONTENT_BYTES}", scheme.name())
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
        let plan = parse_lab(
            &lab_text(case, options.site(), options.client.place()),
            None,
            &BTreeMap::new(),
        )
        .map_err(mistake)?;
        let folder = Path::new(TEMPORARY);
        let ground =
            Ground { rights: options.rights, logs: folder, www: folder, stop: options.stop };
        let Some(lab) = Up::build(plan, &ground)? else { return Ok(None) };
        let names = CaseNameServer::start(lab.hosts().get(NAMES)?, case)?;
        let network = CaseNetwork { case, _names: names, lab };
        if let WatchedClient::Served(link) = options.client {
            link.connect(network.lab.hosts().get(ROUTER)?)?;
        } else {
            network.prepare(options.scheme().port())?;
        }
        Ok(Some(network))
    }

    fn client(&self) -> Result<&Host, CommandError> {
        self.lab.hosts().get(CLIENT)
    }

    /// Has the client ask the name server, and all hosts find their neighbours: that takes a round trip, by
    /// which the first packet over a family would be late.
    fn prepare(&self, port: u16) -> Result<(), CommandError> {
        let of_site = Family::BOTH.into_iter().flat_map(|family| site_addresses(self.case, family));
        let answers = of_site.filter_map(|(address, fate)| match fate {
            SiteAddressFate::Silent | SiteAddressFate::Unreachable => None,
            fate => Some((address, fate.has_server())),
        });
        // Nobody listens for TCP there: the host resets connections. The way to it is also the first part of
        // that to addresses of which nothing is heard.
        let refuses = Family::BOTH.map(|family| (names_address_of(family), false));
        let places: Vec<(IpAddr, bool)> = refuses.into_iter().chain(answers).collect();
        self.client()?.within(|| {
            let resolver = format!("nameserver {}\n", names_address());
            std::fs::write("/etc/resolv.conf", resolver).map_err(|error| {
                CommandError::Measure(format!("the client's resolver can't be set: {error}"))
            })?;
            places.iter().try_for_each(|(address, answers)| {
                try_place(SocketAddr::new(*address, port), *answers)
            })
        })
    }

    /// Starts the client, as often as the case asks for before it is watched. Returns what it did; `None`
    /// if it was stopped.
    ///
    /// # Errors
    /// Returns an error if the client can't be started, or its packets can't be captured.
    pub fn watch_start(
        &self,
        options: &EyesOptions<'_>,
    ) -> Result<Option<ClientTrace>, CommandError> {
        let folder = Path::new(TEMPORARY).join("eyes-client");
        let folder = ClientFolder::make(&folder, options.client, options.identity)
            .map_err(|error| cannot("the client's folder can't be made", error))?;
        for _ in 0..self.case.starts_before {
            if self.start_client(&folder, options)?.is_none() {
                return Ok(None);
            }
        }
        let seen = self.start_client(&folder, options);
        // The next client has a folder of its own.
        folder.remove().map_err(|error| cannot("the client's folder can't be removed", error))?;
        seen
    }

    /// Starts the client once. Returns what it did; `None` if it was stopped.
    fn start_client(
        &self,
        folder: &ClientFolder,
        options: &EyesOptions<'_>,
    ) -> Result<Option<ClientTrace>, CommandError> {
        let is_served = matches!(options.client, WatchedClient::Served(_));
        // The client's end of its link, or the router's.
        let (host, interface) = match is_served {
            true => (self.lab.hosts().get(ROUTER)?, CLIENT),
            false => (self.client()?, ROUTER),
        };
        let settings = PacketRingSettings { snap: SNAP, ..PacketRingSettings::default() };
        let open = || PacketRing::open(interface, &settings);
        let mut ring =
            host.net().within(open).map_err(|error| cannot("packets can't be captured", error))?;
        let mut reader = PacketReader::new(self.observed_site(options));
        if is_served {
            let is_stopped = watch_served(&mut ring, &mut reader, options)
                .map_err(|error| cannot("the client can't be watched", error))?;
            let trace = whole_trace(&ring, &reader)?;
            return Ok((!is_stopped).then_some(trace));
        }
        let url = site_url(options.scheme());
        let mut command = folder.command(options.client, options.program, options.identity, &url);
        let watched = watch_command(host, &mut command, &mut ring, &mut reader, options)?;
        let trace = whole_trace(&ring, &reader)?;
        Ok(watched.map(|end| ClientTrace { end: Some(end), ..trace }))
    }

    fn observed_site(&self, options: &EyesOptions<'_>) -> ObservedSite {
        let client = match options.client.place() {
            ClientPlace::Lab => Family::BOTH.map(client_address).to_vec(),
            ClientPlace::Outside => Vec::new(),
        };
        let own = Family::BOTH.into_iter().flat_map(|of| site_addresses(self.case, of));
        let hinted = Family::BOTH.into_iter().filter_map(|of| hinted_address(self.case, of));
        ObservedSite {
            name: SITE.to_owned(),
            addresses: own.map(|of| of.0).chain(hinted).collect(),
            ports: vec![options.scheme().port()],
            content_bytes: CONTENT_BYTES,
            name_servers: vec![names_address()],
            client,
        }
    }
}

/// Connects to a place that answers, or that refuses connections.
fn try_place(place: SocketAddr, answers: bool) -> Result<(), CommandError> {
    let connect = || TcpStream::connect_timeout(&place, PREPARE);
    // A lossy network loses packets that look for neighbours too.
    let is_lost = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::HostUnreachable)
    };
    match connect().or_else(|error| if is_lost(&error) { connect() } else { Err(error) }) {
        Ok(_) => Ok(()),
        Err(error) if !answers && error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) => Err(CommandError::Measure(format!(
            "the lab's host at {} does not answer: {error}",
            place.ip()
        ))),
    }
}

fn cannot(what: &str, error: io::Error) -> CommandError {
    CommandError::Measure(format!("{what}: {error}"))
}

/// Returns what was seen of a client, with the number of packets that the capture lost.
fn whole_trace(ring: &PacketRing, reader: &PacketReader) -> Result<ClientTrace, CommandError> {
    let counts = ring.counts().map_err(|error| cannot("the capture can't be counted", error))?;
    Ok(ClientTrace { lost_packets: counts.dropped, ..reader.trace().clone() })
}

/// Returns how long a client is watched after its content arrived, which has just been seen: until the attempts
/// that lost would have been tried again.
fn time_afterwards(trace: &ClientTrace) -> Duration {
    let shown_ms = losers_shown_ms(trace) - trace.content_ms().unwrap_or(0.0);
    let shown = Duration::from_secs_f64(shown_ms.max(0.0) / 1e3);
    shown.clamp(AFTERWARDS, LONGEST_AFTERWARDS)
}

/// Has the packets read that were captured since the last time.
fn take_frames(ring: &mut PacketRing, reader: &mut PacketReader) {
    // A client that sends without end must not keep the time from being looked at.
    for _ in 0..MOST_BLOCKS {
        let Some(block) = ring.block() else { return };
        for frame in block.frames() {
            reader.take(Link::Ethernet, frame.bytes, frame.length as usize, frame.at_ns);
        }
    }
}
