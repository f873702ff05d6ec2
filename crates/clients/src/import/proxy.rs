//! Transfers through a proxy. Their times and their family are those of the connection to the proxy,
//! and say nothing about the server.

/// What is wrong with such a transfer, and the way out, to be read after a verb.
pub(super) const THROUGH_PROXY: &str =
    "through a proxy, whose connection is not one to the server: run it without the proxy";

/// Returns the port of an http, https or ftp URL, which may be that of the scheme.
pub(super) fn port_of_url(url: &str) -> Option<u16> {
    let (scheme, rest) = url.split_once("://")?;
    let usual = match scheme.to_ascii_lowercase().as_str() {
        "http" => 80,
        "https" => 443,
        "ftp" => 21,
        _ => return None,
    };
    let port = port_of_host(authority(rest));
    port.map_or(Some(usual), |port| port.parse().ok())
}

/// Returns the host and port of what follows the scheme of a URL, without user and password.
pub(super) fn authority(rest: &str) -> &str {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest[..end].rsplit('@').next().unwrap_or_default()
}

/// Returns the port after a host, whose colons are in brackets if it is an address.
fn port_of_host(host: &str) -> Option<&str> {
    let behind = host.rfind(']').map_or(host, |at| &host[at + 1..]);
    behind.split_once(':').map(|(_, port)| port).filter(|port| !port.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_explicit_or_default_port_of_a_url() {
        for (url, port) in [
            ("http://a/", Some(80)),
            ("HTTPS://a:8443/x:1", Some(8443)),
            ("https://u:p@[2001:db8::1]?a@b:2", Some(443)),
            ("http://[2001:db8::1]:8000/5", Some(8000)),
            ("ftp://192.0.2.1", Some(21)),
            ("http://a:/", Some(80)),
            ("http://a:x/", None),
            ("file:///a", None),
            ("a", None),
        ] {
            assert_eq!(port_of_url(url), port, "{url}");
        }
    }
}
