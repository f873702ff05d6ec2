//! Credentials in header fields of requests: they are sent, but omitted from documents and from
//! command lines that are recorded.

/// The text that replaces a credential.
pub const REDACTED: &str = "[redacted]";

/// Fields of requests that authenticate a client (RFC 9110, 11.6.2 and 11.7.2; RFC 6265, 4.2).
const FIELDS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// Returns true if `name` is a field whose value is a credential.
pub fn is_secret(name: &str) -> bool {
    FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field))
}

/// Returns a word of a command line with the values of such fields redacted. A value extends from
/// the colon to the end of the word, or to the closing quote if the field is quoted.
pub fn redact(word: &str) -> String {
    let mut text = word.to_owned();
    for field in FIELDS {
        let mut from = 0;
        while let Some((value, end)) = find_secret(&text, field, from) {
            text.replace_range(value..end, &format!(" {REDACTED}"));
            from = value + 1 + REDACTED.len();
        }
    }
    text
}

/// Returns where the value of the first `field` in `text` begins and ends, searching from offset
/// `from`.
fn find_secret(text: &str, field: &str, from: usize) -> Option<(usize, usize)> {
    let lower = text.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    lower[from..].match_indices(field).map(|(at, _)| from + at).find_map(|at| {
        let (head, before) = (&lower[..at], at.checked_sub(1).map(|before| bytes[before]));
        // In -HCookie, the option -H and its value are one word.
        let is_option = head == "-h" || head.ends_with(" -h");
        let is_part = before.is_some_and(|byte| byte == b'-' || byte.is_ascii_alphanumeric());
        if is_part && !is_option {
            return None;
        }
        let after = &lower[at + field.len()..];
        let colon =
            after.find(|c: char| c != ' ' && c != '\t').filter(|&n| after[n..].starts_with(':'))?;
        let value = at + field.len() + colon + 1;
        let quote = before.filter(|byte| matches!(byte, b'"' | b'\''));
        let end = quote.and_then(|quote| lower[value..].find(char::from(quote)));
        Some((value, end.map_or(text.len(), |end| value + end)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_taken_out_of_words_and_nothing_else() {
        for (word, expected) in [
            ("Authorization: Bearer abc", "Authorization: [redacted]"),
            ("-HCOOKIE:a=b; c=d", "-HCOOKIE: [redacted]"),
            ("--header=proxy-authorization : x", "--header=proxy-authorization : [redacted]"),
            (
                "http://a -H 'Authorization: a b' -c 3 -H \"cookie: c\" -n 9",
                "http://a -H 'Authorization: [redacted]' -c 3 -H \"cookie: [redacted]\" -n 9",
            ),
            ("http://a -HCookie:x", "http://a -HCookie: [redacted]"),
            ("X-Cookie: a", "X-Cookie: a"),
            ("http://a/authorization?cookie=1", "http://a/authorization?cookie=1"),
            ("cookie", "cookie"),
            ("Cookié: ü", "Cookié: ü"),
            ("ü 'Cookie: ü' ü", "ü 'Cookie: [redacted]' ü"),
        ] {
            assert_eq!(redact(word), expected);
        }
        assert!(is_secret("AUTHORIZATION") && !is_secret("X-Authorization"));
    }
}
