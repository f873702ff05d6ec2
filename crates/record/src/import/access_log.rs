//! Access logs in the combined or common format, as Apache and nginx write them.
//!
//! `HOST IDENT USER [10/Oct/2000:13:55:36 -0700] "GET /x HTTP/1.1" STATUS SIZE "REFERER" "AGENT"`.
//! Only the time and the request line are read; the fields before and after them may be anything.

use std::borrow::Cow;

use super::{Collector, Imported, Recorded, Wanted, clean, when};
use sixmark_http::http1::request::check_method;

const SECOND: u64 = 1_000_000_000;

/// A reader of a log, line by line. Only the distinct requests are kept in memory, and their times
/// if requested.
#[derive(Debug)]
pub struct AccessLog {
    collector: Collector,
    lines: u64,
}

/// The content of a line.
#[derive(Debug, PartialEq, Eq)]
struct LogLine {
    at: u64,
    method: String,
    path: String,
}

impl AccessLog {
    /// Creates a reader of a log.
    pub fn new(wanted: &Wanted) -> AccessLog {
        AccessLog { collector: Collector::new(wanted), lines: 0 }
    }

    /// Reads a line, with or without its line break. Counts a line that can't be parsed.
    ///
    /// # Errors
    /// There are too many distinct requests.
    pub fn line(&mut self, line: &[u8]) -> Result<(), String> {
        self.lines += 1;
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return Ok(());
        }
        match parse_line(line) {
            Ok(LogLine { at, method, path }) => {
                self.collector.add(Recorded { method, path, ..Recorded::default() }, at)
            }
            Err(why) => {
                self.collector.left_out.unreadable(self.lines, why);
                Ok(())
            }
        }
    }

    /// Returns the requests. Logs have a resolution of one second: the requests of each second are
    /// spread over it evenly, in their order.
    pub fn finish(self) -> Imported {
        let mut imported = self.collector.finish();
        spread(&mut imported.times);
        imported
    }
}

/// Returns true if `line` is a line of an access log.
pub fn is_line(line: &[u8]) -> bool {
    find_time(line).is_some()
}

fn parse_line(line: &[u8]) -> Result<LogLine, &'static str> {
    let (at, rest) = find_time(line).ok_or("no time as in [10/Oct/2000:13:55:36 -0700]")?;
    let request = quoted(rest).ok_or("no request in quotes after the time")?;
    let mut words = request.split(|&byte| byte == b' ');
    let method = words.next().and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default();
    if method == "-" {
        return Err("no request was received");
    }
    check_method(method).map_err(|_| "a request line that can't be replayed")?;
    let rest: Vec<&[u8]> = words.collect();
    // A target with a space was sent in that form, but can't be sent again.
    let [target, version] = rest[..] else { return Err("not METHOD TARGET VERSION") };
    if !version.starts_with(b"HTTP/") {
        return Err("not METHOD TARGET VERSION");
    }
    let path = clean(origin_form(target).ok_or("a target that is not a path")?);
    Ok(LogLine { at, method: method.to_owned(), path })
}

/// Returns the first time in brackets, and the text after it.
fn find_time(line: &[u8]) -> Option<(u64, &[u8])> {
    let brackets = line.iter().enumerate().filter(|&(_, &byte)| byte == b'[');
    brackets.map(|(at, _)| &line[at + 1..]).find_map(|rest| {
        let at = when::of_log(rest.get(..26)?)?;
        Some((at, rest[26..].strip_prefix(b"]")?))
    })
}

/// Returns the next quoted text. Both servers escape quotes and non-printable characters in it.
fn quoted(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let begin = text.iter().position(|&byte| byte == b'"')? + 1;
    let text = &text[begin..];
    let mut at = 0;
    while *text.get(at)? != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    let inside = &text[..at];
    Some(if inside.contains(&b'\\') { unescape(inside).into() } else { inside.into() })
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) if hex(*high, *low).is_some() => {
                (hex(*high, *low).unwrap_or_default(), after)
            }
            (b'\\', [b'n', after @ ..]) => (b'\n', after),
            (b'\\', [b't', after @ ..]) => (b'\t', after),
            (b'\\', [b'r', after @ ..]) => (b'\r', after),
            (b'\\', [other, after @ ..]) => (*other, after),
            (other, after) => (*other, after),
        };
        plain.push(byte);
        rest = after;
    }
    plain
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    Some(digit(high)? << 4 | digit(low)?)
}

/// Returns the path and query of a target. Whole URLs are sent to proxies (RFC 9112, 3.2.2).
fn origin_form(target: &[u8]) -> Option<&[u8]> {
    if target.starts_with(b"/") {
        return Some(target);
    }
    let rest =
        [&b"http://"[..], b"https://"].iter().find_map(|scheme| target.strip_prefix(*scheme))?;
    let at = rest.iter().position(|&byte| byte == b'/')?;
    Some(&rest[at..])
}

fn spread(times: &mut [(u64, u32)]) {
    // Logs are in the order in which requests ended.
    times.sort_by_key(|&(at, _)| at);
    for second in times.chunk_by_mut(|a, b| a.0 == b.0) {
        let count = second.len() as u64;
        for (k, (at, _)) in second.iter_mut().enumerate() {
            *at += k as u64 * SECOND / count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: &str = "[10/Oct/2000:13:55:36 -0700]";
    const AT: u64 = 971_211_336 * SECOND;

    fn read(lines: &[&str], wanted: &Wanted) -> Imported {
        let mut log = AccessLog::new(wanted);
        lines.iter().for_each(|line| log.line(line.as_bytes()).unwrap());
        log.finish()
    }

    fn one(request: &str) -> Result<(String, String), &'static str> {
        let line = format!("::1 - ann {TIME} \"{request}\" 200 2326 \"-\" \"agent [x]\"");
        parse_line(line.as_bytes()).map(|line| (line.method, line.path))
    }

    #[test]
    fn the_request_line_is_taken_from_either_format() {
        let expected = LogLine { at: AT, method: "GET".into(), path: "/a?b".into() };
        for line in [
            &*format!("127.0.0.1 - - {TIME} \"GET /a?b HTTP/1.0\" 200 2326"),
            &format!(
                "2001:db8::1 - a\"b {TIME} \"GET /a?b HTTP/2.0\" 200 2326 \"http://r/\" \"x\""
            ),
            &format!("[::1]:80 127.0.0.1 - [x] {TIME} \"GET /a?b HTTP/1.1\" 200 - \"\" \"\" 0.5"),
        ] {
            assert_eq!(parse_line(line.as_bytes()).as_ref(), Ok(&expected), "{line}");
        }
    }

    #[test]
    fn targets_are_made_fit_to_be_sent() {
        for (request, path) in [
            ("GET http://example.net/x?y HTTP/1.1", "/x?y"),
            ("GET /a\\\"b HTTP/1.1", "/a\"b"),
            ("GET /\\xc3\\xa4\\\\ HTTP/1.1", "/%C3%A4\\"),
            ("GET /\u{e4}#frag HTTP/1.1", "/%C3%A4"),
        ] {
            assert_eq!(one(request), Ok(("GET".to_owned(), path.to_owned())), "{request}");
        }
    }

    #[test]
    fn odd_lines_are_told_why() {
        for (request, why) in [
            ("-", "no request was received"),
            ("", "can't be replayed"),
            ("\\x16\\x03\\x01", "can't be replayed"),
            ("CONNECT a:1 HTTP/1.1", "can't be replayed"),
            ("GET /", "METHOD TARGET VERSION"),
            ("GET /a b HTTP/1.1", "METHOD TARGET VERSION"),
            ("GET / FTP/1.0", "METHOD TARGET VERSION"),
            ("OPTIONS * HTTP/1.1", "not a path"),
            ("GET http://a HTTP/1.1", "not a path"),
        ] {
            let error = one(request).unwrap_err();
            assert!(error.contains(why), "{request}: {error}");
        }
        assert!(parse_line(b"hello").unwrap_err().contains("no time"));
        assert!(parse_line(format!("{TIME} GET").as_bytes()).unwrap_err().contains("in quotes"));
        assert!(
            parse_line(format!("{TIME} \"GET /").as_bytes()).unwrap_err().contains("in quotes")
        );
        assert!(
            parse_line(format!("{TIME} \"GET /\\").as_bytes()).unwrap_err().contains("in quotes")
        );
    }

    #[test]
    fn equal_requests_are_one_and_the_rest_is_counted() {
        let line = |request: &str| format!("h - - {TIME} \"{request} HTTP/1.1\" 200 1");
        let lines = ["GET /a", "GET /b", "GET /a", "POST /a", "HEAD /a"].map(line);
        let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.extend(["", "odd", "odder"]);
        let found = |wanted: &Wanted| {
            let imported = read(&lines, wanted);
            let names = imported.requests.iter().map(|r| (r.name.clone(), r.weight));
            (names.collect::<Vec<_>>(), imported)
        };
        let (names, imported) = found(&Wanted::default());
        let of = |name: &str, weight| (name.to_owned(), weight);
        assert_eq!(names, [of("GET /a", 2.0), of("GET /b", 1.0), of("HEAD /a", 1.0)]);
        let left_out = imported.left_out;
        assert_eq!((left_out.methods, left_out.unreadable, left_out.count()), (1, 2, 3));
        let first = left_out.first_unreadable.unwrap();
        assert!(first.0 == 7 && first.1.contains("no time"), "{first:?}");
        assert!(imported.times.is_empty());
        let (names, _) = found(&Wanted { unsafe_methods: true, times: false });
        assert!(names.contains(&of("POST /a", 1.0)));
    }

    #[test]
    fn the_requests_of_a_second_are_spread_over_it() {
        let line = |second: u32, path: &str| {
            format!("h - - [10/Oct/2000:13:55:{second} -0700] \"GET /{path} HTTP/1.1\" 200 1")
        };
        let lines = [line(37, "a"), line(36, "b"), line(36, "a"), line(36, "b"), line(36, "b")];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let imported = read(&lines, &Wanted { times: true, unsafe_methods: false });
        let quarter = SECOND / 4;
        let expected = [(0, 1), (quarter, 0), (2 * quarter, 1), (3 * quarter, 1), (SECOND, 0)];
        assert_eq!(imported.times, expected.map(|(at, number)| (AT + at, number)));
    }
}
