//! The lines of a data file, and their columns.

use std::ops::Range;

use sixmark_units::plain_text::to_utf8;

/// The lines of a file, as text and as records of comma-separated values (RFC 4180). They are
/// parsed before the load begins, so that only what is sent is copied during it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListLines {
    text: Vec<u8>,
    /// The byte range of each line in the text, without its line break.
    lines: Vec<Range<usize>>,
    /// The columns of all lines, one line after the other, without quotes; empty if no template
    /// uses columns.
    columns: Vec<Vec<u8>>,
    /// The index in `columns` of the first column of each line, and the total number of columns as
    /// the last entry; empty if no template uses columns.
    first: Vec<usize>,
}

impl ListLines {
    /// Splits the text of a file into lines, without a byte order mark. Empty ones are ignored.
    ///
    /// # Errors
    /// There are no other lines.
    pub fn new(text: Vec<u8>) -> Result<ListLines, String> {
        let text = to_utf8(&text).into_owned();
        let lines = split(&text);
        if lines.is_empty() {
            return Err("the file has no lines".to_owned());
        }
        Ok(ListLines { text, lines, columns: Vec::new(), first: Vec::new() })
    }

    /// Returns the number of lines, above zero.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns true if the columns have been parsed.
    pub(super) fn has_columns(&self) -> bool {
        !self.first.is_empty()
    }

    /// Parses the columns, unless that has already been done.
    pub(super) fn read_columns(&mut self) {
        if !self.first.is_empty() {
            return;
        }
        for line in &self.lines {
            self.first.push(self.columns.len());
            self.columns.extend(columns(&self.text[line.clone()]));
        }
        self.first.push(self.columns.len());
    }

    /// Returns line number `line` (from 0), or one of its columns (from 0).
    /// [`check`](ListLines::check) must have found the column in every line.
    pub(super) fn get(&self, line: usize, column: Option<usize>) -> &[u8] {
        match column {
            None => self.lines.get(line).map_or(&[], |line| &self.text[line.clone()]),
            Some(column) => {
                let first = self.first.get(line).copied().unwrap_or_default();
                self.columns.get(first + column).map_or(&[], Vec::as_slice)
            }
        }
    }

    /// Checks the value that each line provides. The error names the first line that lacks the
    /// column or whose value `fits` refuses.
    pub(super) fn check(
        &self,
        column: Option<usize>,
        fits: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        for line in 0..self.count() {
            if let Some(column) = column {
                let has = self.first[line + 1] - self.first[line];
                if has <= column {
                    return Err(format!("line {} has {has} columns", self.number(line)));
                }
            }
            let at_line = |wrong| format!("line {}: {wrong}", self.number(line));
            fits(self.get(line, column)).map_err(at_line)?;
        }
        Ok(())
    }

    /// Returns the number of a line as an editor shows it: from 1, including empty lines.
    fn number(&self, line: usize) -> usize {
        let before = &self.text[..self.lines[line].start];
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }
}

/// Returns the byte ranges of all lines that are not empty.
fn split(text: &[u8]) -> Vec<Range<usize>> {
    let (mut at, mut lines) = (0, Vec::new());
    for line in text.split(|&byte| byte == b'\n') {
        let content = line.strip_suffix(b"\r").unwrap_or(line);
        if !content.is_empty() {
            lines.push(at..at + content.len());
        }
        at += line.len() + 1;
    }
    lines
}

/// Splits a line into fields (RFC 4180, 2). A quoted field may contain commas, and quotes written
/// twice. Unlike in the RFC it can't contain a line break, since each line is a record.
fn columns(line: &[u8]) -> Vec<Vec<u8>> {
    let (mut columns, mut field, mut quoted) = (Vec::new(), Vec::new(), false);
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if quoted && bytes.peek() == Some(&b'"') => {
                bytes.next();
                field.push(b'"');
            }
            b'"' if quoted || field.is_empty() => quoted = !quoted,
            b',' if !quoted => columns.push(std::mem::take(&mut field)),
            _ => field.push(byte),
        }
    }
    columns.push(field);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_lf_and_crlf_line_ends_and_skips_empty_lines() {
        let lines = ListLines::new(b"\xef\xbb\xbfa\r\n\r\n\nb\nc".to_vec()).unwrap();
        let all: Vec<_> = (0..lines.count()).map(|line| lines.get(line, None)).collect();
        assert_eq!(all, [b"a", b"b", b"c"]);
        assert_eq!([0, 1, 2].map(|line| lines.number(line)), [1, 4, 5]);
        assert!(ListLines::new(b"\n\r\n".to_vec()).is_err());
    }

    #[test]
    fn columns_are_split_at_commas_outside_of_quotes() {
        for (line, expected) in [
            ("a", &["a"][..]),
            ("a,b,", &["a", "b", ""]),
            (",", &["", ""]),
            ("\"a,b\",c", &["a,b", "c"]),
            ("\"a\"\"b\"", &["a\"b"]),
            ("a\"b,c", &["a\"b", "c"]),
            ("\"open,", &["open,"]),
        ] {
            let found: Vec<_> = columns(line.as_bytes())
                .into_iter()
                .map(|c| String::from_utf8(c).unwrap())
                .collect();
            assert_eq!(found, expected, "{line}");
        }
    }
}
