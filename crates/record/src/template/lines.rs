//! The lines of a data file, and their columns.

use std::ops::Range;

/// A file's lines, whole and as records of comma-separated values (RFC 4180). Nothing is copied while
/// a load runs but what is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct ListLines {
    text: Vec<u8>,
    /// Where each line is in the text, its line break left out.
    lines: Vec<Range<usize>>,
    /// The columns of each line one after the other, where any are used: unquoted.
    columns: Vec<Vec<u8>>,
    /// The number of the first column of each line, and of the first after the last.
    first: Vec<usize>,
}

impl ListLines {
    /// The lines of a file, of which empty ones don't count.
    ///
    /// # Errors
    /// There are no others.
    pub fn new(text: Vec<u8>) -> Result<ListLines, String> {
        let lines = split(&text);
        if lines.is_empty() {
            return Err("the file has no lines".to_owned());
        }
        Ok(ListLines { text, lines, columns: Vec::new(), first: Vec::new() })
    }

    /// How many there are, above zero.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Reads the columns, unless that is done already.
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

    /// Line number `line`, from 0, or one of its columns, from 0, which [`check`](ListLines::check) has
    /// found to be there.
    pub(super) fn get(&self, line: usize, column: Option<usize>) -> &[u8] {
        match column {
            None => self.lines.get(line).map_or(&[], |line| &self.text[line.clone()]),
            Some(column) => {
                let first = self.first.get(line).copied().unwrap_or_default();
                self.columns.get(first + column).map_or(&[], Vec::as_slice)
            }
        }
    }

    /// Looks at what each line gives; the error names the first one that `fits` refuses.
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

    /// The number that an editor shows of a line, empty ones included.
    fn number(&self, line: usize) -> usize {
        let before = &self.text[..self.lines[line].start];
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }
}

/// A byte order mark is no part of the first line.
fn split(text: &[u8]) -> Vec<Range<usize>> {
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut lines = Vec::new();
    for line in text[at..].split(|&byte| byte == b'\n') {
        let content = line.strip_suffix(b"\r").unwrap_or(line);
        if !content.is_empty() {
            lines.push(at..at + content.len());
        }
        at += line.len() + 1;
    }
    lines
}

/// RFC 4180, 2: fields between commas; a quoted one may hold commas, and quotes written twice. A
/// field can't hold a line break here, since a line is a record.
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
    fn lines_end_in_either_break_and_empty_ones_do_not_count() {
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
