//! Hosts of URLs: names, and addresses in the forms that cannot be mistaken for a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The host of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name for the resolver, in ASCII. Its last label is not a number.
    Name(String),
    /// An address. A link-local IPv6 address may have a zone (RFC 4007), given by name or number.
    Address(IpAddr, Option<String>),
}

/// Parses the host of a URL. The error message says what is wrong and how to correct it.
pub(super) fn parse_host(host: &str) -> Result<Host, String> {
    match host.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((inside, ""))) => parse_ipv6(inside),
        Some(_) => Err(format!("'{host}' has no closing bracket, or something after it")),
        None => parse_name_or_ipv4(host),
    }
}

/// Parses an IPv6 address with or without a zone. `%` and `%25` (RFC 6874) both introduce the zone.
///
/// # Errors
/// The text is not an IPv6 address, its zone is empty, or the address is not link-local and has a
/// zone, which would have no meaning.
pub fn parse_ipv6(text: &str) -> Result<Host, String> {
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone.strip_prefix("25").unwrap_or(zone))),
        None => (text, None),
    };
    let wrong = |_| format!("'{address}' is not an IPv6 address");
    let address: Ipv6Addr = address.parse().map_err(wrong)?;
    match zone {
        Some("") => {
            Err("the zone after '%' is empty; name an interface, as in [fe80::1%eth0]".into())
        }
        Some(zone) if !address.is_unicast_link_local() => Err(format!(
            "only link-local addresses (fe80::/10) have a zone; write [{address}] without %{zone}"
        )),
        zone => Ok(Host::Address(IpAddr::V6(address), zone.map(str::to_owned))),
    }
}

fn parse_name_or_ipv4(host: &str) -> Result<Host, String> {
    if host.is_empty() {
        return Err("no host; write one, as in http://example.com/".into());
    }
    if let Ok(address) = host.parse() {
        return Ok(Host::Address(IpAddr::V4(address), None));
    }
    // The letters, digits and hyphens of RFC 1123, and the underscore, which is in use although RFC
    // 1123 forbids it.
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let labels = labels(host);
    match host.chars().find(|&c| !fits(c)) {
        Some(c) => Err(format!("'{c}' is not allowed in the host '{host}'")),
        None if labels.contains(&"") => Err(format!(
            "'{host}' has an empty label between its dots; write a name, as in http://example.com/"
        )),
        None if ends_in_number(&labels) => Err(not_ipv4(host, &labels)),
        None => Ok(Host::Name(host.to_ascii_lowercase())),
    }
}

/// Returns the labels of a name, without the empty one of the root after a last dot.
fn labels(host: &str) -> Vec<&str> {
    host.strip_suffix('.').unwrap_or(host).split('.').collect()
}

/// Returns true if the last label is a number, decimal or hexadecimal. The resolver takes such a
/// name for an IPv4 address (inet_aton(3)), and so do browsers (WHATWG URL, "ends in a number").
fn ends_in_number(labels: &[&str]) -> bool {
    let last = labels.last().copied().unwrap_or_default();
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    last.bytes().all(|byte| byte.is_ascii_digit()) || hex_digits(last).is_some_and(is_hex)
}

fn hex_digits(label: &str) -> Option<&str> {
    label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"))
}

/// Returns the error about a host that is an IPv4 address in a form other than four decimal
/// numbers, or none at all.
fn not_ipv4(host: &str, labels: &[&str]) -> String {
    match dotted(labels) {
        Some(address) => {
            format!("'{host}' is not an IPv4 address in dotted form; write {address}")
        }
        None => format!(
            "'{host}' is not an IPv4 address: write four numbers from 0 to 255, as in 192.0.2.1"
        ),
    }
}

/// Returns the address that inet_aton(3) reads: one to four numbers, of which the last fills the
/// bytes that are left. `None` if there is none, or if a number begins with a zero: some read it as
/// octal and others as decimal.
fn dotted(labels: &[&str]) -> Option<Ipv4Addr> {
    let (last, before) = labels.split_last()?;
    let left = 4_u32.checked_sub(before.len().try_into().ok()?).filter(|&left| left > 0)?;
    let last = number(last).filter(|&last| last < 1 << (8 * left))?;
    let before = before.iter().try_fold(0, |sum, label| {
        let byte = number(label).filter(|&byte| byte < 256)?;
        Some(sum << 8 | byte)
    })?;
    u32::try_from(before << (8 * left) | last).ok().map(Ipv4Addr::from)
}

fn number(label: &str) -> Option<u64> {
    match hex_digits(label) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if label.len() > 1 && label.starts_with('0') => None,
        None => label.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requires_ipv4_like_hosts_to_be_dotted_decimal_addresses() {
        for (host, advice) in [
            ("0x7f.1", "write 127.0.0.1"),
            ("0X7F.0x1", "write 127.0.0.1"),
            ("127.1", "write 127.0.0.1"),
            ("127.1.", "write 127.0.0.1"),
            ("127.0.0.1.", "write 127.0.0.1"),
            ("127.0.0.0x1", "write 127.0.0.1"),
            ("2130706433", "write 127.0.0.1"),
            ("0x7f000001", "write 127.0.0.1"),
            ("192.0.513", "write 192.0.2.1"),
            ("0", "write 0.0.0.0"),
            ("0xffffffff.", "write 255.255.255.255"),
            // Not an address, or one that is read in two ways.
            ("0x100000000", "four numbers"),
            ("4294967296", "four numbers"),
            ("99999999999999999999999", "four numbers"),
            ("256.0.0.1", "four numbers"),
            ("127.0.0.256", "four numbers"),
            ("1.2.3.4.5", "four numbers"),
            ("0177.0.0.1", "four numbers"),
            ("127.0.0.01", "four numbers"),
            ("08", "four numbers"),
            ("0x", "four numbers"),
            ("a.0x", "four numbers"),
            ("example.0x7f", "four numbers"),
            ("example.1", "four numbers"),
            ("example.1.", "four numbers"),
        ] {
            let error = parse_host(host).unwrap_err();
            assert!(error.contains(advice) && error.contains("not an IPv4"), "{host}: {error}");
        }
        for host in ["1.example", "0x7f.example", "127.0.0.1.a", "a1", "1a", "0xg", "1.0x7g", "x0"]
        {
            assert_eq!(parse_host(host), Ok(Host::Name(host.to_owned())));
        }
        let address = Host::Address("127.0.0.1".parse().unwrap(), None);
        assert_eq!(parse_host("127.0.0.1"), Ok(address));
    }

    #[test]
    fn rejects_empty_labels_except_the_last() {
        for host in [".", "..", "a..b", ".a", "a..", "1..2"] {
            let error = parse_host(host).unwrap_err();
            assert!(error.contains("http://example.com/"), "{host}: {error}");
        }
        assert_eq!(parse_host("A.example."), Ok(Host::Name("a.example.".to_owned())));
        assert!(parse_host("").unwrap_err().contains("no host"));
    }

    #[test]
    fn a_zone_is_for_link_local_addresses_alone() {
        for text in ["fe80::1%eth0", "fe80::1%25eth0", "febf::1%eth0"] {
            let found = parse_ipv6(text).unwrap();
            assert!(matches!(found, Host::Address(_, Some(zone)) if zone == "eth0"), "{text}");
        }
        for text in ["::1%lo", "2001:db8::1%25eth0", "fec0::1%1", "ff02::1%eth0", "fd00::1%eth0"] {
            let error = parse_ipv6(text).unwrap_err();
            assert!(error.contains("link-local"), "{text}: {error}");
        }
        assert!(parse_ipv6("fe80::1%").unwrap_err().contains("empty"));
        assert!(parse_ipv6("fe80::1%25").unwrap_err().contains("empty"));
        assert!(parse_ipv6("127.0.0.1").unwrap_err().contains("not an IPv6"));
    }
}
