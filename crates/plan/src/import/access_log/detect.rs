//! Detecting the format of a log.

use super::container::unwrap_line;
use super::formats::{LOG_FORMATS, Layout, LogFormat};
use super::line::LogState;

/// Detects the format of a log from its beginning: the format of the first line that is a request in
/// one of them, or the one whose columns a `#Fields:` line names.
pub fn detect_log_format(beginning: &[u8]) -> Option<&'static LogFormat> {
    beginning.split(|&byte| byte == b'\n').find_map(|line| {
        let line = unwrap_line(line);
        let line = line.trim_ascii();
        LOG_FORMATS.iter().find(|format| !line.is_empty() && fits(format, line))
    })
}

/// Returns whether a line is a request in this format, or says that such lines follow.
fn fits(format: &LogFormat, line: &[u8]) -> bool {
    if matches!(format.layout, Layout::Json) != line.starts_with(b"{") {
        return false;
    }
    let (fields, mut state) = (&format.fields, LogState::default());
    // In other formats such a line is a comment, of a request file for instance.
    if line.starts_with(b"#") {
        let is_directive = state.directive(format, line);
        let has = |names: &[&str]| names.iter().any(|name| state.names(name));
        let signed = fields.sign.is_empty() || has(fields.sign);
        return is_directive && has(fields.method) && has(fields.target) && signed;
    }
    state.values(format, line).is_ok_and(|values| {
        let request = values.first(fields.line).is_some()
            || values.first(fields.method).is_some() && values.first(fields.target).is_some();
        let signed = fields.sign.is_empty() || values.has_any(fields.sign);
        request && signed && values.time(fields.time).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(text: &str) -> Option<&'static str> {
        detect_log_format(text.as_bytes()).map(|format| format.name)
    }

    #[test]
    fn detects_the_log_format_by_its_first_request() {
        for (text, name) in [
            (
                "starting\n::1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 1\n",
                Some("combined"),
            ),
            (
                "{\"level\":\"info\",\"ts\":1704164645.1,\"msg\":\"started\"}\n\
                 {\"ts\":1704164645.2,\"request\":{\"method\":\"GET\",\"uri\":\"/\"},\"status\":200}",
                Some("caddy"),
            ),
            (
                "{\"RequestMethod\":\"GET\",\"RequestPath\":\"/\",\"StartUTC\":\"2024-01-02T03:04:05Z\"}",
                Some("traefik"),
            ),
            (
                "{\"time_iso8601\":\"2024-01-02T03:04:05+01:00\",\"request\":\"GET / HTTP/1.1\"}",
                Some("json"),
            ),
            ("{\"msec\":\"1704164645.123\",\"method\":\"GET\",\"uri\":\"/\"}", Some("json")),
            ("#Version: 1.0\r\n#Fields: date time cs-method cs-uri-stem\r\n", Some("w3c")),
            ("#Fields: date time x-edge-location cs-method cs-uri-stem\n", Some("cloudfront")),
            (
                "h2 2024-01-02T03:04:05.6Z app/a/b [::1]:5 10.0.0.1:80 0 0 0 200 200 5 6 \
                 \"GET https://h:443/ HTTP/2.0\" \"agent\"",
                Some("alb"),
            ),
            (
                "{\"log\":\"starting\\n\",\"stream\":\"stderr\",\"time\":\"2024-01-02T03:04:05Z\"}\n\
                 {\"log\":\"{\\\"msec\\\":\\\"1704164645.123\\\",\\\"method\\\":\\\"GET\\\",\\\"uri\\\":\\\"/\\\"}\\n\",\
                 \"stream\":\"stdout\",\"time\":\"2024-01-02T03:04:05Z\"}",
                Some("json"),
            ),
            ("{\"log\":{\"entries\":[]}}", None),
            ("{\n\"log\": {\n", None),
            ("{\"time\":\"2024-01-02T03:04:05Z\",\"message\":\"hello\"}", None),
            ("{\"request_time\":\"0.005\",\"method\":\"GET\",\"uri\":\"/\"}", None),
            ("# a mix\n[[request]]\npath = \"/\"\n", None),
            ("# h - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 1\n", None),
            ("#Fields: date time c-ip\n", None),
            ("", None),
        ] {
            assert_eq!(detected(text), name, "{text}");
        }
    }
}
