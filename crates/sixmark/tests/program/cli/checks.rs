//! Checks of responses: what passes, and what is told of what does not.

use std::io::{Read as _, Write as _};
use std::process::Output;

use serde_json::{Value, json as value};
use sixmark_testkit::{Origin, Raw, json, sixmark};

use super::mix::files;
use crate::site::{Over, Site};

/// The SHA-256 of `abc` (FIPS 180-4, its first example).
const ABC: &str = "sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn run(site: &Site, over: Over, path: &str, check: &str) -> Value {
    let [v6, v4] = site.urls(path);
    json(&[over.options(), &["-n", "12", "-c", "4", "--expect", check, &v6, &v4]].concat())
}

fn outcomes(result: &Value) -> [u64; 2] {
    ["NORMAL", "CONTENT"].map(|name| result["total"]["outcomes"][name].as_u64().unwrap_or(0))
}

#[test]
fn each_check_passes_matching_responses_over_every_protocol() {
    for over in Over::ALL {
        let site = Site::start(over);
        for (path, check) in [
            ("/x", "status=200"),
            ("/x", "status=2xx"),
            ("/x", "size=3"),
            ("/x", ABC),
            ("/gzip", ABC),
            ("/br", ABC),
            ("/gzip", "size=26"),
            ("/br", "body~^abc$"),
            ("/json", "json:/a/1/b=c"),
            ("/json", "json:/a/0=1.0"),
            ("/x", "body~b"),
            ("/x", "header:Content-Type=text/plain"),
            ("/gzip", "header:content-encoding=gzip"),
            ("/fields", "header:X-Last=yes"),
        ] {
            let result = run(&site, over, path, check);
            assert_eq!(outcomes(&result), [12, 0], "{over:?} {path} {check}: {result:#}");
            assert_eq!(result["total"]["content"], value!([]));
        }
    }
}

/// A response to HEAD, or with status 204 or 304, has the fields of another content and none itself.
#[test]
fn does_not_decode_responses_without_content() {
    for over in [Over::Http1, Over::Https1] {
        let site = Site::start(over);
        let [v6, v4] = site.urls("/gzip");
        let load = ["-n", "12", "-c", "4", "-X", "HEAD", "--expect", "body~^$"];
        let result = json(&[over.options(), &load, &[&v6, &v4]].concat());
        assert_eq!(outcomes(&result), [12, 0], "{over:?}: {result:#}");
    }
    for status in ["204 No Content", "304 Not Modified", "200 OK"] {
        let answer =
            format!("HTTP/1.1 {status}\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n");
        let server = Raw::start(move |mut stream| {
            while stream.read(&mut [0; 4_096]).is_ok_and(|length| length > 0)
                && stream.write_all(answer.as_bytes()).is_ok()
            {}
        });
        let [v6, v4] = server.urls("http");
        let result = json(&["-n", "12", "-c", "4", "--expect", "body~^$", &v6, &v4]);
        assert_eq!(outcomes(&result), [12, 0], "{status}: {result:#}");
    }
}

#[test]
fn each_failed_check_reports_what_it_found_over_every_protocol() {
    for over in Over::ALL {
        let site = Site::start(over);
        for (path, check, found) in [
            ("/x", "status=404", "200"),
            ("/x", "size=4", "3"),
            ("/json", ABC, ""),
            ("/gzip", "body~abd", "abc"),
            ("/br", "size=8", "7"),
            ("/json", "json:/a/1/b=d", "c"),
            ("/x", "json:/a=1", "not JSON: abc"),
            ("/x", "header:Content-Type=text/html", "text/plain"),
            ("/x", "header:X-None=1", "no such field"),
        ] {
            let result = run(&site, over, path, check);
            let total = &result["total"];
            assert_eq!(outcomes(&result), [0, 12], "{over:?} {path} {check}: {result:#}");
            assert_eq!(
                (&total["content"][0]["check"], &total["content"][0]["count"]),
                (&value!(check), &value!(12))
            );
            let samples = total["content"][0]["samples"].as_array().unwrap();
            assert_eq!(samples.len(), 3);
            for sample in samples {
                let said = sample["found"].as_str().unwrap();
                assert!(said.contains(found), "{over:?} {path} {check}: {said}");
                assert_eq!((&sample["status"], &sample["request"]), (&value!(200), &value!("GET")));
            }
            // What was not what it was to be is no goodput, and no response time.
            assert_eq!(total["bytes"]["body"], 0);
            assert_eq!(total["response_us"]["count"], 0);
            let failure = &total["failures"][0];
            assert_eq!(
                (&failure["outcome"], &failure["phase"]),
                (&value!("CONTENT"), &value!("transfer"))
            );
            let warned = result["warnings"].as_array().unwrap().iter();
            assert!(warned.clone().any(|warning| warning["code"] == "content"));
        }
    }
}

/// There were answers: the last line must not deny them.
#[test]
fn reports_a_run_whose_responses_all_fail_a_check() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/3");
    let load = ["run", "-q", "-n", "20", "-c", "2", "--expect", "status=404"];
    let output = sixmark(&[&load[..], &[&v6, &v4]].concat());
    let said = complaint_among_warnings(&output);
    assert_eq!(said, "sixmark: all 20 responses failed a check, status=404 (found 200)");
    let output = sixmark(&[&load[..], &["-4", &v6, &v4]].concat());
    let said = complaint_among_warnings(&output);
    assert_eq!(said, "sixmark: all 20 responses over IPv4 failed a check, status=404 (found 200)");
}

/// The last line of a run that could not measure.
fn complaint_among_warnings(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    said.lines().last().unwrap().to_owned()
}

#[test]
fn checks_content_with_every_framing_and_driver() {
    let origin = Origin::start();
    for (path, size) in [("/bytes/300000", 300_000), ("/chunked/70000", 70_000), ("/drip/5/1", 5)] {
        let [v6, v4] = origin.urls(path);
        for more in [&["--driver", "epoll"][..], &["--driver", "uring"], &["--no-keep-alive"]] {
            let (right, wrong) = (format!("size={size}"), format!("size={}", size + 1));
            let options = [&["-n", "8", "-c", "2"], more].concat();
            let good = json(&[&options[..], &["--expect", &right, &v6, &v4]].concat());
            assert_eq!(outcomes(&good), [8, 0], "{path} {more:?}");
            let bad = json(&[&options[..], &["--expect", &wrong, &v6, &v4]].concat());
            assert_eq!(outcomes(&bad), [0, 8], "{path} {more:?}");
        }
    }
}

#[test]
fn each_request_of_a_mix_has_its_own_checks() {
    let mix = "[[request]]\npath = '/x'\nexpect = ['size=3']\n\
               [[request]]\nname = 'second'\npath = '/json'\nexpect = ['size=3']\n\
               [[request]]\npath = '/{{seq}}'\n";
    for over in Over::ALL {
        let site = Site::start(over);
        let [v6, v4] = site.urls("/");
        let (_folder, file) = files(&[("mix.toml", mix)]);
        let options = ["-n", "60", "-c", "4", "-t", "1", "--requests", &file, "--rate", "600"];
        let result = json(&[over.options(), &options, &[&v6, &v4]].concat());
        assert_eq!(outcomes(&result), [40, 20], "{over:?}: {result:#}");
        let content = &result["total"]["content"][0];
        assert_eq!((&content["check"], &content["count"]), (&value!("size=3"), &value!(20)));
        assert_eq!(content["samples"][0]["request"], "second");
    }
}
