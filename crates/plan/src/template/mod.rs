//! Text with placeholders that are filled in for each request: `/users/{{rand 1 1000}}`.
//!
//! A template is parsed once, before the load begins.

mod lines;
mod parse;
mod values;
mod wire_form;

pub use lines::ListLines;
pub use parse::{Reading, TemplatePlace};
pub use values::TemplateValues;
pub use wire_form::{WireFile, WireFiles, WireTemplate};

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A parsed template.
///
/// Documents contain the text that it was parsed from. A template that was read from a document is
/// constant text, because the document does not contain the files that it refers to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Template {
    source: String,
    pieces: Vec<TemplatePiece>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
enum TemplatePiece {
    Text(String),
    Value(BraceValue, Encoding),
}

/// A placeholder: what is written between the braces.
#[derive(Clone, Debug, PartialEq)]
enum BraceValue {
    Seq,
    Uuid,
    Rand { from: i64, to: i64 },
    Line { file: usize, lines: Arc<ListLines>, column: Option<usize> },
}

/// How a value is encoded in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    /// Unchanged.
    Plain,
    /// As one component of a URL: reserved characters are percent-encoded.
    Component,
    /// As a whole path and query: only characters that are invalid there are percent-encoded.
    Target,
}

impl Template {
    /// Creates a template without placeholders. Braces in the text have no meaning.
    pub fn constant(text: impl Into<String>) -> Template {
        let source = text.into();
        Template { pieces: vec![TemplatePiece::Text(source.clone())], source }
    }

    /// Returns the text if it has no placeholders, else `None`.
    pub fn as_constant(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [TemplatePiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the same template, for which documents contain `text` instead.
    #[must_use]
    pub fn shown_as(self, text: &str) -> Template {
        Template { source: text.to_owned(), ..self }
    }

    /// Returns the text that the template was parsed from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Fills in the values of the current request, and appends the text to `out`.
    pub fn render(&self, values: &mut TemplateValues, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                TemplatePiece::Text(text) => out.extend_from_slice(text.as_bytes()),
                TemplatePiece::Value(value, encoding) => value.render(*encoding, values, out),
            }
        }
    }
}

impl BraceValue {
    fn render(&self, encoding: Encoding, values: &mut TemplateValues, out: &mut Vec<u8>) {
        match self {
            BraceValue::Seq => values.write_sequence(out),
            BraceValue::Uuid => values.write_uuid(out),
            BraceValue::Rand { from, to } => values.write_random(*from, *to, out),
            BraceValue::Line { file, lines, column } => {
                let line = values.line(*file, lines.count());
                encoding.write(lines.get(line, *column), out);
            }
        }
    }
}

impl Encoding {
    /// Appends the encoded value to `out`. Only values of `{{line}}` may need encoding.
    fn write(self, value: &[u8], out: &mut Vec<u8>) {
        if self == Encoding::Plain {
            return out.extend_from_slice(value);
        }
        for &byte in value {
            if self.keeps(byte) { out.push(byte) } else { out.extend_from_slice(&escaped(byte)) }
        }
    }

    /// Returns true if a byte is not encoded (RFC 3986): unreserved characters (2.3); in a whole
    /// path and query also the reserved ones (2.2), except `#`, `[` and `]`, and `%`, which is
    /// assumed to begin an escape.
    fn keeps(self, byte: u8) -> bool {
        let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        unreserved || (self == Encoding::Target && b"%/?:@!$&'()*+,;=".contains(&byte))
    }
}

fn escaped(byte: u8) -> [u8; 3] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

impl From<String> for Template {
    fn from(source: String) -> Template {
        Template::constant(source)
    }
}

impl From<Template> for String {
    fn from(template: Template) -> String {
        template.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "name,city\nann,\"Aachen, DE\"\nb&b,\"say \"\"hi\"\"\"\n";

    fn read(text: &str, place: TemplatePlace) -> Result<Template, String> {
        let mut open = |name: &str| match name {
            "users.csv" => Ok(USERS.as_bytes().to_vec()),
            "paths" => Ok(b"/a b?c=d&e\n/\xc3\xa4%41#x\n".to_vec()),
            "control" => Ok(b"fine\nbell \x07\n".to_vec()),
            "empty" => Ok(Vec::new()),
            _ => Err("no such file".to_owned()),
        };
        Reading::new(&mut open).template(text, place)
    }

    fn render(template: &Template, values: &mut TemplateValues) -> String {
        let mut out = Vec::new();
        values.next_request();
        template.render(values, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_without_braces_is_constant_and_braces_can_be_escaped() {
        for (text, constant) in [
            ("", ""),
            ("/a/{b}", "/a/{b}"),
            ("a }} b", "a }} b"),
            ("{{{{seq}}", "{{seq}}"),
            ("{{{{{{{{", "{{{{"),
        ] {
            let template = read(text, TemplatePlace::Body).unwrap();
            assert_eq!((template.as_constant(), template.source()), (Some(constant), text));
        }
        assert_eq!(read("{{seq}}", TemplatePlace::Body).unwrap().as_constant(), None);
    }

    #[test]
    fn a_sequence_is_unique_over_all_workers() {
        let template = read("{{seq}}", TemplatePlace::Body).unwrap();
        let mut drawn: Vec<u64> = (0..3)
            .flat_map(|worker| {
                let mut values = TemplateValues::new(1, worker, 3);
                let of: Vec<_> = (0..5).map(|_| render(&template, &mut values)).collect();
                of.into_iter().map(|text| text.parse().unwrap())
            })
            .collect();
        drawn.sort_unstable();
        assert_eq!(drawn, (0..15).collect::<Vec<u64>>());
    }

    #[test]
    fn repeats_the_same_number_and_line_within_a_request() {
        let text = "{{seq}}={{seq}} {{line users.csv 1}}={{line users.csv}}";
        let template = read(text, TemplatePlace::Body).unwrap();
        let mut values = TemplateValues::new(1, 0, 1);
        assert_eq!(render(&template, &mut values), "0=0 name=name,city");
        assert_eq!(render(&template, &mut values), "1=1 ann=ann,\"Aachen, DE\"");
    }

    #[test]
    fn reads_csv_columns_and_restarts_at_the_first_line() {
        let template = read("{{line users.csv 2}}", TemplatePlace::Body).unwrap();
        let mut values = TemplateValues::new(1, 0, 1);
        let of: Vec<_> = (0..4).map(|_| render(&template, &mut values)).collect();
        assert_eq!(of, ["city", "Aachen, DE", "say \"hi\"", "city"]);
        let mut second = TemplateValues::new(1, 2, 3);
        assert_eq!(render(&template, &mut second), "say \"hi\"", "workers begin elsewhere");
    }

    #[test]
    fn random_numbers_are_within_their_bounds_and_reach_both() {
        let template = read("{{rand -1 2}}", TemplatePlace::Body).unwrap();
        let mut values = TemplateValues::new(7, 0, 1);
        let drawn: std::collections::BTreeSet<i64> =
            (0..1_000).map(|_| render(&template, &mut values).parse().unwrap()).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [-1, 0, 1, 2]);
        let all = format!("{{{{rand {} {}}}}}", i64::MIN, i64::MAX);
        assert!(
            render(&read(&all, TemplatePlace::Body).unwrap(), &mut values).parse::<i64>().is_ok()
        );
    }

    #[test]
    fn generates_distinct_version_4_uuids() {
        let template = read("{{uuid}} {{uuid}}", TemplatePlace::Body).unwrap();
        let text = render(&template, &mut TemplateValues::new(7, 0, 1));
        let (first, second) = text.split_once(' ').unwrap();
        assert_ne!(first, second);
        for uuid in [first, second] {
            let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{uuid}");
            assert!(uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]));
        }
        assert_eq!(
            text,
            render(&template, &mut TemplateValues::new(7, 0, 1)),
            "a seed repeats them"
        );
        assert_ne!(
            text,
            render(&template, &mut TemplateValues::new(7, 1, 2)),
            "workers have their own"
        );
    }

    #[test]
    fn values_in_a_path_are_percent_encoded_as_far_as_needed() {
        let mut values = TemplateValues::new(1, 0, 1);
        let component = read("/x?n={{line users.csv 2}}", TemplatePlace::Path).unwrap();
        render(&component, &mut values);
        assert_eq!(render(&component, &mut values), "/x?n=Aachen%2C%20DE");
        let mut values = TemplateValues::new(1, 0, 1);
        let whole = read("{{line paths}}", TemplatePlace::Path).unwrap();
        assert_eq!(render(&whole, &mut values), "/a%20b?c=d&e");
        assert_eq!(render(&whole, &mut values), "/%C3%A4%41%23x");
    }

    #[test]
    fn rejects_invalid_placeholders_with_a_reason() {
        for (text, part) in [
            ("{{seq", "no }}"),
            ("{{}}", "{{seq}}"),
            ("{{sequence}}", "'sequence'"),
            ("{{seq 5}}", "takes no argument"),
            ("{{rand 5}}", "rand FROM TO"),
            ("{{rand 5 a}}", "rand FROM TO"),
            ("{{rand 5 4}}", "5 is above 4"),
            ("{{line}}", "line FILE"),
            ("{{line none}}", "no such file"),
            ("{{line empty}}", "no lines"),
            ("{{line users.csv 0}}", "of 1 or more"),
            ("{{line users.csv 3}}", "line 1 has 2 columns"),
        ] {
            let error = read(text, TemplatePlace::Body).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn rejects_values_that_would_break_a_request_head() {
        assert!(read("{{line control}}", TemplatePlace::Header).unwrap_err().contains("line 2"));
        assert!(
            read("{{line control}}", TemplatePlace::Path).unwrap_err().contains("begin with /")
        );
        assert!(read("/{{line control}}", TemplatePlace::Path).is_ok());
        for (text, part) in [("a", "begin with /"), ("{{seq}}", "begin with /"), ("/a b", "%20")] {
            assert!(read(text, TemplatePlace::Path).unwrap_err().contains(part), "{text}");
        }
        assert!(read("a\r\nb: c", TemplatePlace::Header).unwrap_err().contains("control"));
    }
}
