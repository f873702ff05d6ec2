//! The middle of a link: a namespace between the interfaces of its two hosts. The emulator reads
//! and writes frames there if TAP devices are not permitted, and the kernel limits rates there.
//!
//! A queue at a sender's own interface pushes back into the sender. Its kernel counts what waits
//! there as memory of the socket, so that UDP waits for room instead of losing datagrams, and TCP
//! (small queues, tcp_limit_output_bytes) lets little wait. What the queue drops, TCP is told of at
//! once and tries again at once. So a rate limit acts in the middle, and a frame that gets there has
//! left its sender: it is copied to the other side and the original is dropped. A copy belongs to
//! no socket; a redirected frame, or one that a bridge forwards, still would.

use std::io;
use std::sync::OnceLock;

use crate::impairment::Impairment;
use crate::plan::tc::{self, Port};
use crate::plan::{Lab, LabLink, LinkEnd};
use sixmark_sys::netns::NetNs;
use sixmark_sys::port::{Port as Own, Raw};
use sixmark_sys::rtnetlink::Netlink;

use super::host::Host;
use super::traffic_control::{run_tc, try_tc};
use super::{ends, settings};

/// The names of the interfaces in the middle: the one that leads to the first end of the link, and
/// the one that leads to the second.
const PORTS: [&str; 2] = ["first", "second"];

/// Returns whether the kernel can limit rates in the middle of a link: it has TBF, and it can copy
/// frames from one interface to another (ingress, u32, mirred). The result comes from a single
/// trial in a separate network namespace.
///
/// # Errors
/// Returns one line that explains why the trial failed.
pub(super) fn can_limit() -> Result<bool, String> {
    static FOUND: OnceLock<Result<bool, String>> = OnceLock::new();
    let trial = || {
        let forwarding = tc::forward("lo", "lo");
        let lines = forwarding.iter().map(String::as_str);
        try_tc(
            &lines
                .chain(["qdisc add dev lo root tbf rate 1mbit burst 3kb limit 3kb"])
                .collect::<Vec<_>>(),
        )
    };
    FOUND.get_or_init(|| trial().map_err(|error| error.to_string())).clone()
}

/// The namespace in the middle of a link. Its interfaces exist as long as this value.
#[derive(Debug)]
pub(super) struct Middle(NetNs);

impl Middle {
    /// Creates a namespace with a veth link to each host. Its interfaces are down.
    pub(super) fn lay(link: &LabLink, hosts: [&Host; 2]) -> io::Result<Middle> {
        let middle = NetNs::create()?;
        middle.within(settings::of_bridge)?;
        for ((end, host), port) in link.ends.iter().zip(hosts).zip(PORTS) {
            host.net().within(|| Netlink::open()?.veth(&end.interface, port, &middle))?;
            middle.within(|| Netlink::open()?.mtu(port, end.mtu))?;
        }
        Ok(Middle(middle))
    }

    /// Opens both interfaces for the emulator.
    pub(super) fn open(&self) -> io::Result<[Own; 2]> {
        self.0.within(raise_ports)?;
        let open = |port| self.0.within(|| Raw::open(port).map(Own::Raw));
        Ok([open(PORTS[0])?, open(PORTS[1])?])
    }

    /// Configures the kernel to forward frames between both interfaces, and to impair them there. To
    /// be called when the interfaces of the hosts are up: the kernel then notices at once that these
    /// have a carrier, and otherwise up to a second later, before which they have no IPv6 address.
    pub(super) fn limit(&self, lab: &Lab, link: &LabLink) -> io::Result<()> {
        let limit = || {
            for (at, way) in link.toward.iter().enumerate() {
                let (from, to) = (&link.ends[at], PORTS[1 - at]);
                ends::segment_as(lab, from, to)?;
                shape(way, Port { name: to, mtu: from.mtu })?;
                run_lines(tc::forward(PORTS[at], to))?;
            }
            raise_ports()
        };
        self.0.within(limit)
    }
}

/// Sets both interfaces up, in the calling thread's namespace.
fn raise_ports() -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    PORTS.iter().try_for_each(|port| netlink.up(port))
}

/// Configures the kernel to impair the frames that leave a host at one end of a link.
pub(super) fn shape_at_host(end: &LinkEnd, host: &Host, way: &Impairment) -> io::Result<()> {
    host.net().within(|| shape(way, Port { name: &end.interface, mtu: end.mtu }))
}

/// Configures the kernel to impair the frames that leave an interface of the calling thread's
/// namespace.
fn shape(way: &Impairment, port: Port<'_>) -> io::Result<()> {
    run_lines(tc::commands(way, port).unwrap_or_default())
}

fn run_lines(lines: impl IntoIterator<Item = String>) -> io::Result<()> {
    lines.into_iter().try_for_each(|line| run_tc(&line.split(' ').collect::<Vec<_>>()))
}
