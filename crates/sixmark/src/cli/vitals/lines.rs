//! Writing samples line by line as they are taken, so that none are lost if the process dies.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::Value;

use super::super::out::OutputPlace;
use sixmark_sheet::csv_lines::{CsvLines, LineEnding};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;

/// A file, or standard output, that is written line by line.
pub(super) struct JsonLines {
    to: BufWriter<Box<dyn Write>>,
    name: String,
}

impl JsonLines {
    pub(super) fn open(place: &OutputPlace) -> Result<JsonLines, CommandError> {
        let (to, name): (Box<dyn Write>, _) = match place {
            OutputPlace::Standard => (Box::new(io::stdout()), "standard output".to_owned()),
            OutputPlace::File(path) => {
                let name = path.display().to_string();
                let file = output::create(path).map_err(|error| {
                    CommandError::Usage(format!("can't write '{name}': {error}"))
                })?;
                (Box::new(file), name)
            }
        };
        Ok(JsonLines { to: BufWriter::new(to), name })
    }

    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        let text = serde_json::to_string(value).map_err(io::Error::other);
        let written = text.and_then(|text| self.put(&(text + "\n")));
        self.unless_pipe_closed(written)
    }

    /// Writes text that ends with a line feed.
    pub(super) fn text(&mut self, text: &str) -> Result<(), CommandError> {
        let written = self.put(text);
        self.unless_pipe_closed(written)
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())?;
        self.to.flush()
    }

    fn unless_pipe_closed(&self, written: io::Result<()>) -> Result<(), CommandError> {
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CommandError::Measure(format!("can't write to '{}': {error}", self.name)))
            }
            _ => Ok(()),
        }
    }
}

/// The columns of the CSV: those of the first sample, so that all lines have the same.
#[derive(Default)]
pub(super) struct Columns(Vec<String>);

impl Columns {
    /// Returns a sample as one line. Before the first sample, the column names come first.
    pub(super) fn lines(&mut self, sample: &impl Serialize) -> String {
        let mut found = Vec::new();
        flatten("", &serde_json::to_value(sample).unwrap_or_default(), &mut found);
        let mut lines = CsvLines::new(LineEnding::Lf);
        if self.0.is_empty() {
            self.0 = found.iter().map(|(name, _)| name.clone()).collect();
            lines.line(&self.0);
        }
        let known: std::collections::HashMap<&str, &str> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        lines.line(self.0.iter().map(|name| known.get(name.as_str()).unwrap_or(&"")));
        lines.take()
    }
}

/// Collects each number and text with its path. An element of a list is identified by its name, or
/// else by its index.
fn flatten(path: &str, value: &Value, found: &mut Vec<(String, String)>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| flatten(&below(name), value, found));
        }
        Value::Array(values) => {
            for (number, value) in values.iter().enumerate() {
                let name = value["name"].as_str().map_or_else(|| number.to_string(), str::to_owned);
                flatten(&below(&name), value, found);
            }
        }
        Value::Null => found.push((path.to_owned(), String::new())),
        Value::String(text) => found.push((path.to_owned(), text.clone())),
        other => found.push((path.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_csv_line_has_the_columns_of_the_first_sample() {
        let mut columns = Columns::default();
        let first = json!({"a": 1, "l": [{"name": "x,y", "n": 2}, 7], "z": null});
        let lines = "a,\"l.x,y.n\",\"l.x,y.name\",l.1,z\n1,2,\"x,y\",7,\n";
        assert_eq!(columns.lines(&first), lines);
        assert_eq!(columns.lines(&json!({"z": 5, "new": 6})), ",,,,5\n");
    }
}
