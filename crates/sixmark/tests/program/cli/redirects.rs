//! Redirects that are followed, and cookies that are kept.

use std::collections::BTreeMap;

use serde_json::Value;
use sixmark_testkit::json;

use super::mix::files;
use crate::site::{Asked, Over, Site};

/// A run with these options to `path`, and what the site was asked for.
fn run(site: &Site, over: Over, path: &str, options: &[&str]) -> (Value, Vec<Asked>) {
    let [v6, v4] = site.urls(path);
    let result = json(&[over.options(), options, &[&v6, &v4]].concat());
    (result, site.asked())
}

fn requests(result: &Value) -> [u64; 4] {
    ["sent", "completed", "redirects", "followed"]
        .map(|which| result["total"]["requests"][which].as_u64().unwrap())
}

fn asked_for(asked: &[Asked], path: &str) -> usize {
    asked.iter().filter(|asked| asked.path == path).count()
}

#[test]
fn does_not_follow_redirects_by_default() {
    for over in Over::ALL {
        let site = Site::start(over);
        let (result, asked) = run(&site, over, "/to/302", &["-n", "6"]);
        assert_eq!((requests(&result), asked.len()), ([6, 6, 6, 0], 6), "{over:?}");
    }
}

#[test]
fn follows_a_redirect_chain_and_checks_only_the_last_response() {
    for over in Over::ALL {
        let site = Site::start(over);
        for more in
            [&["-c", "3"][..], &["-c", "4", "--rate", "300"], &["--requests-per-connection", "1"]]
        {
            let options = [&["-n", "6", "--location", "--expect", "body~^abc$"], more].concat();
            let (result, asked) = run(&site, over, "/steps/2", &options);
            let found = (requests(&result), asked.len());
            assert_eq!(found, ([24, 24, 18, 18], 24), "{over:?} {more:?}: {result:#}");
            for path in ["/steps/2", "/steps/1", "/steps/0", "/end"] {
                assert_eq!(asked_for(&asked, path), 6, "{over:?} {more:?} {path}");
            }
            let followed = &result["families"]["ipv6"]["requests"]["followed"];
            assert_eq!(*followed, 9, "{over:?} {more:?}");
        }
    }
}

#[test]
fn stops_a_redirect_loop_after_ten_redirects() {
    for over in Over::ALL {
        let site = Site::start(over);
        let (result, asked) = run(&site, over, "/loop", &["-n", "4", "--location"]);
        assert_eq!((requests(&result), asked.len()), ([44, 44, 44, 40], 44), "{over:?}");
        assert_eq!(result["total"]["requests"]["cut_chains"], 4, "{over:?}");
        let warnings = result["warnings"].to_string();
        assert!(warnings.contains("2 chains of 10 redirects (--location) were"), "{warnings}");
        // The last one is what there is to check.
        let options = ["-n", "4", "--location", "--expect", "status=200"];
        let (result, _) = run(&site, over, "/loop", &options);
        assert_eq!(result["total"]["outcomes"]["CONTENT"], 4, "{over:?}");
    }
}

#[test]
fn changes_method_and_body_on_redirects_as_browsers_do() {
    for over in Over::ALL {
        let site = Site::start(over);
        for (status, method, body) in [
            (301, "GET", ""),
            (302, "GET", ""),
            (303, "GET", ""),
            (307, "POST", "x=1"),
            (308, "POST", "x=1"),
        ] {
            let field = ["-H", "Content-Type: a/b", "-H", "X: y"];
            let options = [&["-n", "2", "--location", "--body", "x=1"], &field[..]].concat();
            let (_, asked) = run(&site, over, &format!("/to/{status}"), &options);
            let last: Vec<_> = asked.iter().filter(|a| a.path == "/end?of=it").collect();
            assert_eq!(last.len(), 2, "{over:?} {status}");
            for asked in last {
                let found = (asked.method.as_str(), asked.body.as_str(), asked.field("x"));
                assert_eq!(found, (method, body, Some("y")), "{over:?} {status}");
                assert_eq!(asked.head.contains_key("content-type"), method == "POST");
            }
        }
        let (_, asked) = run(&site, over, "/to/303", &["-n", "2", "--location", "-X", "HEAD"]);
        assert!(asked.len() == 4 && asked.iter().all(|asked| asked.method == "HEAD"), "{over:?}");
    }
}

#[test]
fn does_not_follow_redirects_to_other_targets_or_bad_locations() {
    for over in Over::ALL {
        let site = Site::start(over);
        let away = if over.is_secure() {
            "the Location leads to another target (http://, without TLS)"
        } else {
            "the Location leads to another target (host or port)"
        };
        for (path, why) in [
            ("/away", away),
            ("/wrong", "the Location is not a valid URL or path"),
            ("/nowhere", "there is no Location"),
            // An empty one is none, as in browsers.
            ("/empty", "there is no Location"),
        ] {
            let (result, asked) = run(&site, over, path, &["-n", "4", "--location"]);
            assert_eq!((requests(&result), asked.len()), ([4, 4, 4, 0], 4), "{over:?} {path}");
            assert_unfollowed(&result, why);
            let (result, _) = run(&site, over, path, &["-n", "4"]);
            assert!(!warned(&result, "redirects_unfollowed"), "{over:?} {path}");
        }
    }
    // The same host and port, but not the same scheme.
    let site = Site::start(Over::Http1);
    let (result, _) = run(&site, Over::Http1, "/secured", &["-n", "4", "--location"]);
    assert_eq!(requests(&result), [4, 4, 4, 0]);
    assert_unfollowed(&result, "the Location leads to another target (https://)");
    // The target goes by the name that it is asked for by.
    for host in ["other.example", "Other.Example:80"] {
        let options = ["-n", "4", "--location", "-H", &format!("Host: {host}")];
        let (result, asked) = run(&site, Over::Http1, "/away", &options);
        assert_eq!(requests(&result), [8, 8, 4, 4]);
        assert_eq!(asked_for(&asked, "/"), 4);
        assert!(!warned(&result, "redirects_unfollowed"));
    }
}

/// Two redirects of each family were not followed for this reason, and a warning says so.
fn assert_unfollowed(result: &Value, why: &str) {
    for family in ["ipv6", "ipv4"] {
        let found = &result["families"][family]["unfollowed"];
        assert_eq!(*found, serde_json::json!([{"why": why, "count": 2}]), "{result:#}");
    }
    assert_eq!(result["total"]["unfollowed"][0]["count"], 4);
    let warnings = result["warnings"].to_string();
    let line = format!("over IPv6 2 redirects (--location) were not followed: {why}");
    assert!(warnings.contains(&line), "{warnings}");
}

fn warned(result: &Value, code: &str) -> bool {
    result["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == code)
}

#[test]
fn percent_encodes_invalid_characters_in_a_location() {
    for over in Over::ALL {
        let site = Site::start(over);
        for (path, next) in
            [("/space", "/m%20oo%20o?a%20b"), ("/utf-8", "/caf%C3%A9"), ("/latin-1", "/caf%E9")]
        {
            let (result, asked) = run(&site, over, path, &["-n", "4", "--location"]);
            assert_eq!((requests(&result), asked.len()), ([8, 8, 4, 4], 8), "{over:?} {path}");
            assert_eq!(asked_for(&asked, next), 4, "{over:?} {path}");
            assert!(result["total"].get("unfollowed").is_none(), "{over:?} {path}");
            assert!(!warned(&result, "redirects_unfollowed"), "{over:?} {path}");
        }
    }
}

#[test]
fn a_redirected_templated_request_keeps_its_values() {
    let mix = "[[request]]\npath = '/to/307?{{seq}}'\nbody = 'n={{seq}}'\nmethod = 'POST'\n";
    for over in Over::ALL {
        let site = Site::start(over);
        let (_folder, file) = files(&[("mix.toml", mix)]);
        let options = ["-n", "6", "--location", "--requests", &file];
        let (result, asked) = run(&site, over, "/", &options);
        assert_eq!(requests(&result), [12, 12, 6, 6], "{over:?}: {result:#}");
        let mut bodies: Vec<_> = asked.iter().map(|asked| asked.body.clone()).collect();
        bodies.sort();
        let expected: Vec<_> = (0..12).map(|k| format!("n={}", k / 2)).collect();
        assert_eq!(bodies, expected, "{over:?}");
    }
}

#[test]
fn each_concurrent_slot_keeps_its_own_cookies() {
    for over in Over::ALL {
        let site = Site::start(over);
        let places = if over.options().contains(&"--streams") { 3 * 2 } else { 2 };
        let options = ["-n", "60", "-c", "2", "-t", "1", "--cookies", "-H", "Cookie: own=1"];
        // With a Cookie of its own it would pass for one who was there before.
        let (_, asked) = run(&site, over, "/visit", &options[..7]);
        assert_eq!(asked.len(), 60);
        let mut visits: BTreeMap<(String, String), u32> = BTreeMap::new();
        for asked in &asked {
            let family = asked.family.to_string();
            let cookie = asked.field("cookie").unwrap_or_default();
            let visitor = cookie.split("; ").next().unwrap().to_owned();
            *visits.entry((family, visitor)).or_default() += 1;
        }
        let first: u32 = visits.iter().filter(|((_, v), _)| v.is_empty()).map(|(_, n)| n).sum();
        let visitors = visits.keys().filter(|(_, visitor)| !visitor.is_empty()).count();
        // Two targets: a jar for each.
        assert!(
            first <= 2 * places && visitors as u32 <= first && first >= 2,
            "{over:?}: {visits:?}"
        );
        let (_, asked) = run(&site, over, "/visit", &options);
        let cookies = asked.iter().map(|asked| asked.field("cookie").unwrap_or_default());
        assert!(cookies.clone().all(|cookie| cookie.starts_with("own=1")), "{over:?}");
        assert!(cookies.clone().any(|cookie| cookie.contains("; visits=again")), "{over:?}");
    }
}

#[test]
fn cookies_stay_within_their_path() {
    let mix = "[[request]]\npath = '/visit/a'\n[[request]]\npath = '/other'\n";
    let site = Site::start(Over::Http1);
    let (_folder, file) = files(&[("mix.toml", mix)]);
    let options = ["-n", "20", "-c", "1", "--cookies", "--requests", &file];
    let (_, asked) = run(&site, Over::Http1, "/", &options);
    let with = |path: &str| {
        asked.iter().filter(|a| a.path == path && a.head.contains_key("cookie")).count()
    };
    assert_eq!((with("/visit/a"), with("/other")), (8, 0));
}

/// Asks with one exchange in flight. Returns for each family, in order, whether requests had a
/// cookie.
fn cookies_of(site: &Site, path: &str, options: &[&str]) -> BTreeMap<String, Vec<bool>> {
    let options = [&["-c", "1", "-t", "1", "--cookies"][..], options].concat();
    let (_, asked) = run(site, Over::Http1, path, &options);
    let mut found: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for asked in &asked {
        let with_cookie = asked.head.contains_key("cookie");
        found.entry(asked.family.to_string()).or_default().push(with_cookie);
    }
    found
}

#[test]
fn a_past_expires_date_with_a_two_digit_year_deletes_a_cookie() {
    let site = Site::start(Over::Http1);
    let found = cookies_of(&site, "/session", &["-n", "12"]);
    assert_eq!(found.len(), 2);
    for (family, found) in found {
        assert_eq!(found, [false, true, false, true, false, true], "{family}");
    }
}

#[test]
fn a_cookie_expires_during_the_run() {
    let site = Site::start(Over::Http1);
    let found = cookies_of(&site, "/brief", &["-d", "2500ms", "--rate", "40"]);
    assert_eq!(found.len(), 2);
    for (family, found) in found {
        let set = found.iter().filter(|with_cookie| !**with_cookie).count();
        assert!(!found[0] && set >= 2 && set < found.len() / 2, "{family}: {found:?}");
    }
}

#[test]
fn matches_cookie_domains_against_the_host_header() {
    let site = Site::start(Over::Http1);
    for (host, expected) in [
        ("Host: www.example.org", true),
        ("Host: WWW.Example.org:8080", true),
        ("Host: example.net", false),
        ("X: y", false),
    ] {
        let found = cookies_of(&site, "/domain", &["-n", "6", "-H", host]);
        for (family, found) in found {
            assert_eq!(found, [false, expected, expected], "{host} {family}");
        }
    }
}
