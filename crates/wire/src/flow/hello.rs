//! The plain-text part of a TLS handshake (RFC 8446, 4.1; RFC 6066, 3; RFC 7301).

use super::connection_report::Hello;

/// The type of the message that a client begins with.
pub(super) const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const SERVER_NAME: u16 = 0;
const ALPN: u16 = 16;
const SUPPORTED_VERSIONS: u16 = 43;
/// The maximum number of offered protocols to read. Real clients offer fewer.
const MOST_PROTOCOLS: usize = 16;

/// Returns the type and body of a handshake message, or `None` if it is incomplete.
pub(super) fn message(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_be_bytes([0, head[1], head[2], head[3]]);
    Some((head[0], rest.get(..length as usize)?))
}

/// Reads a ClientHello or ServerHello. Returns false if the message is neither or is malformed.
pub(super) fn read_message(kind: u8, body: &[u8], hello: &mut Hello) -> bool {
    let mut rest = HelloBytes(body);
    match kind {
        CLIENT_HELLO => client(&mut rest, hello).is_some(),
        SERVER_HELLO => server(&mut rest, hello).is_some(),
        _ => false,
    }
}

fn client(rest: &mut HelloBytes<'_>, hello: &mut Hello) -> Option<()> {
    // Skips version and random bytes, session ID, cipher suites and compression methods.
    rest.take(34)?;
    let session = rest.byte()?;
    rest.take(session.into())?;
    rest.vector()?;
    let compressions = rest.byte()?;
    rest.take(compressions.into())?;
    extensions(rest, |kind, value| match kind {
        SERVER_NAME => hello.server_name = server_name(value),
        ALPN => hello.offered = protocols(value),
        _ => {}
    })
}

fn server(rest: &mut HelloBytes<'_>, hello: &mut Hello) -> Option<()> {
    let mut version = rest.half()?;
    rest.take(32)?;
    let session = rest.byte()?;
    rest.take(session.into())?;
    rest.take(3)?;
    let mut chosen = None;
    let read = extensions(rest, |kind, value| match (kind, value) {
        (SUPPORTED_VERSIONS, [a, b]) => version = u16::from_be_bytes([*a, *b]),
        (ALPN, _) => chosen = protocols(value).into_iter().next(),
        _ => {}
    });
    hello.version = Some(name_of_version(version));
    hello.chosen = chosen;
    read
}

/// Calls `each` for every extension. The extensions may be absent altogether.
fn extensions(rest: &mut HelloBytes<'_>, mut each: impl FnMut(u16, &[u8])) -> Option<()> {
    if rest.0.is_empty() {
        return Some(());
    }
    let mut all = HelloBytes(rest.vector()?);
    while !all.0.is_empty() {
        let kind = all.half()?;
        each(kind, all.vector()?);
    }
    Some(())
}

/// Returns the first host name in a list of server names.
fn server_name(value: &[u8]) -> Option<String> {
    let mut list = HelloBytes(HelloBytes(value).vector()?);
    while !list.0.is_empty() {
        let (kind, name) = (list.byte()?, list.vector()?);
        if kind == 0 {
            return Some(words(name));
        }
    }
    None
}

fn protocols(value: &[u8]) -> Vec<String> {
    let mut list = HelloBytes(HelloBytes(value).vector().unwrap_or_default());
    let next = || {
        let length = list.byte()?;
        list.take(length.into()).map(words)
    };
    std::iter::from_fn(next).take(MOST_PROTOCOLS).collect()
}

/// Converts untrusted bytes to text, with control characters replaced, because these could move the
/// cursor of a terminal.
fn words(bytes: &[u8]) -> String {
    let clean = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    String::from_utf8_lossy(bytes).chars().map(clean).collect()
}

fn name_of_version(version: u16) -> String {
    match version {
        0x0301..=0x0304 => format!("1.{}", version - 0x0301),
        other => format!("{other:#06x}"),
    }
}

/// A reader that takes bytes from the front.
struct HelloBytes<'a>(&'a [u8]);

impl<'a> HelloBytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|one| one[0])
    }

    fn half(&mut self) -> Option<u16> {
        self.take(2).map(|two| u16::from_be_bytes([two[0], two[1]]))
    }

    /// Returns a vector that is preceded by its length in two bytes.
    fn vector(&mut self) -> Option<&'a [u8]> {
        let length = self.half()?;
        self.take(length.into())
    }
}

#[cfg(test)]
pub(super) mod made {
    /// Returns a vector preceded by its length in `width` bytes.
    pub(crate) fn vector(width: usize, content: &[u8]) -> Vec<u8> {
        [&(content.len() as u32).to_be_bytes()[4 - width..], content].concat()
    }

    fn extension(kind: u16, value: &[u8]) -> Vec<u8> {
        [&kind.to_be_bytes()[..], &vector(2, value)].concat()
    }

    fn alpn(protocols: &[&str]) -> Vec<u8> {
        let list: Vec<u8> = protocols.iter().flat_map(|p| vector(1, p.as_bytes())).collect();
        extension(16, &vector(2, &list))
    }

    /// Returns a ClientHello message.
    pub(crate) fn client(name: &str, protocols: &[&str]) -> Vec<u8> {
        let host = [&[0][..], &vector(2, name.as_bytes())].concat();
        let extensions = [
            // A key share of the size that is usual with ML-KEM.
            extension(51, &[7; 1_200]),
            extension(0, &vector(2, &host)),
            alpn(protocols),
            extension(43, &[4, 3, 4, 3, 3]),
        ];
        let head = [&[3, 3][..], &[9; 32], &vector(1, &[5; 32]), &vector(2, &[0x13, 1])].concat();
        let body = [head, vector(1, &[0]), vector(2, &extensions.concat())].concat();
        [vec![1], vector(3, &body)].concat()
    }

    /// Returns a ServerHello message.
    pub(crate) fn server(version: Option<[u8; 2]>, chosen: Option<&str>) -> Vec<u8> {
        let versions = version.map(|version| extension(43, &version)).unwrap_or_default();
        let alpn = chosen.map(|chosen| alpn(&[chosen])).unwrap_or_default();
        let head = [&[3, 3][..], &[8; 32], &vector(1, &[]), &[0x13, 1, 0]].concat();
        let body = [head, vector(2, &[versions, alpn].concat())].concat();
        [vec![2], vector(3, &body)].concat()
    }

    /// Returns a TLS record.
    pub(crate) fn record(kind: u8, content: &[u8]) -> Vec<u8> {
        [&[kind, 3, 3][..], &vector(2, content)].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(client: &[u8], server: &[u8]) -> Hello {
        let mut hello = Hello::default();
        for bytes in [client, server] {
            let (kind, body) = message(bytes).unwrap();
            assert!(read_message(kind, body, &mut hello));
        }
        hello
    }

    #[test]
    fn names_versions_and_protocols_are_read() {
        let client = made::client("example.org", &["h2", "http/1.1"]);
        let found = both(&client, &made::server(Some([3, 4]), None));
        let expected = Hello {
            version: Some("1.3".into()),
            server_name: Some("example.org".into()),
            offered: vec!["h2".into(), "http/1.1".into()],
            ..Hello::default()
        };
        assert_eq!(found, expected);
        let found = both(&client, &made::server(None, Some("h2")));
        assert_eq!((found.version.as_deref(), found.chosen.as_deref()), (Some("1.2"), Some("h2")));
    }

    #[test]
    fn ignores_a_truncated_hello_and_sanitises_the_server_name() {
        let client = made::client("example.org", &["h2"]);
        for length in 0..client.len() {
            assert_eq!(message(&client[..length]), None);
            let mut hello = Hello::default();
            read_message(1, &client[4..length.max(4)], &mut hello);
        }
        let named = made::client("a\x1b[2Jb", &[]);
        let (kind, body) = message(&named).unwrap();
        let mut hello = Hello::default();
        assert!(read_message(kind, body, &mut hello) && !read_message(11, body, &mut hello));
        assert_eq!(hello.server_name.as_deref(), Some("a\u{fffd}[2Jb"));
    }
}
