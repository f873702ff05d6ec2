//! The address list file: one URL, host or address per line, in the format of ANMA.

use std::fmt;

use sixmark_http::url::{Scheme, Url, has_scheme, parse_ipv6};

/// The largest weight of an entry.
const MAX_WEIGHT: u32 = 1_000_000;

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// The line's number, from 1.
    pub line: usize,
    /// The target.
    pub url: Url,
    /// The weight among the requests, from 1 to 1,000,000; default: 1.
    pub weight: u32,
}

/// A line that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The line's number, from 1; 0 if the error concerns the whole list.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl BadLine {
    /// Returns the message with the name of the file before it.
    pub fn of_file(&self, name: &str) -> String {
        let space = if self.line == 0 { " " } else { "" };
        format!("{name}:{space}{self}")
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "{line}: {}", self.message),
        }
    }
}

/// Parses a list. `#` begins a comment at the start of a line or after a space; empty lines are
/// ignored. An entry that is not a URL and has no path gets `path`, which begins with `/`.
pub fn parse_list(text: &str, path: &str) -> Result<Vec<ListEntry>, BadLine> {
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let entry = parse_line(line, path).map_err(|message| BadLine { line: number, message })?;
        entries.extend(entry.map(|(url, weight)| ListEntry { line: number, url, weight }));
    }
    if entries.is_empty() {
        return Err(BadLine { line: 0, message: "the list names no target".into() });
    }
    Ok(entries)
}

fn parse_line(line: &str, path: &str) -> Result<Option<(Url, u32)>, String> {
    let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
    let Some(target) = words.next() else { return Ok(None) };
    let weight = words.next().map_or(Ok(1), parse_weight)?;
    match words.next() {
        Some(word) => Err(format!("'{word}' is unexpected; a line is TARGET [weight=N]")),
        None => Ok(Some((parse_target(target, path)?, weight))),
    }
}

fn parse_weight(word: &str) -> Result<u32, String> {
    let text = word.strip_prefix("weight=").ok_or_else(|| format!("'{word}' is not weight=N"))?;
    match text.parse() {
        Ok(weight @ 1..=MAX_WEIGHT) => Ok(weight),
        _ => Err(format!("weight '{text}' is not a whole number from 1 to {MAX_WEIGHT}")),
    }
}

/// Parses a URL, or a host or address with or without a port, which stands for `http://`. An IPv6
/// address without a port may be written without brackets. A host without a path gets `path`, which
/// begins with `/`.
///
/// # Errors
/// The message says what is wrong with the text and how to correct it.
pub fn parse_target(text: &str, path: &str) -> Result<Url, String> {
    if has_scheme(text) {
        return text.parse();
    }
    if text.matches(':').count() > 1 && !text.starts_with('[') {
        let (scheme, host) = (Scheme::Http, parse_ipv6(text)?);
        return Ok(Url { scheme, host, port: scheme.port(), path: path.to_owned() });
    }
    if text.contains('/') {
        format!("http://{text}").parse()
    } else {
        format!("http://{text}{path}").parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_urls_hosts_and_addresses_with_weights() {
        let text = "# servers\n\nhttp://[::1]:8080/a\n  example.net weight=3 # twice\n::1\n\
                    127.0.0.1:81\r\n[fe80::1%eth0]:82\nfe80::2%eth0\nhost/own#frag\n\
                    https://[::1]/s\nhost/?u=http://b/\nhttp:81\n";
        let found: Vec<_> = parse_list(text, "/file")
            .unwrap()
            .into_iter()
            .map(|entry| (entry.line, entry.url.to_string(), entry.weight))
            .collect();
        let expected = [
            (3, "http://[::1]:8080/a", 1),
            (4, "http://example.net/file", 3),
            (5, "http://[::1]/file", 1),
            (6, "http://127.0.0.1:81/file", 1),
            (7, "http://[fe80::1%eth0]:82/file", 1),
            (8, "http://[fe80::2%eth0]/file", 1),
            (9, "http://host/own", 1),
            (10, "https://[::1]/s", 1),
            (11, "http://host/?u=http://b/", 1),
            (12, "http://http:81/file", 1),
        ];
        assert_eq!(found, expected.map(|(line, url, weight)| (line, url.to_owned(), weight)));
    }

    #[test]
    fn reports_the_number_of_an_invalid_line() {
        for (text, line, part) in [
            ("a\nb weight=0", 2, "weight '0'"),
            ("a weigth=2", 1, "not weight=N"),
            ("a weight=1 b", 1, "is unexpected"),
            ("\n\nhttp://", 3, "no host"),
            ("1:2:3", 1, "IPv6"),
            ("a\n0x7f.1", 2, "write 127.0.0.1"),
            ("127.1:8080/a", 1, "write 127.0.0.1"),
            ("::1%lo", 1, "link-local"),
            ("http:/a/b", 1, "write http://a/b"),
            ("ftp://a/", 1, "https://"),
            ("# nothing", 0, "no target"),
            ("", 0, "no target"),
        ] {
            let error = parse_list(text, "/").unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
    }
}
