//! Lines that a container engine wrapped: Docker's log driver json-file writes each line that a
//! container printed as `{"log":"...\n","stream":"stdout","time":"..."}`, and splits lines longer
//! than 16 KiB.

use std::borrow::Cow;

use serde::Deserialize;

/// The most bytes of a line that is put together from parts. What is longer is no request.
const LONGEST: usize = 1 << 20;

/// An object of the driver. Other objects lack one of the members; a HAR file has an object as `log`.
#[derive(Deserialize)]
struct WrappedLine<'a> {
    #[serde(borrow)]
    log: Cow<'a, str>,
    #[serde(borrow)]
    stream: Cow<'a, str>,
    #[serde(borrow, rename = "time")]
    _time: Cow<'a, str>,
}

/// Returns whether a line is an object of Docker's log driver json-file.
pub fn is_container_line(line: &[u8]) -> bool {
    read_wrapped(line).is_some()
}

/// Returns what a container printed, or the line itself if no engine wrapped it. A part of a line is
/// returned as it is.
pub(super) fn unwrap_line(line: &[u8]) -> Cow<'_, [u8]> {
    match read_wrapped(line) {
        Some(wrapped) => match wrapped.log {
            Cow::Borrowed(text) => text.as_bytes().into(),
            Cow::Owned(text) => text.into_bytes().into(),
        },
        None => line.into(),
    }
}

fn read_wrapped(line: &[u8]) -> Option<WrappedLine<'_>> {
    let line = line.trim_ascii();
    // Every line of every log comes by here.
    if !line.starts_with(b"{\"") {
        return None;
    }
    let wrapped: WrappedLine<'_> = serde_json::from_slice(line).ok()?;
    matches!(&*wrapped.stream, "stdout" | "stderr").then_some(wrapped)
}

/// The parts of lines that are still to be ended, of standard output and of standard error.
#[derive(Debug, Default)]
pub(super) struct LineParts([Vec<u8>; 2]);

impl LineParts {
    /// Returns the line that ends with this one, or `None` if it is only a part.
    pub(super) fn join<'a>(&mut self, line: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let Some(wrapped) = read_wrapped(line) else { return Some(line.into()) };
        let parts = &mut self.0[usize::from(wrapped.stream == "stderr")];
        if wrapped.log.ends_with('\n') && parts.is_empty() {
            return Some(unwrap_line(line));
        }
        let room = LONGEST.saturating_sub(parts.len());
        parts.extend(wrapped.log.bytes().take(room));
        wrapped.log.ends_with('\n').then(|| std::mem::take(parts).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, stream: &str) -> Vec<u8> {
        let time = "2024-01-02T03:04:05.123456789Z";
        serde_json::json!({"log": text, "stream": stream, "time": time}).to_string().into_bytes()
    }

    #[test]
    fn unwraps_container_log_lines_and_leaves_other_lines() {
        assert_eq!(&*unwrap_line(&wrapped("a \"b\"\n", "stdout")), b"a \"b\"\n");
        for other in [
            &b"plain"[..],
            b"{\"log\":{\"entries\":[]}}",
            b"{\"log\":\"a\",\"time\":\"b\"}",
            b"{\"log\":\"a\",\"stream\":\"file\",\"time\":\"b\"}",
            b"{\"log\":\"a",
        ] {
            assert!(!is_container_line(other));
            assert_eq!(&*unwrap_line(other), other);
        }
    }

    #[test]
    fn joins_partial_lines_of_each_stream() {
        fn join(parts: &mut LineParts, text: &str, stream: &str) -> Option<Vec<u8>> {
            parts.join(&wrapped(text, stream)).map(Cow::into_owned)
        }
        let mut parts = LineParts::default();
        assert_eq!(join(&mut parts, "GET ", "stdout"), None);
        assert_eq!(join(&mut parts, "error\n", "stderr").unwrap(), b"error\n");
        assert_eq!(join(&mut parts, "/\n", "stdout").unwrap(), b"GET /\n");
        assert_eq!(join(&mut parts, "next\n", "stdout").unwrap(), b"next\n");
        assert_eq!(parts.join(b"plain").unwrap(), &b"plain"[..]);
        for _ in 0..80 {
            assert_eq!(join(&mut parts, &"x".repeat(16 << 10), "stdout"), None);
        }
        assert_eq!(join(&mut parts, "\n", "stdout").unwrap().len(), LONGEST);
    }
}
