//! Packet captures during a run (`--truth`).

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use sixmark_http::HttpVersion;
use sixmark_plan::plan::Plan;
use sixmark_result::truth::{Clock, Packets, Truth, Views};
use sixmark_sys::netns::NetNs;
use sixmark_sys::{clock, route};
use sixmark_tally::client_records::ClientRecords;
use sixmark_units::family::PerFamily;

use crate::capture::{Capture, CaptureSettings};
use sixmark_sys::command_error::CommandError;

/// How long to wait for connections to come to rest after the load has ended.
const PATIENCE: Duration = Duration::from_secs(2);
/// The number of bytes captured of each packet: enough for its headers and the head of a request or
/// response.
const SNAP: u32 = 1_024;
/// The number of readings of both clocks. The one with the least time between its two readings of
/// the monotonic clock is used.
const LOOKS: usize = 16;

/// Captures on all interfaces that lead to a plan's targets.
#[derive(Debug)]
pub struct TruthCapture {
    captures: Vec<(String, Capture<Packets>)>,
    clock: Clock,
}

impl TruthCapture {
    /// Starts capturing. Every packet that passes after this returns is captured.
    ///
    /// # Errors
    /// Returns an error if the plan uses HTTP/3, if an interface can't be captured on, or if a
    /// target has no route.
    pub fn start(plan: &Plan) -> Result<TruthCapture, CommandError> {
        if plan.http.version == HttpVersion::Http3 {
            let line = "--truth can't be used with HTTP/3: QUIC has no connect phase and encrypts \
                        the rest; omit it";
            return Err(CommandError::Usage(line.into()));
        }
        let ports: BTreeSet<u16> =
            addresses_of_targets(plan).map(|address| address.port()).collect();
        let interfaces: BTreeSet<String> =
            addresses_of_targets(plan).map(interface).collect::<Result<_, _>>()?;
        let here =
            NetNs::current().map_err(|error| cannot("find its network namespace", &error))?;
        let start = |interface: String| {
            let ports = ports.iter().copied().collect();
            let settings = CaptureSettings { interface: interface.clone(), ports, file: None };
            let capture = Capture::telling(&here, settings, SNAP, Packets::default());
            capture.map(|capture| (interface, capture)).map_err(of_option)
        };
        let captures = interfaces.into_iter().map(start).collect::<Result<_, _>>()?;
        Ok(TruthCapture { captures, clock: both_clocks() })
    }

    /// Ends the captures and matches their packets with what the load recorded.
    ///
    /// # Errors
    /// Returns an error if an interface disappeared.
    pub fn end(self, plan: &Plan, client_records: ClientRecords) -> Result<Truth, CommandError> {
        let (mut interfaces, mut packets) = (Vec::new(), Packets::default());
        let (mut seen, mut dropped, mut settled) = (0, 0, true);
        for (interface, capture) in self.captures {
            let found = capture.end(PATIENCE).map_err(of_option)?;
            interfaces.push(interface);
            seen += found.packets;
            dropped += found.dropped;
            settled &= found.settled;
            packets.add(found.sink);
        }
        let used = PerFamily::from_fn(|family| plan.families().any(|used| used == family));
        let families = Views { client_records, packets, clock: self.clock }.beside(used);
        Ok(Truth { interfaces, packets: seen, dropped, settled, families })
    }
}

fn addresses_of_targets(plan: &Plan) -> impl Iterator<Item = SocketAddr> {
    let of = |family| plan.endpoints(family).into_iter().map(|endpoint| endpoint.address);
    plan.families().flat_map(of)
}

fn interface(to: SocketAddr) -> Result<String, CommandError> {
    route::interface_to(to).map_err(|error| {
        CommandError::Measure(format!("--truth: can't find the interface towards {to}: {error}"))
    })
}

/// Reads the monotonic clock and the wall clock at nearly the same time.
fn both_clocks() -> Clock {
    let look = |_| {
        let (before, packets_ns, after) = (clock::now(), clock::real(), clock::now());
        let client_ns = before + (after - before) / 2;
        (after - before, Clock { client_ns, packets_ns })
    };
    let looks = (0..LOOKS).map(look).min_by_key(|(apart, _)| *apart);
    looks.map_or(Clock { client_ns: 0, packets_ns: 0 }, |(_, clock)| clock)
}

fn cannot(what: &str, error: &std::io::Error) -> CommandError {
    CommandError::Measure(format!("--truth can't {what}: {error}"))
}

fn of_option(error: CommandError) -> CommandError {
    CommandError::Measure(format!("--truth: {error}"))
}
