//! Comma-separated values (RFC 4180). All CSV output of the project is written by this module.

use csv::{Terminator, Writer, WriterBuilder};

/// CSV lines that are collected in memory.
#[derive(Debug)]
pub struct CsvLines {
    writer: Writer<Vec<u8>>,
    ending: LineEnding,
}

/// The line terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// CR LF, as in RFC 4180.
    Crlf,
    /// LF alone.
    Lf,
}

impl CsvLines {
    /// Creates an empty collection.
    pub fn new(ending: LineEnding) -> CsvLines {
        CsvLines { writer: writer(ending), ending }
    }

    /// Appends a field, in quotes if necessary.
    pub fn field(&mut self, text: impl AsRef<[u8]>) {
        // Writing to memory does not fail.
        let _ = self.writer.write_field(text);
    }

    /// Appends a field of untrusted text, such that it stays on one line and no spreadsheet
    /// interprets it as a formula.
    pub fn foreign_field(&mut self, text: &str) {
        // An apostrophe makes a spreadsheet treat the rest as text (OWASP, CSV injection).
        let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        if !formula && !text.contains(char::is_control) {
            return self.field(text);
        }
        let before = if formula { "'" } else { "" };
        self.field(format!("{before}{}", text.replace(char::is_control, "\u{fffd}")));
    }

    /// Ends the line.
    pub fn end(&mut self) {
        let _ = self.writer.write_record(None::<&[u8]>);
    }

    /// Appends a whole line.
    pub fn line(&mut self, fields: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        let _ = self.writer.write_record(fields);
    }

    /// Returns the number of bytes collected, except for the last few thousand, which are still
    /// buffered.
    pub fn collected(&self) -> usize {
        self.writer.get_ref().len()
    }

    /// Removes and returns the lines collected so far.
    pub fn take(&mut self) -> String {
        let whole = std::mem::replace(&mut self.writer, writer(self.ending));
        String::from_utf8(whole.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

fn writer(ending: LineEnding) -> Writer<Vec<u8>> {
    let terminator = match ending {
        LineEnding::Crlf => Terminator::CRLF,
        LineEnding::Lf => Terminator::Any(b'\n'),
    };
    WriterBuilder::new().flexible(true).terminator(terminator).from_writer(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the fields that a CSV reader finds in the first line.
    fn read(text: &str) -> Vec<String> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let record = reader.records().next().unwrap().unwrap();
        record.iter().map(str::to_owned).collect()
    }

    #[test]
    fn neutralises_spreadsheet_formulas_in_foreign_text() {
        for (text, expected) in [
            ("/plain", "/plain"),
            ("a,\"b\"", "a,\"b\""),
            ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\u{fffd}=1"),
            ("a\nb", "a\u{fffd}b"),
        ] {
            let mut lines = CsvLines::new(LineEnding::Crlf);
            lines.foreign_field(text);
            lines.field("next");
            lines.end();
            assert_eq!(read(&lines.take()), [expected, "next"]);
        }
    }

    #[test]
    fn accepts_lines_of_different_length_and_returns_them_once() {
        let mut lines = CsvLines::new(LineEnding::Lf);
        lines.line(["a", "b,c"]);
        lines.line(["\"", "", "1"]);
        assert_eq!(lines.take(), "a,\"b,c\"\n\"\"\"\",,1\n");
        assert_eq!(lines.take(), "");
        let mut lines = CsvLines::new(LineEnding::Crlf);
        lines.line(["x"]);
        assert_eq!(lines.take(), "x\r\n");
    }
}
