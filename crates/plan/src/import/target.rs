//! Request targets as recorded, in the form in which they are sent.

/// Returns the path and query of a target: of a path, or of a whole URL as it is sent to proxies (RFC
/// 9112, 3.2.2). Returns `None` for anything else.
pub(super) fn path_of(target: &[u8]) -> Option<String> {
    if target.starts_with(b"/") {
        Some(clean(target))
    } else {
        split_url(target).map(|(_, path)| path)
    }
}

/// Splits a URL into its authority and its path with the query. Returns `None` if it is neither
/// http nor https. An empty path is the same as `/` (RFC 9110, 4.2.3).
pub(super) fn split_url(url: &[u8]) -> Option<(&[u8], String)> {
    let colon = url.windows(3).position(|part| part == b"://")?;
    let (scheme, rest) = (&url[..colon], &url[colon + 3..]);
    if ![&b"http"[..], b"https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let ends = |byte: &u8| matches!(byte, b'/' | b'?' | b'#');
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let slash = if path.starts_with(b"/") { "" } else { "/" };
    Some((authority, format!("{slash}{}", clean(path))))
}

/// Returns a recorded target in a form that is valid in a request line: percent-encodes invalid
/// characters and removes a fragment.
fn clean(target: &[u8]) -> String {
    let target = target.split(|&byte| byte == b'#').next().unwrap_or_default();
    let mut clean = String::with_capacity(target.len());
    for &byte in target {
        if byte.is_ascii_graphic() {
            clean.push(byte.into())
        } else {
            clean.push_str(&format!("%{byte:02X}"))
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extracts_path_and_query_from_a_request_target() {
        for (target, path) in [
            ("/", Some("/")),
            ("/a?b=/c#d", Some("/a?b=/c")),
            ("//a/b", Some("//a/b")),
            ("http://h/x?y", Some("/x?y")),
            ("http://h?next=/home", Some("/?next=/home")),
            ("http://h#/home", Some("/")),
            ("HTTPS://u@h:1", Some("/")),
            ("http://h?a://b/c", Some("/?a://b/c")),
            ("/a b\u{e4}", Some("/a%20b%C3%A4")),
            ("*", None),
            ("", None),
            ("?x", None),
            ("h:443", None),
            ("h/http://a/", None),
            ("ws://h/", None),
        ] {
            assert_eq!(path_of(target.as_bytes()).as_deref(), path, "{target}");
        }
        assert_eq!(split_url(b"http://h:81?a@b"), Some((&b"h:81"[..], "/?a@b".to_owned())));
    }
}
