//! The URLs that a run accepts: `http://` and `https://`, with addresses of both families and zone
//! identifiers.

mod host;
mod scheme;

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use host::parse_host;
pub use host::{Host, parse_ipv6};
use scheme::{PATH_BEGINS, split_scheme};
pub use scheme::{Scheme, has_scheme};

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
                // Of a zone that begins with 25 the mark could not be told from `%25`.
                let mark = if zone.starts_with("25") { "%25" } else { "%" };
                let authority = authority.replacen(']', &format!("{mark}{zone}]"), 1);
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
        let end = rest.find(PATH_BEGINS).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        check_authority(scheme, authority, tail)?;
        let (host, port) = split_authority(authority);
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
            let c = c.escape_debug();
            Err(format!("'{c}' is not ASCII; percent-encode it, or write the host as xn--…"))
        }
    }
}

/// Returns an error about an authority that is empty, has a user, or an IPv6 address without
/// brackets.
fn check_authority(scheme: Scheme, authority: &str, tail: &str) -> Result<(), String> {
    let next = tail.trim_start_matches('/');
    match () {
        () if authority.is_empty() && !next.is_empty() && tail.starts_with('/') => {
            Err(format!("no host; write {scheme}://{next}"))
        }
        () if authority.contains('@') => {
            Err("a URL with a user is not supported; omit it and give -u USER:PASSWORD".into())
        }
        () if authority.matches(':').count() > 1 && !authority.starts_with('[') => {
            let url = match parse_ipv6(authority) {
                Ok(_) => format!("{scheme}://[{authority}]"),
                Err(_) => format!("{scheme}://[::1]:8080/"),
            };
            Err(format!("write an IPv6 address in brackets, as in {url}"))
        }
        () => Ok(()),
    }
}

/// Splits an authority into host and port; an address in brackets keeps its brackets.
fn split_authority(authority: &str) -> (&str, Option<&str>) {
    let after_bracket = authority.find(']').map_or(0, |at| at + 1);
    match authority[after_bracket..].find(':') {
        Some(at) => {
            let (host, port) = authority.split_at(after_bracket + at);
            (host, Some(&port[1..]))
        }
        None => (authority, None),
    }
}

/// Returns the host of an authority, such as the value of a Host field: without a port, an IPv6
/// address in brackets.
pub fn host_of_authority(authority: &str) -> &str {
    split_authority(authority).0
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
            ("http://[fe80::1%2525]/", "[fe80::1]", 80, "/"),
            ("http://[fe80::1%25251]/", "[fe80::1]", 80, "/"),
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
    fn keeps_the_zone_of_a_link_local_address() {
        let url: Url = "http://[fe80::1%eth0]/".parse().unwrap();
        assert_eq!(url.to_string(), "http://[fe80::1%eth0]/");
        assert_eq!(url.host, Host::Address("fe80::1".parse().unwrap(), Some("eth0".into())));
    }

    #[test]
    fn derives_the_tls_server_name_from_a_url() {
        for (text, name) in [
            ("https://A.example.:444/", "a.example"),
            ("https://[fe80::1%eth0]/", "fe80::1"),
            ("https://192.0.2.1/", "192.0.2.1"),
        ] {
            assert_eq!(text.parse::<Url>().unwrap().server_name(), name);
        }
    }

    #[test]
    fn extracts_the_host_from_an_authority() {
        for (authority, host) in [
            ("example.net", "example.net"),
            ("example.net:80", "example.net"),
            ("[::1]", "[::1]"),
            ("[::1]:80", "[::1]"),
            ("[fe80::1%eth0]:80", "[fe80::1%eth0]"),
            ("", ""),
        ] {
            assert_eq!(host_of_authority(authority), host);
        }
    }

    #[test]
    fn rejects_an_invalid_url_with_a_correction() {
        for (text, part) in [
            ("http://a b/", "%20"),
            ("http://a/b c", "%20"),
            ("http://a/\u{7}", "percent-encode"),
            ("http://bücher/", "xn--"),
            ("", "write http://example.com/"),
            ("/x", "write http://example.com/"),
            ("example.net", "write http://example.net"),
            ("example.net/?a=http://b/", "write http://example.net/?a=http://b/"),
            ("localhost:8080/a", "write http://localhost:8080/a"),
            ("ftp://a/", "use http:// or https://"),
            ("://a/", "'://' is not supported"),
            ("http:/example.com/", "write http://example.com/"),
            ("http:example.com", "write http://example.com"),
            ("HTTPS:/example.com/a", "write https://example.com/a"),
            ("http//example.com/", "write http://example.com/"),
            ("http:\\\\example.com", "write http://example.com"),
            ("http:/1.2.3.4:80/", "write http://1.2.3.4:80/"),
            ("http:8080", "write http://http:8080"),
            ("http/a", "write http://http/a"),
            ("http:8080/a", "write http://http:8080/a"),
            ("http:1.2.3.4", "write http://1.2.3.4"),
            ("https:", "write https://example.com/"),
            ("::1", "write http://[::1]"),
            ("::1/a?b", "write http://[::1]/a?b"),
            ("fe80::1%eth0", "write http://[fe80::1%eth0]"),
            ("[::1]:8080", "write http://[::1]:8080"),
            ("http://", "no host; write one"),
            ("http://:80/", "no host; write one"),
            ("http:///", "no host; write one"),
            ("http://?x", "no host; write one"),
            ("http:///x", "no host; write http://x"),
            ("https:////example.com/a", "no host; write https://example.com/a"),
            ("http://./", "as in http://example.com/"),
            ("http://u@a/", "-u USER:PASSWORD"),
            ("http://::1", "write an IPv6 address in brackets, as in http://[::1]"),
            ("http://::1/x", "http://[::1]"),
            ("https://a:b:c/", "brackets, as in https://[::1]:8080/"),
            ("http://[::1/", "closing bracket"),
            ("http://[::1]x/", "closing bracket"),
            ("http://[fe80::1%a]b]/", "closing bracket"),
            ("http://a/\u{2028}", "\\u{2028}"),
            ("http://[127.0.0.1]/", "IPv6"),
            ("http://[fe80::1%]/", "zone"),
            ("http://[::1%lo]/", "link-local"),
            ("http://a:0/", "65535"),
            ("http://a:65536/", "65535"),
            ("http://a:+8/", "65535"),
            ("http://1.2.3/", "write 1.2.0.3"),
            ("http://0x7f.1/", "write 127.0.0.1"),
            ("https://0x7f.1.:8443/", "write 127.0.0.1"),
            ("http://a<b/", "'<'"),
        ] {
            let error = text.parse::<Url>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
