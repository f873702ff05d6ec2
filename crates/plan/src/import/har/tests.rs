use serde_json::{Value, json};

use super::*;
use crate::plan::Body;

fn with_entries(entries: &[Value]) -> Vec<u8> {
    json!({"log": {"version": "1.2", "creator": {}, "entries": entries}}).to_string().into()
}

fn archive(requests: &[Value]) -> Vec<u8> {
    let entry = |(n, request): (u32, &Value)| {
        let started = format!("2024-01-02T03:04:05.{n:03}Z");
        json!({"startedDateTime": started, "request": request, "response": {"status": 200}})
    };
    with_entries(&(0..).zip(requests).map(entry).collect::<Vec<_>>())
}

fn read_text(text: &[u8], unsafe_methods: bool) -> Imported {
    let hosts = ["www.example.net".to_owned(), "[::1]".to_owned()];
    parse_har(text, &hosts, &Wanted { unsafe_methods, times: true }).unwrap()
}

fn read(requests: &[Value], unsafe_methods: bool) -> Imported {
    read_text(&archive(requests), unsafe_methods)
}

fn get(url: &str) -> Value {
    json!({"method": "GET", "url": url, "headers": []})
}

fn post(data: &Value) -> Value {
    json!({"method": "POST", "url": "http://www.example.net/", "headers": [], "postData": data})
}

/// The bodies of the requests, as text.
fn bodies(imported: &Imported) -> Vec<Option<String>> {
    let body = |body: &Option<Body>| match body {
        None => None,
        Some(Body::Constant(body)) => Some(String::from_utf8_lossy(body).into_owned()),
        other => panic!("{other:?}"),
    };
    imported.requests.iter().map(|request| body(&request.body)).collect()
}

/// The fields of the first request.
fn first_fields(imported: &Imported) -> Vec<(&str, &str)> {
    let fields = imported.requests[0].headers.iter();
    fields.map(|(name, value)| (&**name, value.as_constant().unwrap())).collect()
}

/// Reasons with their counts.
fn reasons(reasons: &crate::import::Reasons) -> Vec<(&str, u64)> {
    reasons.by_count().into_iter().map(|(why, reason)| (why, reason.count)).collect()
}

#[test]
fn merges_equal_requests_and_keeps_their_times() {
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
    assert_eq!(first_fields(&imported), [("Accept", "text/html"), ("X-Own", "1")]);
    assert_eq!(imported.altered.parts.count(), 0, "that is as usual");
}

#[test]
fn reads_post_content_as_text_base64_or_form_fields() {
    let requests = [
        post(&json!({"mimeType": "text/plain", "text": "a=b"})),
        post(&json!({"mimeType": "x/y", "text": "eA==", "encoding": "base64"})),
        post(
            &json!({"mimeType": "x/y", "params": [{"name": "a b", "value": "c&\u{e4}"}, {"name": "d"}]}),
        ),
        post(&json!({"text": "!", "encoding": "base64"})),
    ];
    let imported = read(&requests, true);
    let bodies = bodies(&imported).into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(bodies, ["a=b", "x", "a+b=c%26%C3%A4&d="]);
    assert_eq!(reasons(&imported.left_out.unreadable), [("postData that is not base64", 1)]);
    assert_eq!(first_fields(&imported), [("Content-Type", "text/plain")]);
    assert_eq!(read(&requests, false).left_out.methods, 4, "not unless asked for");
}

#[test]
fn builds_the_content_from_parameters_if_the_text_is_empty() {
    let params = json!([{"name": "a", "value": 1}, {"name": "b", "value": null}, {"value": "c"}]);
    let imported = read(&[post(&json!({"mimeType": "", "text": "", "params": params}))], true);
    assert_eq!(bodies(&imported), [Some("a=1&b=".to_owned())]);
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    assert_eq!(first_fields(&imported), [form], "a form without a type is one");
    assert_eq!(reasons(&imported.altered.parts), [("a parameter without a name", 1)]);
    for (data, body) in [
        (json!(""), Some("")),
        (json!("a=b"), Some("a=b")),
        (json!(null), None),
        (json!({}), Some("")),
        (json!({"text": null, "params": null}), Some("")),
        (json!({"text": 5, "params": ""}), Some("5")),
    ] {
        let found = bodies(&read(&[post(&data)], true));
        assert_eq!(found, [body.map(str::to_owned)], "{data}");
    }
    let url = "http://www.example.net/";
    let empty = json!({"method": "GET", "url": url, "postData": {"mimeType": "x/y", "text": ""}});
    assert_eq!(bodies(&read(&[empty], true)), [None]);
}

#[test]
fn builds_a_multipart_form_from_its_parameters() {
    let params = json!([
        {"name": "a", "value": "1"},
        {"name": "f", "value": "text", "fileName": "f.txt", "contentType": "text/plain"},
        {"name": "g", "fileName": "photo.jpg", "contentType": "image/jpeg"},
        {"name": "h", "fileName": "", "value": ""},
    ]);
    let data = json!({"mimeType": "multipart/form-data; boundary=x", "text": "", "params": params});
    let mut request = post(&data);
    request["headers"] = json!([
        {"name": "content-type", "value": "multipart/form-data; boundary=x"},
        {"name": "X-Own", "value": "1"},
    ]);
    let imported = read(&[request], true);
    let expected = "--sixmark-form-0\r\n\
        Content-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
        --sixmark-form-0\r\n\
        Content-Disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\n\
        Content-Type: text/plain\r\n\r\ntext\r\n\
        --sixmark-form-0\r\n\
        Content-Disposition: form-data; name=\"h\"; filename=\"\"\r\n\
        Content-Type: application/octet-stream\r\n\r\n\r\n\
        --sixmark-form-0--\r\n";
    assert_eq!(bodies(&imported), [Some(expected.to_owned())]);
    let media_type = ("Content-Type", "multipart/form-data; boundary=sixmark-form-0");
    assert_eq!(first_fields(&imported), [("X-Own", "1"), media_type]);
    let without = imported.altered.parts.by_count();
    assert_eq!(without.len(), 1);
    assert!(without[0].0.contains("was not recorded") && without[0].1.found == "g", "{without:?}");
    // Recorded text is sent as it is, with the boundary that was recorded with it.
    let data =
        json!({"mimeType": "multipart/form-data; boundary=x", "text": "--x--", "params": params});
    let imported = read(&[post(&data)], true);
    assert_eq!(bodies(&imported), [Some("--x--".to_owned())]);
    assert_eq!(first_fields(&imported), [("Content-Type", "multipart/form-data; boundary=x")]);
    // Nothing is left of a form of one file.
    let data = json!({"mimeType": "multipart/form-data", "params": [params[2]]});
    let left_out = read(&[post(&data)], true).left_out;
    assert!(reasons(&left_out.unreadable)[0].0.contains("was not recorded"));
}

#[test]
fn counts_omitted_requests_to_other_hosts_and_schemes() {
    let requests = [
        get("https://cdn.example/x"),
        get("https://cdn.example/y"),
        get("wss://www.example.net/"),
        get("data:text/plain,x"),
        get("http://user@www.example.net/"),
    ];
    let imported = read(&requests, false);
    assert_eq!(imported.left_out.hosts.get("cdn.example"), Some(&2));
    assert_eq!(reasons(&imported.left_out.unreadable), [("not an http or https URL", 2)]);
    assert_eq!(imported.requests.len(), 1);
}

#[test]
fn skips_an_invalid_entry_and_keeps_the_others() {
    let url = "http://www.example.net/";
    let good = json!({"startedDateTime": "2024-01-02T03:04:05Z", "request": get(url)});
    for (odd, why) in [
        (json!(null), "not an object with a request"),
        (json!(5), "not an object with a request"),
        (json!({}), "no request"),
        (json!({"request": null}), "no request"),
        (json!({"request": "GET /"}), "no request"),
        (json!({"request": {"method": "GET", "url": null}}), "a request without a URL"),
        (json!({"request": {"method": "GET", "url": 5}}), "not an http or https URL"),
        (json!({"request": {"method": null, "url": url}}), "a request without a method"),
        (json!({"request": {"method": "A B", "url": url}}), "a method that can't be repeated"),
        (json!({"request": get(url)}), "no startedDateTime"),
        (json!({"startedDateTime": null, "request": get(url)}), "no startedDateTime"),
        (
            json!({"startedDateTime": "yesterday", "request": get(url)}),
            "a startedDateTime that is not a time",
        ),
        (
            json!({"startedDateTime": 1_704_164_645, "request": post(&json!(5))}),
            "postData that is no object",
        ),
        (
            json!({"startedDateTime": 1_704_164_645, "request": post(&json!({"text": []}))}),
            "postData whose text is not text",
        ),
        (
            json!({"startedDateTime": 1_704_164_645, "request": post(&json!({"params": {}}))}),
            "postData whose params are not a list",
        ),
    ] {
        let text = with_entries(&[good.clone(), odd.clone(), good.clone()]);
        let Imported { requests, times, left_out, .. } = read_text(&text, true);
        assert_eq!(reasons(&left_out.unreadable), [(why, 1)], "{odd}");
        assert_eq!(left_out.unreadable.by_count()[0].1.first, 2);
        assert_eq!((requests.len(), requests[0].weight, times.len()), (1, 2.0, 2), "{odd}");
    }
    // A text that is no text is nobody else's either.
    let text = br#"{"log": {"entries": [{"request": {"url": "\ud800"}}, {"request": {}}]}}"#;
    assert_eq!(read_text(text, false).left_out.count(), 2);
}

#[test]
fn omits_an_invalid_header_field_and_keeps_its_request() {
    let request = |headers: Value| json!({"method": "GET", "url": "http://www.example.net/", "headers": headers});
    for (headers, sent, without) in [
        (json!(null), &[][..], None),
        (json!("x"), &[], Some("headers that are not a list")),
        (json!([{"name": "A", "value": null}]), &[("A", "")], None),
        (json!([{"name": "A", "value": 5}]), &[("A", "5")], None),
        (json!([{"name": "A", "value": true}]), &[("A", "true")], None),
        (json!([{"name": "A"}, null]), &[("A", "")], Some("a header field without a name")),
        (json!([{"name": null, "value": "x"}]), &[], Some("a header field without a name")),
        (json!([{"name": "A", "value": []}]), &[], Some("a header field whose value is not text")),
        (json!([{"name": "A", "value": "x\ny"}]), &[], Some("a header field that can't be sent")),
        (json!([{"name": "A: b", "value": "x"}]), &[], Some("a header field that can't be sent")),
        (json!([{"name": "Cookie", "value": []}]), &[], None),
    ] {
        let imported = read(&[request(headers.clone())], false);
        assert_eq!(first_fields(&imported), sent, "{headers}");
        let expected: Vec<_> = without.map(|why| (why, 1)).into_iter().collect();
        assert_eq!(reasons(&imported.altered.parts), expected, "{headers}");
    }
}

#[test]
fn reads_times_without_a_zone_in_the_zone_of_the_others() {
    let entry = |time: Value| json!({"startedDateTime": time, "request": get("http://[::1]/")});
    let times = |times: &[Value]| {
        let text = with_entries(&times.iter().cloned().map(entry).collect::<Vec<_>>());
        let Imported { times, altered, left_out, .. } = read_text(&text, false);
        assert_eq!(left_out.count(), 0);
        let seconds: Vec<_> = times.iter().map(|&(at, _)| at / 1_000_000_000).collect();
        (seconds, altered.without_zone, altered.zone)
    };
    let (bare, east) = ("2024-01-02T03:04:05", "2024-01-02T03:04:06.000+02:00");
    let at = 1_704_164_645;
    assert_eq!(times(&[bare.into()]), (vec![at], 1, 0));
    assert_eq!(times(&[bare.into(), east.into()]), (vec![at - 7_200, at - 7_199], 1, 7_200));
    assert_eq!(times(&[json!(at), json!((at + 1) * 1_000)]), (vec![at, at + 1], 0, 0));
}

#[test]
fn rejects_a_malformed_archive_with_the_line_number() {
    for (text, what) in [
        ("{", "not JSON: EOF"),
        ("{}", "no list log.entries"),
        ("{\"log\":{}}", "no list log.entries"),
        ("{\"log\":{\"entries\":{}}}", "no list log.entries"),
        ("[]", "no list log.entries"),
        ("{\"log\":{\"entries\":[{]}}", "not JSON"),
    ] {
        let error = parse_har(text.as_bytes(), &[], &Wanted::default()).unwrap_err();
        assert!(error.contains("line 1") && error.contains(what), "{text}: {error}");
    }
    assert!(parse_har(&archive(&[]), &[], &Wanted::default()).unwrap().requests.is_empty());
}
