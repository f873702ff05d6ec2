//! Files that hosts have of their own.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::{Lab, LabHost};
use sixmark_units::family::Family;

impl Lab {
    /// A host's file of names: its own loopback, and all names of the lab where it asks nobody.
    pub fn hosts_file(&self, host: &LabHost) -> String {
        let mut text = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n".to_owned();
        if host.resolver.is_some() {
            return text;
        }
        let all = self.names.iter().flat_map(|(name, all)| all.iter().map(move |a| (name, a)));
        for (name, address) in all {
            // Nothing fails where a text grows.
            let _ = writeln!(text, "{address} {name}");
        }
        text
    }

    /// Whom a host asks for names; nobody where it has them in its file.
    pub fn resolv_conf(&self, host: &LabHost) -> String {
        let resolver = host.resolver.as_ref().and_then(|name| self.host(name));
        let address = |&family: &Family| -> Option<IpAddr> { self.address(resolver?, family) };
        let lines = host.families.iter().filter_map(address);
        lines.map(|address| format!("nameserver {address}\n")).collect()
    }
}
