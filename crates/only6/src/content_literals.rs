//! Literal addresses in what a server answers: those that some of its clients can't use.

use std::net::{Ipv4Addr, Ipv6Addr};

use sixmark_units::visible::visible;

use crate::app_start::{ContentLiteral, LiteralKind};

/// The most literals of an answer that are reported.
const MOST: usize = 5;
/// The most characters of a literal that are kept.
const LONGEST: usize = 80;

/// Returns the literals in URLs of an answer, whose header ends at the first empty line.
pub fn find_literals(answer: &[u8]) -> Vec<ContentLiteral> {
    let text = String::from_utf8_lossy(answer);
    let header = text.find("\r\n\r\n").unwrap_or(text.len());
    let mut found: Vec<ContentLiteral> = Vec::new();
    for (at, _) in text.match_indices("://") {
        let authority: &str = text[at + 3..].split(is_end).next().unwrap_or_default();
        let Some(kind) = judge_authority(authority) else { continue };
        let scheme = text[..at]
            .rfind(|of: char| !of.is_ascii_alphabetic())
            .map_or(0, |of| of + text[of..].chars().next().map_or(1, char::len_utf8));
        let url = visible(&text[scheme..at + 3 + authority.len()]).chars().take(LONGEST).collect();
        let literal = ContentLiteral { kind, text: url, is_in_header: at < header };
        if !found.contains(&literal) {
            found.push(literal);
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// Returns true for what ends the authority of a URL (RFC 3986, 3.2), or the text around it.
fn is_end(of: char) -> bool {
    matches!(of, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '\\' | ')') || of.is_whitespace()
}

/// Returns what is wrong with the authority of a URL; `None` if nothing is.
fn judge_authority(authority: &str) -> Option<LiteralKind> {
    let host_and_port = authority.rsplit('@').next()?;
    if let Some(inner) = host_and_port.strip_prefix('[') {
        let address: Ipv6Addr = inner.split(']').next()?.parse().ok()?;
        return address.is_unicast_link_local().then_some(LiteralKind::LinkLocal);
    }
    if host_and_port.matches(':').count() >= 2 {
        let without_port = host_and_port.rsplit_once(':')?.0;
        let is_address = |of: &str| of.parse::<Ipv6Addr>().is_ok();
        let is_one = is_address(host_and_port) || is_address(without_port);
        return is_one.then_some(LiteralKind::WithoutBrackets);
    }
    let host = host_and_port.split(':').next()?;
    let address: Ipv4Addr = host.parse().ok()?;
    // Loopback and unspecified addresses stand for whoever reads them.
    (!address.is_loopback() && !address.is_unspecified()).then_some(LiteralKind::Ipv4Host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(LiteralKind, bool)> {
        find_literals(text.as_bytes()).iter().map(|of| (of.kind, of.is_in_header)).collect()
    }

    #[test]
    fn finds_literals_in_header_and_content() {
        let text = "HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/x\r\n\r\n\
                    <a href=\"http://2001:db8::1:80/\">a</a> <a href='http://[fe80::1]/'>";
        let expected = [
            (LiteralKind::Ipv4Host, true),
            (LiteralKind::WithoutBrackets, false),
            (LiteralKind::LinkLocal, false),
        ];
        assert_eq!(kinds(text), expected);
        assert_eq!(find_literals(text.as_bytes())[0].text, "http://192.0.2.1");
    }

    #[test]
    fn names_versions_and_good_literals_are_none() {
        let text = "HTTP/1.1 200 OK\r\nServer: x/1.2.3.4\r\n\r\nhttp://www.test:80/ http://[2001:db8::1]/ \
                    http://[fe80::1%25eth0]/ 10.1.2.3 http://1.2.3/ http://127.0.0.1/";
        assert_eq!(kinds(text), []);
    }

    #[test]
    fn reports_no_more_than_five_and_survives_any_bytes() {
        let many: String = (1..20).map(|of| format!("http://192.0.2.{of}/ ")).collect();
        assert_eq!(kinds(&many).len(), 5);
        assert_eq!(kinds("\u{fe}://192.0.2.1"), [(LiteralKind::Ipv4Host, true)]);
        find_literals(&[0xff, 0xfe, b':', b'/', b'/', 0xff]);
    }
}
