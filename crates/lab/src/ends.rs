//! The ends of links: interfaces with their addresses and offloads, and the routes over them.

use std::io;

use crate::plan::routes::routes as of_links;
use crate::plan::{Lab, LabHost, LabNode, LinkEnd, Switch};
use sixmark_sys::ethtool::Ethtool;
use sixmark_units::family::Family;
use sixmark_units::net::Net;

use super::part::BRIDGE;
use sixmark_sys::rtnetlink::{Netlink, NewRoute};

/// Configures the interface at one end of a link, in the calling thread's namespace.
pub(super) fn furnish(lab: &Lab, end: &LinkEnd) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    let name = end.interface.as_str();
    netlink.mtu(name, end.mtu)?;
    match end.node {
        LabNode::Bridge(_) => netlink.enslave(name, BRIDGE)?,
        LabNode::Host(_) => {
            for net in &end.addresses {
                netlink.address(name, *net)?;
            }
            switch(name, &offloads(lab, end))?;
        }
    }
    netlink.up(name)
}

/// Returns the offloads to enable or disable at one end of a link.
fn offloads(lab: &Lab, end: &LinkEnd) -> Vec<(Switch, bool)> {
    let LabNode::Host(host) = end.node else { return Vec::new() };
    let of_host = lab.hosts.get(host).map(|host| host.offloads).unwrap_or_default();
    of_host.with(end.offloads).switches().collect()
}

/// Makes an interface of the calling thread's namespace segment packets as the one at an end does.
/// The kernel joins packets again (GRO) only if they come from an interface without TSO.
pub(super) fn segment_as(lab: &Lab, end: &LinkEnd, name: &str) -> io::Result<()> {
    let mut wanted = offloads(lab, end);
    wanted.retain(|(switch, _)| !matches!(switch, Switch::Gro | Switch::Checksum));
    switch(name, &wanted)
}

/// Returns the number of packets that an interface of the calling thread's namespace dropped
/// instead of sending, or `None` if the interface no longer exists.
pub(super) fn dropped(interface: &str) -> io::Result<Option<u64>> {
    let all = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    Ok(all.lines().find_map(|line| dropped_of(line, interface)))
}

/// Reads the fourth transmit counter, which follows eight receive counters (proc_pid_net(5)).
fn dropped_of(line: &str, interface: &str) -> Option<u64> {
    let (name, figures) = line.split_once(':')?;
    let own = name.trim() == interface;
    own.then(|| figures.split_whitespace().nth(8 + 3)?.parse().ok())?
}

/// Disables segmentation and checksum offload of an interface, so that the host sends whole frames.
pub(super) fn leave_nothing(name: &str) -> io::Result<()> {
    let all = [Switch::TsoIpv6, Switch::TsoIpv4, Switch::Gso, Switch::Checksum];
    switch(name, &all.map(|switch| (switch, false)))
}

/// Enables or disables features of an interface.
fn switch(name: &str, wanted: &[(Switch, bool)]) -> io::Result<()> {
    let features = |(switch, on): &(Switch, bool)| {
        let on = *on;
        names_of_switch(*switch).iter().map(move |name| (*name, on))
    };
    let wanted: Vec<(&str, bool)> = wanted.iter().flat_map(features).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    Ethtool::open()?.switch(name, &wanted)
}

/// Returns the kernel's names of a feature.
fn names_of_switch(switch: Switch) -> &'static [&'static str] {
    match switch {
        Switch::TsoIpv6 => &["tx-tcp6-segmentation"],
        Switch::TsoIpv4 => {
            &["tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation"]
        }
        Switch::Gso => &["tx-generic-segmentation"],
        Switch::Gro => &["rx-gro"],
        Switch::Checksum => {
            &["rx-checksum", "tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6"]
        }
    }
}

/// Adds the routes of a host, in the calling thread's namespace. If the host has its own congestion
/// control or initial window, the routes to its own networks are replaced, so that these apply to
/// them as well.
pub(super) fn routes(lab: &Lab, number: usize) -> io::Result<()> {
    let Some(host) = lab.hosts.get(number) else { return Ok(()) };
    let mut netlink = Netlink::open()?;
    let is_special = host.congestion.is_some() || host.initial_window.is_some();
    for end in lab.ends(number).filter(|_| is_special) {
        for net in &end.addresses {
            let interface = Some(end.interface.as_str());
            netlink.route(&NewRoute { interface, ..route(host, net.prefix()) })?;
        }
    }
    for family in Family::BOTH {
        for way in of_links(lab, number, family) {
            netlink.route(&NewRoute { via: Some(way.via), ..route(host, way.to) })?;
        }
    }
    for given in &host.routes {
        let to = given.to.unwrap_or(Net::default_of(Family::of(given.via)));
        netlink.route(&NewRoute { via: Some(given.via), ..route(host, to) })?;
    }
    Ok(())
}

fn route(host: &LabHost, to: Net) -> NewRoute<'_> {
    NewRoute {
        to,
        via: None,
        interface: None,
        congestion: host.congestion.as_deref(),
        initial_window: host.initial_window,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_drops_of_an_interface_by_its_name() {
        let line = "  eth1: 1 2 3 4 5 6 7 8 10 20 30 40 50 60 70 80";
        assert_eq!(dropped_of(line, "eth1"), Some(40));
        assert_eq!(dropped_of(line, "eth"), None);
        assert_eq!(dropped_of(" face |bytes    packets errs drop", "face"), None);
        assert_eq!(dropped("no-such").unwrap(), None);
        assert_eq!(dropped("lo").unwrap(), Some(0));
    }
}
