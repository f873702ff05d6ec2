//! The addresses that an agent may load: it refuses every plan with another one.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A prefix of addresses and, if it is limited to one, a port. Written as `2001:db8::/32`,
/// `[2001:db8::/32]:443`, `192.0.2.0/24:80` or as a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AllowedTargets {
    address: IpAddr,
    prefix: u8,
    port: Option<u16>,
}

impl AllowedTargets {
    /// All addresses of both families.
    pub const EVERYTHING: [AllowedTargets; 2] = [
        AllowedTargets {
            address: IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED),
            prefix: 0,
            port: None,
        },
        AllowedTargets {
            address: IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
            prefix: 0,
            port: None,
        },
    ];

    /// Returns true if the target may be loaded. An IPv4-mapped IPv6 address is an IPv4 address.
    pub fn contains(&self, target: SocketAddr) -> bool {
        let same_prefix = match (self.address, target.ip().to_canonical()) {
            (IpAddr::V6(of), IpAddr::V6(is)) => {
                let shift = 128 - u32::from(self.prefix);
                (u128::from(of) ^ u128::from(is)).checked_shr(shift).unwrap_or(0) == 0
            }
            (IpAddr::V4(of), IpAddr::V4(is)) => {
                let shift = 32 - u32::from(self.prefix);
                (u32::from(of) ^ u32::from(is)).checked_shr(shift).unwrap_or(0) == 0
            }
            _ => false,
        };
        same_prefix && self.port.is_none_or(|port| port == target.port())
    }
}

/// Returns the first target that no entry of `allowed` contains.
pub fn first_refused(
    allowed: &[AllowedTargets],
    mut targets: impl Iterator<Item = SocketAddr>,
) -> Option<SocketAddr> {
    targets.find(|target| !allowed.iter().any(|entry| entry.contains(*target)))
}

impl FromStr for AllowedTargets {
    type Err = String;

    fn from_str(text: &str) -> Result<AllowedTargets, String> {
        let wrong = || {
            format!(
                "'{}' is not CIDR[:PORT], as in 2001:db8::/32, [2001:db8::/32]:443 or \
                 192.0.2.0/24:80",
                text.escape_debug()
            )
        };
        let (prefix, port) = split_port(text).ok_or_else(wrong)?;
        let port = port.map(str::parse).transpose().map_err(|_| wrong())?;
        let (address, length) = match prefix.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (prefix, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let longest = if address.is_ipv6() { 128 } else { 32 };
        let length = length.map_or(Ok(longest), str::parse).map_err(|_| wrong())?;
        if length <= longest {
            Ok(AllowedTargets { address, prefix: length, port })
        } else {
            Err(wrong())
        }
    }
}

/// Splits a port off. An IPv6 prefix with a port is in brackets, as far as the address or as a
/// whole.
fn split_port(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (inside, after) = rest.split_once(']')?;
        return match after {
            "" => Some((inside, None)),
            after => Some((inside, Some(after.strip_prefix(':')?))),
        };
    }
    match text.matches(':').count() {
        1 => text.split_once(':').map(|(prefix, port)| (prefix, Some(port))),
        _ => Some((text, None)),
    }
}

impl TryFrom<String> for AllowedTargets {
    type Error = String;

    fn try_from(text: String) -> Result<AllowedTargets, String> {
        text.parse()
    }
}

impl From<AllowedTargets> for String {
    fn from(of: AllowedTargets) -> String {
        of.to_string()
    }
}

impl fmt::Display for AllowedTargets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AllowedTargets { address, prefix, port } = self;
        match (address, port) {
            (_, None) => write!(f, "{address}/{prefix}"),
            (IpAddr::V6(_), Some(port)) => write!(f, "[{address}/{prefix}]:{port}"),
            (IpAddr::V4(_), Some(port)) => write!(f, "{address}/{prefix}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_a_target_that_matches_prefix_and_port() {
        for (allowed, target, is) in [
            ("2001:db8::/32", "[2001:db8:9::1]:80", true),
            ("2001:db8::/32", "[2001:db9::1]:80", false),
            ("[2001:db8::/32]:443", "[2001:db8::1]:443", true),
            ("[2001:db8::/32]:443", "[2001:db8::1]:80", false),
            ("192.0.2.0/24", "192.0.2.255:1", true),
            ("192.0.2.0/24:80", "192.0.2.7:81", false),
            ("192.0.2.7", "192.0.2.7:1", true),
            ("192.0.2.7", "192.0.2.8:1", false),
            ("::/0", "[2001:db8::1]:1", true),
            ("::/0", "192.0.2.1:1", false),
            ("0.0.0.0/0", "192.0.2.1:1", true),
            ("192.0.2.0/24", "[::ffff:192.0.2.1]:1", true),
            ("::/0", "[::ffff:192.0.2.1]:1", false),
        ] {
            let entry: AllowedTargets = allowed.parse().unwrap();
            assert_eq!(entry.contains(target.parse().unwrap()), is, "{allowed} {target}");
            assert_eq!(entry.to_string().parse(), Ok(entry));
        }
    }

    #[test]
    fn rejects_invalid_prefixes() {
        for wrong in
            ["", "a", "::/129", "1.2.3.4/33", "1.2.3.4:x", "[::]x", "[::", "1.2.3.4/", "::/-1"]
        {
            assert!(wrong.parse::<AllowedTargets>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_agent_that_allows_nothing_refuses_every_target() {
        let targets = || ["[::1]:80", "127.0.0.1:80"].into_iter().map(|text| text.parse().unwrap());
        assert_eq!(first_refused(&[], targets()), targets().next());
        assert_eq!(first_refused(&AllowedTargets::EVERYTHING, targets()), None);
        assert_eq!(first_refused(&AllowedTargets::EVERYTHING[..1], targets()), targets().nth(1));
    }
}
