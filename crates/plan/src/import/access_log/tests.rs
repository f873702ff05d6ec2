use super::*;
use crate::import::LeftOut;

const TIME: &str = "[10/Oct/2000:13:55:36 -0700]";
const AT: u64 = 971_211_336 * SECOND;

fn format(name: &str) -> &'static LogFormat {
    LogFormat::named(name).unwrap()
}

fn read_as(name: &str, lines: &[&str], wanted: &Wanted) -> Imported {
    let mut log = AccessLog::new(format(name), wanted);
    lines.iter().for_each(|line| log.line(line.as_bytes()).unwrap());
    log.finish()
}

fn read(lines: &[&str], wanted: &Wanted) -> Imported {
    read_as("combined", lines, wanted)
}

/// The requests of a log with their weights, and what was left out.
fn requests(name: &str, lines: &[&str]) -> (Vec<(String, f64)>, LeftOut) {
    let imported = read_as(name, lines, &Wanted { unsafe_methods: true, times: false });
    let all = imported.requests.iter().map(|request| (request.name.clone(), request.weight));
    (all.collect(), imported.left_out)
}

/// The request of one line, or why there is none.
fn one(name: &str, line: &str) -> Result<String, String> {
    let (requests, left_out) = requests(name, &[line]);
    match left_out.unreadable.by_count().first() {
        Some((why, _)) => Err((*why).to_owned()),
        None => Ok(requests[0].0.clone()),
    }
}

fn combined(request: &str) -> Result<String, String> {
    let line = format!("::1 - ann {TIME} \"{request}\" 200 2326 \"-\" \"agent [x]\"");
    one("combined", &line)
}

#[test]
fn reads_the_request_line_of_common_and_combined_logs() {
    for line in [
        &*format!("127.0.0.1 - - {TIME} \"GET /a?b HTTP/1.0\" 200 2326"),
        &format!("2001:db8::1 - a\"b {TIME} \"GET /a?b HTTP/2.0\" 200 2326 \"http://r/\" \"x\""),
        &format!("[::1]:80 127.0.0.1 - [x] {TIME} \"GET /a?b HTTP/1.1\" 200 - \"\" \"\" 0.5"),
    ] {
        let imported = read(&[line], &Wanted { unsafe_methods: false, times: true });
        assert_eq!(imported.requests[0].name, "GET /a?b", "{line}");
        assert_eq!(imported.times, [(AT, 0)]);
    }
}

#[test]
fn converts_logged_targets_to_valid_request_targets() {
    for (request, expected) in [
        ("GET http://example.net/x?y HTTP/1.1", "GET /x?y"),
        ("GET http://h?next=/home HTTP/1.1", "GET /?next=/home"),
        ("GET http://a HTTP/1.1", "GET /"),
        ("GET /a\\\"b HTTP/1.1", "GET /a\"b"),
        ("GET /\\xc3\\xa4\\\\ HTTP/1.1", "GET /%C3%A4\\"),
        ("GET /\u{e4}#frag HTTP/1.1", "GET /%C3%A4"),
    ] {
        assert_eq!(combined(request).as_deref(), Ok(expected), "{request}");
    }
}

#[test]
fn rejects_unusable_log_lines_with_a_reason() {
    for (request, why) in [
        ("-", "no request was received"),
        ("", "no request was received"),
        ("\\x16\\x03\\x01", "can't be repeated"),
        ("CONNECT a:1 HTTP/1.1", "can't be repeated"),
        ("GET /", "METHOD TARGET VERSION"),
        ("GET /a b HTTP/1.1", "METHOD TARGET VERSION"),
        ("GET / FTP/1.0", "METHOD TARGET VERSION"),
        ("OPTIONS * HTTP/1.1", "not a path"),
        ("GET ftp://a/ HTTP/1.1", "not a path"),
    ] {
        let error = combined(request).unwrap_err();
        assert!(error.contains(why), "{request}: {error}");
    }
    for (line, why) in [
        ("hello", "no time"),
        (&*format!("{TIME} GET"), "in quotes"),
        (&format!("{TIME} \"GET /"), "in quotes"),
        (&format!("{TIME} \"GET /\\"), "in quotes"),
    ] {
        assert!(one("combined", line).unwrap_err().contains(why), "{line}");
    }
}

#[test]
fn merges_equal_requests_and_counts_omitted_lines() {
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
    assert_eq!((left_out.methods, left_out.unreadable.count(), left_out.count()), (1, 2, 3));
    let reasons = left_out.unreadable.by_count();
    let (why, first) = reasons[0];
    assert!(first.first == 7 && first.found == "odd" && why.contains("no time"), "{reasons:?}");
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

/// The lines of a log, and the name of each format that reads it.
const LOGS: [(&str, &[&str]); 6] = [
    (
        "caddy",
        &[
            r#"{"level":"info","ts":1704164645.25,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"2001:db8::7","proto":"HTTP/2.0","method":"GET","host":"www.example.net","uri":"/a?b=1","headers":{"User-Agent":["x"]}},"duration":0.002,"status":200}"#,
            r#"{"level":"info","ts":1704164646.5,"logger":"http.log.access","request":{"remote_ip":"192.0.2.7","method":"POST","host":"www.example.net","uri":"/c"},"status":201}"#,
            r#"{"level":"info","ts":1704164647,"msg":"certificate renewed"}"#,
        ],
    ),
    (
        "traefik",
        &[
            r#"{"ClientHost":"2001:db8::7","DownstreamStatus":200,"RequestHost":"www.example.net","RequestMethod":"GET","RequestPath":"/a?b=1","RequestProtocol":"HTTP/2.0","StartUTC":"2024-01-02T03:04:05.25Z","level":"info","time":"2024-01-02T03:04:06Z"}"#,
            r#"{"ClientHost":"192.0.2.7","DownstreamStatus":201,"RequestMethod":"POST","RequestPath":"/c","StartUTC":"2024-01-02T03:04:06.5Z","time":"2024-01-02T03:04:07Z"}"#,
            r#"{"level":"error","msg":"no request","time":"2024-01-02T03:04:07Z"}"#,
        ],
    ),
    (
        "json",
        &[
            r#"{"time_iso8601":"2024-01-02T04:04:05+01:00","remote_addr":"2001:db8::7","request":"GET /a?b=1 HTTP/1.1","status":"200","request_time":"0.002"}"#,
            r#"{"time_local":"02/Jan/2024:03:04:06 +0000","request_method":"POST","uri":"/c","args":"","status":201}"#,
            r#"{"time_local":"02/Jan/2024:03:04:07 +0000","request":"","status":400}"#,
        ],
    ),
    (
        "cloudfront",
        &[
            "#Version: 1.0",
            "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query",
            "2024-01-02\t03:04:05\tFRA50-C1\t392\t2001:db8::7\tGET\td1.example.net\t/a\t200\t-\tMozilla/5.0%20(X11)\tb=1",
            "2024-01-02\t03:04:06\tFRA50-C1\t392\t192.0.2.7\tPOST\td1.example.net\t/c\t201\t-\tx\t-",
            "2024-01-02\t03:04:07\tFRA50-C1\t392\t192.0.2.7\t-\td1.example.net\t-\t400",
        ],
    ),
    (
        "w3c",
        &[
            "#Software: Microsoft Internet Information Services 10.0",
            "#Date: 2024-01-02 00:00:00",
            "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port c-ip cs(User-Agent) sc-status",
            "2024-01-02 03:04:05 2001:db8::1 GET /a b=1 80 2001:db8::7 Mozilla/5.0+(X11) 200",
            "#Fields: time cs-uri-stem cs-method sc-status",
            "03:04:06 /c POST 201",
            "03:04:07 - - 400",
        ],
    ),
    (
        "alb",
        &[
            r#"h2 2024-01-02T03:04:05.300000Z app/front/50dc 2001:db8::7:2817 10.0.0.1:80 0.000 0.048 0.000 200 200 34 366 "GET https://www.example.net:443/a?b=1 HTTP/2.0" "curl/8.5 x" ECDHE TLSv1.3 arn:aws:tg "Root=1-58" "www.example.net" "arn:aws:acm" 1 2024-01-02T03:04:05.250000Z "forward" "-" "-""#,
            r#"http 2024-01-02T03:04:06.600000Z app/front/50dc 192.0.2.7:2817 10.0.0.1:80 0.000 0.048 0.000 201 201 34 366 "POST http://www.example.net:80/c HTTP/1.1" "x" - - arn:aws:tg "Root=1-58" "-" "-" 0 2024-01-02T03:04:06.500000Z "forward" "-" "-""#,
            r#"http 2024-01-02T03:04:07.600000Z app/front/50dc 192.0.2.7:2817 - -1 -1 -1 400 - 0 272 "- http://www.example.net:80- -" "-" - - - "-" "-" "-" - 2024-01-02T03:04:07.500000Z "-" "-" "-""#,
        ],
    ),
];

#[test]
fn each_format_is_detected_and_read() {
    for (name, lines) in LOGS {
        let text = lines.join("\r\n");
        let detected = detect_log_format(text.as_bytes()).map(|format| format.name);
        assert_eq!(detected, Some(name));
        let (requests, left_out) = requests(name, lines);
        let expected = [("GET /a?b=1".to_owned(), 1.0), ("POST /c".to_owned(), 1.0)];
        assert_eq!(requests, expected, "{name}");
        assert_eq!((left_out.count(), left_out.unreadable.count()), (1, 1), "{name}");
    }
}

#[test]
fn reads_the_timestamps_of_each_log_format() {
    for (name, lines) in LOGS {
        let imported = read_as(name, lines, &Wanted { unsafe_methods: true, times: true });
        let first = 1_704_164_645 * SECOND;
        let expected = match name {
            "caddy" | "traefik" | "alb" => [(first + SECOND / 4, 0), (first + 3 * SECOND / 2, 1)],
            _ => [(first, 0), (first + SECOND, 1)],
        };
        assert_eq!(imported.times, expected, "{name}");
        assert_eq!(imported.altered.without_zone, 0, "{name}");
    }
}

#[test]
fn accepts_many_field_names_and_value_forms_in_json_logs() {
    for (line, expected) in [
        (r#"{"@timestamp":"2024-01-02T03:04:05Z","method":"GET","url":"/a?b"}"#, Ok("GET /a?b")),
        (r#"{"ts":1704164645,"httpMethod":"GET","path":"/a","query":"?b"}"#, Ok("GET /a?b")),
        (r#"{"msec":"1704164645.1","verb":"GET","request_uri":"/a?b","args":"b"}"#, Ok("GET /a?b")),
        (
            r#"{"timestamp":"2024-01-02T03:04:05Z","httpRequest":{"requestMethod":"GET","requestUrl":"https://h/a"}}"#,
            Ok("GET /a"),
        ),
        (
            r#"{"time":1704164645123,"request":"5f1c","req":{"method":"GET","url":"/a"}}"#,
            Ok("GET /a"),
        ),
        (r#"{"time":"2024-01-02T03:04:05Z","request":"5f1c"}"#, Err("not METHOD TARGET VERSION")),
        (
            r#"{"time":"2024-01-02T03:04:05Z","method":"GET","uri":"-"}"#,
            Err("no request was received"),
        ),
        (r#"{"time":"yesterday","method":"GET","uri":"/"}"#, Err("no time in it")),
        (r#"{"time":null,"method":"GET","uri":"/"}"#, Err("no time in it")),
        (r#"{"time":"2024-01-02T03:04:05Z"}"#, Err("no request in it")),
        (r#"{"time":"2024"#, Err("not a JSON object")),
        ("[1]", Err("not a JSON object")),
    ] {
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(one("json", line), expected, "{line}");
    }
}

#[test]
fn requires_a_fields_line_for_w3c_logs_but_not_for_cloudfront() {
    assert_eq!(one("w3c", "2024-01-02 03:04:05 GET /").unwrap_err(), "no #Fields line before it");
    // Those of CloudFront are known.
    let line = "2024-01-02\t03:04:05\tFRA50-C1\t1\t::1\tGET\th\t/a\t200";
    assert_eq!(one("cloudfront", line).as_deref(), Ok("GET /a"));
}

#[test]
fn reads_times_without_a_zone_in_the_zone_of_the_others() {
    let line = |time: &str| format!(r#"{{"time":"{time}","request":"GET / HTTP/1.1"}}"#);
    let (bare, east) = (line("2024-01-02 05:04:05"), line("2024-01-02 05:04:06+02:00"));
    for (lines, without_zone, zone, first) in [
        (&[&*bare][..], 1, 0, 7_200),
        (&[&*bare, &*east, &*bare], 2, 7_200, 0),
        (&[&*east], 0, 7_200, 1),
    ] {
        let imported = read_as("json", lines, &Wanted { times: true, unsafe_methods: false });
        assert_eq!((imported.altered.without_zone, imported.altered.zone), (without_zone, zone));
        assert_eq!(imported.times[0].0, (1_704_164_645 + first) * SECOND);
    }
}
