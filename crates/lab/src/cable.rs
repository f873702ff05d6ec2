//! A link that has been created, by the kernel or by the emulator, and its report.

use std::io;
use std::process::{Command, Stdio};

use crate::impairment::Impairment;
use crate::link_report::{LinkReport, ReportedMechanism};
use crate::plan::tc;
use crate::plan::tc::Port;
use crate::plan::{Lab, LabLink, LinkEnd, LinkMechanism as Wanted};
use sixmark_sys::netns::NetNs;
use sixmark_sys::port::{Port as Own, Raw};
use sixmark_sys::tap::Tap;

use super::emulator::Emulator;
use super::host::Host;
use super::needs::TC;
use super::part::{at, error_of_part};
use super::{ends, netem, settings};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::{command_of, find_program};
use sixmark_sys::rtnetlink::Netlink;

/// A link that has been created.
#[derive(Debug)]
pub(super) enum Cable {
    /// A link of the kernel.
    Kernel(Box<LinkReport>),
    /// A link of the emulator, which ends when this is dropped.
    Emulated(Emulator),
}

/// The mechanism that impairs each direction of a link.
type Mechanisms = [Option<ReportedMechanism>; 2];

impl Cable {
    /// Creates a link and configures its ends. An emulated link uses `seed` for its random numbers.
    pub(super) fn lay(
        lab: &Lab,
        link: &LabLink,
        nodes: &[Host],
        seed: u64,
    ) -> Result<Cable, CommandError> {
        let mechanisms = mechanisms(link)?;
        let hosts = [at(lab, nodes, link.ends[0].node)?, at(lab, nodes, link.ends[1].node)?];
        let emulated = mechanisms.contains(&Some(ReportedMechanism::Emulator));
        let cable = match emulated {
            true => Cable::Emulated(emulate(link, hosts, seed).map_err(error_of_part(&link.name))?),
            false => {
                join_hosts(link, hosts).map_err(error_of_part(&link.name))?;
                Cable::Kernel(Box::new(LinkReport::of_kernel(&link.name, mechanisms)))
            }
        };
        for (end, host) in link.ends.iter().zip(hosts) {
            host.net().within(|| ends::furnish(lab, end)).map_err(error_of_part(&link.name))?;
        }
        if !emulated {
            for ((end, host), way) in link.ends.iter().zip(hosts).zip(&link.toward) {
                shape(end, host, way).map_err(error_of_part(&link.name))?;
            }
        }
        Ok(cable)
    }

    /// Returns the report on the link so far.
    pub(super) fn report(
        &self,
        lab: &Lab,
        link: &LabLink,
        nodes: &[Host],
    ) -> Result<LinkReport, CommandError> {
        let emulator = match self {
            Cable::Kernel(report) => return Ok(report.as_ref().clone()),
            Cable::Emulated(emulator) => emulator,
        };
        let mut report =
            emulator.report().map_err(|error| CommandError::Measure(error.to_string()))?;
        for (end, way) in link.ends.iter().zip([&mut report.a_to_b, &mut report.b_to_a]) {
            let host = at(lab, nodes, end.node)?;
            let dropped = host.net().within(|| ends::dropped(&end.interface));
            way.unread = dropped.map_err(error_of_part(&link.name))?;
        }
        Ok(report)
    }
}

/// Selects the mechanisms that the plan requests, as far as this kernel supports them.
fn mechanisms(link: &LabLink) -> Result<Mechanisms, CommandError> {
    let ways = [&link.toward[0], &link.toward[1]];
    let wrong =
        |why: String| CommandError::Measure(format!("can't build the lab: {}: {why}", link.name));
    match link.mechanism {
        Wanted::Emulator if ways.iter().any(|way| !way.is_nothing()) => {
            Ok([Some(ReportedMechanism::Emulator); 2])
        }
        Wanted::Emulator => Ok([None, None]),
        // A rate alone requires neither netem nor the emulator.
        _ if ways.iter().all(|way| !way.needs_delay_line()) => Ok(tc::of_link(ways, false)),
        Wanted::Auto => Ok(tc::of_link(ways, netem::is_there().map_err(wrong)?)),
        Wanted::Netem => {
            let found = tc::of_link(ways, netem::is_there().map_err(wrong)?);
            match found.contains(&Some(ReportedMechanism::Emulator)) {
                true => Err(wrong(
                    "this kernel's netem does not support it: set mechanism = \"auto\"".to_owned(),
                )),
                false => Ok(found),
            }
        }
    }
}

fn join_hosts(link: &LabLink, [here, there]: [&Host; 2]) -> io::Result<()> {
    let [first, second] = &link.ends;
    let lay = || Netlink::open()?.veth(&first.interface, &second.interface, there.net());
    here.net().within(lay)
}

/// Starts the emulator between two TAP devices, or in the middle of a veth link if TAP devices are
/// not permitted.
fn emulate(link: &LabLink, hosts: [&Host; 2], seed: u64) -> io::Result<Emulator> {
    let tap = |at: usize| hosts[at].net().within(|| Tap::create(&link.ends[at].interface));
    let [there, back] = &link.toward;
    match tap(0) {
        Ok(first) => Emulator::start(&link.name, first, tap(1)?, there, back, seed),
        Err(error) if is_forbidden(&error) => {
            let [first, second] = middle(link, hosts)?;
            Emulator::start(&link.name, first, second, there, back, seed)
        }
        Err(error) => Err(error),
    }
}

/// Returns whether the device that creates TAP devices is absent or not accessible to this user.
fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound)
        || error.raw_os_error() == Some(libc::ENODEV)
}

/// Creates a veth link from each host to a namespace in the middle, where the emulator reads and
/// writes raw frames. The hosts must therefore segment and checksum their packets themselves.
fn middle(link: &LabLink, hosts: [&Host; 2]) -> io::Result<[Own; 2]> {
    let middle = NetNs::create()?;
    middle.within(settings::of_bridge)?;
    let port = |at: usize| {
        let (end, host, name) = (&link.ends[at], hosts[at], MIDDLE[at]);
        let lay = || {
            Netlink::open()?.veth(&end.interface, name, &middle)?;
            ends::leave_nothing(&end.interface)
        };
        host.net().within(lay)?;
        middle.within(|| {
            let mut netlink = Netlink::open()?;
            netlink.mtu(name, end.mtu)?;
            netlink.up(name)?;
            Raw::open(name).map(Own::Raw)
        })
    };
    Ok([port(0)?, port(1)?])
}

/// The names of the interfaces in the middle of a link.
const MIDDLE: [&str; 2] = ["first", "second"];

/// Configures the kernel to impair the frames that leave at one end of a link.
fn shape(end: &LinkEnd, host: &Host, way: &Impairment) -> io::Result<()> {
    let port = Port { name: &end.interface, mtu: end.mtu };
    for words in tc::commands(way, port).unwrap_or_default() {
        let (program, package) = TC;
        let absent = || {
            let line = format!("{program} is not installed: install the Debian package {package}");
            io::Error::other(line)
        };
        let mut tc: Command = command_of(&find_program(program).ok_or_else(absent)?);
        tc.args(&words).stdin(Stdio::null());
        host.run(&mut tc)?;
    }
    Ok(())
}
