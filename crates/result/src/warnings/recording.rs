//! Warnings about recordings: what is not sent of them, or not as it was recorded.

use std::cmp::Reverse;

use sixmark_document::provenance::{Warning, warning};
use sixmark_plan::import::{Altered, LeftOut, OneReason, Reasons};
use sixmark_units::quantity::{counted, write_count};

use super::NAMED;

/// The name of a recording's unit, of which there is one for each request.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    one: &'static str,
    many: &'static str,
}

/// The unit of HAR files.
pub const ENTRIES: Unit = Unit { one: "entry", many: "entries" };
/// The unit of access logs.
pub const LINES: Unit = Unit { one: "line", many: "lines" };

/// Warns about requests of a recording that are not sent.
pub fn requests_left_out(left_out: &LeftOut, unit: Unit) -> Option<Warning> {
    let message = format!("{}: not sent", reasons(left_out, unit));
    (left_out.count() > 0).then(|| warning("requests_left_out", message))
}

/// Warns about requests of a recording that are sent, but not as they were recorded.
pub fn requests_changed(altered: &Altered, unit: Unit) -> Option<Warning> {
    let mut changes = Vec::new();
    if altered.parts.count() > 0 {
        let parts = counted(altered.parts.count(), "part is", "parts are");
        let why = each_reason(&altered.parts);
        changes.push(format!("{parts} omitted from requests that are sent ({why})"));
    }
    if altered.without_zone > 0 {
        let have = if altered.without_zone == 1 { "has" } else { "have" };
        let times = counted(altered.without_zone, unit.one, unit.many);
        let zone = zone_text(altered.zone);
        changes.push(format!("{times} {have} a time without a zone: read as {zone}"));
    }
    (!changes.is_empty()).then(|| warning("requests_changed", changes.join(", ")))
}

/// Describes why a recording yields no request at all.
pub fn nothing_imported(left_out: &LeftOut, unit: Unit) -> String {
    match left_out.count() {
        0 => format!("it has no {}", unit.many),
        _ => format!("none of its {} can be sent: {}", unit.many, reasons(left_out, unit)),
    }
}

/// Describes why requests are omitted, how many, and what to do about it.
fn reasons(left_out: &LeftOut, unit: Unit) -> String {
    let mut reasons = Vec::new();
    if left_out.methods > 0 {
        reasons.push(format!(
            "{} with methods that may change data (--unsafe-methods includes them)",
            write_count(left_out.methods)
        ));
    }
    if !left_out.hosts.is_empty() {
        let mut hosts: Vec<_> = left_out.hosts.iter().collect();
        hosts.sort_by_key(|&(_, &times)| Reverse(times));
        let of = |&(host, &times): &(&String, &u64)| {
            format!("{} {}", host.escape_debug(), write_count(times))
        };
        let more = if hosts.len() > NAMED { ", ..." } else { "" };
        let named: Vec<_> = hosts.iter().take(NAMED).map(of).collect();
        let total = write_count(left_out.hosts.values().sum());
        let named = named.join(", ");
        reasons.push(format!("{total} to other hosts ({named}{more}; --har-host selects another)"));
    }
    if left_out.unreadable.count() > 0 {
        let unreadable = counted(left_out.unreadable.count(), unit.one, unit.many);
        reasons.push(format!("{unreadable} unreadable ({})", each_reason(&left_out.unreadable)));
    }
    reasons.join(", ")
}

/// Names each reason with its count and the first line or entry.
fn each_reason(reasons: &Reasons) -> String {
    let of = |(why, reason): (&str, &OneReason)| {
        let OneReason { count, first, found } = reason;
        let found = if found.is_empty() { String::new() } else { format!(", as in '{found}'") };
        let the_first = if *count == 1 { "" } else { "the first " };
        format!("{why}{found}: {}, {the_first}number {first}", write_count(*count))
    };
    reasons.by_count().into_iter().map(of).collect::<Vec<_>>().join("; ")
}

/// Returns a zone, given in seconds east of UTC, as in RFC 3339.
fn zone_text(zone: i64) -> String {
    let (minutes, sign) = (zone.unsigned_abs() / 60, if zone < 0 { '-' } else { '+' });
    match minutes {
        0 => "UTC".to_owned(),
        _ => format!("{sign}{:02}:{:02}, as others of the file", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use sixmark_plan::import::Wanted;
    use sixmark_plan::import::har::parse_har;

    /// What is said of an archive with these entries: of what is left out, and of what is changed.
    fn said(entries: &[Value]) -> (String, Option<String>) {
        let text = json!({"log": {"entries": entries}}).to_string();
        let wanted = Wanted { unsafe_methods: false, times: true };
        let found = parse_har(text.as_bytes(), &["a".to_owned()], &wanted).unwrap();
        let changed = requests_changed(&found.altered, ENTRIES).map(|warning| warning.message);
        (nothing_imported(&found.left_out, ENTRIES), changed)
    }

    #[test]
    fn lists_each_reason_with_its_count_and_first_entry() {
        let socket = json!({"request": {"url": "ws://a/"}});
        let (left_out, changed) =
            said(&[json!(5), json!({"request": {}}), json!({}), socket, json!(7)]);
        assert_eq!(
            left_out,
            "none of its entries can be sent: 5 entries unreadable (not an object with a request, \
             as in '5': 2, the first number 1; a request without a URL: 1, number 2; no request: \
             1, number 3; not an http or https URL, as in 'ws://a/': 1, number 4)"
        );
        assert_eq!(changed, None);
    }

    #[test]
    fn warns_about_omitted_parts_and_times_without_a_zone() {
        let entry = |time: &str, value: Value| {
            let headers = [json!({"name": "A", "value": value})];
            let request = json!({"method": "GET", "url": "http://a/", "headers": headers});
            json!({"startedDateTime": time, "request": request})
        };
        let bare = entry("2024-01-02T03:04:05", json!([]));
        assert_eq!(
            said(std::slice::from_ref(&bare)).1.unwrap(),
            "1 part is omitted from requests that are sent (a header field whose value is not text: \
             1, number 1), 1 entry has a time without a zone: read as UTC"
        );
        let west = entry("2024-01-02T03:04:05-07:30", json!(1));
        let changed = said(&[bare.clone(), west, bare]).1.unwrap();
        let zone = "2 entries have a time without a zone: read as -07:30, as others of the file";
        assert!(changed.ends_with(zone), "{changed}");
    }
}
