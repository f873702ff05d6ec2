//! The hosts for which cookies are (RFC 6265, 5.1.3 and 5.3).

use std::net::Ipv4Addr;

/// Returns a host in the form in which hosts are compared: in lower case, without a dot at its end.
pub(super) fn canonical(host: &str) -> Vec<u8> {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase().into_bytes()
}

/// Returns true if `host` is `domain`, or a name within it. Both are in lower case.
pub(super) fn domain_matches(host: &[u8], domain: &[u8]) -> bool {
    let within = || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with(b"."));
    host == domain || (within() && !is_address(host))
}

/// Returns true for a domain in which anybody can have a name, so that a cookie for all of it is
/// refused. This is the rule for domains that are in no list of public suffixes: those of one
/// label. sixmark has no such list; it sends cookies to the targets of a run alone.
pub(super) fn is_public_suffix(domain: &[u8]) -> bool {
    !domain.contains(&b'.')
}

/// Returns true for an address as in URLs: IPv4 in decimal, IPv6 in brackets.
fn is_address(host: &[u8]) -> bool {
    let is_ipv4 = |text: &str| text.parse::<Ipv4Addr>().is_ok();
    host.starts_with(b"[") || std::str::from_utf8(host).is_ok_and(is_ipv4)
}
