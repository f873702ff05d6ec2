//! The URLs that a run accepts: `http://` and `https://`, with addresses of both families and zone
//! identifiers.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// The scheme of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `http://`
    Http,
    /// `https://`
    Https,
}

impl Scheme {
    /// Returns the default port (RFC 9110, 4.2.1 and 4.2.2).
    pub fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        })
    }
}

/// An `http://` or `https://` URL, split into the parts needed to resolve, to connect and to send
/// the request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Url {
    /// The scheme, which decides whether the connection uses TLS.
    pub scheme: Scheme,
    /// The host, as a name or an address.
    pub host: Host,
    /// The TCP port, 1 to 65535.
    pub port: u16,
    /// The path and query, as in the request line; begins with `/`.
    pub path: String,
}

/// The host of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name for the resolver, in ASCII.
    Name(String),
    /// An address. A link-local IPv6 address may have a zone (RFC 4007), given by name or number.
    Address(IpAddr, Option<String>),
}

impl Url {
    /// Returns the value of the Host field. It omits the zone, which has a meaning on this host
    /// only (RFC 6874, 4).
    pub fn authority(&self) -> String {
        let host = match &self.host {
            Host::Name(name) => name.clone(),
            Host::Address(IpAddr::V4(address), _) => address.to_string(),
            Host::Address(IpAddr::V6(address), _) => format!("[{address}]"),
        };
        match self.port {
            port if port == self.scheme.port() => host,
            port => format!("{host}:{port}"),
        }
    }

    /// Returns the host as it occurs in a server's certificate: a name without the trailing dot
    /// (RFC 6066, 3), or an address without brackets and zone.
    pub fn server_name(&self) -> String {
        match &self.host {
            Host::Name(name) => name.trim_end_matches('.').to_owned(),
            Host::Address(address, _) => address.to_string(),
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = self.authority();
        match &self.host {
            Host::Address(_, Some(zone)) => {
                let authority = authority.replacen(']', &format!("%{zone}]"), 1);
                write!(f, "{}://{authority}{}", self.scheme, self.path)
            }
            _ => write!(f, "{}://{authority}{}", self.scheme, self.path),
        }
    }
}

impl FromStr for Url {
    type Err = String;

    /// Parses a URL. The error message says what is wrong with the text and how to correct it.
    fn from_str(text: &str) -> Result<Url, String> {
        refuse_characters(text)?;
        let (scheme, rest) = split_scheme(text)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        let (host, port) = split_authority(authority)?;
        let host = parse_host(host)?;
        let port = parse_port(port)?.unwrap_or(scheme.port());
        Ok(Url { scheme, host, port, path: path_of(tail) })
    }
}

/// Returns an error if the text contains spaces, control characters or non-ASCII characters, which
/// must be percent-encoded (RFC 3986, 2).
fn refuse_characters(text: &str) -> Result<(), String> {
    match text.chars().find(|c| c.is_whitespace() || c.is_control() || !c.is_ascii()) {
        None => Ok(()),
        Some(' ') => Err("a URL cannot contain a space; write it as %20".into()),
        Some(c) if c.is_ascii() => Err(format!("a URL cannot contain {c:?}; percent-encode it")),
        Some(c) => {
            Err(format!("'{c}' is not ASCII; percent-encode it, or write the host as xn--…"))
        }
    }
}

fn split_scheme(text: &str) -> Result<(Scheme, &str), String> {
    match text.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => Ok((Scheme::Http, rest)),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => Ok((Scheme::Https, rest)),
        Some((scheme, _)) => {
            Err(format!("'{scheme}://' is not supported; use http:// or https://"))
        }
        None => Err(format!("no scheme; write http://{text}")),
    }
}

/// Splits an authority into host and port; an address in brackets keeps its brackets.
fn split_authority(authority: &str) -> Result<(&str, Option<&str>), String> {
    if authority.contains('@') {
        return Err("a URL with a user is not supported; omit it and give -u USER:PASSWORD".into());
    }
    if authority.matches(':').count() > 1 && !authority.starts_with('[') {
        return Err("write an IPv6 address in brackets, as in [::1]".into());
    }
    let after_bracket = authority.find(']').map_or(0, |at| at + 1);
    match authority[after_bracket..].find(':') {
        Some(at) => {
            let (host, port) = authority.split_at(after_bracket + at);
            Ok((host, Some(&port[1..])))
        }
        None => Ok((authority, None)),
    }
}

fn parse_port(port: Option<&str>) -> Result<Option<u16>, String> {
    match port {
        // RFC 3986, 3.2.3: an empty port is the default one.
        None | Some("") => Ok(None),
        Some(text) => match text.parse() {
            Ok(port) if port > 0 && text.bytes().all(|b| b.is_ascii_digit()) => Ok(Some(port)),
            _ => Err(format!("port '{text}' is not a number from 1 to 65535")),
        },
    }
}

fn parse_host(host: &str) -> Result<Host, String> {
    match host.strip_prefix('[') {
        Some(rest) => match rest.strip_suffix(']') {
            Some(inside) => parse_ipv6(inside),
            None => Err(format!("'{host}' has no closing bracket, or something after it")),
        },
        None => parse_name_or_ipv4(host),
    }
}

/// Parses an IPv6 address with or without a zone. `%` and `%25` (RFC 6874) both introduce the zone.
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
        zone => Ok(Host::Address(IpAddr::V6(address), zone.map(str::to_owned))),
    }
}

fn parse_name_or_ipv4(host: &str) -> Result<Host, String> {
    if host.is_empty() {
        return Err("no host".into());
    }
    if let Ok(address) = host.parse() {
        return Ok(Host::Address(IpAddr::V4(address), None));
    }
    // The letters, digits and hyphens of RFC 1123, and the underscore, which is in use although RFC
    // 1123 forbids it.
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    match host.chars().find(|&c| !fits(c)) {
        Some(c) => Err(format!("'{c}' is not allowed in the host '{host}'")),
        None if host.chars().all(|c| c.is_ascii_digit() || c == '.') => {
            Err(format!("'{host}' is not an IPv4 address: four numbers from 0 to 255"))
        }
        None => Ok(Host::Name(host.to_ascii_lowercase())),
    }
}

/// Returns the target for the request line: without the fragment (RFC 9110, 7.1), and `/` if the
/// path is empty.
fn path_of(tail: &str) -> String {
    let tail = tail.split('#').next().unwrap_or_default();
    if tail.starts_with('/') { tail.to_owned() } else { format!("/{tail}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_split_into_host_port_and_path() {
        for (text, authority, port, path) in [
            ("http://example.net", "example.net", 80, "/"),
            ("HTTP://Example.NET:8080/a?b=c#d", "example.net:8080", 8080, "/a?b=c"),
            ("http://[::1]:81?x", "[::1]:81", 81, "/?x"),
            ("http://[fe80::1%eth0]/", "[fe80::1]", 80, "/"),
            ("http://[fe80::1%25eth0]:8/", "[fe80::1]:8", 8, "/"),
            ("http://127.0.0.1:/x", "127.0.0.1", 80, "/x"),
            ("http://[::ffff:192.0.2.1]/", "[::ffff:192.0.2.1]", 80, "/"),
            ("https://a.example/x", "a.example", 443, "/x"),
            ("HTTPS://[::1]:443/", "[::1]", 443, "/"),
            ("https://a.example:80/", "a.example:80", 80, "/"),
            ("http://a.example:443/", "a.example:443", 443, "/"),
            ("https://a.example:/", "a.example", 443, "/"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!(
                (url.authority().as_str(), url.port, url.path.as_str()),
                (authority, port, path)
            );
            assert_eq!(url.to_string().parse(), Ok(url), "{text} does not survive being written");
        }
    }

    #[test]
    fn the_zone_is_kept_but_never_sent() {
        let url: Url = "http://[fe80::1%eth0]/".parse().unwrap();
        assert_eq!(url.to_string(), "http://[fe80::1%eth0]/");
        assert_eq!(url.host, Host::Address("fe80::1".parse().unwrap(), Some("eth0".into())));
    }

    #[test]
    fn a_server_name_is_what_certificates_have() {
        for (text, name) in [
            ("https://A.example.:444/", "a.example"),
            ("https://[fe80::1%eth0]/", "fe80::1"),
            ("https://192.0.2.1/", "192.0.2.1"),
        ] {
            assert_eq!(text.parse::<Url>().unwrap().server_name(), name);
        }
    }

    #[test]
    fn an_illegal_url_is_refused_with_what_to_do() {
        for (text, part) in [
            ("http://a b/", "%20"),
            ("http://a/b c", "%20"),
            ("http://a/\u{7}", "percent-encode"),
            ("http://bücher/", "xn--"),
            ("example.net", "http://example.net"),
            ("ftp://a/", "use http:// or https://"),
            ("http://", "no host"),
            ("http:///x", "no host"),
            ("http://u@a/", "-u USER:PASSWORD"),
            ("http://::1/", "brackets"),
            ("http://[::1/", "closing bracket"),
            ("http://[::1]x/", "closing bracket"),
            ("http://[127.0.0.1]/", "IPv6"),
            ("http://[fe80::1%]/", "zone"),
            ("http://a:0/", "65535"),
            ("http://a:65536/", "65535"),
            ("http://a:+8/", "65535"),
            ("http://1.2.3/", "IPv4"),
            ("http://a<b/", "'<'"),
        ] {
            let error = text.parse::<Url>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
