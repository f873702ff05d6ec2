//! Names in braces, such as `{port}` and `{size}`, in the texts of studies and labs.

/// Returns the names in braces, in the order of the text. Braces around anything else are ignored:
/// server configurations contain many of them.
pub fn names_in_braces(text: &str) -> Vec<&str> {
    pieces(text).filter_map(|(_, name)| name).collect()
}

/// Replaces each name in braces for which `value` returns a value by that value.
pub fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    for (before, name) in pieces(text) {
        filled.push_str(before);
        match name.map(|name| (name, value(name))) {
            Some((_, Some(value))) => filled.push_str(&value),
            Some((name, None)) => filled.extend(["{", name, "}"]),
            None => {}
        }
    }
    filled
}

/// Splits the text into pieces: the text before a name in braces, and that name. The last piece has
/// no name.
fn pieces(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let found = text.match_indices('{').find_map(|(at, _)| {
            let name = text[at + 1..].split('}').next()?;
            let closed = text.as_bytes().get(at + 1 + name.len()) == Some(&b'}');
            (closed && is_name(name)).then_some((at, name))
        });
        match found {
            Some((at, name)) => {
                rest = Some(&text[at + name.len() + 2..]);
                Some((&text[..at], Some(name)))
            }
            None => {
                rest = None;
                Some((text, None))
            }
        }
    })
}

/// Returns true if `text` consists of lower-case letters, digits, `-`, `_` and dots, and begins
/// with a letter.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| {
            b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_in_only_known_names_in_braces() {
        let value = |name: &str| (name == "port").then(|| "80".to_owned());
        for (text, filled) in [
            ("a:{port}/{port}", "a:80/80"),
            ("{ port }", "{ port }"),
            ("server { listen {port}; }", "server { listen 80; }"),
            ("{other}{port", "{other}{port"),
            ("{{port}}", "{80}"),
            ("", ""),
        ] {
            assert_eq!(fill(text, value), filled);
        }
        assert_eq!(names_in_braces("{a}{ b}{B}{c-d}"), ["a", "c-d"]);
    }
}
