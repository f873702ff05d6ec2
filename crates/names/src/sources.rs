//! The files of the system's resolver: resolv.conf(5), hosts(5), nsswitch.conf(5). Text goes in.

use std::net::IpAddr;
use std::time::Duration;

use sixmark_units::family::{Family, PerFamily};

/// The most name servers that a resolver asks (MAXNS of glibc and musl).
const MOST_SERVERS: usize = 3;
/// How long a name server has to answer unless resolv.conf says otherwise, and at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// A name server, whose address may have a zone (`fe80::1%eth0`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameServer {
    /// Its address.
    pub address: IpAddr,
    /// The name or index of the interface to it; `None` unless the address is link-local.
    pub zone: Option<String>,
}

/// The settings of resolv.conf(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverSettings {
    /// The name servers, in order; at least one.
    pub servers: Vec<NameServer>,
    /// The domains in which a short name is searched for.
    pub search: Vec<String>,
    /// The number of dots from which on a name is first taken as it is.
    pub dots: usize,
    /// How long a name server has to answer.
    pub patience: Duration,
}

impl ResolverSettings {
    /// Returns the full names that `name` may stand for, in the order in which they are tried.
    pub fn full_names(&self, name: &str) -> Vec<String> {
        if name.ends_with('.') {
            return vec![name.to_owned()];
        }
        let searched = self.search.iter().map(|domain| format!("{name}.{domain}"));
        let itself = std::iter::once(name.to_owned());
        if name.matches('.').count() >= self.dots {
            itself.chain(searched).collect()
        } else {
            searched.chain(itself).collect()
        }
    }
}

/// Reads resolv.conf(5). What it does not say has the default values of resolvers.
pub fn read_resolv_conf(text: &str) -> ResolverSettings {
    let (mut servers, mut search, mut dots, mut patience) = (Vec::new(), Vec::new(), 1, PATIENCE);
    for line in text.lines() {
        let mut words = line.split(['#', ';']).next().unwrap_or("").split_whitespace();
        match words.next() {
            Some("nameserver") => servers.extend(words.next().and_then(name_server)),
            // The last one of these lines counts.
            Some("search" | "domain") => {
                search = words.map(|word| word.trim_matches('.').to_owned()).collect();
                search.retain(|domain| !domain.is_empty());
            }
            Some("options") => {
                for option in words {
                    let number = |name: &str| option.strip_prefix(name)?.parse::<u64>().ok();
                    if let Some(found) = number("ndots:") {
                        dots = found.min(15) as usize;
                    }
                    if let Some(found) = number("timeout:") {
                        patience = Duration::from_secs(found.max(1)).min(PATIENCE);
                    }
                }
            }
            _ => {}
        }
    }
    servers.truncate(MOST_SERVERS);
    if servers.is_empty() {
        servers.push(NameServer { address: IpAddr::from([127, 0, 0, 1]), zone: None });
    }
    ResolverSettings { servers, search, dots, patience }
}

fn name_server(word: &str) -> Option<NameServer> {
    let (address, zone) = match word.split_once('%') {
        Some((address, zone)) => (address, Some(zone.to_owned())),
        None => (word, None),
    };
    Some(NameServer { address: address.parse().ok()?, zone })
}

/// Reports of which families hosts(5) has an address of `name`.
pub fn families_in_hosts(text: &str, name: &str) -> PerFamily<bool> {
    let mut found = PerFamily::<bool>::default();
    for line in text.lines() {
        let mut words = line.split('#').next().unwrap_or("").split_whitespace();
        let address = words.next().and_then(name_server);
        if let Some(address) = address.filter(|_| words.any(|word| word.eq_ignore_ascii_case(name)))
        {
            found[Family::of(address.address)] = true;
        }
    }
    found
}

/// Returns the sources of host names in nsswitch.conf(5), in order, without their actions. Without
/// such a line, they are `files` and `dns`.
pub fn host_sources(text: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("hosts:"));
    let Some(line) = line.map(|line| line.split('#').next().unwrap_or("")) else {
        return vec!["files".to_owned(), "dns".to_owned()];
    };
    let words = line.split('[').enumerate().flat_map(|(at, part)| {
        let kept = if at == 0 { part } else { part.split_once(']').map_or("", |(_, rest)| rest) };
        kept.split_whitespace()
    });
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_resolv_conf_as_system_resolvers_do() {
        let read = read_resolv_conf(
            "# a comment\nnameserver 192.0.2.1\nnameserver fe80::1%lo ; two\nnameserver nonsense\n\
             nameserver ::1\nnameserver ::2\ndomain old.example\nsearch a.example. b.example\n\
             options rotate ndots:2 timeout:1 attempts:1\n",
        );
        let servers: Vec<String> = read.servers.iter().map(|s| s.address.to_string()).collect();
        assert_eq!(servers, ["192.0.2.1", "fe80::1", "::1"]);
        assert_eq!(read.servers[1].zone.as_deref(), Some("lo"));
        assert_eq!((read.dots, read.patience), (2, Duration::from_secs(1)));
        assert_eq!(read.full_names("www"), ["www.a.example", "www.b.example", "www"]);
        assert_eq!(read.full_names("x.y.z"), ["x.y.z", "x.y.z.a.example", "x.y.z.b.example"]);
        assert_eq!(read.full_names("www."), ["www."]);
        let nothing = read_resolv_conf("");
        assert_eq!(nothing.servers[0].address.to_string(), "127.0.0.1");
        assert_eq!((nothing.dots, nothing.patience), (1, PATIENCE));
    }

    #[test]
    fn finds_the_families_of_a_name_in_the_hosts_file() {
        let hosts = "127.0.0.1 localhost\n::1\tlocalhost ip6 # four\n10.0.0.1 four FOUR.example";
        let of = |name| families_in_hosts(hosts, name);
        assert_eq!(of("LOCALHOST"), PerFamily { ipv6: true, ipv4: true });
        assert_eq!(of("ip6"), PerFamily { ipv6: true, ipv4: false });
        assert_eq!(of("four.example"), PerFamily { ipv6: false, ipv4: true });
        assert_eq!(of("none"), PerFamily::default());
    }

    #[test]
    fn lists_nsswitch_sources_without_their_actions() {
        let text = "passwd: files\nhosts: files mdns4_minimal [NOTFOUND=return] dns # x\n";
        assert_eq!(host_sources(text), ["files", "mdns4_minimal", "dns"]);
        assert_eq!(host_sources("hosts: files [!UNAVAIL=return]"), ["files"]);
        assert_eq!(host_sources(""), ["files", "dns"]);
    }
}
