//! Lines of comma-separated values (RFC 4180): whatever writes any does it here.

use csv::{Terminator, Writer, WriterBuilder};

/// Lines that are collected in memory.
#[derive(Debug)]
pub struct CsvLines {
    writer: Writer<Vec<u8>>,
    ending: LineEnding,
}

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// CR LF, as RFC 4180 has it.
    Crlf,
    /// LF alone.
    Lf,
}

impl CsvLines {
    /// None yet.
    pub fn new(ending: LineEnding) -> CsvLines {
        CsvLines { writer: writer(ending), ending }
    }

    /// A field more, in quotes where it needs them.
    pub fn field(&mut self, text: impl AsRef<[u8]>) {
        // Memory takes whatever is written to it.
        let _ = self.writer.write_field(text);
    }

    /// A field of foreign text, in which a spreadsheet finds no formula, and which is on one line.
    pub fn foreign_field(&mut self, text: &str) {
        // An apostrophe makes a spreadsheet take what follows as text (OWASP, CSV injection).
        let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        if !formula && !text.contains(char::is_control) {
            return self.field(text);
        }
        let before = if formula { "'" } else { "" };
        self.field(format!("{before}{}", text.replace(char::is_control, "\u{fffd}")));
    }

    /// Ends a line.
    pub fn end(&mut self) {
        let _ = self.writer.write_record(None::<&[u8]>);
    }

    /// A whole line.
    pub fn line(&mut self, fields: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        let _ = self.writer.write_record(fields);
    }

    /// Bytes that were collected, but for the last few thousand.
    pub fn collected(&self) -> usize {
        self.writer.get_ref().len()
    }

    /// The lines so far, which are no longer here then.
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

    /// What a reader finds in a line.
    fn read(text: &str) -> Vec<String> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let record = reader.records().next().unwrap().unwrap();
        record.iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_spreadsheet_finds_no_formula_in_foreign_text() {
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
    fn lines_may_differ_in_length_and_are_taken_once() {
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
