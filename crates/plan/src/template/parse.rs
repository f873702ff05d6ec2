//! Parsing of templates.

use std::sync::Arc;

use super::{BraceValue, Encoding, ListLines, Template, TemplatePiece};

/// Where a template is used, which restricts its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplatePlace {
    /// The request target: path and query.
    Path,
    /// The value of a header field.
    Header,
    /// The content.
    Body,
}

/// A function that reads a file. The error says why it can't be read.
type OpenFile<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// Parses templates. Each file of lines that they refer to is read only once.
pub struct Reading<'a> {
    open: &'a mut OpenFile<'a>,
    files: Vec<(String, Arc<ListLines>)>,
}

const KNOWN: &str = "{{seq}}, {{uuid}}, {{rand FROM TO}}, {{line FILE}} and {{line FILE COLUMN}}";

impl<'a> Reading<'a> {
    /// Creates a parser that reads files with `open`.
    pub fn new(open: &'a mut OpenFile<'a>) -> Reading<'a> {
        Reading { open, files: Vec::new() }
    }

    /// Returns the bytes of a file that is not a list of lines.
    ///
    /// # Errors
    /// The file can't be read; the message says why.
    pub fn bytes(&mut self, name: &str) -> Result<Vec<u8>, String> {
        (self.open)(name)
    }

    /// Parses a template. `{{{{` stands for a literal `{{`.
    ///
    /// # Errors
    /// The template, or a file that it refers to, is invalid; the message says why.
    pub fn template(&mut self, text: &str, place: TemplatePlace) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            push_text(&mut pieces, &rest[..at]);
            let after = &rest[at + 2..];
            rest = match after.strip_prefix("{{") {
                Some(rest) => {
                    push_text(&mut pieces, "{{");
                    rest
                }
                None => {
                    let (inside, rest) =
                        after.split_once("}}").ok_or_else(|| unclosed(&rest[at..]))?;
                    let piece = self.piece(inside, place, pieces.is_empty());
                    let wrong = |error| format!("'{{{{{inside}}}}}': {error}");
                    pieces.push(piece.map_err(wrong)?);
                    rest
                }
            };
        }
        push_text(&mut pieces, rest);
        check_pieces(&pieces, place)?;
        Ok(Template { source: text.to_owned(), pieces })
    }

    /// Returns text without placeholders, in which braces have no meaning.
    ///
    /// # Errors
    /// The text is not valid in this place.
    pub fn plain(&mut self, text: &str, place: TemplatePlace) -> Result<Template, String> {
        let template = Template::constant(text);
        check_pieces(&template.pieces, place).map(|()| template)
    }

    fn piece(
        &mut self,
        inside: &str,
        place: TemplatePlace,
        first: bool,
    ) -> Result<TemplatePiece, String> {
        let encoding = match place {
            TemplatePlace::Path if first => Encoding::Target,
            TemplatePlace::Path => Encoding::Component,
            TemplatePlace::Header | TemplatePlace::Body => Encoding::Plain,
        };
        let words: Vec<&str> = inside.split_whitespace().collect();
        let value = match words[..] {
            ["seq"] => BraceValue::Seq,
            ["uuid"] => BraceValue::Uuid,
            ["seq" | "uuid", ..] => return Err("it takes no argument".to_owned()),
            ["rand", from, to] => rand(from, to)?,
            ["rand", ..] => return Err("write {{rand FROM TO}}".to_owned()),
            ["line", name] => self.line(name, None, place, encoding)?,
            ["line", name, column] => self.line(name, Some(column), place, encoding)?,
            ["line", ..] => {
                return Err("write {{line FILE}} or {{line FILE COLUMN}}; the file's name has no \
                            spaces"
                    .to_owned());
            }
            [other, ..] => return Err(format!("'{other}' is not known: use {KNOWN}")),
            [] => return Err(format!("nothing to fill in: use {KNOWN}")),
        };
        Ok(TemplatePiece::Value(value, encoding))
    }

    fn line(
        &mut self,
        name: &str,
        column: Option<&str>,
        place: TemplatePlace,
        encoding: Encoding,
    ) -> Result<BraceValue, String> {
        let column = column.map(column_number).transpose()?;
        let file = self.file(name)?;
        let of_file = |error| format!("{name}: {error}");
        let lines = &mut self.files[file].1;
        if column.is_some() && !lines.has_columns() {
            // Templates parsed earlier keep the lines without columns, since they don't use any.
            Arc::make_mut(lines).read_columns();
        }
        let fits = |value: &[u8]| fits(value, place, encoding);
        lines.check(column, fits).map_err(of_file)?;
        Ok(BraceValue::Line { file, lines: Arc::clone(lines), column })
    }

    /// Returns the index of a file, and reads it unless that has already been done.
    fn file(&mut self, name: &str) -> Result<usize, String> {
        if let Some(known) = self.files.iter().position(|(known, _)| known == name) {
            return Ok(known);
        }
        let of_file = |error| format!("{name}: {error}");
        let lines = (self.open)(name).and_then(ListLines::new).map_err(of_file)?;
        self.files.push((name.to_owned(), Arc::new(lines)));
        Ok(self.files.len() - 1)
    }
}

fn push_text(pieces: &mut Vec<TemplatePiece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(TemplatePiece::Text(before)) => before.push_str(text),
        _ => pieces.push(TemplatePiece::Text(text.to_owned())),
    }
}

fn unclosed(rest: &str) -> String {
    let shown: String = rest.chars().take(20).collect();
    format!("'{shown}' has no }}}}; write {{{{{{{{ for braces that stay")
}

fn rand(from: &str, to: &str) -> Result<BraceValue, String> {
    let wrong = |_| "write {{rand FROM TO}} with two whole numbers".to_owned();
    let from: i64 = from.parse().map_err(wrong)?;
    let to: i64 = to.parse().map_err(wrong)?;
    if from > to {
        return Err(format!("{from} is above {to}"));
    }
    Ok(BraceValue::Rand { from, to })
}

fn column_number(text: &str) -> Result<usize, String> {
    let column = text.parse::<usize>().ok().and_then(|column| column.checked_sub(1));
    column.ok_or_else(|| format!("column '{text}' is not a whole number of 1 or more"))
}

/// Checks a value of a line. Only values that would be invalid even when encoded are refused.
pub(super) fn fits(value: &[u8], place: TemplatePlace, encoding: Encoding) -> Result<(), String> {
    let control = |byte: &u8| *byte != b'\t' && (*byte < b' ' || *byte == 0x7f);
    match place {
        TemplatePlace::Header if value.iter().any(control) => {
            Err("a control character can't stand in a field".to_owned())
        }
        TemplatePlace::Path if encoding == Encoding::Target && !value.starts_with(b"/") => {
            Err("a path must begin with /".to_owned())
        }
        _ => Ok(()),
    }
}

pub(super) fn check_pieces(pieces: &[TemplatePiece], place: TemplatePlace) -> Result<(), String> {
    let texts = || {
        pieces.iter().filter_map(|piece| match piece {
            TemplatePiece::Text(text) => Some(text.as_str()),
            TemplatePiece::Value(..) => None,
        })
    };
    match place {
        TemplatePlace::Body => Ok(()),
        TemplatePlace::Header => {
            texts().try_for_each(|text| fits(text.as_bytes(), place, Encoding::Plain))
        }
        TemplatePlace::Path => {
            let begins = match pieces.first() {
                Some(TemplatePiece::Text(text)) => text.starts_with('/'),
                // Its lines have already been checked.
                Some(TemplatePiece::Value(BraceValue::Line { .. }, _)) => true,
                _ => false,
            };
            if !begins {
                return Err("a path must begin with /".to_owned());
            }
            texts().try_for_each(refuse_characters)
        }
    }
}

/// Refuses characters that are not allowed in a path (RFC 3986, 2), and `#`, because a fragment is
/// never sent (3.5).
fn refuse_characters(text: &str) -> Result<(), String> {
    match text.chars().find(|&c| !c.is_ascii_graphic() || c == '#') {
        None => Ok(()),
        Some(' ') => Err("a path can't contain a space; write it as %20".to_owned()),
        Some('#') => Err("a fragment ('#') is never sent; omit it, or write %23".to_owned()),
        Some(c) => Err(format!("a path can't contain {c:?}; percent-encode it")),
    }
}
