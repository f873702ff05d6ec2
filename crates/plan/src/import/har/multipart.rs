//! Forms as multipart/form-data (RFC 7578).

use std::collections::HashSet;
use std::fmt::Write as _;

/// What each boundary begins with, before a number.
const STEM: &str = "sixmark-form-";

/// The media type of files that name none (RFC 7578, 4.4).
const UNKNOWN: &str = "application/octet-stream";

/// A part of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FormPart {
    pub(super) name: String,
    pub(super) value: String,
    /// The file that the value is the content of.
    pub(super) file: Option<PartFile>,
}

/// A file of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PartFile {
    pub(super) name: String,
    pub(super) media_type: Option<String>,
}

/// Encodes the parts in their order, and returns the boundary between them, which occurs in none of
/// them. The same parts have the same boundary, so that equal requests stay equal.
pub(super) fn encode_multipart(parts: &[FormPart]) -> (String, Vec<u8>) {
    let coded: Vec<String> = parts.iter().map(encode_part).collect();
    let taken: HashSet<u64> = coded.iter().flat_map(|part| numbers_in(part)).collect();
    let number = (0..).find(|number| !taken.contains(number)).unwrap_or_default();
    let boundary = format!("{STEM}{number}");
    let mut all = String::new();
    for part in &coded {
        let _ = write!(all, "--{boundary}\r\n{part}\r\n");
    }
    let _ = write!(all, "--{boundary}--\r\n");
    (boundary, all.into_bytes())
}

/// Returns the numbers of the boundaries that a text contains: of `sixmark-form-12`, 1 and 12.
fn numbers_in(text: &str) -> impl Iterator<Item = u64> {
    text.match_indices(STEM).flat_map(move |(at, _)| {
        // More parts than that many digits count do not fit into memory.
        let digits = text[at + STEM.len()..].bytes().take_while(u8::is_ascii_digit).take(18);
        digits.scan(0, |number, digit| {
            *number = *number * 10 + u64::from(digit - b'0');
            Some(*number)
        })
    })
}

/// Returns the header fields of a part, and its value.
fn encode_part(part: &FormPart) -> String {
    let FormPart { name, value, file } = part;
    let mut head = format!("Content-Disposition: form-data; name=\"{}\"", escaped(name));
    if let Some(file) = file {
        let media_type = file.media_type.as_deref().filter(|of| is_line(of)).unwrap_or(UNKNOWN);
        let file = escaped(&file.name);
        let _ = write!(head, "; filename=\"{file}\"\r\nContent-Type: {media_type}");
    }
    format!("{head}\r\n\r\n{value}")
}

/// Escapes what would end a quoted name or its line, as browsers do it (HTML, 4.10.22.7).
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn is_line(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, value: &str) -> FormPart {
        FormPart { name: name.into(), value: value.into(), file: None }
    }

    fn file(name: &str, media_type: Option<&str>) -> PartFile {
        PartFile { name: name.into(), media_type: media_type.map(str::to_owned) }
    }

    #[test]
    fn encodes_the_name_and_value_of_each_form_part() {
        let page =
            FormPart { file: Some(file("a\".txt", Some("text/plain"))), ..part("f", "x\r\ny") };
        let bare = FormPart { file: Some(file("b", Some("a\r\nb"))), ..part("g", "z") };
        let (boundary, bytes) = encode_multipart(&[part("a \u{e4}\n", "1&2"), page, bare]);
        assert_eq!(boundary, "sixmark-form-0");
        let expected = "--sixmark-form-0\r\n\
            Content-Disposition: form-data; name=\"a \u{e4}%0A\"\r\n\r\n1&2\r\n\
            --sixmark-form-0\r\n\
            Content-Disposition: form-data; name=\"f\"; filename=\"a%22.txt\"\r\n\
            Content-Type: text/plain\r\n\r\nx\r\ny\r\n\
            --sixmark-form-0\r\n\
            Content-Disposition: form-data; name=\"g\"; filename=\"b\"\r\n\
            Content-Type: application/octet-stream\r\n\r\nz\r\n\
            --sixmark-form-0--\r\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn the_boundary_occurs_in_no_part() {
        let parts = [part("a", "--sixmark-form-0\r\n"), part("sixmark-form-12", "b")];
        let (boundary, bytes) = encode_multipart(&parts);
        assert_eq!(boundary, "sixmark-form-2");
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.matches(&boundary).count(), 3);
        assert_eq!(encode_multipart(&[]).1, b"--sixmark-form-0--\r\n");
    }
}
