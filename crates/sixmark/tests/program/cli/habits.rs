//! What people type out of habit: no scheme, `-k`, `-u`, a mistyped command, `help`.

use std::fs;

use serde_json::Value;
use sixmark_testkit::{Origin, Server, complaint, json, sixmark};

fn codes(result: &Value) -> Vec<&str> {
    result["warnings"].as_array().unwrap().iter().map(|of| of["code"].as_str().unwrap()).collect()
}

#[test]
fn assumes_http_for_a_target_without_a_scheme_and_notes_it() {
    let origin = Origin::start();
    let bare = origin.urls("/bytes/10").map(|url| url.trim_start_matches("http://").to_owned());
    let [v6, v4] = &bare;
    let result = json(&["-n", "8", "-c", "2", v6, v4]);
    assert_eq!(result["total"]["requests"]["completed"], 8);
    assert_eq!(result["plan"]["targets"][0]["url"], format!("http://{v6}"));
    assert_eq!(codes(&result).iter().filter(|code| **code == "scheme_assumed").count(), 2);
    let output = sixmark(&["run", "-q", "-n", "8", "-c", "2", v6, v4]);
    let said = String::from_utf8(output.stderr).unwrap();
    let note = format!("sixmark: note: '{v4}' has no scheme; http://{v4} is used");
    assert!(said.lines().any(|line| line == note), "{said}");
    let sides = ["compare", "-q", "--blocks", "2", "-n", "8", "-c", "2", "--json", "-"];
    let output = sixmark(&[&sides[..], &[v6, v4]].concat());
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(codes(&comparison).contains(&"scheme_assumed"), "{comparison:#}");
}

#[test]
fn notes_the_assumed_scheme_of_an_unreachable_target_too() {
    let output = sixmark(&["run", "-n", "1", "127.0.0.1:1"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("note: '127.0.0.1:1' has no scheme; http://127.0.0.1:1/ is"), "{said}");
    assert!(said.contains("connection refused"), "{said}");
}

#[test]
fn the_path_option_applies_to_a_host_without_a_path() {
    let server = Server::start();
    let [v6, _] = server.urls("");
    let host = v6.trim_start_matches("http://").trim_end_matches('/');
    json(&["-n", "2", "-c", "1", "--path", "/x?y=1", host]);
    assert!(server.seen().iter().all(|request| request.head.starts_with("GET /x?y=1 HTTP/1.1")));
}

#[test]
fn notes_that_insecure_has_no_effect_without_tls() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let result = json(&["-n", "8", "-c", "2", "-k", &v6, &v4]);
    assert_eq!(result["total"]["requests"]["completed"], 8);
    assert!(codes(&result).contains(&"insecure_unused") && !codes(&result).contains(&"insecure"));
}

#[test]
fn a_user_and_a_password_are_sent_and_not_kept() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let [v6, v4] = server.urls("/");
    let store = folder.path().join("store");
    let load = ["-n", "4", "-c", "2", "--store", store.to_str().unwrap()];
    let result = json(&[&load[..], &["-u", "me:s3cret:x", &v6, &v4]].concat());
    let field = "Authorization: Basic bWU6czNjcmV0Ong=";
    assert!(server.seen().iter().all(|request| request.head.lines().any(|line| line == field)));
    let sides = ["--a", "-u me:s3cret:x -6", "--b", "-4", "--json", "-", &v6, &v4];
    let compared = sixmark(&[&["compare", "-q", "--blocks", "2"], &load[..], &sides].concat());
    let kept = [&["history", "list", "--json", "-"][..], &["history", "export", "1"]]
        .map(|words| sixmark(&[words, &["--store", store.to_str().unwrap()]].concat()).stdout);
    let stored = fs::read(&store).unwrap();
    for text in [result.to_string().into_bytes(), compared.stdout, kept.concat(), stored] {
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(!text.contains("s3cret") && !text.contains("bWU6czNjcmV0"), "{text}");
    }
    let url = "http://127.0.0.1:1/";
    for (arguments, part) in [
        (&["run", "-u", "me", url][..], "USER:PASSWORD"),
        (&["run", "-u", "a:b\n", url], "control characters"),
        (&["run", "-u", "a:b", "-H", "authorization: c", url], "omit one of them"),
        (&["run", "http://me:pw@127.0.0.1:1/"], "-u USER:PASSWORD"),
    ] {
        let said = complaint(&sixmark(arguments), 2);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}

#[test]
fn suggests_a_command_for_an_unknown_word() {
    for (words, part) in [
        (&["rn"][..], "did you mean `sixmark run`?"),
        (&["study", "rn"], "did you mean `sixmark study run`?"),
        (&["example.net"], "use `sixmark run example.net`"),
        (&["nothing-like-it"], "see `sixmark --help`"),
    ] {
        let said = complaint(&sixmark(words), 2);
        assert!(said.contains(part), "{words:?}: {said}");
    }
}

#[test]
fn help_of_a_command_is_asked_for_in_three_ways() {
    let help = |words: &[&str]| {
        let output = sixmark(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for command in [&["run"][..], &["compare"], &["study", "run"], &["lab", "up"]] {
        let [whole, short] = ["--help", "-h"].map(|option| help(&[command, &[option]].concat()));
        assert_eq!(help(&[&["help"], command].concat()), whole, "{command:?}");
        // The short form has the commonest options alone, and an example of each.
        assert!(short.len() < whole.len(), "{command:?}");
        let examples = short.lines().filter(|line| line.starts_with("  sixmark ")).count();
        assert!((1..=10).contains(&examples), "{command:?}: {examples}");
    }
}
