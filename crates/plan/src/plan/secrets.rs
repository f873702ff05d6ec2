//! Credentials in header fields of requests: they are sent, but omitted from documents and from
//! command lines that are recorded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The text that replaces a credential.
pub const REDACTED: &str = "[redacted]";

/// Fields of requests that authenticate a client (RFC 9110, 11.6.2 and 11.7.2; RFC 6265, 4.2).
const FIELDS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// Returns the name and the value of the field that gives `USER:PASSWORD` to a server (Basic
/// authentication, RFC 7617, 2).
pub fn basic_authorization(credentials: &str) -> (&'static str, String) {
    ("Authorization", format!("Basic {}", STANDARD.encode(credentials)))
}

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

/// Returns true if a document contains a credential that is not redacted: a field and its value as
/// plans have them, or a word of a command line.
pub fn document_holds_secrets(document: &Value) -> bool {
    match document {
        Value::String(word) => redact(word) != *word,
        Value::Array(all) => {
            let field = match all.as_slice() {
                [Value::String(name), Value::String(value)] => is_secret(name) && value != REDACTED,
                _ => false,
            };
            field || all.iter().any(document_holds_secrets)
        }
        Value::Object(fields) => fields.values().any(document_holds_secrets),
        _ => false,
    }
}

/// Options without a value that may stand before `u` in one word, as in `-6u`.
const FLAGS: [char; 4] = ['4', '6', 'k', 'q'];

/// Returns the words of sixmark's own command line with credentials redacted: those of header
/// fields ([`redact`]) and the value of `-u` (`--user`).
pub fn redact_words(words: &[String]) -> Vec<String> {
    let mut is_user = false;
    let shown = words.iter().map(|word| {
        if std::mem::take(&mut is_user) {
            return REDACTED.to_owned();
        }
        match user_option(word) {
            Some((option, "")) => {
                is_user = true;
                option.to_owned()
            }
            Some((option, _)) => format!("{option}{REDACTED}"),
            None => redact(word),
        }
    });
    shown.collect()
}

/// Splits a word that begins with the option `-u` or `--user` into the option and its value, which
/// is empty if it is the next word.
fn user_option(word: &str) -> Option<(&str, &str)> {
    const LONG: &str = "--user";
    if word == LONG || word.strip_prefix(LONG).is_some_and(|rest| rest.starts_with('=')) {
        return Some(word.split_at((LONG.len() + 1).min(word.len())));
    }
    let letters = word.strip_prefix('-')?.trim_start_matches(FLAGS);
    let value = letters.strip_prefix('u')?;
    Some(word.split_at(word.len() - value.len()))
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
    fn redacts_credential_headers_and_nothing_else() {
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

    #[test]
    fn the_user_and_the_password_are_taken_out_of_a_command_line() {
        for (line, expected) in [
            ("run -u me:pw http://a/", "run -u [redacted] http://a/"),
            ("run -ume:pw http://a/", "run -u[redacted] http://a/"),
            ("run -6ku me:pw http://a/", "run -6ku [redacted] http://a/"),
            ("run --user me:pw http://a/", "run --user [redacted] http://a/"),
            ("run --user=me:pw http://a/", "run --user=[redacted] http://a/"),
            ("run --unsafe-methods -n 1 u", "run --unsafe-methods -n 1 u"),
            ("run http://a/ -u", "run http://a/ -u"),
            ("run -HCookie:x http://a/", "run -HCookie: [redacted] http://a/"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(redact_words(&words).join(" "), expected);
        }
    }

    /// The example of RFC 7617, 2, and its user with a pound sign (2.1).
    #[test]
    fn encodes_basic_authorization_as_in_rfc_7617() {
        for (credentials, value) in [
            ("Aladdin:open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test:123\u{a3}", "Basic dGVzdDoxMjPCow=="),
            (":", "Basic Og=="),
        ] {
            assert_eq!(basic_authorization(credentials), ("Authorization", value.to_owned()));
        }
    }

    #[test]
    fn credentials_are_found_in_documents() {
        for (text, holds) in [
            (r#"{"plan":{"headers":[["Authorization","Basic x"]]}}"#, true),
            (r#"{"plan":{"headers":[["authorization","[redacted]"],["X","y"]]}}"#, false),
            (r#"{"options":"-H 'Cookie: a=b'"}"#, true),
            (r#"{"options":"-H 'Cookie: [redacted]'"}"#, false),
            (r#"{"warnings":["the cookie is not kept"]}"#, false),
        ] {
            let document = serde_json::from_str(text).unwrap();
            assert_eq!(document_holds_secrets(&document), holds, "{text}");
        }
    }
}
