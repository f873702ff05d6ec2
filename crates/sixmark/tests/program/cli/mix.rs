//! Mixes as a server sees them: how often each request comes, and what is filled in.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json as value;
use sixmark_testkit::json;
use sixmark_units::family::Family;
use tempfile::TempDir;

use crate::site::{Asked, Over, Site};

/// A folder with these files, and the path of the first.
pub(crate) fn files(files: &[(&str, &str)]) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    let path = folder.path().join(files[0].0).to_str().unwrap().to_owned();
    (folder, path)
}

/// What the site was asked for by a run that loads it with these options, none of which failed.
pub(crate) fn ask(site: &Site, over: Over, options: &[&str]) -> Vec<Asked> {
    let [v6, v4] = site.urls("/own");
    let result = json(&[over.options(), options, &[&v6, &v4]].concat());
    let asked = site.asked();
    assert_eq!(result["total"]["requests"]["completed"], asked.len(), "{over:?}: {result:#}");
    asked
}

fn counts<K: Ord>(asked: &[Asked], key: impl Fn(&Asked) -> K) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    asked.iter().for_each(|asked| *counts.entry(key(asked)).or_default() += 1);
    counts
}

fn paths(asked: &[Asked]) -> BTreeMap<(Family, String), u64> {
    counts(asked, |asked| (asked.family, asked.path.clone()))
}

/// The same of both families.
fn of_both(paths: &[(&str, u64)]) -> BTreeMap<(Family, String), u64> {
    let of = |family| paths.iter().map(move |&(path, n)| ((family, path.to_owned()), n));
    Family::BOTH.into_iter().flat_map(of).collect()
}

const WEIGHTS: &str = r#"
[[request]]
path = "/a"
weight = 3
[[request]]
method = "POST"
path = "/b"
body = "content"
[[request]]
weight = 0.5
[[request]]
method = "HEAD"
path = "/d"
weight = 0.5
"#;

#[test]
fn sends_each_family_the_mix_by_weight_over_every_protocol() {
    for over in Over::ALL {
        let site = Site::start(over);
        let (_folder, file) = files(&[("mix.toml", WEIGHTS)]);
        for more in [
            &["-t", "1"][..],
            &["-t", "2"],
            &["--requests-per-connection", "3"],
            &["--driver", "epoll"],
        ] {
            let options = [&["-n", "400", "-c", "4", "--requests", &file, "-H", "X: y"], more];
            let asked = ask(&site, over, &options.concat());
            let expected = [("/a", 120), ("/b", 40), ("/own", 20), ("/d", 20)];
            assert_eq!(paths(&asked), of_both(&expected), "{over:?} {more:?}");
            assert!(asked.iter().all(|asked| asked.field("x") == Some("y")));
            let methods = counts(&asked, |asked| (asked.method.clone(), asked.body.clone()));
            let of = |method: &str, body: &str| methods[&(method.to_owned(), body.to_owned())];
            let found = [of("GET", ""), of("POST", "content"), of("HEAD", "")];
            assert_eq!(found, [280, 80, 40], "{over:?} {more:?}");
        }
    }
}

const TEMPLATES: &str = r#"
[[request]]
path = "/n/{{rand 3 5}}/{{line users 1}}?seq={{seq}}"
headers = { X-Id = "{{uuid}}", X-City = "{{line users 2}}", X-Seq = "{{seq}}" }
[[request]]
method = "POST"
path = "/post"
body = "seq={{seq}} {{line users}}"
"#;

#[test]
fn templates_are_filled_in_for_each_request() {
    let users = "a/b,Aachen\nbob,Bonn\neve,Essen\n";
    for over in Over::ALL {
        let site = Site::start(over);
        let (_folder, file) = files(&[("mix.toml", TEMPLATES), ("users", users)]);
        let options = ["-n", "120", "-t", "2", "-c", "6", "--requests", &file];
        let stamps: &[&str] = if over == Over::Http1 { &["--timestamps", "kernel"] } else { &[] };
        for more in [&[][..], &["--driver", "epoll"], stamps] {
            let asked = ask(&site, over, &[&options, more].concat());
            are_filled_in(&asked, users);
        }
    }
}

fn are_filled_in(asked: &[Asked], users: &str) {
    let (mut numbers, mut ids) = (BTreeSet::new(), BTreeSet::new());
    for asked in asked {
        let number = match asked.method.as_str() {
            "POST" => {
                let (seq, line) = asked.body.split_once(' ').unwrap();
                assert!(users.lines().any(|user| user == line), "{line}");
                assert_eq!(asked.field("content-length"), Some(&*asked.body.len().to_string()));
                seq.strip_prefix("seq=").unwrap().to_owned()
            }
            _ => get(asked, &mut ids),
        };
        assert!(numbers.insert(number.parse::<u64>().unwrap()), "{number} twice");
    }
    assert_eq!(numbers, (0..120).collect());
    assert_eq!(ids.len(), 60);
}

fn get(asked: &Asked, ids: &mut BTreeSet<String>) -> String {
    let (path, seq) = asked.path.split_once("?seq=").unwrap();
    let words: Vec<&str> = path.split('/').collect();
    let ["", "n", number, user] = words[..] else { panic!("{path}") };
    assert!(["3", "4", "5"].contains(&number), "{path}");
    // Name and city are of the same line.
    let both = (user, asked.field("x-city").unwrap());
    let lines = [("a%2Fb", "Aachen"), ("bob", "Bonn"), ("eve", "Essen")];
    assert!(lines.contains(&both), "{both:?}");
    assert_eq!(asked.field("x-seq"), Some(seq));
    ids.insert(asked.field("x-id").unwrap().to_owned());
    seq.to_owned()
}

#[test]
fn line_templates_cycle_through_the_file_in_order() {
    for over in Over::ALL {
        let site = Site::start(over);
        let mix = "[[request]]\npath = '{{line paths}}'\n";
        let (_folder, file) = files(&[("mix.toml", mix), ("paths", "/x?y=z\n/k l\n/m%20n\n")]);
        let asked = ask(&site, over, &["-n", "5", "-c", "1", "-t", "1", "--requests", &file]);
        let mut found: Vec<_> = asked.iter().map(|asked| asked.path.as_str()).collect();
        let mut expected = ["/x?y=z", "/k%20l", "/m%20n", "/x?y=z", "/k%20l"];
        if over.has_streams() {
            // A server takes up those that came together in any order.
            found.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(found, expected, "{over:?}");
    }
}

#[test]
fn sends_long_bodies_of_templated_requests_whole() {
    let mix = format!("[[request]]\npath = '/p'\nbody = '{{{{seq}}}} {}'\n", "x".repeat(300_000));
    let head = "[[request]]\nmethod = 'PUT'\npath = '/{{seq}}'\nbody_file = 'long'\n";
    for over in Over::ALL {
        let site = Site::start(over);
        let long = "y".repeat(300_000);
        let (_folder, file) = files(&[("mix.toml", &(mix.clone() + head)), ("long", &long)]);
        let asked = ask(&site, over, &["-n", "16", "-c", "4", "--requests", &file]);
        let whole = |asked: &Asked| match asked.method.as_str() {
            "PUT" => asked.body == long,
            _ => asked.body.len() > 300_000 && asked.body.ends_with("xxx"),
        };
        assert!(asked.iter().all(whole), "{over:?}");
    }
}

/// Forty requests in two seconds, a quarter of them for the one path.
fn log() -> String {
    let line = |second: u32, path: &str| {
        format!("::1 - - [10/Oct/2000:13:55:{second:02} +0000] \"GET {path} HTTP/1.1\" 200 5\n")
    };
    (0..40).map(|k| line(k / 20, if k % 4 == 0 { "/a{{b}}" } else { "/c" })).collect()
}

#[test]
fn sends_access_log_requests_in_their_logged_proportions() {
    let site = Site::start(Over::Http1);
    let (_folder, file) = files(&[("access.log", &log())]);
    let asked = ask(&site, Over::Http1, &["-n", "80", "-t", "1", "--requests", &file]);
    assert_eq!(paths(&asked), of_both(&[("/a{{b}}", 10), ("/c", 30)]));
}

#[test]
fn a_replay_sends_each_line_of_a_log_once() {
    let site = Site::start(Over::Http1);
    let (_folder, file) = files(&[("access.log", &log())]);
    let [v6, v4] = site.urls("/own");
    for threads in ["1", "2"] {
        let result = json(&["-t", threads, "--replay=4x", "--requests", &file, &v6, &v4]);
        let asked = site.asked();
        let count = |what: &str| result["total"]["requests"][what].as_u64().unwrap();
        assert_eq!(count("sent") + count("unsent"), 40);
        assert!((count("completed")..=count("sent")).contains(&(asked.len() as u64)));
        // On a busy machine the end may come first.
        if count("completed") == 40 {
            let found = counts(&asked, |asked| asked.path.clone());
            assert_eq!(found, [("/a{{b}}".to_owned(), 10), ("/c".to_owned(), 30)].into());
            let families = counts(&asked, |asked| asked.family);
            assert_eq!(families.into_values().collect::<Vec<_>>(), [20, 20]);
        }
    }
}

#[test]
fn sends_har_requests_with_headers_and_body_but_without_cookies() {
    let entry = |method: &str, path: &str, text: &str| {
        let headers = value!([{"name": "X-Har", "value": "1"}, {"name": "Cookie", "value": "s=1"}]);
        let post = value!({"mimeType": "text/plain", "text": text});
        let url = format!("http://example.net{path}");
        let request = value!({"method": method, "url": url, "headers": headers, "postData": post});
        value!({"startedDateTime": "2024-01-02T03:04:05Z", "request": request})
    };
    let entries = [entry("GET", "/a", ""), entry("GET", "/a", ""), entry("POST", "/b", "text")];
    let har = value!({"log": {"entries": entries}}).to_string();
    for over in Over::ALL {
        let site = Site::start(over);
        let (_folder, file) = files(&[("a.har", &har)]);
        let named = ["--har-host", "example.net", "--unsafe-methods", "-H", "X-All: 2"];
        let options = [&["-n", "60", "-t", "1", "--requests", &file], &named[..]].concat();
        let asked = ask(&site, over, &options);
        assert_eq!(paths(&asked), of_both(&[("/a", 20), ("/b", 10)]), "{over:?}");
        let fields =
            |a: &Asked| ["x-har", "x-all", "cookie"].map(|n| a.field(n).map(str::to_owned));
        let expected = [Some("1".to_owned()), Some("2".to_owned()), None];
        assert!(asked.iter().all(|asked| fields(asked) == expected), "{over:?}");
        assert!(asked.iter().all(|a| a.path == "/a" || a.body == "text"), "{over:?}");
    }
}

#[test]
fn a_mix_keeps_its_weights_at_any_pace() {
    let site = Site::start(Over::Http1);
    let (_folder, file) = files(&[("mix.toml", WEIGHTS)]);
    for pace in [
        &["--rate", "400", "-d", "1s"][..],
        &["--steps", "200:500ms,600:500ms"],
        &["--rate", "400", "-n", "400", "--arrivals", "poisson"],
        &["--rate", "400", "-d", "500ms", "--warmup", "500ms"],
    ] {
        let (asked, cut_off) = ask_all(&site, &[pace, &["-t", "1", "--requests", &file]].concat());
        let found = counts(&asked, |asked| asked.path.clone());
        // A mix for each address, in the warm-up and after it.
        assert!(most_off(&found) <= 4.0 + cut_off, "{pace:?}: {found:?}, {cut_off} cut off");
    }
}

#[test]
fn a_search_for_the_highest_rate_sends_the_mix() {
    let site = Site::start(Over::Http1);
    let (_folder, file) = files(&[("mix.toml", WEIGHTS)]);
    let search = ["--find-max", "response.max <= 1ns", "--rate", "1000", "-d", "200ms"];
    let options = [&search[..], &["--requests", &file]].concat();
    let [v6, v4] = site.urls("/own");
    let result = json(&[&options[..], &[&v6, &v4]].concat());
    let trials = ["ipv6", "ipv4"].map(|family| {
        let found = &result["find_max"]["families"][family];
        found["trials"].as_array().unwrap_or_else(|| panic!("{found}")).clone()
    });
    let found = counts(&site.asked(), |asked| asked.path.clone());
    let count = |what: &str| {
        trials.iter().flatten().map(|trial| trial["requests"][what].as_f64().unwrap()).sum::<f64>()
    };
    // Each trial begins a mix in its warm-up and another one after it. Its end cuts off the rest.
    let most = 2.0 * trials.concat().len() as f64 + count("sent") - count("completed");
    assert!(most_off(&found) <= most, "{found:?} of {} trials", trials.concat().len());
}

/// By how many requests the path that is furthest from its share of [`WEIGHTS`] is off.
fn most_off(found: &BTreeMap<String, u64>) -> f64 {
    let all = found.values().sum::<u64>() as f64;
    let off = [("/a", 0.6), ("/b", 0.2), ("/own", 0.1), ("/d", 0.1)].map(|(path, share)| {
        let count = found.get(path).copied().unwrap_or(0) as f64;
        (count - share * all).abs()
    });
    off.into_iter().fold(0.0, f64::max)
}

/// As [`ask`], where exchanges of the warm-up were sent too. With how many the end cut off, which the site
/// may have seen or not.
fn ask_all(site: &Site, options: &[&str]) -> (Vec<Asked>, f64) {
    let [v6, v4] = site.urls("/own");
    let result = json(&[options, &[&v6, &v4]].concat());
    let requests = &result["total"]["requests"];
    let [sent, completed] = ["sent", "completed"].map(|what| requests[what].as_f64().unwrap());
    (site.asked(), sent - completed)
}
