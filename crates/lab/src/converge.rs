//! Waits for BGP to converge: until the kernel of every speaker has a route to every network.

use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::plan::{Lab, routes};
use sixmark_units::family::Family;
use sixmark_units::net::Net;

use super::host::Hosts;
use super::part::error_of_part;
use super::until::until;
use crate::service::Services;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::rtnetlink::Netlink;

/// A BGP speaker, and the networks that its routing table must contain.
struct Speaker<'a> {
    name: &'a str,
    netlink: Netlink,
    wanted: Vec<Net>,
}

/// Waits for all speakers of a lab and returns how long that took. Returns `None` if `stop` was set
/// first.
///
/// # Errors
/// Fails if a speaker has ended, or if one lacks a network after the maximum time.
pub(super) fn wait_until_converged(
    lab: &Lab,
    hosts: &Hosts,
    programs: &mut Services,
    stop: &AtomicBool,
) -> Result<Option<Duration>, CommandError> {
    let mut speakers = speakers(lab, hosts)?;
    until(programs, stop, || {
        for speaker in &mut speakers {
            if let Some(net) = speaker.lacks().map_err(error_of_part(speaker.name))? {
                return Ok(Some(format!("{} has no BGP route to {net}", speaker.name)));
            }
        }
        Ok(None)
    })
}

fn speakers<'a>(lab: &'a Lab, hosts: &Hosts) -> Result<Vec<Speaker<'a>>, CommandError> {
    let mut found = Vec::new();
    for (number, host) in lab.hosts.iter().enumerate().filter(|(_, host)| host.bgp.is_some()) {
        let ways = Family::BOTH.into_iter().flat_map(|family| routes::ways(lab, number, family));
        let wanted = ways.map(|way| way.to).collect();
        let netlink = hosts
            .get(&host.name)?
            .net()
            .within(Netlink::open)
            .map_err(error_of_part(&host.name))?;
        found.push(Speaker { name: &host.name, netlink, wanted });
    }
    Ok(found)
}

impl Speaker<'_> {
    /// Returns the first network without a route in the speaker's table.
    fn lacks(&mut self) -> io::Result<Option<Net>> {
        let mut known = Vec::new();
        for family in Family::BOTH {
            known.extend(self.netlink.routes(family)?);
        }
        Ok(self.wanted.iter().find(|net| !known.contains(net)).copied())
    }
}
