//! Resolution of the hosts of URLs to addresses.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Instant;

use sixmark_document::provenance::Lookup;
use sixmark_http::url::{Host, Url};

use sixmark_sys::command_error::CommandError;
use sixmark_sys::interface::in_zone;

/// An answer given in advance, as in curl's `--resolve HOST:PORT:ADDR[,ADDR]…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    host: String,
    port: u16,
    addresses: Vec<IpAddr>,
}

impl std::str::FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Override, String> {
        let wrong = || format!("'{text}' is not HOST:PORT:ADDR[,ADDR]…, as in a.example:80:[::1]");
        let (host, rest) = text.split_once(':').ok_or_else(wrong)?;
        let (port, addresses) = rest.split_once(':').ok_or_else(wrong)?;
        let address = |text: &str| text.trim_matches(['[', ']']).parse().map_err(|_| wrong());
        Ok(Override {
            host: host.to_ascii_lowercase(),
            port: port.parse().map_err(|_| wrong())?,
            addresses: addresses.split(',').map(address).collect::<Result<_, _>>()?,
        })
    }
}

/// A resolver that records the names it looks up.
#[derive(Debug, Default)]
pub struct Resolver {
    overrides: Vec<Override>,
    lookups: Vec<Lookup>,
    known: Vec<(String, Vec<IpAddr>)>,
}

impl Resolver {
    /// Creates a resolver that gives the answers of `overrides` and asks the system for others.
    pub fn new(overrides: Vec<Override>) -> Resolver {
        Resolver { overrides, ..Resolver::default() }
    }

    /// Returns all addresses of the URL's host, each once, in the order of the system's resolver.
    pub fn addresses(&mut self, url: &Url) -> Result<Vec<SocketAddr>, CommandError> {
        match &url.host {
            Host::Address(address, zone) => {
                let found = in_zone(*address, zone.as_deref(), url.port);
                Ok(vec![found.map_err(CommandError::Usage)?])
            }
            Host::Name(name) => {
                let found = self.look_up(name, url.port)?;
                Ok(found.into_iter().map(|address| SocketAddr::new(address, url.port)).collect())
            }
        }
    }

    /// Returns the lookups that were made, with their durations.
    pub fn into_lookups(self) -> Vec<Lookup> {
        self.lookups
    }

    fn look_up(&mut self, name: &str, port: u16) -> Result<Vec<IpAddr>, CommandError> {
        let given = |known: &&Override| known.host == name && known.port == port;
        if let Some(known) = self.overrides.iter().find(given) {
            return Ok(known.addresses.clone());
        }
        if let Some((_, addresses)) = self.known.iter().find(|(known, _)| known == name) {
            return Ok(addresses.clone());
        }
        let begin = Instant::now();
        let found = ask(name)?;
        self.lookups.push(lookup(name, begin, &found));
        self.known.push((name.to_owned(), found.clone()));
        Ok(found)
    }
}

/// Resolves `name` with the system's resolver.
fn ask(name: &str) -> Result<Vec<IpAddr>, CommandError> {
    let failed = |error: std::io::Error| {
        let reason = error.to_string();
        let reason = reason.rsplit(": ").next().unwrap_or(&reason);
        let line = format!("can't resolve '{name}': {reason}; check the name, or use --resolve");
        CommandError::Measure(line)
    };
    let mut found: Vec<IpAddr> = Vec::new();
    for address in (name, 0).to_socket_addrs().map_err(failed)? {
        if !found.contains(&address.ip()) {
            found.push(address.ip());
        }
    }
    Ok(found)
}

fn lookup(name: &str, begin: Instant, found: &[IpAddr]) -> Lookup {
    let ipv6 = found.iter().filter(|address| address.is_ipv6()).count();
    let us = begin.elapsed().as_secs_f64() * 1e6;
    Lookup { host: name.to_owned(), us, ipv6, ipv4: found.len() - ipv6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_answers_for_its_host_and_port_alone() {
        let given = "a.example:80:[::1],127.0.0.1".parse().unwrap();
        let mut resolver = Resolver::new(vec![given]);
        let found = resolver.addresses(&"http://A.example/".parse().unwrap()).unwrap();
        assert_eq!(found, ["[::1]:80".parse().unwrap(), "127.0.0.1:80".parse().unwrap()]);
        assert!(resolver.into_lookups().is_empty());
        for wrong in ["a", "a:80", "a:x:::1", "a:80:nowhere", "a:80:"] {
            assert!(wrong.parse::<Override>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_literal_takes_its_zone_along() {
        let lo = sixmark_sys::interface::index("lo").unwrap();
        let expected = std::net::SocketAddrV6::new("fe80::1".parse().unwrap(), 81, 0, lo).into();
        let mut resolver = Resolver::default();
        for zone in ["lo", &lo.to_string()] {
            let url = format!("http://[fe80::1%{zone}]:81/").parse().unwrap();
            assert_eq!(resolver.addresses(&url).unwrap(), [expected], "{zone}");
        }
        for zone in ["none0", "0", "4294967295"] {
            let url = format!("http://[fe80::1%{zone}]/").parse().unwrap();
            let error = resolver.addresses(&url).unwrap_err().to_string();
            assert!(error.contains("this host has no interface"), "{error}");
        }
    }

    #[test]
    fn a_name_is_looked_up_once_and_timed() {
        let mut resolver = Resolver::default();
        for port in [80, 81] {
            let url = format!("http://localhost:{port}/").parse().unwrap();
            assert!(!resolver.addresses(&url).unwrap().is_empty());
        }
        let lookups = resolver.into_lookups();
        assert_eq!(lookups.len(), 1);
        assert!(lookups[0].us > 0.0 && lookups[0].ipv6 + lookups[0].ipv4 > 0);
    }
}
