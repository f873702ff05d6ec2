//! What web servers do all day, with their own logs as the second opinion.

use sixmark_testkit::figures::{assert_normal, of, run};
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::skipped;
use sixmark_testkit::web_server::{
    LogLine, PAGE, SIZE, ServerKind, ServerSettings, WebServer, fetch,
};
use sixmark_units::family::Family;

use super::apache::APACHE;

/// Requests of each family.
const EACH: u64 = 1_000;

/// Loads `path` over both families and compares with what the server logged.
struct Case<'a> {
    path: &'a str,
    arguments: &'a [&'a str],
    status: u16,
    /// Content of each response, where it is known.
    body: Option<u64>,
    settings: ServerSettings,
    /// Servers don't count content that they refuse.
    uploads: bool,
}

impl Default for Case<'_> {
    fn default() -> Self {
        let settings = ServerSettings::default();
        Case {
            path: "/4k",
            arguments: &[],
            status: 200,
            body: Some(SIZE),
            settings,
            uploads: false,
        }
    }
}

impl Case<'_> {
    fn check(&self, kind: &ServerKind) {
        if skipped(kind.skip) {
            return;
        }
        let server = WebServer::start(kind, &self.settings);
        let [v6, v4] = server.urls(self.path);
        let load = ["-n", "2000", "-c", "20", "--timeout", "60s", &v6, &v4];
        let result = run(&[&load, self.arguments].concat());
        let log = server.into_log();
        for family in Family::BOTH {
            let figures = of(&result, family);
            assert_normal(figures, EACH);
            assert_eq!(figures.status, [(self.status, EACH)].into());
            if let Some(body) = self.body {
                assert_eq!(figures.bytes.body, EACH * body);
            }
            let lines: Vec<&LogLine> = log.iter().filter(|line| line.family == family).collect();
            assert!(lines.iter().all(|line| line.status == self.status));
            let sum =
                |bytes: fn(&LogLine) -> u64| lines.iter().map(|line| bytes(line)).sum::<u64>();
            let logged = [lines.len() as u64, sum(|line| line.first.into()), sum(|line| line.gave)];
            let (opened, bytes) = (figures.connections.opened, figures.bytes);
            assert_eq!([EACH, opened, bytes.received], logged, "{family}");
            if kind.counts_requests && !self.uploads {
                assert_eq!(bytes.sent, sum(|line| line.took), "{family}");
            }
            let least = EACH.div_ceil(self.settings.a_connection.into());
            assert!(opened >= least, "{opened} connections over {family}");
        }
    }
}

/// A test of each server for a case.
macro_rules! with_both_servers {
    ($($name:ident: $case:expr;)*) => {
        mod nginx {
            use super::*;
            $(#[test] fn $name() { $case.check(&NGINX); })*
        }
        mod apache {
            use super::*;
            $(#[test] fn $name() { $case.check(&APACHE); })*
        }
    };
}

with_both_servers! {
    a_file_comes_whole: Case::default();
    a_connection_for_each_request: Case { arguments: &["--no-keep-alive"], ..Case::default() };
    a_few_requests_on_each_connection: Case {
        arguments: &["--requests-per-connection", "7"],
        ..Case::default()
    };
    a_head_has_no_content: Case {
        arguments: &["-X", "HEAD"],
        body: Some(0),
        ..Case::default()
    };
    what_is_not_there_is_a_normal_404: Case {
        path: "/nowhere",
        status: 404,
        body: None,
        ..Case::default()
    };
    an_upload_may_be_refused: Case {
        arguments: &["-X", "PUT", "--body", "four thousand and ninety-six"],
        status: 405,
        body: None,
        uploads: true,
        ..Case::default()
    };
    a_server_that_limits_connections_is_followed: Case {
        settings: ServerSettings { a_connection: 10 },
        ..Case::default()
    };
    content_of_unknown_length_comes_in_chunks: Case {
        path: "/ssi/page",
        body: Some(PAGE),
        ..Case::default()
    };
}

/// So that the case above is what its name says.
fn sends_chunks(kind: &ServerKind) {
    if skipped(kind.skip) {
        return;
    }
    let server = WebServer::start(kind, &ServerSettings::default());
    for family in Family::BOTH {
        let all = fetch(server.address(family), "/ssi/page").unwrap();
        let head = all.split("\r\n\r\n").next().unwrap().to_lowercase();
        assert!(head.contains("\r\ntransfer-encoding: chunked"), "{head}");
    }
}

#[test]
fn nginx_sends_the_page_in_chunks() {
    sends_chunks(&NGINX);
}

#[test]
fn apache_sends_the_page_in_chunks() {
    sends_chunks(&APACHE);
}
