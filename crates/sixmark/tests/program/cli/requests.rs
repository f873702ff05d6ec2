//! Mixes of requests: from request files, HAR files and access logs.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json as value};
use sixmark_plan::import::LOG_FORMATS;
use sixmark_plan::plan::requests;
use sixmark_testkit::{Origin, complaint, document, json, sixmark};
use tempfile::TempDir;

/// A folder with one file.
fn file(name: &str, text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path.to_str().unwrap().to_owned())
}

fn shown(result: &Value, field: &str) -> Vec<Value> {
    let shown = result["plan"]["requests"]["shown"].as_array().unwrap().iter();
    shown.map(|request| request[field].clone()).collect()
}

const MIX: &str = r#"
[[request]]
name = "look"
path = "/bytes/{{line sizes 1}}"
weight = 3
expect = ["status=200"]
[[request]]
path = "/sink"
json = { user = "{{uuid}}" }
"#;

#[test]
fn merges_a_request_file_with_command_line_options() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/");
    let (folder, path) = file("mix.toml", MIX);
    std::fs::write(folder.path().join("sizes"), "10,a\n20,b\n").unwrap();
    let options = ["-n", "8", "--requests", &path, "-H", "X-A: b", "--expect", "status=2xx"];
    let result = json(&[&options[..], &[&v6, &v4]].concat());
    assert_eq!(result["plan"]["requests"]["number"], 2);
    assert_eq!(shown(&result, "name"), ["look", "POST /sink"]);
    assert_eq!(shown(&result, "weight"), [3.0, 1.0]);
    assert_eq!(shown(&result, "path"), ["/bytes/{{line sizes 1}}", "/sink"]);
    assert_eq!(
        shown(&result, "expect"),
        [value!(["status=2xx", "status=200"]), value!(["status=2xx"])]
    );
    let headers =
        [value!([["X-A", "b"]]), value!([["Content-Type", "application/json"], ["X-A", "b"]])];
    assert_eq!(shown(&result, "headers"), headers);
}

#[test]
fn reports_request_file_errors_in_one_line_with_their_place() {
    for (text, part) in [
        ("[[request]]\nwieght = 1\n", "mix.toml:2: unknown field `wieght`"),
        (
            "[[request]]\npath = '/{{line none}}'\n",
            "mix.toml:2: '{{line none}}': none: No such file",
        ),
        ("[[request]]\nexpect = ['x=1']\n", "mix.toml:2: 'x=1': not a check"),
        ("", "mix.toml: there are no requests; write a [[request]]"),
        ("[[request]]\nweight = 'x'\n", "mix.toml:2: expected a number, found string \"x\""),
        ("[request]\n", "mix.toml:1: expected [[request]] in double brackets, found a table"),
        ("name,age\n", "use --requests-format har or log (formats of logs: combined, caddy, "),
    ] {
        let (_folder, path) = file("mix.toml", text);
        let said = complaint(&sixmark(&["run", "--requests", &path, "http://127.0.0.1:1/"]), 2);
        assert!(said.contains(part), "{text}: {said}");
    }
    let (_folder, path) = file("mix.toml", MIX);
    for option in ["--replay", "--unsafe-methods", "--har-host=a"] {
        let arguments = ["run", "--requests", &path, option, "http://127.0.0.1:1/"];
        let said = complaint(&sixmark(&arguments), 2);
        assert!(said.contains("is a request file, "), "{said}");
    }
    let both = ["--requests-format=toml", "--log-format=json"];
    let arguments = [&["run", "--requests", &path], &both[..], &["http://127.0.0.1:1/"]].concat();
    let said = complaint(&sixmark(&arguments), 2);
    assert!(said.contains("is not read as an access log; omit --requests-format"), "{said}");
    let said = complaint(&sixmark(&["run", "--requests", "no-such-file", "http://[::1]:1/"]), 2);
    assert!(said.contains("no-such-file"), "{said}");
}

/// Ten lines in two seconds, two of which are no requests to be repeated.
fn log() -> String {
    let line = |second: u32, request: &str| {
        format!("::1 - - [10/Oct/2000:13:55:{second} +0000] \"{request}\" 200 5 \"-\" \"x\"\n")
    };
    let mut text: String = (0..8).map(|k| line(30 + k / 4, "GET /bytes/10 HTTP/1.1")).collect();
    text.push_str(&line(31, "POST /sink HTTP/1.1"));
    text.push_str(&line(31, "-"));
    text
}

#[test]
fn builds_a_mix_from_an_access_log_and_reports_skipped_lines() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/");
    let (_folder, path) = file("access.log", &log());
    let arguments = ["run", "--quiet", "--json", "-", "-n", "10", "--requests", &path, &v6, &v4];
    let output = sixmark(&arguments);
    let result = document(&output);
    assert_eq!(shown(&result, "name"), ["GET /bytes/10"]);
    assert_eq!(shown(&result, "weight"), [8.0]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(": not sent") && said.contains("--unsafe-methods"), "{said}");
    let unreadable = "1 line unreadable (no request was received: 1, number 10)";
    assert!(said.contains(unreadable), "{said}");
    let result = json(&["-n", "10", "--unsafe-methods", "--requests", &path, &v6, &v4]);
    assert_eq!(shown(&result, "method"), ["GET", "POST"]);
}

/// What stands in an archive or on a host of containers is replayed as it lies there.
#[test]
fn reads_gzip_zstd_and_docker_json_logs() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/");
    let plain = log();
    let wrap = |line: &str| {
        let time = "2024-01-02T03:04:05.123456789Z";
        format!("{}\n", value!({"log": format!("{line}\n"), "stream": "stdout", "time": time}))
    };
    let docker: String = plain.lines().map(wrap).collect();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(docker.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = compress_to_vec(plain.as_bytes(), CompressionLevel::Fastest);
    for (name, bytes) in [("json-file", docker.as_bytes()), ("gz", &gzip), ("zst", &zstd)] {
        let (folder, path) = file(name, "");
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let result = json(&["-n", "10", "--requests", &path, &v6, &v4]);
        assert_eq!(shown(&result, "name"), ["GET /bytes/10"], "{name}");
        assert_eq!(shown(&result, "weight"), [8.0], "{name}");
    }
    let (folder, path) = file("cut", "");
    std::fs::write(folder.path().join("cut"), &gzip[..gzip.len() - 9]).unwrap();
    let said = complaint(&sixmark(&["run", "-n", "1", "--requests", &path, &v6]), 2);
    assert!(said.contains("can't read the requests"), "{said}");
}

#[test]
fn a_replay_sends_the_recorded_number_of_requests_and_ends() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let (_folder, path) = file("access.log", &log());
    for (option, speed) in [("--replay=10x", 10.0), ("--replay=4", 4.0)] {
        let result = json(&[option, "-t", "2", "--requests", &path, &v6, &v4]);
        assert_eq!(result["plan"]["load"]["pace"]["timetable"]["entries"], 8);
        assert_eq!(result["plan"]["load"]["pace"]["timetable"]["speed"], speed);
        assert_eq!(result["ended"], "complete");
        // What a busy machine could not begin before the end is counted as well.
        let requests = &result["total"]["requests"];
        let number = |name: &str| requests[name].as_u64().unwrap();
        assert_eq!(number("sent") + number("unsent") + number("dropped"), 8, "{requests}");
    }
    let arguments = ["run", "--requests", &path, "--replay", "--warmup", "1s", &v4];
    assert!(complaint(&sixmark(&arguments), 2).contains("--warmup"));
}

fn har(urls: &[String]) -> String {
    let entries: Vec<_> = urls
        .iter()
        .map(|url| {
            let request = value!({"method": "GET", "url": url, "headers": []});
            value!({"startedDateTime": "2024-01-02T03:04:05Z", "request": request})
        })
        .collect();
    value!({"log": {"entries": entries}}).to_string()
}

#[test]
fn selects_har_entries_by_target_host_or_har_host_option() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let elsewhere = "https://cdn.example/x.js".to_owned();
    let (_folder, path) = file("a.har", &har(&[v6.clone(), v4.clone(), elsewhere]));
    let options = ["-n", "4", "--requests", &path];
    let result = json(&[&options[..], &[&v6, &v4]].concat());
    assert_eq!(shown(&result, "weight"), [2.0]);
    let codes: Vec<_> =
        result["warnings"].as_array().unwrap().iter().map(|w| w["code"].clone()).collect();
    assert!(codes.contains(&value!("requests_left_out")), "{codes:?}");
    let named = ["--har-host", "CDN.example"];
    let result = json(&[&options[..], &named, &[&v6, &v4]].concat());
    assert_eq!(shown(&result, "path"), ["/x.js"]);
    let arguments = ["run", "--requests", &path, "--har-host", "other.example", &v4];
    let said = complaint(&sixmark(&arguments), 2);
    assert!(said.contains("none of its entries can be sent: 3 to other hosts"), "{said}");
    assert!(said.contains("cdn.example 1"), "{said}");
}

#[test]
fn sends_usable_har_entries_and_reports_the_unreadable_ones() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let headers = value!([{"name": "X-A", "value": null}, {"name": null, "value": "b"}]);
    let time = "2024-01-02T03:04:05";
    let entries = value!([
        {"startedDateTime": time, "request": {"method": "GET", "url": v6, "headers": headers}},
        {"startedDateTime": time, "request": {"method": "GET", "url": null}},
        {"startedDateTime": time},
        null,
        {"startedDateTime": time, "request": {"method": "GET", "url": v4, "headers": null}},
    ]);
    let (_folder, path) = file("a.har", &value!({"log": {"entries": entries}}).to_string());
    let arguments = ["run", "--quiet", "--json", "-", "--replay", "--requests", &path, &v6, &v4];
    let output = sixmark(&arguments);
    let result = document(&output);
    assert_eq!(shown(&result, "headers"), [value!([["X-A", ""]]), value!([])]);
    let warnings = result["warnings"].as_array().unwrap();
    let message = |code: &str| {
        let found = warnings.iter().find(|warning| warning["code"] == code);
        found.and_then(|warning| warning["message"].as_str()).unwrap().to_owned()
    };
    let left_out = message("requests_left_out");
    assert!(left_out.starts_with("3 entries unreadable ("), "{left_out}");
    assert!(left_out.contains("a request without a URL: 1, number 2; no request: 1, number 3"));
    let changed = message("requests_changed");
    assert!(changed.contains("a header field without a name: 1, number 1"), "{changed}");
    assert!(changed.ends_with("2 entries have a time without a zone: read as UTC"), "{changed}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&left_out) && said.contains(&changed), "{said}");
    // Nothing is left.
    let (_folder, path) = file("a.har", "{\"log\": {\"entries\": [{}, 5]}}");
    let said = complaint(&sixmark(&["run", "--requests", &path, &v4]), 2);
    assert!(said.contains("none of its entries can be sent: 2 entries unreadable ("), "{said}");
}

#[test]
fn reads_json_and_w3c_logs_and_rejects_unknown_formats() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/");
    let nginx = "{\"msec\":\"1704164645.1\",\"method\":\"GET\",\"uri\":\"/bytes/1\"}\n\
                {\"msec\":\"1704164645.2\",\"request\":\"GET http://h?next=/home HTTP/1.1\"}\n";
    let iis = "#Fields: date time cs-method cs-uri-stem cs-uri-query\n\
               2024-01-02 03:04:05 GET /bytes/1 -\n2024-01-02 03:04:06 GET / next=/home\n";
    for (text, options) in [
        (nginx, &[][..]),
        (nginx, &["--log-format", "json"]),
        (iis, &["--log-format=w3c"]),
        (iis, &[]),
    ] {
        let (_folder, path) = file("access.log", text);
        let result = json(&[options, &["-n", "4", "--requests", &path, &v6, &v4]].concat());
        assert_eq!(shown(&result, "path"), ["/bytes/1", "/?next=/home"]);
    }
    let odd = "{\"at\": \"noon\", \"what\": \"GET /\"}\n{\"at\": \"one\", \"what\": \"GET /\"}\n";
    let (_folder, path) = file("odd.log", odd);
    let said = complaint(&sixmark(&["run", "--requests", &path, &v4]), 2);
    assert!(said.contains("in a known format (combined, caddy, traefik, json, "), "{said}");
    let arguments = ["run", "--requests", &path, "--log-format", "alb", &v4];
    let said = complaint(&sixmark(&arguments), 2);
    assert!(said.contains("none of its lines can be sent: 2 lines unreadable"), "{said}");
}

/// The page's table names every format, and no other.
#[test]
fn the_documentation_names_each_format_of_logs() {
    let page = include_str!("../../../../../docs/requests.md");
    let rows = page.split("| `--log-format` |").nth(1).unwrap().split("\n\n").next().unwrap();
    let named = rows.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(named.collect::<Vec<_>>(), LOG_FORMATS.each_ref().map(|format| format.name));
}

/// The page's own example is one that works.
#[test]
fn the_example_of_the_documentation_is_a_request_file() {
    let page = include_str!("../../../../../docs/requests.md");
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let mut open = |name: &str| match name {
        "people.csv" => Ok(b"ann,Aachen\nbob,Bonn\n".to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let mix = requests::parse_requests(example, &mut open).unwrap();
    assert!(mix.len() > 2 && mix.iter().any(|request| !request.is_constant()));
}

#[test]
fn rejects_a_templated_te_header_over_http2_and_http3() {
    let (_folder, path) = file("mix.toml", "[[request]]\nheaders = { TE = '{{seq}}' }\n");
    let run = ["run", "--requests", &path, "-n", "1"];
    for spoken in [
        &["--http2-prior-knowledge", "http://127.0.0.1:1/"][..],
        &["--http3", "https://127.0.0.1:1/"],
    ] {
        let said = complaint(&sixmark(&[&run[..], spoken].concat()), 2);
        assert!(said.contains("header te can't be filled in"), "{said}");
    }
}

#[test]
fn each_request_of_a_mix_has_figures_of_its_own() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/");
    let mix = r#"
        [[request]]
        name = "look"
        path = "/bytes/1000"
        weight = 3
        [[request]]
        path = "/status/404"
        [[request]]
        name = "broken"
        path = "/reset"
    "#;
    let (_folder, path) = file("mix.toml", mix);
    let result = json(&["-n", "100", "-c", "4", "-t", "2", "--requests", &path, &v6, &v4]);
    let sum = |of: &Value, field: &str| -> u64 {
        let all = of["by_request"].as_array().unwrap().iter();
        all.map(|request| request.pointer(field).and_then(Value::as_u64).unwrap_or(0)).sum()
    };
    for family in [&result["families"]["ipv6"], &result["families"]["ipv4"], &result["total"]] {
        let number = |path: &str| family.pointer(path).and_then(Value::as_u64).unwrap();
        let all: Vec<_> = family["by_request"].as_array().unwrap().iter().collect();
        let names: Vec<_> = all.iter().map(|of| of["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["look", "GET /status/404", "broken"]);
        let of = |field: &str| all.iter().map(|of| of[field].clone()).collect::<Vec<_>>();
        let fifth = number("/requests/sent") / 5;
        assert_eq!(of("sent"), [3 * fifth, fifth, fifth]);
        assert_eq!(of("completed"), [3 * fifth, fifth, 0]);
        assert_eq!(of("failed"), [0, fifth, fifth]);
        let statuses = [value!({"200": 3 * fifth}), value!({"404": fifth}), value!({})];
        assert_eq!(of("status"), statuses);
        assert_eq!(all[2]["outcomes"], value!({"NORMAL": 0, "RESET": fifth}));
        for field in ["sent", "completed", "unaccepted"] {
            let whole = number(&format!("/requests/{field}"));
            assert_eq!(sum(family, &format!("/{field}")), whole, "{field}");
        }
        assert_eq!(sum(family, "/response_us/count"), number("/response_us/count"));
    }
    let single = json(&["-n", "4", &v6, &v4]);
    assert_eq!(single["total"]["by_request"], value!([]));
}

#[test]
fn names_the_failing_request_of_a_mix_in_text_html_and_csv() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/");
    let request =
        |name: &str, path: &str| format!("[[request]]\nname = \"{name}\"\npath = \"{path}\"\n");
    let mix = [("a", "/bytes/10"), ("fails", "/status/503"), ("c", "/bytes/20")];
    let (folder, path) = file("mix.toml", &mix.map(|(name, path)| request(name, path)).concat());
    let [page, result] = ["page.html", "result.json"]
        .map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let load = ["run", "-n", "60", "--requests", &path, "--html", &page, "--json", &result];
    let output = sixmark(&[&load[..], &[&v6, &v4]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let said = "Requests of the mix that failed: fails (10 of 10 over IPv6, 10 of 10 over IPv4).";
    assert!(text.replace('\n', " ").contains(said), "{text}");
    let rows: Vec<Vec<&str>> = text
        .split("REQUESTS OF THE MIX")
        .nth(1)
        .unwrap()
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let begin = rows.iter().position(|row| row == &["fails"]).unwrap();
    assert_eq!(
        (rows[begin + 1][..3].join(" "), rows[begin + 1].last()),
        ("IPv6 10 10".into(), Some(&"10"))
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(said) && page.contains("503: 10"), "{page}");
    let lines = sixmark(&["report", "--csv", &result]);
    let lines = String::from_utf8(lines.stdout).unwrap();
    for line in
        ["request,1,ipv6,name,fails", "request,1,ipv6,failed,10", "request,1,ipv6,status.503,10"]
    {
        assert!(lines.contains(line), "{line}");
    }
}
