//! Resolution of the hosts of URLs to addresses.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use sixmark_document::provenance::{Lookup, LookupByFamily, LookupFound, LookupOfFamily};
use sixmark_http::url::{Host, Url};
use sixmark_names::{FamilyAnswer, FamilyLookup, NameLookup, look_up};
use sixmark_units::family::Family;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::interface::in_zone;

/// The most names that are looked up at the same time.
const AT_A_TIME: usize = 16;

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
    families: Vec<Family>,
    known: Vec<NameLookup>,
}

impl Resolver {
    /// Creates a resolver that gives the answers of `overrides` and asks the system for others, of
    /// these families alone.
    pub fn new(overrides: Vec<Override>, families: &[Family]) -> Resolver {
        Resolver { overrides, families: families.to_vec(), known: Vec::new() }
    }

    /// Returns the addresses of the URL's host, each once, in the order of the system's resolver,
    /// IPv6 first. None if it has none of the only family that is asked for. What failed for one of
    /// two families is in [`Resolver::lookups`].
    ///
    /// # Errors
    /// The look-up of all families failed, the name does not exist, or it has no address at all.
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
    pub fn lookups(&self) -> Vec<Lookup> {
        self.known.iter().map(lookup).collect()
    }

    /// Looks up the names of the URLs, several at a time, so that a name server that is slow delays a
    /// long list only once. The answers are those of [`Resolver::addresses`].
    pub fn look_up_ahead<'a>(&mut self, urls: impl Iterator<Item = &'a Url>) {
        let mut names: Vec<&str> = Vec::new();
        for url in urls {
            if let Host::Name(name) = &url.host
                && self.overridden(name, url.port).is_none()
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        let (next, families) = (AtomicUsize::new(0), &self.families);
        let work = || {
            let mut found = Vec::new();
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                found.push(look_up(name, families));
            }
            found
        };
        let found: Vec<NameLookup> = thread::scope(|scope| {
            let start = |_| scope.spawn(work);
            let workers: Vec<_> = (0..names.len().min(AT_A_TIME)).map(start).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
        });
        let found_of = |name: &&str| found.iter().find(|found| found.name == **name).cloned();
        self.known.extend(names.iter().filter_map(found_of));
    }

    fn overridden(&self, name: &str, port: u16) -> Option<&Override> {
        self.overrides.iter().find(|known| known.host == name && known.port == port)
    }

    fn look_up(&mut self, name: &str, port: u16) -> Result<Vec<IpAddr>, CommandError> {
        if let Some(known) = self.overridden(name, port) {
            return Ok(known.addresses.clone());
        }
        if let Some(known) = self.known.iter().find(|known| known.name == name) {
            return usable_addresses(known);
        }
        let found = look_up(name, &self.families);
        let addresses = usable_addresses(&found);
        self.known.push(found);
        addresses
    }
}

/// Returns the addresses that were found; none if the name has none of the only family that was
/// asked for.
fn usable_addresses(found: &NameLookup) -> Result<Vec<IpAddr>, CommandError> {
    let addresses = found.addresses();
    if !addresses.is_empty() || lacks_only_family(found) {
        return Ok(addresses);
    }
    let advice = if Family::BOTH.iter().any(|&family| found.failure(family).is_some()) {
        "check the name servers (/etc/resolv.conf), or use --resolve"
    } else {
        "check the name, or use --resolve"
    };
    let (name, why) = (&found.name, found.describe_nothing());
    Err(CommandError::Measure(format!("can't resolve '{name}': {why}; {advice}")))
}

/// Reports whether the name exists, one family was asked for, and it has no address of that family:
/// it may have one of the other.
fn lacks_only_family(found: &NameLookup) -> bool {
    let asked: Vec<&FamilyLookup> =
        found.families.iter().filter_map(|(_, of)| of.as_ref()).collect();
    matches!(asked[..], [FamilyLookup { answer: FamilyAnswer::NoAddress(_), .. }])
}

fn lookup(found: &NameLookup) -> Lookup {
    let addresses = found.addresses();
    let ipv6 = addresses.iter().filter(|address| address.is_ipv6()).count();
    let of = |family: Family| found.families[family].as_ref().map(lookup_of_family);
    Lookup {
        host: found.name.clone(),
        us: found.took.as_secs_f64() * 1e6,
        ipv6,
        ipv4: addresses.len() - ipv6,
        by_family: Some(LookupByFamily { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) }),
    }
}

fn lookup_of_family(of: &FamilyLookup) -> LookupOfFamily {
    let (found, said) = match &of.answer {
        FamilyAnswer::Addresses(_) => (LookupFound::Addresses, None),
        FamilyAnswer::NoAddress(who) => (LookupFound::NoAddress, Some(who.clone())),
        FamilyAnswer::NoSuchName(who) => (LookupFound::NoSuchName, Some(who.clone())),
        FamilyAnswer::Failed(why) => (LookupFound::Failed, Some(why.clone())),
    };
    LookupOfFamily { us: of.took.as_secs_f64() * 1e6, found, said }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_replaces_the_lookup_of_its_host_and_port() {
        let given = "a.example:80:[::1],127.0.0.1".parse().unwrap();
        let mut resolver = Resolver::new(vec![given], &Family::BOTH);
        let found = resolver.addresses(&"http://A.example/".parse().unwrap()).unwrap();
        assert_eq!(found, ["[::1]:80".parse().unwrap(), "127.0.0.1:80".parse().unwrap()]);
        assert!(resolver.lookups().is_empty());
        for wrong in ["a", "a:80", "a:x:::1", "a:80:nowhere", "a:80:"] {
            assert!(wrong.parse::<Override>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_literal_keeps_its_zone() {
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
    fn does_not_repeat_lookups_done_ahead() {
        let urls = ["http://localhost/", "http://[::1]/", "http://localhost:81/", "http://a/"];
        let urls: Vec<Url> = urls.iter().map(|url| url.parse().unwrap()).collect();
        let given = "a:80:[::1]".parse().unwrap();
        let mut resolver = Resolver::new(vec![given], &Family::BOTH);
        resolver.look_up_ahead(urls.iter());
        let ahead: Vec<f64> = resolver.lookups().iter().map(|found| found.us).collect();
        for url in &urls {
            assert!(!resolver.addresses(url).unwrap().is_empty(), "{url}");
        }
        let after: Vec<f64> = resolver.lookups().iter().map(|found| found.us).collect();
        assert_eq!((after.len(), &after), (1, &ahead));
    }

    #[test]
    fn looks_up_only_the_requested_family() {
        let mut resolver = Resolver::new(Vec::new(), &[Family::Ipv4]);
        let found = resolver.addresses(&"http://localhost/".parse().unwrap()).unwrap();
        assert!(found.iter().all(SocketAddr::is_ipv4), "{found:?}");
        let by_family = resolver.lookups()[0].by_family.clone().unwrap();
        assert!(by_family.ipv6.is_none() && by_family.ipv4.is_some());
    }

    #[test]
    fn a_name_is_looked_up_once_and_timed() {
        let mut resolver = Resolver::new(Vec::new(), &Family::BOTH);
        for port in [80, 81] {
            let url = format!("http://localhost:{port}/").parse().unwrap();
            assert!(!resolver.addresses(&url).unwrap().is_empty());
        }
        let lookups = resolver.lookups();
        assert_eq!(lookups.len(), 1);
        assert!(lookups[0].us > 0.0 && lookups[0].ipv6 + lookups[0].ipv4 > 0);
        let by_family = lookups[0].by_family.clone().unwrap();
        for of in [by_family.ipv6.unwrap(), by_family.ipv4.unwrap()] {
            assert!(of.us > 0.0 && of.us <= lookups[0].us);
            assert_eq!(of.found == LookupFound::Addresses, of.said.is_none());
        }
    }
}
