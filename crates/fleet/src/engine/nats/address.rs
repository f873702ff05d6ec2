//! Where a NATS server is.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// The port of a NATS server, where none is given.
pub const PORT: u16 = 4222;

/// The address of a NATS server: `nats://HOST[:PORT]`, or `tls://HOST[:PORT]` if the connection
/// must be encrypted. An IPv6 address stands in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsAddress {
    /// Whether the connection must use TLS.
    pub tls: bool,
    /// The host.
    pub host: ServerHost,
    /// The port.
    pub port: u16,
}

/// The host of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerHost {
    /// An IP address.
    Address(IpAddr),
    /// A name that is looked up before each connection.
    Name(String),
}

impl FromStr for NatsAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<NatsAddress, String> {
        let wrong = || {
            format!(
                "'{}' is not the address of a NATS server: write nats://HOST[:PORT] or \
                 tls://HOST[:PORT], with an IPv6 address in brackets",
                text.escape_debug()
            )
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let tls = match scheme {
            "nats" => false,
            "tls" => true,
            _ => return Err(wrong()),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = split_host(rest).ok_or_else(wrong)?;
        let port = match port {
            None => PORT,
            Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?,
        };
        Ok(NatsAddress { tls, host: host.ok_or_else(wrong)?, port })
    }
}

/// Returns the host, if it is one, and the text behind its colon.
fn split_host(text: &str) -> Option<(Option<ServerHost>, Option<&str>)> {
    if let Some(text) = text.strip_prefix('[') {
        let (address, rest) = text.split_once(']')?;
        let address = address.parse::<Ipv6Addr>().ok().map(IpAddr::from);
        let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
        return Some((address.map(ServerHost::Address), port));
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    let host = match host.parse::<IpAddr>() {
        Ok(address) => Some(ServerHost::Address(address)),
        Err(_) => is_name(host).then(|| ServerHost::Name(host.to_owned())),
    };
    Some((host, port))
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=253).contains(&text.len()) && text.chars().all(fits)
}

impl fmt::Display for NatsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "tls" } else { "nats" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

impl fmt::Display for ServerHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerHost::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            ServerHost::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            ServerHost::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_scheme_a_host_and_an_optional_port() {
        for (text, whole) in [
            ("nats://a.example", "nats://a.example:4222"),
            ("tls://a.example:443/", "tls://a.example:443"),
            ("nats://192.0.2.1:1", "nats://192.0.2.1:1"),
            ("tls://[2001:db8::1]", "tls://[2001:db8::1]:4222"),
            ("nats://[::1]:5", "nats://[::1]:5"),
        ] {
            let address: NatsAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), whole);
            assert_eq!(whole.parse(), Ok(address));
        }
    }

    #[test]
    fn rejects_invalid_addresses_with_one_line() {
        for text in [
            "",
            "a.example",
            "http://a",
            "nats://",
            "nats://:1",
            "nats://a:0",
            "nats://a:65536",
            "nats://a:x",
            "nats://::1",
            "nats://[::1",
            "nats://[::1]5",
            "nats://[a]",
            "nats://a b",
            "nats://user:word@a",
            "nats://a/b",
        ] {
            let line = text.parse::<NatsAddress>().unwrap_err();
            assert!(line.contains("tls://HOST[:PORT]") && !line.contains('\n'), "{line}");
        }
    }
}
