//! The configuration of a name server, for unbound, also of a DNS64.
//!
//! unbound serves the root zone itself, which contains only the lab's names. It can therefore tell
//! that any other name does not exist without querying other servers.

use std::fmt::Write as _;

use super::{Dns64, Lab};

/// The log line that shows that unbound is ready.
pub(super) const READY: &str = "start of service";
/// The file name of the zone with the lab's names, in the same folder as the configuration.
pub(super) const ZONE: &str = "lab.zone";
/// The TTL of responses, in seconds.
const HOLDS_S: u32 = 60;

/// Names for which unbound would by default answer that they do not exist (RFC 6761 and others). A
/// lab may use them.
const RESERVED: [&str; 6] = ["test", "invalid", "onion", "home.arpa", "localhost", "resolver.arpa"];

/// Returns the configuration file.
pub(super) fn configuration(lab: &Lab, host: usize, dns64: Option<&Dns64>) -> String {
    let mut text = "server:\n\
        \x20 directory: \"{dir}\"\n  pidfile: \"{dir}/unbound.pid\"\n\
        \x20 chroot: \"\"\n  username: \"\"\n  do-daemonize: no\n  use-syslog: no\n\
        \x20 logfile: \"\"\n  verbosity: 1\n  num-threads: 1\n\
        \x20 access-control: ::/0 allow\n  access-control: 0.0.0.0/0 allow\n\
        \x20 qname-minimisation: no\n"
        .to_owned();
    // Writing to a string cannot fail.
    let _ = match dns64 {
        Some(dns64) => {
            writeln!(text, "  module-config: \"dns64 iterator\"\n  dns64-prefix: {}", dns64.prefix)
        }
        None => writeln!(text, "  module-config: \"iterator\""),
    };
    for net in lab.ends(host).flat_map(|end| &end.addresses) {
        let _ = writeln!(text, "  interface: {}", net.address);
    }
    for name in RESERVED {
        let _ = writeln!(text, "  local-zone: \"{name}.\" nodefault");
    }
    text + "remote-control:\n  control-enable: no\n\
            auth-zone:\n  name: \".\"\n  zonefile: \"{dir}/lab.zone\"\n\
            \x20 for-downstream: no\n  for-upstream: yes\n"
}

/// Returns the zone file with all names of the lab.
pub(super) fn zone(lab: &Lab) -> String {
    let mut text = format!(
        ". {HOLDS_S} IN SOA lab. nobody.lab. 1 3600 600 86400 {HOLDS_S}\n. {HOLDS_S} IN NS lab.\n"
    );
    let all = lab.names.iter().flat_map(|(name, all)| all.iter().map(move |a| (name, a)));
    for (name, address) in all {
        let kind = if address.is_ipv6() { "AAAA" } else { "A" };
        let name = name.trim_end_matches('.');
        let _ = writeln!(text, "{name}. {HOLDS_S} IN {kind} {address}");
    }
    text
}

/// Returns the command that starts unbound in the foreground.
pub(super) fn unbound_command(file: &str) -> Vec<String> {
    ["unbound", "-d", "-c", &format!("{{dir}}/{file}")].map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::tests::lab;
    use super::*;

    const LAB: &str = r#"
name = "names"
[hosts.client]
resolver = "ns"
[hosts.ns]
dns64 = {}
[links]
a = ["client", "ns"]
[names]
"www.test" = "client"
old = "192.0.2.1"
"#;

    #[test]
    fn listens_only_on_the_addresses_of_its_host() {
        let lab = lab(LAB);
        let text = configuration(&lab, 1, lab.hosts[1].dns64.as_ref());
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(" interface:")).collect();
        assert_eq!(lines, ["  interface: fd00:0:0:1::2", "  interface: 10.0.1.2"]);
        assert!(text.contains("  dns64-prefix: fd64::/96\n"), "{text}");
        assert!(text.contains("  local-zone: \"test.\" nodefault\n"), "{text}");
        let plain = configuration(&lab, 1, None);
        assert!(!plain.contains("dns64"), "{plain}");
    }

    #[test]
    fn the_zone_contains_all_names_of_the_lab() {
        let text = zone(&lab(LAB));
        let names: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            names,
            [
                "old. 60 IN A 192.0.2.1",
                "www.test. 60 IN AAAA fd00:0:0:1::1",
                "www.test. 60 IN A 10.0.1.1"
            ]
        );
    }
}
