//! From a lab's plan to hosts, interfaces and cables.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sixmark_model::plan::lab::{Lab, LabHost as Plan, LabNode};
use sixmark_sys::enclosure::Rights;
use sixmark_sys::mount::{self, MountNs};
use sixmark_sys::netns::NetNs;

use super::cable::Cable;
use super::host::Host;
use super::part::{BRIDGE, at, error_of_part};
use super::{TEMPORARY, ends, settings};
use sixmark_machine::CommandError;
use sixmark_machine::netlink::Netlink;

/// Files that each host has of its own.
const OWN: [&str; 2] = ["/etc/hosts", "/etc/resolv.conf"];

/// Makes every host and bridge, hosts first, each in the file's order.
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

/// Lays every link, in the file's order.
pub(super) fn links(lab: &Lab, nodes: &[Host]) -> Result<Vec<Cable>, CommandError> {
    let lay = |(number, link)| Cable::lay(lab, link, nodes, lab.seed.wrapping_add(number));
    (0..).zip(&lab.links).map(lay).collect()
}

/// Gives every host its routes.
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
            Some((host, _)) => settings::of_host(host),
            None => settings::of_bridge().and_then(|()| make_bridge()),
        }
    };
    net.within(begin)?;
    let mounts = MountNs::create(|| {
        net.enter()?;
        furnish(host.map(|(_, own)| own))
    })?;
    Ok(Host::new(name, net, mounts, rights))
}

fn make_bridge() -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    netlink.bridge(BRIDGE)?;
    netlink.up(BRIDGE)
}

/// Files of a host, by the place where it sees them.
type Own = Vec<(PathBuf, PathBuf)>;

/// Writes the files that a host has of its own.
fn own_files(lab: &Lab, host: &Plan) -> io::Result<Own> {
    let folder = own_folder(&host.name);
    fs::create_dir_all(&folder)?;
    let texts = [lab.hosts_file(host), lab.resolv_conf(host)];
    let mut own = Own::new();
    for (place, text) in OWN.into_iter().zip(texts) {
        let file = folder.join(place.rsplit('/').next().unwrap_or_default());
        fs::write(&file, text)?;
        // It may be a link, to a file that is not there.
        let place = fs::canonicalize(place).unwrap_or_else(|_| place.into());
        own.push((place, file));
    }
    Ok(own)
}

fn own_folder(host: &str) -> PathBuf {
    Path::new(TEMPORARY).join("hosts").join(host)
}

/// What a host's own files say, in the order of [`OWN`].
pub(super) fn own_texts(host: &str) -> io::Result<[String; 2]> {
    let read = |place: &str| {
        let name = place.rsplit('/').next().unwrap_or_default();
        fs::read_to_string(own_folder(host).join(name))
    };
    let [hosts, resolv_conf] = OWN.map(read);
    Ok([hosts?, resolv_conf?])
}

/// Mounts of its own: what /sys shows is its network, /run is nobody else's.
fn furnish(own: Option<&Own>) -> io::Result<()> {
    // Some containers forbid it; only programs that look at interfaces there miss it.
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
