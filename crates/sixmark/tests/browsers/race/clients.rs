//! Clients that open the site once, each with a profile of its own and nothing in the background.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use sixmark_check::happy_eyeballs::{CHROME, CURL, FIREFOX, RaceProfile};
use sixmark_eyes::browser_start::WatchedBrowser;
use sixmark_testkit::command;
use sixmark_testkit::lab::Lab;
use tempfile::TempDir;

use super::drawn::DrawnNetwork;
use super::seen::{Capture, SeenRace};

/// The site.
const URL: &str = "http://www.test/bytes/1000";
/// How long a client has to send its request.
const PATIENCE: Duration = Duration::from_secs(30);
/// The interval between two looks at the capture.
const LOOK: Duration = Duration::from_millis(20);

/// A client.
#[derive(Clone, Copy, Debug)]
pub(super) enum RacedClient {
    Chromium,
    Firefox,
    Curl,
}

impl RacedClient {
    pub(super) const ALL: [RacedClient; 3] =
        [RacedClient::Chromium, RacedClient::Firefox, RacedClient::Curl];

    /// Returns its profile in this network.
    pub(super) fn profile(self, network: &DrawnNetwork) -> RaceProfile {
        match self {
            RacedClient::Chromium => CHROME,
            RacedClient::Firefox => FIREFOX,
            RacedClient::Curl => {
                RaceProfile { attempt_delay_ms: network.head_start_ms.into(), ..CURL }
            }
        }
    }

    fn words(self, profile: &TempDir, network: &DrawnNetwork) -> Vec<String> {
        match self {
            RacedClient::Chromium => browser_words(WatchedBrowser::Chromium, profile),
            RacedClient::Firefox => browser_words(WatchedBrowser::Firefox, profile),
            RacedClient::Curl => {
                let timeout = network.head_start_ms.to_string();
                ["curl", "-s", "-o", "/dev/null", "--happy-eyeballs-timeout-ms", &timeout, URL]
                    .map(str::to_owned)
                    .to_vec()
            }
        }
    }

    /// Opens the site, and returns which connection carried the request.
    pub(super) fn open(self, lab: &Lab, network: &DrawnNetwork) -> Option<SeenRace> {
        let profile = TempDir::new().unwrap();
        let mut capture = Capture::start(lab);
        let words = self.words(&profile, network);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let exec = ["lab", "exec", "--lab", lab.name(), "client"];
        let mut command = command(&[&exec[..], &words].concat());
        // The processes of a browser are a group, which ends together.
        command.process_group(0).env("HOME", profile.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut group = Group(command.spawn().unwrap());
        let begin = Instant::now();
        while capture.read().is_none() && begin.elapsed() < PATIENCE {
            // A client that ended has sent its request, or never will.
            if group.0.try_wait().unwrap().is_some() {
                break;
            }
            sleep(LOOK);
        }
        drop(group);
        capture.stop();
        capture.read()
    }
}

/// Returns the command of a browser, whose profile gets its settings.
fn browser_words(browser: WatchedBrowser, profile: &TempDir) -> Vec<String> {
    if let Some((name, settings)) = browser.settings_file() {
        std::fs::write(profile.path().join(name), settings).unwrap();
    }
    let program = browser.programs()[0].to_owned();
    [program].into_iter().chain(browser.arguments(profile.path(), URL)).collect()
}

/// A process and those that it started.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        // What ended by itself is no group any more.
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        self.0.wait().unwrap();
    }
}
