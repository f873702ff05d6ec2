//! HTTP Archives (HAR 1.2), as browsers record them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{Collector, Imported, Recorded, Wanted, clean, when};
use sixmark_http::http1::request::{check_method, parse_header};

/// Header fields that are omitted: those that belong to the connection, that sixmark generates
/// itself, that describe the browser or its cache, and those that are secret.
const LEFT_OUT: [&str; 24] = [
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "dnt",
    "expect",
    "host",
    "http2-settings",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "origin",
    "priority",
    "proxy-authorization",
    "proxy-connection",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
];

#[derive(Deserialize)]
struct Archive {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<HarEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarEntry {
    #[serde(default)]
    started_date_time: String,
    request: HarRequest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarRequest {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<HarField>,
    post_data: Option<Posted>,
}

#[derive(Deserialize)]
struct HarField {
    name: String,
    #[serde(default)]
    value: String,
}

#[derive(Deserialize)]
struct Posted {
    text: Option<String>,
    #[serde(default)]
    params: Vec<HarField>,
    encoding: Option<String>,
}

/// Parses an archive and takes the entries that went to one of `hosts`. Hosts are names or
/// addresses as in URLs, without a port and in lower case.
///
/// # Errors
/// The text is not an archive; the message says where and why. Entries that can't be sent again are
/// counted instead.
pub fn parse_har(text: &[u8], hosts: &[String], wanted: &Wanted) -> Result<Imported, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let archive: Archive =
        serde_json::from_slice(text).map_err(|e| format!("not a HAR file: {e}"))?;
    let mut collector = Collector::new(wanted);
    for (number, entry) in (1..).zip(archive.log.entries) {
        match target(&entry.request.url) {
            Some((host, _)) if !hosts.contains(&host) => {
                *collector.left_out.hosts.entry(host).or_default() += 1;
            }
            found => match recorded(entry, found.map(|(_, path)| path), wanted) {
                Ok((recorded, at)) => collector.add(recorded, at)?,
                Err(why) => collector.left_out.unreadable(number, &why),
            },
        }
    }
    Ok(collector.finish())
}

fn recorded(
    entry: HarEntry,
    path: Option<String>,
    wanted: &Wanted,
) -> Result<(Recorded, u64), String> {
    let HarRequest { method, url, headers, post_data } = entry.request;
    let path = path.ok_or_else(|| format!("not an http or https URL: {}", &shorten(&url)))?;
    check_method(&method)?;
    let at = match when::of_har(&entry.started_date_time) {
        Some(at) => at,
        None if wanted.times => return Err("no startedDateTime".to_owned()),
        None => 0,
    };
    let headers = headers
        .into_iter()
        .filter(matters)
        .map(|HarField { name, value }| parse_header(&format!("{name}: {value}")));
    let headers = headers.collect::<Result<Vec<_>, _>>()?;
    let body = post_data.map(body).transpose()?;
    Ok((Recorded { method, path, headers, body }, at))
}

fn matters(header: &HarField) -> bool {
    let name = header.name.to_ascii_lowercase();
    // Names that begin with a colon are HTTP/2 pseudo-header fields.
    !(name.starts_with(':') || name.starts_with("sec-") || LEFT_OUT.contains(&name.as_str()))
}

fn shorten(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_default).collect()
}

/// Returns the host in lower case and the path, or `None` if the URL is neither http nor https.
fn target(url: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = if path.starts_with('/') {
        clean(path.as_bytes())
    } else {
        format!("/{}", clean(path.as_bytes()))
    };
    Some((host_of(authority), path))
}

/// Returns the host of an authority in lower case, without user and port. An IPv6 address keeps its
/// brackets.
pub fn host_of(authority: &str) -> String {
    let host = authority.rsplit('@').next().unwrap_or_default();
    let end = host.find(']').map_or_else(|| host.find(':').unwrap_or(host.len()), |at| at + 1);
    host[..end].to_ascii_lowercase()
}

fn body(posted: Posted) -> Result<Vec<u8>, String> {
    match (posted.text, posted.encoding.as_deref()) {
        (Some(text), Some("base64")) => {
            STANDARD.decode(text).map_err(|_| "postData that is not base64".to_owned())
        }
        (Some(text), _) => Ok(text.into_bytes()),
        (None, _) => Ok(form(&posted.params).into_bytes()),
    }
}

/// Encodes fields as an HTML form does: application/x-www-form-urlencoded.
fn form(params: &[HarField]) -> String {
    let pairs =
        params.iter().map(|HarField { name, value }| format!("{}={}", coded(name), coded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn coded(text: &str) -> String {
    let mut coded = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => coded.push('+'),
            b'*' | b'-' | b'.' | b'_' => coded.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => coded.push(byte.into()),
            _ => coded.push_str(&format!("%{byte:02X}")),
        }
    }
    coded
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn archive(requests: &[Value]) -> Vec<u8> {
        let entries: Vec<_> = (0..)
            .zip(requests)
            .map(|(n, request)| {
                let started = format!("2024-01-02T03:04:05.{n:03}Z");
                json!({"startedDateTime": started, "request": request, "response": {"status": 200}})
            })
            .collect();
        json!({"log": {"version": "1.2", "creator": {}, "entries": entries}}).to_string().into()
    }

    fn read(requests: &[Value], unsafe_methods: bool) -> Imported {
        let hosts = ["www.example.net".to_owned(), "[::1]".to_owned()];
        parse_har(&archive(requests), &hosts, &Wanted { unsafe_methods, times: true }).unwrap()
    }

    fn get(url: &str) -> Value {
        json!({"method": "GET", "url": url, "headers": []})
    }

    #[test]
    fn equal_requests_are_one_with_their_times() {
        let imported = read(
            &[
                get("https://www.example.net/a?b=c#d"),
                get("http://WWW.example.net:8080"),
                get("https://www.example.net/a?b=c"),
                get("http://[::1]:81?x"),
            ],
            false,
        );
        let found: Vec<_> = imported.requests.iter().map(|r| (&*r.name, r.weight)).collect();
        assert_eq!(found, [("GET /a?b=c", 2.0), ("GET /", 1.0), ("GET /?x", 1.0)]);
        let first = imported.times[0].0;
        let times: Vec<_> = imported.times.iter().map(|&(at, n)| (at - first, n)).collect();
        assert_eq!(times, [(0, 0), (1_000_000, 1), (2_000_000, 0), (3_000_000, 2)]);
    }

    #[test]
    fn fields_that_belong_to_the_browser_or_the_connection_are_left_out() {
        let fields = [
            (":authority", "x"),
            ("Host", "x"),
            ("Cookie", "secret"),
            ("Authorization", "secret"),
            ("Sec-Fetch-Mode", "x"),
            ("Connection", "x"),
            ("Content-Length", "5"),
            ("If-None-Match", "x"),
            ("Accept", "text/html"),
            ("X-Own", "1"),
        ];
        let headers: Vec<_> =
            fields.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        let url = "http://www.example.net/";
        let imported = read(&[json!({"method": "GET", "url": url, "headers": headers})], false);
        let kept: Vec<_> = imported.requests[0].headers.iter().map(|(name, _)| &**name).collect();
        assert_eq!(kept, ["Accept", "X-Own"]);
    }

    #[test]
    fn content_is_text_base64_or_the_fields_of_a_form() {
        let post = |data: Value| json!({"method": "POST", "url": "http://www.example.net/", "headers": [], "postData": data});
        let requests = [
            post(json!({"mimeType": "text/plain", "text": "a=b"})),
            post(json!({"mimeType": "x/y", "text": "/w==", "encoding": "base64"})),
            post(
                json!({"mimeType": "x/y", "params": [{"name": "a b", "value": "c&\u{e4}"}, {"name": "d"}]}),
            ),
            post(json!({"text": "!", "encoding": "base64"})),
        ];
        let imported = read(&requests, true);
        let bodies: Vec<_> = imported
            .requests
            .iter()
            .map(|request| match &request.body {
                Some(crate::plan::Body::Constant(body)) => body.to_vec(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(bodies, [&b"a=b"[..], b"\xff", b"a+b=c%26%C3%A4&d="]);
        assert_eq!(imported.left_out.first_unreadable.unwrap().0, 4);
        assert_eq!(read(&requests, false).left_out.methods, 3, "not unless asked for");
    }

    #[test]
    fn other_hosts_and_other_schemes_are_counted() {
        let requests = [
            get("https://cdn.example/x"),
            get("https://cdn.example/y"),
            get("wss://www.example.net/"),
            get("data:text/plain,x"),
            get("http://user@www.example.net/"),
        ];
        let imported = read(&requests, false);
        assert_eq!(imported.left_out.hosts.get("cdn.example"), Some(&2));
        assert_eq!((imported.left_out.unreadable, imported.requests.len()), (2, 1));
    }

    #[test]
    fn what_is_no_archive_is_told_where() {
        for text in ["{", "{}", "{\"log\":{}}", "{\"log\":{\"entries\":[{}]}}"] {
            let error = parse_har(text.as_bytes(), &[], &Wanted::default()).unwrap_err();
            assert!(error.contains("line 1"), "{error}");
        }
        let with_mark = [b"\xef\xbb\xbf".as_slice(), &archive(&[])].concat();
        assert!(parse_har(&with_mark, &[], &Wanted::default()).unwrap().requests.is_empty());
    }
}
