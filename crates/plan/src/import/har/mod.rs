//! HTTP Archives (HAR 1.2), as browsers and other tools record them.
//!
//! Entries are read one by one, so that one that can't be sent leaves the others as they are. Tools
//! write null, numbers or nothing where the format has text: these are read as what they mean.

mod content;
mod multipart;
#[cfg(test)]
mod tests;
mod values;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::left_out::Unfit;
use super::target::split_url;
use super::when::{RecordedTime, parse_time};
use super::{Collector, Imported, Recorded, Wanted};
use content::{PostedContent, posted_content};
use sixmark_http::http1::request::{check_method, parse_header};
use values::{named, text_at, text_of};

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
struct Archive<'a> {
    #[serde(borrow)]
    log: Log<'a>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow)]
    entries: Vec<&'a RawValue>,
}

/// An entry, of which nothing but the response is ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarEntry {
    #[serde(default)]
    started_date_time: Value,
    #[serde(default)]
    request: Value,
}

/// A request that is sent, and why it lacks parts of the recorded one.
struct FoundRequest {
    recorded: Recorded,
    time: RecordedTime,
    without: Vec<Unfit>,
}

/// Parses an archive and takes the entries that went to one of `hosts`. Hosts are names or
/// addresses as in URLs, without a port and in lower case.
///
/// # Errors
/// The text is not an archive; the message says where and why. Entries that can't be sent again are
/// counted instead.
pub fn parse_har(text: &[u8], hosts: &[String], wanted: &Wanted) -> Result<Imported, String> {
    let archive: Archive<'_> = serde_json::from_slice(text).map_err(|error| not_har(&error))?;
    let mut collector = Collector::new(wanted);
    for (number, entry) in (1..).zip(archive.log.entries) {
        match read_entry(entry, hosts, &mut collector) {
            Ok(Some(FoundRequest { recorded, time, without })) => {
                let parts = &mut collector.altered.parts;
                without.into_iter().for_each(|unfit| parts.add(number, unfit));
                collector.add(recorded, time)?;
            }
            Ok(None) => {}
            Err(unfit) => collector.left_out.unreadable.add(number, unfit),
        }
    }
    Ok(collector.finish())
}

fn not_har(error: &serde_json::Error) -> String {
    if error.is_data() {
        format!(
            "not a HAR file: it has no list log.entries (line {}, column {})",
            error.line(),
            error.column()
        )
    } else {
        format!("not a HAR file: not JSON: {error}")
    }
}

/// Returns the request of an entry. `None` if it is not wanted, which has been counted.
fn read_entry(
    entry: &RawValue,
    hosts: &[String],
    collector: &mut Collector,
) -> Result<Option<FoundRequest>, Unfit> {
    let not_object = || Unfit::found("not an object with a request", entry.get().as_bytes());
    let HarEntry { started_date_time, request } =
        serde_json::from_str(entry.get()).map_err(|_| not_object())?;
    let Value::Object(request) = request else { return Err("no request".into()) };
    let url = text_at(&request, "url").ok_or("a request without a URL")?;
    let not_http = || Unfit::found("not an http or https URL", url.as_bytes());
    let (authority, path) = split_url(url.as_bytes()).ok_or_else(not_http)?;
    let host = host_of(&String::from_utf8_lossy(authority));
    if !hosts.contains(&host) {
        *collector.left_out.hosts.entry(host).or_default() += 1;
        return Ok(None);
    }
    let method = text_at(&request, "method").ok_or("a request without a method")?.into_owned();
    if check_method(&method).is_err() {
        return Err(Unfit::found("a method that can't be repeated", method.as_bytes()));
    }
    if !collector.takes(&method) {
        return Ok(None);
    }
    let time =
        if collector.wanted.times { started(&started_date_time)? } else { RecordedTime::default() };
    let (headers, body, without) = sent_parts(&request, &method)?;
    let recorded = Recorded { method, path, headers, body };
    Ok(Some(FoundRequest { recorded, time, without }))
}

/// Returns the time of an entry.
fn started(time: &Value) -> Result<RecordedTime, Unfit> {
    let text = text_of(time).filter(|text| !text.is_empty()).ok_or("no startedDateTime")?;
    let not_time = || Unfit::found("a startedDateTime that is not a time", text.as_bytes());
    parse_time(text.as_bytes()).ok_or_else(not_time)
}

/// The header fields and the content of a request, and why parts of them are left out.
type SentParts = (Vec<(String, String)>, Option<Vec<u8>>, Vec<Unfit>);

fn sent_parts(request: &Map<String, Value>, method: &str) -> Result<SentParts, Unfit> {
    let (mut headers, mut without) = fields(request.get("headers").unwrap_or(&Value::Null));
    let posted = request.get("postData").unwrap_or(&Value::Null);
    let PostedContent { bytes, media_type, is_framed, without: left } = posted_content(posted)?;
    without.extend(left);
    let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
    if is_framed {
        // The recorded one names a boundary that is not there.
        headers.retain(|(name, _)| !is_type(name));
    }
    if !bytes.is_empty() && !headers.iter().any(|(name, _)| is_type(name)) {
        let field = media_type.map(|value| parse_header(&format!("Content-Type: {value}")));
        headers.extend(field.and_then(Result::ok));
    }
    // Browsers write empty content for a GET that has none.
    let none = posted.is_null() || bytes.is_empty() && matches!(method, "GET" | "HEAD");
    Ok((headers, (!none).then_some(bytes), without))
}

/// Returns the header fields that are sent, and why others are not that would have been.
fn fields(list: &Value) -> (Vec<(String, String)>, Vec<Unfit>) {
    let (mut sent, mut without) = (Vec::new(), Vec::new());
    let all: &[Value] = match list {
        Value::Null => &[],
        Value::Array(all) => all,
        other => {
            without.push(Unfit::found("headers that are not a list", other.to_string().as_bytes()));
            &[]
        }
    };
    for field in all {
        match header(field) {
            Ok(header) => sent.extend(header),
            Err(unfit) => without.push(unfit),
        }
    }
    (sent, without)
}

/// Returns a header field. `None` for one of those that are always omitted.
fn header(field: &Value) -> Result<Option<(String, String)>, Unfit> {
    let (name, value) = named(field).ok_or("a header field without a name")?;
    if !matters(&name) {
        return Ok(None);
    }
    let line = format!("{name}: {}", value.ok_or("a header field whose value is not text")?);
    let fits = if name.contains(':') { None } else { parse_header(&line).ok() };
    fits.map(Some).ok_or_else(|| Unfit::found("a header field that can't be sent", line.as_bytes()))
}

fn matters(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // Names that begin with a colon are HTTP/2 pseudo-header fields.
    !(name.starts_with(':') || name.starts_with("sec-") || LEFT_OUT.contains(&name.as_str()))
}

/// Returns the host of an authority in lower case, without user and port. An IPv6 address keeps its
/// brackets.
pub fn host_of(authority: &str) -> String {
    let host = authority.rsplit('@').next().unwrap_or_default();
    let end = host.find(']').map_or_else(|| host.find(':').unwrap_or(host.len()), |at| at + 1);
    host[..end].to_ascii_lowercase()
}
