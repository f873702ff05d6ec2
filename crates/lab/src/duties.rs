//! The functions of hosts other than forwarding: packet filters, translators and responders, BGP.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::plan::{Lab, nft, tayga};
use sixmark_sys::interface;
use sixmark_units::net::Net;

use super::host::{Host, Hosts};
use super::needs::NFT;
use super::part::error_of_part;
use super::setup_command::{SetupCommand, run_setup_command};
use super::until::until;
use super::{TEMPORARY, converge};
use crate::service::{ServiceGround, Services};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::rtnetlink::{Netlink, NewRoute};

/// The functions that run on the hosts of a lab.
#[derive(Debug)]
pub(super) struct Duties {
    /// The programs that implement them.
    pub(super) programs: Services,
    /// The convergence time of BGP, if any host runs it.
    pub(super) converged: Option<Duration>,
}

/// Starts the functions of all hosts. Returns `None` if it was stopped first.
pub(super) fn take_up(
    lab: &Lab,
    hosts: &Hosts,
    ground: &ServiceGround<'_>,
) -> Result<Option<Duties>, CommandError> {
    filters(lab, hosts)?;
    let Some(mut programs) = Services::start(&lab.daemons(), ground)? else { return Ok(None) };
    if translate(lab, hosts, &mut programs, ground)?.is_none() {
        return Ok(None);
    }
    if lab.hosts.iter().all(|host| host.bgp.is_none()) {
        return Ok(Some(Duties { programs, converged: None }));
    }
    let took = converge::wait_until_converged(lab, hosts, &mut programs, ground.stop)?;
    Ok(took.map(|took| Duties { programs, converged: Some(took) }))
}

fn filters(lab: &Lab, hosts: &Hosts) -> Result<(), CommandError> {
    for (number, plan) in lab.hosts.iter().enumerate() {
        if let Some(rules) = nft::rules(lab, number) {
            filter(hosts.get(&plan.name)?, &rules)?;
        }
    }
    Ok(())
}

/// Routes the traffic to be translated to the translators. Returns `None` if it was stopped first.
fn translate(
    lab: &Lab,
    hosts: &Hosts,
    programs: &mut Services,
    ground: &ServiceGround<'_>,
) -> Result<Option<()>, CommandError> {
    for plan in &lab.hosts {
        let Some(nat) = &plan.nat64 else { continue };
        let host = hosts.get(&plan.name)?;
        if until(programs, ground.stop, || lacks_tayga(host))?.is_none() {
            return Ok(None);
        }
        host.net()
            .within(|| lead_to_tayga(&tayga::networks(nat)))
            .map_err(error_of_part(&plan.name))?;
    }
    Ok(Some(()))
}

/// Loads the packet filter of a host.
fn filter(host: &Host, rules: &str) -> Result<(), CommandError> {
    let file = Path::new(TEMPORARY).join("hosts").join(host.name()).join("nft.conf");
    fs::write(&file, rules).map_err(error_of_part(host.name()))?;
    let file = file.display().to_string();
    run_setup_command(
        host,
        &SetupCommand { program: NFT.0, package: NFT.1, arguments: &["-f", &file] },
    )
}

fn lacks_tayga(host: &Host) -> Result<Option<String>, CommandError> {
    let look = || Ok(interface::index(tayga::INTERFACE).is_none());
    let absent = host.net().within(look).map_err(error_of_part(host.name()))?;
    Ok(absent.then(|| format!("tayga has not created its interface in {}", host.name())))
}

/// Routes the traffic to be translated to the interface of tayga, in the calling thread's
/// namespace.
fn lead_to_tayga(networks: &[Net]) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    netlink.up(tayga::INTERFACE)?;
    for to in networks {
        let interface = Some(tayga::INTERFACE);
        let route =
            NewRoute { to: *to, via: None, interface, congestion: None, initial_window: None };
        netlink.route(&route)?;
    }
    Ok(())
}
