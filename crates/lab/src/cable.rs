//! A link that has been created, by the kernel or by the emulator, and its report.

use std::io;

use crate::impairment::Impairment;
use crate::link_report::{LinkReport, ReportedMechanism};
use crate::plan::tc::{self, KernelShapers};
use crate::plan::{Lab, LabLink, LinkMechanism as Wanted};
use sixmark_sys::tap::Tap;

use super::emulator::Emulator;
use super::host::Host;
use super::middle::{self, Middle};
use super::part::{at, error_of_part};
use super::{ends, netem};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::rtnetlink::Netlink;

/// A link that has been created.
#[derive(Debug)]
pub(super) enum Cable {
    /// A link of the kernel; with a rate limit it has a middle, which ends when this is dropped.
    Kernel { report: Box<LinkReport>, _middle: Option<Middle> },
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
        let lay = || {
            if mechanisms.contains(&Some(ReportedMechanism::Emulator)) {
                let emulator = emulate(link, hosts, seed)?;
                furnish(lab, link, hosts).map(|()| Cable::Emulated(emulator))
            } else {
                let middle = lay_kernel_link(lab, link, hosts)?;
                let report = Box::new(LinkReport::of_kernel(&link.name, mechanisms));
                Ok(Cable::Kernel { report, _middle: middle })
            }
        };
        lay().map_err(error_of_part(&link.name))
    }

    /// Returns the report on the link so far.
    pub(super) fn report(
        &self,
        lab: &Lab,
        link: &LabLink,
        nodes: &[Host],
    ) -> Result<LinkReport, CommandError> {
        let emulator = match self {
            Cable::Kernel { report, .. } => return Ok(report.as_ref().clone()),
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
    if link.mechanism == Wanted::Emulator {
        let impaired = ways.iter().any(|way| !way.is_nothing());
        return Ok([impaired.then_some(ReportedMechanism::Emulator); 2]);
    }
    let found = tc::of_link(ways, find_shapers(ways).map_err(wrong)?);
    let emulated = found.contains(&Some(ReportedMechanism::Emulator));
    if link.mechanism == Wanted::Netem && emulated {
        Err(wrong(
            "this kernel's netem and TBF do not support it: set mechanism = \"auto\"".to_owned(),
        ))
    } else {
        Ok(found)
    }
}

/// Finds out what the kernel has of that which these impairments need.
fn find_shapers(ways: [&Impairment; 2]) -> Result<KernelShapers, String> {
    let limited = ways.iter().any(|way| way.rate.is_some());
    let delayed = ways.iter().any(|way| way.needs_delay_line());
    Ok(KernelShapers {
        netem: delayed && netem::is_there()?,
        limits: limited && middle::can_limit()?,
    })
}

/// Creates a link of the kernel. Rate limits act in its middle, which is returned if there is one.
fn lay_kernel_link(lab: &Lab, link: &LabLink, hosts: [&Host; 2]) -> io::Result<Option<Middle>> {
    if link.toward.iter().any(|way| way.rate.is_some()) {
        let middle = Middle::lay(link, hosts)?;
        furnish(lab, link, hosts)?;
        middle.limit(lab, link)?;
        return Ok(Some(middle));
    }
    join_hosts(link, hosts)?;
    furnish(lab, link, hosts)?;
    for ((end, host), way) in link.ends.iter().zip(hosts).zip(&link.toward) {
        middle::shape_at_host(end, host, way)?;
    }
    Ok(None)
}

/// Configures the interfaces of the hosts.
fn furnish(lab: &Lab, link: &LabLink, hosts: [&Host; 2]) -> io::Result<()> {
    let one = |(end, host): (_, &Host)| host.net().within(|| ends::furnish(lab, end));
    link.ends.iter().zip(hosts).try_for_each(one)
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
            let [first, second] = Middle::lay(link, hosts)?.open()?;
            // The hosts must segment and checksum their packets themselves.
            for (end, host) in link.ends.iter().zip(hosts) {
                host.net().within(|| ends::leave_nothing(&end.interface))?;
            }
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
