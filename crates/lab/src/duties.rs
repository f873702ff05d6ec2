//! The functions of hosts other than forwarding: packet filters, translators, advertisements, DHCP, BGP.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use crate::plan::{CLAT_INTERFACE, Clat, Lab, nft, tayga};
use sixmark_sys::interface;
use sixmark_units::net::Net;

use super::advertiser::advertise;
use super::dhcp_server::serve_dhcp;
use super::host::{Host, Hosts};
use super::needs::NFT;
use super::part::error_of_part;
use super::responder::Responder;
use super::setup_command::{SetupCommand, run_setup_command};
use super::until::until;
use super::{TEMPORARY, converge};
use crate::service::{ServiceGround, Services};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::rtnetlink::{Netlink, NewRoute};

/// By how many bytes a packet grows that is translated to IPv6 without a Fragment header (RFC 7915, 1.4).
const HEADER_GROWTH: u32 = 20;
/// The least MTU of an interface with IPv6 (RFC 8200, 5): below it the kernel takes IPv6 from it.
const LEAST_MTU: u32 = 1280;

/// The functions that run on the hosts of a lab.
#[derive(Debug)]
pub(super) struct Duties {
    /// The programs that implement them.
    pub(super) programs: Services,
    /// The threads that implement others. They are held only for their end.
    _responders: Vec<Responder>,
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
    let _responders = start_responders(lab, hosts)?;
    if lab.hosts.iter().all(|host| host.bgp.is_none()) {
        return Ok(Some(Duties { programs, _responders, converged: None }));
    }
    let took = converge::wait_until_converged(lab, hosts, &mut programs, ground.stop)?;
    Ok(took.map(|took| Duties { programs, _responders, converged: Some(took) }))
}

fn filters(lab: &Lab, hosts: &Hosts) -> Result<(), CommandError> {
    for (number, plan) in lab.hosts.iter().enumerate() {
        if let Some(rules) = nft::rules(lab, number) {
            filter(hosts.get(&plan.name)?, &rules)?;
        }
    }
    Ok(())
}

/// Starts the threads that implement functions of hosts.
fn start_responders(lab: &Lab, hosts: &Hosts) -> Result<Vec<Responder>, CommandError> {
    let mut found = Vec::new();
    for (number, plan) in lab.hosts.iter().enumerate() {
        let host = hosts.get(&plan.name)?;
        if let Some(advertises) = &plan.advertises {
            found.push(advertise(lab, number, advertises, host)?);
        }
        if let Some(dhcp) = &plan.dhcp {
            found.push(serve_dhcp(lab, number, dhcp, hosts)?);
        }
    }
    Ok(found)
}

/// Routes the traffic to be translated to the translators. Returns `None` if it was stopped first.
fn translate(
    lab: &Lab,
    hosts: &Hosts,
    programs: &mut Services,
    ground: &ServiceGround<'_>,
) -> Result<Option<()>, CommandError> {
    for (number, plan) in lab.hosts.iter().enumerate() {
        let host = hosts.get(&plan.name)?;
        if let Some(nat) = &plan.nat64 {
            let lead = || lead_to(tayga::INTERFACE, &tayga::networks(nat));
            if start_translator(host, tayga::INTERFACE, programs, ground, lead)?.is_none() {
                return Ok(None);
            }
        }
        if let Some(clat) = &plan.clat {
            let mtu = lab.ends(number).map(|end| end.mtu).min();
            let lead = || lead_to_clat(clat, mtu);
            if start_translator(host, CLAT_INTERFACE, programs, ground, lead)?.is_none() {
                return Ok(None);
            }
        }
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

/// Waits for the interface of a translator, and leads packets to it. Returns `None` if it was stopped first.
fn start_translator(
    host: &Host,
    interface: &str,
    programs: &mut Services,
    ground: &ServiceGround<'_>,
    lead: impl FnOnce() -> io::Result<()> + Send,
) -> Result<Option<()>, CommandError> {
    if until(programs, ground.stop, || lacks_interface(host, interface))?.is_none() {
        return Ok(None);
    }
    host.net().within(lead).map_err(error_of_part(host.name()))?;
    Ok(Some(()))
}

fn lacks_interface(host: &Host, name: &str) -> Result<Option<String>, CommandError> {
    let look = || Ok(interface::index(name).is_none());
    let absent = host.net().within(look).map_err(error_of_part(host.name()))?;
    Ok(absent.then(|| format!("tayga has not created its interface in {}", host.name())))
}

/// Routes the traffic to be translated to the interface of a translator, in the calling thread's
/// namespace.
fn lead_to(interface: &str, networks: &[Net]) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    netlink.up(interface)?;
    for to in networks {
        let interface = Some(interface);
        let route =
            NewRoute { to: *to, via: None, interface, congestion: None, initial_window: None };
        netlink.route(&route)?;
    }
    Ok(())
}

/// Gives the host the IPv4 address of a CLAT, and routes all IPv4 to it. `mtu` is the least of the host's links:
/// what its programs send should fit after it was translated. Where that would be less than IPv6 needs, to which the
/// interface leads back, the path MTU is discovered.
fn lead_to_clat(clat: &Clat, mtu: Option<u32>) -> io::Result<()> {
    let name = CLAT_INTERFACE;
    let mut netlink = Netlink::open()?;
    if let Some(mtu) = mtu {
        netlink.mtu(name, (mtu - HEADER_GROWTH).max(LEAST_MTU))?;
    }
    netlink.up(name)?;
    netlink.address(name, Net { address: tayga::CLAT_IPV4.into(), length: 32 })?;
    let everywhere = Net { address: Ipv4Addr::UNSPECIFIED.into(), length: 0 };
    lead_to(name, &[clat.own, everywhere])
}
