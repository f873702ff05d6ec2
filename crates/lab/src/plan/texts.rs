//! The files of which each host has its own copy.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::{Lab, LabHost};
use sixmark_units::family::Family;

impl Lab {
    /// Returns the content of a host's `/etc/hosts`: localhost and, if the host uses no name
    /// server, all names of the lab.
    pub fn hosts_file(&self, host: &LabHost) -> String {
        let mut text = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n".to_owned();
        if host.resolver.is_some() {
            return text;
        }
        let all = self.names.iter().flat_map(|(name, all)| all.iter().map(move |a| (name, a)));
        for (name, address) in all {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{address} {name}");
        }
        text
    }

    /// Returns the content of a host's `/etc/resolv.conf`; empty if the host uses no name server.
    pub fn resolv_conf(&self, host: &LabHost) -> String {
        let resolver = host.resolver.as_ref().and_then(|name| self.host(name));
        let address = |&family: &Family| -> Option<IpAddr> { self.address(resolver?, family) };
        let lines = host.families.iter().filter_map(address);
        lines.map(|address| format!("nameserver {address}\n")).collect()
    }
}
