//! The paths of the origin.

use std::time::Duration;

use hyper::{Method, StatusCode};

/// The response to `/`.
pub(super) const INDEX: &str = "sixmark origin

/bytes/N        N bytes with a Content-Length; N up to 1099511627776 (2^40)
/chunked/N      N bytes in chunked coding
/drip/N/MS      N bytes, one each MS milliseconds
/delay/MS       waits MS milliseconds, then answers 200; MS up to 86400000
/busy/US        computes for US microseconds, then answers 200; US up to 1000000
/capacity/N     200, at most N per second on each listening address, one at a time
/status/CODE    that status; CODE from 200 to 599
/dynamic        an HTML page computed for each request
/sink           PUT or POST: reads the body, answers {\"received\":BYTES}
/reset          a head and part of the body, then a reset (TCP's, over HTTP/2 and 3 the stream's)
/truncate/N     a head that says N bytes, half of them, then the end
/close          the end of the connection without a byte of response
/stall          reads the request and never answers
/stall/BYTES    a head and that many bytes, then nothing more
/health         200 ok
/               this list

Query strings are ignored, except that /dynamic shows them.
";

const PATHS: &str = "/bytes/N /chunked/N /drip/N/MS /delay/MS /busy/US /capacity/N /status/CODE /dynamic /sink /reset \
                     /truncate/N /close /stall /stall/BYTES /health /";

const MAX_BYTES: u64 = 1 << 40;
const MAX_PER_SECOND: u64 = 1_000_000;
const MAX_MICROSECONDS: u64 = 1_000_000;
const MAX_MILLISECONDS: u64 = 86_400_000;

/// The meaning of a path. Byte counts are at most 2^40, durations at most a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Index,
    Health,
    Bytes(u64),
    Chunked(u64),
    Drip {
        bytes: u64,
        every: Duration,
    },
    Delay(Duration),
    /// Keeps a thread busy for this time.
    Busy(Duration),
    /// Serves one request at a time, each for this time.
    Capacity(Duration),
    Status(StatusCode),
    Dynamic,
    Sink,
    Reset,
    Truncate(u64),
    Close,
    Stall,
    StallAfter(u64),
}

/// The reason for which a path is rejected, with a line for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The path does not exist: 404.
    Unknown(String),
    /// The path exists, but its number is invalid: 400.
    Bad(String),
}

impl Route {
    /// Parses a path without its query.
    pub(super) fn parse(path: &str) -> Result<Route, Refusal> {
        let (name, rest) = split(path.strip_prefix('/').unwrap_or(path));
        match rest {
            None => Self::plain(name).ok_or_else(|| unknown(path)),
            Some(rest) => Self::numbered(name, rest).unwrap_or_else(|| Err(unknown(path))),
        }
    }

    fn plain(name: &str) -> Option<Route> {
        Some(match name {
            "" => Route::Index,
            "health" => Route::Health,
            "dynamic" => Route::Dynamic,
            "sink" => Route::Sink,
            "reset" => Route::Reset,
            "close" => Route::Close,
            "stall" => Route::Stall,
            _ => return None,
        })
    }

    /// Parses a path with a number. Returns `None` if there is no such path.
    fn numbered(name: &str, rest: &str) -> Option<Result<Route, Refusal>> {
        Some(match name {
            "bytes" => parse_number("/bytes/N", "N", rest, 0, MAX_BYTES).map(Route::Bytes),
            "chunked" => parse_number("/chunked/N", "N", rest, 0, MAX_BYTES).map(Route::Chunked),
            "drip" => drip(rest),
            "delay" => milliseconds("/delay/MS", rest, 0).map(Route::Delay),
            "busy" => parse_number("/busy/US", "US", rest, 0, MAX_MICROSECONDS)
                .map(|us| Route::Busy(Duration::from_micros(us))),
            "capacity" => capacity(rest),
            "status" => parse_status(rest),
            // An empty body cannot be truncated.
            "truncate" => parse_number("/truncate/N", "N", rest, 1, MAX_BYTES).map(Route::Truncate),
            "stall" => {
                parse_number("/stall/BYTES", "BYTES", rest, 0, MAX_BYTES).map(Route::StallAfter)
            }
            _ => return None,
        })
    }

    /// Returns the methods that the path supports.
    pub(super) fn methods(self) -> &'static [Method] {
        match self {
            Route::Sink => &[Method::PUT, Method::POST],
            _ => &[Method::GET, Method::HEAD],
        }
    }
}

fn drip(rest: &str) -> Result<Route, Refusal> {
    const FORM: &str = "/drip/N/MS";
    let (bytes, every) = split(rest);
    let bytes = parse_number(FORM, "N", bytes, 0, MAX_BYTES)?;
    let every = milliseconds(FORM, every.unwrap_or(""), 1)?;
    Ok(Route::Drip { bytes, every })
}

fn capacity(rest: &str) -> Result<Route, Refusal> {
    let per_s = parse_number("/capacity/N", "N", rest, 1, MAX_PER_SECOND)?;
    Ok(Route::Capacity(Duration::from_nanos(1_000_000_000 / per_s)))
}

/// Parses a status code. A 1xx status is not a final response (RFC 9110, 15.2): the client would
/// keep waiting.
fn parse_status(rest: &str) -> Result<Route, Refusal> {
    let code = parse_number("/status/CODE", "CODE", rest, 200, 599)?;
    let code = u16::try_from(code).ok().and_then(|code| StatusCode::from_u16(code).ok());
    code.map(Route::Status).ok_or_else(|| Refusal::Bad("/status/CODE: no such status\n".into()))
}

fn milliseconds(form: &str, text: &str, least: u64) -> Result<Duration, Refusal> {
    parse_number(form, "MS", text, least, MAX_MILLISECONDS).map(Duration::from_millis)
}

fn parse_number(form: &str, name: &str, text: &str, least: u64, most: u64) -> Result<u64, Refusal> {
    // The parser of `u64` would also accept a leading plus sign.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|n| digits && (least..=most).contains(n)).ok_or_else(|| {
        Refusal::Bad(format!("{form}: {name} must be a number from {least} to {most}\n"))
    })
}

fn unknown(path: &str) -> Refusal {
    Refusal::Unknown(format!("nothing at {path}; this server has {PATHS}\n"))
}

fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_every_path_to_its_route() {
        let ms = Duration::from_millis;
        for (path, route) in [
            ("/", Route::Index),
            ("/health", Route::Health),
            ("/bytes/0", Route::Bytes(0)),
            ("/bytes/1099511627776", Route::Bytes(1 << 40)),
            ("/chunked/12", Route::Chunked(12)),
            ("/drip/3/1", Route::Drip { bytes: 3, every: ms(1) }),
            ("/delay/0", Route::Delay(ms(0))),
            ("/delay/86400000", Route::Delay(ms(86_400_000))),
            ("/busy/200", Route::Busy(Duration::from_micros(200))),
            ("/capacity/400", Route::Capacity(Duration::from_micros(2_500))),
            ("/status/204", Route::Status(StatusCode::NO_CONTENT)),
            ("/dynamic", Route::Dynamic),
            ("/sink", Route::Sink),
            ("/reset", Route::Reset),
            ("/truncate/1", Route::Truncate(1)),
            ("/close", Route::Close),
            ("/stall", Route::Stall),
            ("/stall/9", Route::StallAfter(9)),
        ] {
            assert_eq!(Route::parse(path), Ok(route), "{path}");
        }
    }

    #[test]
    fn a_bad_number_is_refused_with_the_form_and_the_range() {
        for path in [
            "/bytes/",
            "/bytes/x",
            "/bytes/-1",
            "/bytes/+1",
            "/bytes/1/2",
            "/bytes/1099511627777",
            "/bytes/99999999999999999999999",
            "/chunked/1e3",
            "/drip/3",
            "/drip/3/0",
            "/drip/x/1",
            "/delay/86400001",
            "/busy/1000001",
            "/capacity/0",
            "/capacity/1000001",
            "/status/100",
            "/status/600",
            "/truncate/0",
            "/stall/a",
        ] {
            let Err(Refusal::Bad(line)) = Route::parse(path) else { panic!("{path}") };
            assert!(line.contains(" must be a number from "), "{path}: {line}");
        }
    }

    #[test]
    fn lists_the_known_paths_for_an_unknown_path() {
        for path in ["/nothing", "/bytes", "/health/1", "//", "*", "", "/bytés/1"] {
            match Route::parse(path) {
                Err(Refusal::Unknown(line)) => assert!(line.contains("/bytes/N"), "{line}"),
                other => assert!(path.is_empty() && other == Ok(Route::Index), "{path}"),
            }
        }
    }

    #[test]
    fn the_index_lists_every_path_of_the_refusal() {
        for path in PATHS.split(' ') {
            assert!(INDEX.lines().any(|line| line.split(' ').next() == Some(path)), "{path}");
        }
    }
}
