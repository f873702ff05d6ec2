//! Prometheus's text format, version 0.0.4. All pages of metrics of the project are written by this module.

use std::fmt::Write as _;

/// A page of metrics whose names begin with the same prefix.
#[derive(Debug)]
pub struct ExpositionPage {
    prefix: &'static str,
    text: String,
}

/// What a metric may do from one reading to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpositionKind {
    /// It only grows.
    Counter,
    /// It may take any value.
    Gauge,
}

impl ExpositionPage {
    /// Creates an empty page. The prefix includes the underscore at its end.
    pub fn new(prefix: &'static str) -> ExpositionPage {
        ExpositionPage { prefix, text: String::new() }
    }

    /// Writes what a metric is. All its lines must follow.
    pub fn head(&mut self, name: &str, kind: ExpositionKind, help: &str) {
        let kind = match kind {
            ExpositionKind::Counter => "counter",
            ExpositionKind::Gauge => "gauge",
        };
        let help = help.replace('\\', "\\\\").replace('\n', " ");
        let ExpositionPage { prefix, text } = self;
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {prefix}{name} {help}\n# TYPE {prefix}{name} {kind}");
    }

    /// Writes a value. `labels` are those of [`prometheus_label`], between commas.
    pub fn line(&mut self, name: &str, labels: &str, value: f64) {
        let ExpositionPage { prefix, text } = self;
        let _ = match labels {
            "" => writeln!(text, "{prefix}{name} {value}"),
            _ => writeln!(text, "{prefix}{name}{{{labels}}} {value}"),
        };
    }

    /// Writes a gauge with its values by labels, unless there are none.
    pub fn gauge<L: AsRef<str>>(&mut self, name: &str, help: &str, of: &[(L, f64)]) {
        if !of.is_empty() {
            self.head(name, ExpositionKind::Gauge, help);
            of.iter().for_each(|(labels, value)| self.line(name, labels.as_ref(), *value));
        }
    }

    /// Returns the page.
    pub fn take(self) -> String {
        self.text
    }
}

/// Returns a label with its value escaped.
pub fn prometheus_label(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_escaped_and_a_metric_without_values_is_omitted() {
        let mut page = ExpositionPage::new("a_");
        page.gauge::<&str>("none", "Nothing.", &[]);
        page.gauge("b", "One\nline.", &[(prometheus_label("l", "\"\\\n"), 0.5)]);
        let lines = "# HELP a_b One line.\n# TYPE a_b gauge\na_b{l=\"\\\"\\\\\\n\"} 0.5\n";
        assert_eq!(page.take(), lines);
    }
}
