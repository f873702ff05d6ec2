//! A browser, and the few words of WebDriver that the tests need (W3C WebDriver, and Chromium's own
//! commands for what that lacks).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;

use serde_json::{Value, json};
use sixmark_testkit::{DEADLINE, signal};
use tempfile::TempDir;

/// What chromedriver says when it listens, before the port's number.
const LISTENS: &str = "started successfully on port ";

/// A browser of its own, without a window. It ends with the value.
pub(super) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// The browser's settings and caches.
    _profile: TempDir,
}

impl Browser {
    pub(super) fn start() -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "can't start chromedriver ({error}): install the Debian packages chromium and \
                     chromium-driver, or leave these tests out with SIXMARK_SKIP=chromium"
                )
            });
        let port = port(driver.stdout.take().unwrap());
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser { driver, port, session: String::new(), _profile: profile };
        let wanted = browser.wanted();
        let session = browser.ask("POST", "/session", Some(&wanted));
        session["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        browser
    }

    /// Sends a command of the session.
    pub(super) fn say(&self, command: &str, what: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{command}", self.session), Some(what))
    }

    /// Sends a command of Chromium's own protocol.
    pub(super) fn own(&self, command: &str, what: &Value) -> Value {
        self.say("goog/cdp/execute", &json!({"cmd": command, "params": what}))
    }

    /// What a script returns.
    pub(super) fn script(&self, text: &str) -> Value {
        self.say("execute/sync", &json!({"script": text, "args": []}))
    }

    fn wanted(&self) -> Value {
        let profile = format!("--user-data-dir={}", self._profile.path().display());
        let mut words = vec!["--headless", "--disable-gpu", "--hide-scrollbars", &profile];
        if is_root() {
            // Its sandbox can't be made by root.
            words.push("--no-sandbox");
        }
        json!({"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": words},
        }}})
    }

    /// One exchange over a connection of its own.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map_or(String::new(), Value::to_string);
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let (status, body) = answer(BufReader::new(stream));
        let value: Value = serde_json::from_slice(&body).unwrap();
        let fine = status.split(' ').nth(1) == Some("200");
        assert!(fine, "{method} {path}: {}", value["value"]["message"]);
        value["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let path = format!("/session/{}", self.session);
        // A failed test must not fail again here; the driver ends the browser when it is ended.
        let quit = std::panic::AssertUnwindSafe(|| self.ask("DELETE", &path, None));
        let _ = std::panic::catch_unwind(quit);
        signal(self.driver.id(), "TERM");
        let _ = self.driver.wait();
    }
}

/// Status line and content; the driver leaves the connection open.
fn answer(mut from: BufReader<TcpStream>) -> (String, Vec<u8>) {
    let mut line = || {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let status = line();
    let head: Vec<String> =
        std::iter::repeat_with(&mut line).take_while(|l| !l.is_empty()).collect();
    let length = head.iter().find_map(|field| {
        let (name, value) = field.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap()];
    from.read_exact(&mut body).unwrap();
    (status, body)
}

/// The port that the driver says it listens on.
fn port(said: ChildStdout) -> u16 {
    let (sender, receiver) = mpsc::channel();
    // It reads on to the end, so that the driver can always write.
    std::thread::spawn(move || {
        for line in BufReader::new(said).lines().map_while(Result::ok) {
            if let Some((_, rest)) = line.split_once(LISTENS) {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                let _ = sender.send(digits.parse().unwrap());
            }
        }
    });
    receiver.recv_timeout(DEADLINE).expect("chromedriver did not say on which port it listens")
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
