//! The Host field of HTTP/1 requests (RFC 9112, 3.2).

use std::net::Ipv6Addr;

/// The line for a client whose Host is not as it should be.
pub(super) const WRONG_HOST: &str = "an HTTP/1.1 request needs one Host field with a valid host\n";

/// Returns whether a request with these values of Host may be answered. A request must not have
/// several such fields, nor an invalid one; HTTP/1.0 (`old`) needs none.
pub(super) fn is_acceptable<'a>(mut values: impl Iterator<Item = &'a [u8]>, old: bool) -> bool {
    match (values.next(), values.next()) {
        (None, _) => old,
        (Some(host), None) => is_host(host),
        (Some(_), Some(_)) => false,
    }
}

/// Parses: uri-host [ ":" port ]. Both may be empty (RFC 3986, 3.2.2 and 3.2.3). An IPv6 address
/// without brackets is accepted too, as nginx accepts it: h2load sends such a field.
fn is_host(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    if text.parse::<Ipv6Addr>().is_ok() || is_bare_with_port(text) {
        return true;
    }
    let (host, rest) = match text.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((literal, rest)) => (is_literal(literal), rest),
            None => return false,
        },
        None => {
            let end = text.find(':').unwrap_or(text.len());
            (is_name(&text[..end]), &text[end..])
        }
    };
    host && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
}

/// Returns whether the text is an IPv6 address without brackets and a port.
fn is_bare_with_port(text: &str) -> bool {
    let both = text.rsplit_once(':');
    both.is_some_and(|(address, port)| is_port(port) && address.parse::<Ipv6Addr>().is_ok())
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether the text between brackets is an IPv6 address or one of a later version.
fn is_literal(literal: &str) -> bool {
    let future = |text: &str| {
        let text = text.strip_prefix(['v', 'V'])?;
        let (version, address) = text.split_once('.')?;
        let hex = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_hexdigit());
        let named = |byte: u8| is_plain(byte) || byte == b':';
        Some(hex && !address.is_empty() && address.bytes().all(named))
    };
    literal.parse::<Ipv6Addr>().is_ok() || future(literal) == Some(true)
}

/// Returns whether the text is a registered name or an IPv4 address: reg-name.
fn is_name(name: &str) -> bool {
    let mut rest = name.as_bytes();
    loop {
        rest = match rest {
            [] => return true,
            [b'%', a, b, after @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => after,
            [byte, after @ ..] if is_plain(*byte) => after,
            _ => return false,
        };
    }
}

/// Returns whether a byte is unreserved or a sub-delim (RFC 3986, 2).
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_names_and_addresses_with_an_optional_port() {
        for host in [
            "",
            ":",
            "a",
            "a.example",
            "a.example:8080",
            "a:",
            "192.0.2.1:80",
            "[::1]",
            "[::1]:80",
            "[2001:db8::1]:",
            "::1",
            "2001:db8::1:43093",
            "1:2:3:4:5:6:7:8:43093",
            "a_b",
            "xn--bcher-kva.example",
            "%41b",
            "[v1.fe]",
            "a,b",
        ] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in [
            "a b",
            "a/b",
            "a@b",
            "http://a",
            "a:b",
            "a:80:80",
            "[::1",
            "::g",
            "[]",
            "[a]",
            "[::1]x",
            "[::1%eth0]",
            "%4",
            "%zz",
            "a?b",
            "a#b",
            "b\u{fc}cher",
            "a\tb",
            "[v.a]",
            "[v1.]",
            "\"a\"",
        ] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
        assert!(!is_host(b"a\xff"));
    }

    #[test]
    fn requires_one_valid_host_but_allows_none_in_http_1_0() {
        for (hosts, old, new) in [
            (&[][..], true, false),
            (&["a"][..], true, true),
            (&["a", "a"], false, false),
            (&["a", "b"], false, false),
            (&["a b"], false, false),
        ] {
            let values = || hosts.iter().map(|host| host.as_bytes());
            assert_eq!(is_acceptable(values(), true), old, "{hosts:?} 1.0");
            assert_eq!(is_acceptable(values(), false), new, "{hosts:?} 1.1");
        }
    }
}
