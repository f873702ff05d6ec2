//! Access logs, line by line. Of each line only the time, the method, the path and the query are used.

mod container;
mod detect;
mod formats;
mod line;
mod quoted;
#[cfg(test)]
mod tests;

pub use container::is_container_line;
pub use detect::detect_log_format;
pub use formats::{LOG_FORMATS, LogFormat};

use container::LineParts;
use formats::LogFields;
use line::{LineValues, LogState};

use super::left_out::Unfit;
use super::target::path_of;
use super::when::RecordedTime;
use super::{Collector, Imported, Recorded, Wanted};
use sixmark_http::http1::request::check_method;

const SECOND: u64 = 1_000_000_000;

/// A reader of a log, line by line. Only the distinct requests are kept in memory, and their times
/// if requested.
#[derive(Debug)]
pub struct AccessLog {
    format: &'static LogFormat,
    state: LogState,
    parts: LineParts,
    collector: Collector,
    lines: u64,
}

/// The content of a line.
#[derive(Debug, PartialEq, Eq)]
struct LogLine {
    time: RecordedTime,
    method: String,
    path: String,
}

impl AccessLog {
    /// Creates a reader of a log in this format.
    pub fn new(format: &'static LogFormat, wanted: &Wanted) -> AccessLog {
        let (state, parts) = (LogState::default(), LineParts::default());
        AccessLog { format, state, parts, collector: Collector::new(wanted), lines: 0 }
    }

    /// Reads a line, with or without its line break, perhaps as Docker wrapped it. Counts a line that
    /// can't be parsed.
    ///
    /// # Errors
    /// There are too many distinct requests.
    pub fn line(&mut self, line: &[u8]) -> Result<(), String> {
        self.lines += 1;
        let Some(line) = self.parts.join(line) else { return Ok(()) };
        let line = line.trim_ascii_end();
        if line.is_empty() || self.state.directive(self.format, line) {
            return Ok(());
        }
        let values = self.state.values(self.format, line);
        match values.and_then(|values| parse_line(&self.format.fields, &values)) {
            Ok(LogLine { time, method, path }) if self.collector.takes(&method) => {
                self.collector.add(Recorded { method, path, ..Recorded::default() }, time)
            }
            Ok(_) => Ok(()),
            Err(unfit) => {
                self.collector.left_out.unreadable.add(self.lines, unfit);
                Ok(())
            }
        }
    }

    /// Returns the requests. In a log with a resolution of one second, the requests of each second
    /// are spread over it evenly, in their order.
    pub fn finish(self) -> Imported {
        let mut imported = self.collector.finish();
        // Logs are in the order in which requests ended.
        imported.times.sort_by_key(|&(at, _)| at);
        if imported.times.iter().all(|&(at, _)| at % SECOND == 0) {
            spread(&mut imported.times);
        }
        imported
    }
}

fn parse_line(fields: &LogFields, values: &LineValues<'_>) -> Result<LogLine, Unfit> {
    let time = values.time(fields.time).ok_or("no time in it")?;
    let (method, path) = request(fields, values)?;
    Ok(LogLine { time, method, path })
}

/// Returns the method and the path of a line: from the request line, or each from a value of its own.
fn request(fields: &LogFields, values: &LineValues<'_>) -> Result<(String, String), Unfit> {
    let line = values.first(fields.line).map(|line| of_line(&line));
    if let Some(Ok(found)) = line {
        return Ok(found);
    }
    match (values.first(fields.method), values.first(fields.target), line) {
        (Some(method), Some(target), _) => {
            let query = values.first(fields.query).unwrap_or_default();
            parts(&method, &with_query(&target, &query))
        }
        (.., Some(wrong)) => wrong,
        _ if values.has_any(fields.line) || values.has_any(fields.method) => {
            Err("no request was received".into())
        }
        _ => Err("no request in it".into()),
    }
}

/// Parses a request line. A target with a space was sent in that form, but can't be sent again.
fn of_line(line: &[u8]) -> Result<(String, String), Unfit> {
    let mut words = line.split(|&byte| byte == b' ');
    let method = words.next().unwrap_or_default();
    if method == b"-" {
        return Err("no request was received".into());
    }
    check(method)?;
    let rest: Vec<&[u8]> = words.collect();
    match rest[..] {
        [target, version] if version.starts_with(b"HTTP/") => parts(method, target),
        _ => Err(Unfit::found("not METHOD TARGET VERSION", line)),
    }
}

fn parts(method: &[u8], target: &[u8]) -> Result<(String, String), Unfit> {
    let method = check(method)?;
    let not_path = || Unfit::found("a target that is not a path", target);
    Ok((method.to_owned(), path_of(target).ok_or_else(not_path)?))
}

fn check(method: &[u8]) -> Result<&str, Unfit> {
    let text = std::str::from_utf8(method).ok().filter(|text| check_method(text).is_ok());
    text.ok_or_else(|| Unfit::found("a method that can't be repeated", method))
}

/// Returns a target with its query, which may be in it, or begin with its question mark.
fn with_query(target: &[u8], query: &[u8]) -> Vec<u8> {
    let query = query.strip_prefix(b"?").unwrap_or(query);
    if query.is_empty() || target.contains(&b'?') {
        target.to_owned()
    } else {
        [target, b"?", query].concat()
    }
}

/// Spreads the sorted times of whole seconds.
fn spread(times: &mut [(u64, u32)]) {
    for second in times.chunk_by_mut(|a, b| a.0 == b.0) {
        let count = second.len() as u64;
        for (k, (at, _)) in second.iter_mut().enumerate() {
            *at += k as u64 * SECOND / count;
        }
    }
}
