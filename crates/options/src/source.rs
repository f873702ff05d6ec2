//! `--source`: an address, a prefix, or an interface.

use std::net::{IpAddr, SocketAddr};

use sixmark_plan::plan::SourceAddresses;
use sixmark_units::family::{Family, PerFamily};

use sixmark_sys::command_error::CommandError;

/// A `--source` as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedSource {
    Addresses(SourceAddresses),
    Interface(String),
}

impl std::str::FromStr for WantedSource {
    type Err = String;

    fn from_str(text: &str) -> Result<WantedSource, String> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let (address, zone) = match address.split_once('%') {
            Some((address, zone)) => (address, Some(zone)),
            None => (address, None),
        };
        let bare = address.trim_matches(['[', ']']);
        match (bare.parse::<IpAddr>(), prefix) {
            (Ok(address), prefix) => Ok(WantedSource::Addresses(source(address, prefix, zone)?)),
            (Err(_), None) => Ok(WantedSource::Interface(text.to_owned())),
            (Err(_), Some(_)) => Err(format!("'{bare}' is not an address")),
        }
    }
}

fn source(
    address: IpAddr,
    prefix: Option<&str>,
    zone: Option<&str>,
) -> Result<SourceAddresses, String> {
    let longest: u8 = if address.is_ipv6() { 128 } else { 32 };
    let wrong = || format!("a prefix length of this family is 0 to {longest}");
    let prefix = match prefix {
        None => longest,
        Some(text) => text.parse().ok().filter(|&p| p <= longest).ok_or_else(wrong)?,
    };
    let missing = |zone| format!("this host has no interface '{zone}'");
    let scope = match zone {
        None => 0,
        Some(zone) => sixmark_sys::interface::index(zone).ok_or_else(|| missing(zone))?,
    };
    Ok(SourceAddresses { address, prefix, scope })
}

/// Returns the local addresses of each family.
pub(crate) fn sources(
    wanted: &[WantedSource],
) -> Result<PerFamily<Vec<SourceAddresses>>, CommandError> {
    let mut found = PerFamily::<Vec<SourceAddresses>>::default();
    for wanted in wanted {
        for source in expand(wanted)? {
            found[Family::of(source.address)].push(source);
        }
    }
    Ok(found)
}

fn expand(wanted: &WantedSource) -> Result<Vec<SourceAddresses>, CommandError> {
    match wanted {
        WantedSource::Addresses(source) => Ok(vec![*source]),
        WantedSource::Interface(name) => {
            let addresses =
                sixmark_sys::interface::addresses_of_interface(name).unwrap_or_default();
            if addresses.is_empty() {
                let line = format!(
                    "--source {name}: neither an address nor an interface with an \
                     address"
                );
                return Err(CommandError::Usage(line));
            }
            Ok(addresses.iter().map(of_interface).collect())
        }
    }
}

fn of_interface(address: &SocketAddr) -> SourceAddresses {
    let (prefix, scope) = match address {
        SocketAddr::V4(_) => (32, 0),
        SocketAddr::V6(v6) => (128, v6.scope_id()),
    };
    SourceAddresses { address: address.ip(), prefix, scope }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_an_address_a_prefix_or_an_interface() {
        let one = |text: &str| text.parse::<WantedSource>();
        let source = |address: &str, prefix| {
            Ok(WantedSource::Addresses(SourceAddresses {
                address: address.parse().unwrap(),
                prefix,
                scope: 0,
            }))
        };
        assert_eq!(one("127.0.0.2"), source("127.0.0.2", 32));
        assert_eq!(one("[fd00::1]"), source("fd00::1", 128));
        assert_eq!(one("fd00::/64"), source("fd00::", 64));
        assert_eq!(one("eth0"), Ok(WantedSource::Interface("eth0".into())));
        for wrong in ["127.0.0.1/33", "fd00::/129", "x/8", "fe80::1%no-such-interface"] {
            assert!(one(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_interface_stands_for_its_addresses_of_both_families() {
        let found = sources(&["lo".parse().unwrap()]).unwrap();
        assert!(!found.ipv6.is_empty() && !found.ipv4.is_empty());
        assert!(sources(&["no-such-interface".parse().unwrap()]).is_err());
    }
}
