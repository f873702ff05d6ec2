//! The kernel settings (sysctls) of hosts.

use std::fs;
use std::io;
use std::path::PathBuf;

use sixmark_units::family::Family;

use crate::plan::LabHost;

/// Settings of all hosts that differ from those of a new network namespace. IPv6 is enabled,
/// addresses are usable at once, router advertisements are ignored, and any user may bind to any
/// port.
const ALL: [(&str, &str); 6] = [
    ("net.ipv6.conf.all.disable_ipv6", "0"),
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    ("net.ipv6.conf.all.accept_dad", "0"),
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv4.ip_unprivileged_port_start", "0"),
];

/// Additional settings of a router.
const FORWARDS: [(&str, &str); 3] = [
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv6.conf.all.forwarding", "1"),
    ("net.ipv6.conf.default.forwarding", "1"),
];

/// Settings without addresses of IPv6, not even link-local ones, and without that of the loopback interface.
const WITHOUT_IPV6: [(&str, &str); 2] =
    [("net.ipv6.conf.all.disable_ipv6", "1"), ("net.ipv6.conf.default.disable_ipv6", "1")];

/// Applies the settings of a host in the calling thread's namespace.
pub(super) fn of_host(host: &LabHost) -> io::Result<()> {
    let forwards = if host.forwards { FORWARDS.as_slice() } else { &[] };
    let no_ipv6 = host.missing_stack == Some(Family::Ipv6);
    let without = if no_ipv6 { WITHOUT_IPV6.as_slice() } else { &[] };
    for (name, value) in ALL.iter().chain(forwards).chain(without) {
        write_setting(name, value)?;
    }
    host.sysctls.iter().try_for_each(|(name, value)| write_setting(name, value))
}

/// Applies the settings of a bridge, which has no addresses, in the calling thread's namespace.
pub(super) fn of_bridge() -> io::Result<()> {
    WITHOUT_IPV6.iter().try_for_each(|(name, value)| write_setting(name, value))
}

fn write_setting(name: &str, value: &str) -> io::Result<()> {
    let path = PathBuf::from("/proc/sys").join(name.replace('.', "/"));
    fs::write(&path, value).map_err(|error| {
        io::Error::new(error.kind(), format!("can't set {name} to {value}: {error}"))
    })
}
