//! Mixes and redirects, with nginx's own log as the second opinion.

use std::collections::BTreeMap;

use sixmark_testkit::figures::{of, outcome, run};
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::skipped;
use sixmark_testkit::web_server::{ServerSettings, WebServer};
use sixmark_units::family::Family;

/// Three of four are for a file, and all have to be.
const MIX: &str = "[[request]]\npath = '/4k'\nweight = 3\nexpect = ['status=200', 'size=4096']\n\
                   [[request]]\npath = '/nowhere/{{seq}}'\nexpect = ['status=200']\n";

/// Loads nginx over each of what it speaks, and compares with its log: how often each status came.
fn check(options: &[&str], path: &str, logged: &[(u16, u64)], normal: &[(u16, u64)], content: u64) {
    if skipped(NGINX.skip) {
        return;
    }
    for (secure, more) in [
        (false, &[][..]),
        (true, &["--insecure"]),
        (true, &["--insecure", "--http2", "--streams", "4"]),
    ] {
        let server = WebServer::start(&NGINX, &ServerSettings::default());
        let [v6, v4] = if secure { server.secure_urls(path) } else { server.urls(path) };
        let result = run(&[options, more, &["-c", "5", "-t", "1", &v6, &v4]].concat());
        let log = server.into_log();
        for family in Family::BOTH {
            let mut found = BTreeMap::new();
            let lines = log.iter().filter(|line| line.family == family);
            lines.for_each(|line| *found.entry(line.status).or_insert(0) += 1);
            assert_eq!(found, logged.iter().copied().collect(), "{more:?} {family}");
            let figures = of(&result, family);
            assert_eq!(figures.status, normal.iter().copied().collect(), "{more:?} {family}");
            assert_eq!(outcome(figures, "CONTENT"), content, "{more:?} {family}");
        }
    }
}

#[test]
fn nginx_logs_a_mix_by_weight_and_missing_paths_fail_their_check() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mix.toml");
    std::fs::write(&file, MIX).unwrap();
    let options = ["-n", "400", "--requests", file.to_str().unwrap()];
    check(&options, "/", &[(200, 150), (404, 50)], &[(200, 150)], 50);
}

#[test]
fn follows_the_redirect_of_a_directory_without_trailing_slash() {
    let logged = [(301, 20), (403, 20)];
    check(&["-n", "40", "--location"], "/ssi", &logged, &logged, 0);
    check(&["-n", "40"], "/ssi", &[(301, 20)], &[(301, 20)], 0);
}
