//! Firefox, and the few words of its Marionette protocol that the tests need: each message is a
//! number of bytes, a colon, and an array of JSON.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sixmark_testkit::{DEADLINE, signal};
use tempfile::TempDir;

/// The file of a profile in which Firefox writes the port on which it listens.
const PORT_FILE: &str = "MarionetteActivePort";

/// A Firefox of its own, without a window. It ends with the value.
pub(super) struct Firefox {
    running: Child,
    stream: BufReader<TcpStream>,
    last: u64,
    _profile: TempDir,
}

impl Firefox {
    pub(super) fn start() -> Firefox {
        let profile = tempfile::tempdir().unwrap();
        // Port 0 lets it choose one.
        let settings = "user_pref('marionette.port', 0);\nuser_pref('network.proxy.type', 0);\n\
                        user_pref('app.update.enabled', false);\n\
                        user_pref('toolkit.telemetry.unified', false);\n";
        std::fs::write(profile.path().join("user.js"), settings).unwrap();
        let running = Command::new("firefox-esr")
            .args(["--headless", "--marionette", "--no-remote", "--profile"])
            .arg(profile.path())
            // Its home is that of the tests: it must find no other settings there.
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "can't start firefox-esr ({error}): install the Debian package firefox-esr, or \
                     leave these tests out with SIXMARK_SKIP=firefox"
                )
            });
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port(profile.path()))).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let stream = BufReader::new(stream);
        let mut firefox = Firefox { running, stream, last: 0, _profile: profile };
        firefox.read();
        firefox.say("WebDriver:NewSession", json!({"strictFileInteractability": false}));
        firefox
    }

    /// Opens a file.
    pub(super) fn open(&mut self, file: &Path) {
        self.say("WebDriver:Navigate", json!({"url": format!("file://{}", file.display())}));
    }

    /// Makes the window so wide.
    pub(super) fn sized(&mut self, [width, height]: [u32; 2]) {
        self.say("WebDriver:SetWindowRect", json!({"width": width, "height": height}));
    }

    /// What a script gives to the function that is its last argument.
    pub(super) fn script_async(&mut self, text: &str) -> Value {
        let what = json!({"script": text, "args": [], "scriptTimeout": 60_000});
        self.say("WebDriver:ExecuteAsyncScript", what)["value"].clone()
    }

    fn say(&mut self, command: &str, what: Value) -> Value {
        self.last += 1;
        let message = json!([0, self.last, command, what]).to_string();
        let stream = self.stream.get_mut();
        stream.write_all(format!("{}:{message}", message.len()).as_bytes()).unwrap();
        let answer = self.read();
        assert_eq!(answer[1], self.last, "{answer}");
        assert!(answer[2].is_null(), "{command}: {}", answer[2]);
        answer[3].clone()
    }

    fn read(&mut self) -> Value {
        let mut length = Vec::new();
        self.stream.read_until(b':', &mut length).unwrap();
        let digits = String::from_utf8(length).unwrap();
        let mut content = vec![0; digits.trim_end_matches(':').parse().unwrap()];
        self.stream.read_exact(&mut content).unwrap();
        serde_json::from_slice(&content).unwrap()
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        signal(self.running.id(), "TERM");
        let _ = self.running.wait();
    }
}

/// Waits until Firefox has written its port.
fn port(profile: &Path) -> u16 {
    let start = Instant::now();
    loop {
        let text = std::fs::read_to_string(profile.join(PORT_FILE)).unwrap_or_default();
        if let Ok(port) = text.trim().parse() {
            return port;
        }
        assert!(start.elapsed() < DEADLINE, "Firefox does not say on which port it listens");
        std::thread::sleep(Duration::from_millis(20));
    }
}
