//! Whatever describes requests, and whatever responses are held against: nothing panics, and every
//! request that is made of it is one request and not two.
//!
//! The first byte of the input chooses what the rest is read as.

use sixmark_http::cookies::{CookieContext, Jar};
use sixmark_http::redirect::leads_to;
use sixmark_plan::check::{Checks, Expect, Inspection, KeptContent, Rejection};
use sixmark_plan::import::{AccessLog, Imported, LOG_FORMATS, Wanted, detect_log_format, har};
use sixmark_plan::plan::{Body, Request, requests};
use sixmark_plan::request_form::RequestForm;
use sixmark_plan::template::{Reading, TemplatePlace, TemplateValues};
use sixmark_units::plain_text::{is_utf16, to_text, to_utf8};

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    let [kind, rest @ ..] = input else { return };
    match kind % 8 {
        0 => request_file(rest),
        1 => archive(rest),
        2 => log(rest),
        3 => templates(rest),
        4 => checks(rest),
        5 => redirect(rest),
        6 => cookies(rest),
        _ => encoding(rest),
    }
}

/// Files that a request file names hold what stands behind the first empty line.
fn request_file(input: &[u8]) {
    let (text, data) = split(input, b"\n\n\n");
    let Ok(text) = std::str::from_utf8(text) else { return };
    let mut open = |_: &str| Ok(data.to_vec());
    if let Ok(requests) = requests::parse_requests(text, &mut open) {
        requests.iter().for_each(is_one);
    }
}

fn archive(input: &[u8]) {
    let wanted = Wanted { unsafe_methods: true, times: true };
    if let Ok(imported) = har::parse_har(input, &["a".to_owned()], &wanted) {
        is_whole(&imported);
    }
}

/// In the format that is detected, and in each of the others.
fn log(input: &[u8]) {
    let wanted = Wanted { unsafe_methods: true, times: true };
    let detected = detect_log_format(input).map(|format| format.name);
    for format in &LOG_FORMATS {
        let mut log = AccessLog::new(format, &wanted);
        input.split(|&byte| byte == b'\n').for_each(|line| log.line(line).unwrap());
        let imported = log.finish();
        is_whole(&imported);
        assert!(imported.times.is_sorted());
        let read = imported.requests.len() as u64 + imported.left_out.count();
        assert!(detected != Some(format.name) || read > 0 || input.contains(&b'#'));
    }
}

/// Each time is one of a request, every request is one, and what is said of the rest is one line.
fn is_whole(imported: &Imported) {
    imported.requests.iter().for_each(is_one);
    assert!(imported.times.iter().all(|&(_, n)| (n as usize) < imported.requests.len()));
    let requests: f64 = imported.requests.iter().map(|request| request.weight).sum();
    assert_eq!(requests, imported.times.len() as f64);
    for reasons in [&imported.left_out.unreadable, &imported.altered.parts] {
        for (_, reason) in reasons.by_count() {
            assert!(reason.count > 0 && reason.first > 0);
            assert!(!reason.found.contains(char::is_control), "{:?}", reason.found);
        }
    }
}

/// What is text without a mark is the same text again.
fn encoding(input: &[u8]) {
    let plain = to_utf8(input);
    match to_text(input.to_vec()) {
        Ok(text) => assert_eq!(text.as_bytes(), &*plain),
        Err(why) => assert!(!is_utf16(input) && why.contains("line"), "{why}"),
    }
}

fn templates(input: &[u8]) {
    let (text, data) = split(input, b"\n\n\n");
    let Ok(text) = std::str::from_utf8(text) else { return };
    let mut open = |_: &str| Ok(data.to_vec());
    let mut reading = Reading::new(&mut open);
    let mut request = Request::plain("POST");
    if let Ok(path) = reading.template(text, TemplatePlace::Path) {
        request.path = Some(path);
    }
    if let Ok(value) = reading.template(text, TemplatePlace::Header) {
        request.headers.push(("X".to_owned(), value));
    }
    if let Ok(body) = reading.template(text, TemplatePlace::Body) {
        request.body = Some(Body::Template(body));
    }
    is_one(&request);
}

/// A first line of three words, no other control characters, and as much content as announced.
fn is_one(request: &Request) {
    let (mut values, mut out) = (TemplateValues::new(1, 1, 3), Vec::new());
    let form = RequestForm::new(request, "/", "h", false);
    for _ in 0..3 {
        let body = match &form {
            RequestForm::Constant { head, body } => {
                out.clone_from(head);
                body.as_ref()
            }
            RequestForm::Changing(changing) => {
                changing.render(&mut values, &mut out, &mut Vec::new());
                changing.body()
            }
        };
        let (head, content) = split(&out, b"\r\n\r\n");
        let line = head.split(|&byte| byte == b'\r').next().unwrap();
        assert_eq!(line.split(|&byte| byte == b' ').count(), 3, "{}", head.escape_ascii());
        for line in head.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let fits = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
            assert!(!line.is_empty() && line.iter().all(fits), "{}", head.escape_ascii());
        }
        let length = content.len() + body.map_or(0, |body| body.len());
        let announces = |name: &[u8]| {
            let names = request.headers.iter();
            names.filter(|(own, _)| own.as_bytes().eq_ignore_ascii_case(name)).count() > 0
        };
        if request.body.is_some()
            && !announces(b"content-length")
            && !announces(b"transfer-encoding")
        {
            let field = format!("\r\nContent-Length: {length}\r\n");
            let head = &out[..head.len() + 2];
            assert!(head.windows(field.len()).any(|part| part == field.as_bytes()));
        }
    }
}

/// A check, a line of content codings, and content.
fn checks(input: &[u8]) {
    let (text, rest) = split(input, b"\n");
    let (codings, content) = split(rest, b"\n");
    let Some(expect) = std::str::from_utf8(text).ok().and_then(|text| text.parse::<Expect>().ok())
    else {
        return;
    };
    let checks = Checks::new(vec![expect]);
    let finish = |size: usize| {
        let (mut inspection, mut kept) = (Inspection::default(), KeptContent::of_worker(1));
        inspection.begin(&mut kept);
        inspection.field(&checks, b"Content-Encoding", codings);
        content.chunks(size).for_each(|piece| inspection.content(&checks, piece, &mut kept));
        inspection.finish(&checks, 200)
    };
    let whole = finish(usize::MAX);
    assert_eq!(whole, finish(1), "however it is cut");
    if let Err(Rejection::Mismatch(mismatch)) = whole {
        assert!(mismatch.found.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    }
}

fn redirect(input: &[u8]) {
    let (base, location) = split(input, b"\n");
    let Some(base) = std::str::from_utf8(base).ok().and_then(|base| base.parse().ok()) else {
        return;
    };
    for host in [None, Some("a:8")] {
        if let Ok(path) = leads_to(&base, host, location) {
            let fits = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
            assert!(path.starts_with('/') && path.bytes().all(fits), "{path}");
        }
    }
}

/// A field a line, each a second later.
fn cookies(input: &[u8]) {
    let mut jar = Jar::default();
    let mut of = CookieContext { host: "b.a.example", path: "/a/b", secure: true, now_ms: 0 };
    for value in input.split(|&byte| byte == b'\n') {
        jar.set(value, of);
        of.now_ms += 1_000;
    }
    for host in ["b.a.example", "c.a.example"] {
        let mut out = Vec::new();
        jar.header(CookieContext { host, ..of }, &mut out);
        let fits = |&byte: &u8| byte == b'\t' || !byte.is_ascii_control();
        assert!(out.iter().all(fits), "{}", out.escape_ascii());
        // Fifty cookies of 4,096 bytes, and `=` and `; ` with each.
        assert!(out.len() <= 50 * 4_099);
    }
}

/// What stands before and behind the first `mark`.
fn split<'a>(input: &'a [u8], mark: &[u8]) -> (&'a [u8], &'a [u8]) {
    let at = input.windows(mark.len()).position(|part| part == mark);
    at.map_or((input, &[]), |at| (&input[..at], &input[at + mark.len()..]))
}
