//! The clients of the study, and how each is started.

use sixmark_eyes::browser_start::WatchedBrowser;

/// How a client is started.
#[derive(Clone, Copy, Debug)]
pub enum ClientStart {
    /// A program and its first words; the URL comes behind them.
    Program(&'static [&'static str]),
    /// A browser, each time with a new profile.
    Browser(WatchedBrowser),
    /// A script, run by a program; `library` is what Python needs for it.
    Script {
        /// The program.
        program: &'static str,
        /// The name of the script's file.
        file: &'static str,
        /// Its text.
        text: &'static str,
        /// The module of Python whose version is that of the client; `None` if the program's is.
        library: Option<&'static str>,
    },
    /// A program in Go, of the standard library alone.
    Go(&'static str),
    /// A class of Java named `Get`, of the standard library alone.
    Java(&'static str),
    /// A program in Rust: the crate whose version is that of the client, its dependencies as lines of a
    /// manifest, and its text.
    Rust {
        /// The crate.
        library: &'static str,
        /// Lines of the manifest's table of dependencies.
        dependencies: &'static str,
        /// The text of `main.rs`.
        text: &'static str,
    },
}

/// An attempt delay that a client's documentation states, or that its option sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedDelay {
    /// The delay in milliseconds.
    pub ms: f64,
    /// What states it.
    pub source: &'static str,
}

/// A client of the study.
#[derive(Clone, Copy, Debug)]
pub struct InspectedClient {
    /// Its name in options and documents.
    pub name: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// The client of the paper's table that it is; `None` if the table has no such client.
    pub published: Option<&'static str>,
    /// The attempt delay that its documentation states; `None` if the paper has one, or nothing states one.
    pub stated: Option<StatedDelay>,
    /// The cases in which it is started.
    pub cases: &'static [&'static str],
    /// How it is started.
    pub start: ClientStart,
}

/// The case in which both families answer alike.
pub const ALIKE: &str = "healthy";
/// The case that shows the attempt delay.
pub const SLOW: &str = "slow-2000";
/// The case that shows the resolution delay.
pub const AAAA_LATE: &str = "aaaa-late-1000";
/// The case that shows whether a client waits for A.
pub const A_LATE: &str = "a-late-1000";
/// The case that shows how many addresses are used.
pub const MANY: &str = "last-alive";
/// The cases of the study: those that the paper's table needs.
pub const INSPECTED_CASES: [&str; 5] = [ALIKE, SLOW, AAAA_LATE, A_LATE, MANY];

/// Embeds a program of the folder `experiments/lazy-eye`.
macro_rules! program {
    ($name:literal) => {
        include_str!(concat!("../../experiments/lazy-eye/", $name))
    };
}

const fn option_of_curl(
    name: &'static str,
    label: &'static str,
    ms: f64,
    words: &'static [&'static str],
) -> InspectedClient {
    InspectedClient {
        name,
        label,
        published: None,
        stated: Some(StatedDelay { ms, source: "its option" }),
        cases: &[SLOW],
        start: ClientStart::Program(words),
    }
}

const fn library(
    name: &'static str,
    label: &'static str,
    stated: Option<StatedDelay>,
    start: ClientStart,
) -> InspectedClient {
    InspectedClient { name, label, published: None, stated, cases: &INSPECTED_CASES, start }
}

const fn of_paper(
    name: &'static str,
    label: &'static str,
    row: &'static str,
    start: ClientStart,
) -> InspectedClient {
    InspectedClient {
        name,
        label,
        published: Some(row),
        stated: None,
        cases: &INSPECTED_CASES,
        start,
    }
}

const HYPER_DELAY: StatedDelay =
    StatedDelay { ms: 300.0, source: "hyper-util, HttpConnector::set_happy_eyeballs_timeout" };

/// All clients, in the order of reports: first those of the paper.
pub const CLIENTS: [InspectedClient; 15] = [
    of_paper("chromium", "Chromium", "Chromium", ClientStart::Browser(WatchedBrowser::Chromium)),
    of_paper(
        "firefox",
        "Firefox",
        "Mozilla Firefox",
        ClientStart::Browser(WatchedBrowser::Firefox),
    ),
    of_paper("curl", "curl", "curl", ClientStart::Program(&["curl", "-s", "-o", "/dev/null"])),
    of_paper(
        "wget",
        "wget",
        "wget",
        ClientStart::Program(&["wget", "-q", "-O", "/dev/null", "--tries=1"]),
    ),
    option_of_curl(
        "curl-50",
        "curl, 50 ms",
        50.0,
        &["curl", "-s", "-o", "/dev/null", "--happy-eyeballs-timeout-ms", "50"],
    ),
    option_of_curl(
        "curl-500",
        "curl, 500 ms",
        500.0,
        &["curl", "-s", "-o", "/dev/null", "--happy-eyeballs-timeout-ms", "500"],
    ),
    library(
        "aiohttp",
        "Python, aiohttp",
        Some(StatedDelay { ms: 250.0, source: "aiohttp, TCPConnector(happy_eyeballs_delay)" }),
        ClientStart::Script {
            program: "python3",
            file: "aiohttp_get.py",
            text: program!("aiohttp_get.py"),
            library: Some("aiohttp"),
        },
    ),
    library(
        "urllib3",
        "Python, urllib3",
        None,
        ClientStart::Script {
            program: "python3",
            file: "urllib3_get.py",
            text: program!("urllib3_get.py"),
            library: Some("urllib3"),
        },
    ),
    library(
        "go",
        "Go, net/http",
        Some(StatedDelay { ms: 300.0, source: "Go, net.Dialer.FallbackDelay" }),
        ClientStart::Go(program!("get.go")),
    ),
    library(
        "node-http",
        "Node, http",
        Some(StatedDelay { ms: 250.0, source: "Node, autoSelectFamilyAttemptTimeout of net" }),
        ClientStart::Script {
            program: "node",
            file: "http_get.js",
            text: program!("http_get.js"),
            library: None,
        },
    ),
    library(
        "node-fetch",
        "Node, fetch",
        Some(StatedDelay { ms: 250.0, source: "Node, autoSelectFamilyAttemptTimeout of net" }),
        ClientStart::Script {
            program: "node",
            file: "fetch_get.js",
            text: program!("fetch_get.js"),
            library: None,
        },
    ),
    library("java", "Java, HttpClient", None, ClientStart::Java(program!("Get.java"))),
    library(
        "hyper",
        "Rust, hyper",
        Some(HYPER_DELAY),
        ClientStart::Rust {
            library: "hyper-util",
            dependencies: "hyper-util = { version = \"0.1\", features = [\"client-legacy\", \"http1\", \"tokio\"] }\n\
                           http-body-util = \"0.1\"\n\
                           tokio = { version = \"1\", features = [\"rt\", \"net\", \"time\"] }\n",
            text: program!("hyper_get.rs"),
        },
    ),
    library(
        "reqwest",
        "Rust, reqwest",
        Some(HYPER_DELAY),
        ClientStart::Rust {
            library: "reqwest",
            dependencies: "reqwest = { version = \"0.12\", default-features = false }\n\
                           tokio = { version = \"1\", features = [\"rt\", \"net\", \"time\"] }\n",
            text: program!("reqwest_get.rs"),
        },
    ),
    library(
        "ureq",
        "Rust, ureq",
        None,
        ClientStart::Rust {
            library: "ureq",
            dependencies: "ureq = { version = \"3\", default-features = false }\n",
            text: program!("ureq_get.rs"),
        },
    ),
];

impl InspectedClient {
    /// Returns the client of this name.
    pub fn named(name: &str) -> Option<&'static InspectedClient> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Returns true if it is a browser, which takes seconds to start.
    pub fn is_browser(&self) -> bool {
        matches!(self.start, ClientStart::Browser(_))
    }
}

#[cfg(test)]
mod tests {
    use sixmark_eyes::eyes_case::EyesCase;

    use super::*;
    use crate::inspection::published::published_clients;

    #[test]
    fn clients_have_names_of_their_own_rows_of_the_table_and_cases_that_exist() {
        let rows = published_clients();
        for (at, client) in CLIENTS.iter().enumerate() {
            assert_eq!(InspectedClient::named(client.name).unwrap().label, CLIENTS[at].label);
            let is_row = |name: &str| rows.iter().any(|row| row.client == name);
            assert!(client.published.is_none_or(is_row), "{}", client.name);
            assert!(client.cases.iter().all(|case| EyesCase::named(case).is_some()));
        }
    }
}
