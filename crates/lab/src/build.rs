//! Builds hosts, interfaces and links from the plan of a lab.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use crate::plan::{Lab, LabHost as Plan, LabNode};
use sixmark_sys::enclosure::Rights;
use sixmark_sys::mount::{self, MountNs};
use sixmark_sys::netns::NetNs;
use sixmark_units::family::Family;
use sixmark_units::net::Net;

use super::cable::Cable;
use super::host::Host;
use super::part::{BRIDGE, at, error_of_part};
use super::{TEMPORARY, ends, settings};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::rtnetlink::Netlink;

/// The files of which each host has its own copy.
const OWN: [&str; 2] = ["/etc/hosts", "/etc/resolv.conf"];

/// Creates all hosts, then all bridges, each in the order of the file.
pub(super) fn nodes(lab: &Lab, rights: Rights) -> Result<Vec<Host>, CommandError> {
    let mut found = Vec::new();
    for host in &lab.hosts {
        let own = own_files(lab, host).map_err(error_of_part(&host.name))?;
        found
            .push(node(&host.name, Some((host, &own)), rights).map_err(error_of_part(&host.name))?);
    }
    for bridge in &lab.bridges {
        found.push(node(&bridge.name, None, rights).map_err(error_of_part(&bridge.name))?);
    }
    Ok(found)
}

/// Creates all links in the order of the file.
pub(super) fn links(lab: &Lab, nodes: &[Host]) -> Result<Vec<Cable>, CommandError> {
    let lay = |(number, link)| Cable::lay(lab, link, nodes, lab.seed.wrapping_add(number));
    (0..).zip(&lab.links).map(lay).collect()
}

/// Adds the routes of all hosts.
pub(super) fn routes(lab: &Lab, nodes: &[Host]) -> Result<(), CommandError> {
    for (number, host) in lab.hosts.iter().enumerate() {
        let node = at(lab, nodes, LabNode::Host(number))?;
        node.net().within(|| ends::routes(lab, number)).map_err(error_of_part(&host.name))?;
    }
    Ok(())
}

fn node(name: &str, host: Option<(&Plan, &Own)>, rights: Rights) -> io::Result<Host> {
    let net = NetNs::create()?;
    let begin = || {
        Netlink::open()?.up("lo")?;
        match host {
            Some((host, _)) => {
                remove_loopback_without_stack(host)?;
                settings::of_host(host)
            }
            None => settings::of_bridge().and_then(|()| make_bridge()),
        }
    };
    net.within(begin)?;
    let mounts = MountNs::create(|| {
        net.enter()?;
        furnish(host.map(|(_, own)| own))
    })?;
    let missing_stack = host.and_then(|(plan, _)| plan.missing_stack);
    Ok(Host::new(name, net, mounts, rights).without_stack(missing_stack))
}

/// Removes the IPv4 address of the loopback interface if the host has no stack of IPv4: sockets of IPv6 reach
/// it, too (`::ffff:127.0.0.1`). That of IPv6 is removed by a setting.
fn remove_loopback_without_stack(host: &Plan) -> io::Result<()> {
    if host.missing_stack != Some(Family::Ipv4) {
        return Ok(());
    }
    let own = Net { address: Ipv4Addr::LOCALHOST.into(), length: 8 };
    Netlink::open()?.remove_address("lo", own)
}

fn make_bridge() -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    netlink.bridge(BRIDGE)?;
    netlink.up(BRIDGE)
}

/// The files of a host: the path at which the host sees each one, and the path of its content.
type Own = Vec<(PathBuf, PathBuf)>;

/// Writes the files of which a host has its own copy.
fn own_files(lab: &Lab, host: &Plan) -> io::Result<Own> {
    let folder = own_folder(&host.name);
    fs::create_dir_all(&folder)?;
    let texts = [lab.hosts_file(host), lab.resolv_conf(host)];
    let mut own = Own::new();
    for (place, text) in OWN.into_iter().zip(texts) {
        let file = folder.join(place.rsplit('/').next().unwrap_or_default());
        fs::write(&file, text)?;
        // The place may be a dangling symbolic link.
        let place = fs::canonicalize(place).unwrap_or_else(|_| place.into());
        own.push((place, file));
    }
    Ok(own)
}

fn own_folder(host: &str) -> PathBuf {
    Path::new(TEMPORARY).join("hosts").join(host)
}

/// Returns the contents of a host's own files, in the order of [`OWN`].
pub(super) fn own_texts(host: &str) -> io::Result<[String; 2]> {
    let read = |place: &str| {
        let name = place.rsplit('/').next().unwrap_or_default();
        fs::read_to_string(own_folder(host).join(name))
    };
    let [hosts, resolv_conf] = OWN.map(read);
    Ok([hosts?, resolv_conf?])
}

/// Sets up the mounts of a host, so that /sys shows its network and /run is private.
fn furnish(own: Option<&Own>) -> io::Result<()> {
    // Some containers forbid this. Only programs that inspect interfaces in /sys are affected.
    let _ = mount::special("sysfs", Path::new("/sys"), "");
    mount::special("tmpfs", Path::new("/run"), "mode=755")?;
    for (place, file) in own.into_iter().flatten() {
        if !place.exists() {
            place.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(place, "")?;
        }
        mount::bind_mount(file, place)?;
    }
    Ok(())
}
