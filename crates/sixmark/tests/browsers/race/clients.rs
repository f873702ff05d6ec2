//! Clients that open the site once, each with a profile of its own and nothing in the background.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use sixmark_check::happy_eyeballs::{CHROME, CURL, FIREFOX, RaceProfile};
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

const CHROMIUM_WORDS: [&str; 17] = [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--dns-over-https-mode=off",
    "--dump-dom",
    "--no-first-run",
    "--no-pings",
    "--no-proxy-server",
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LocalNetworkAccessChecks",
];

/// Without what Firefox asks by itself, and without connections before they are needed, which have no
/// backup.
const FIREFOX_SETTINGS: &str = "\
    user_pref('app.normandy.enabled', false);\n\
    user_pref('app.update.enabled', false);\n\
    user_pref('browser.aboutwelcome.enabled', false);\n\
    user_pref('browser.newtabpage.enabled', false);\n\
    user_pref('browser.safebrowsing.malware.enabled', false);\n\
    user_pref('browser.safebrowsing.phishing.enabled', false);\n\
    user_pref('browser.shell.checkDefaultBrowser', false);\n\
    user_pref('datareporting.policy.dataSubmissionEnabled', false);\n\
    user_pref('dom.security.https_first', false);\n\
    user_pref('dom.security.https_first_schemeless', false);\n\
    user_pref('extensions.update.enabled', false);\n\
    user_pref('network.captive-portal-service.enabled', false);\n\
    user_pref('network.connectivity-service.enabled', false);\n\
    user_pref('network.http.speculative-parallel-limit', 0);\n\
    user_pref('network.proxy.type', 0);\n\
    user_pref('network.trr.mode', 5);\n\
    user_pref('services.settings.server', 'data:,');\n\
    user_pref('toolkit.telemetry.enabled', false);\n";

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
        let folder = profile.path().display();
        let words = match self {
            RacedClient::Chromium => {
                let mut words = CHROMIUM_WORDS.map(str::to_owned).to_vec();
                words.push(format!("--user-data-dir={folder}"));
                words
            }
            RacedClient::Firefox => {
                std::fs::write(profile.path().join("user.js"), FIREFOX_SETTINGS).unwrap();
                let words = ["firefox-esr", "--headless", "--no-remote", "--profile"];
                words.map(str::to_owned).into_iter().chain([folder.to_string()]).collect()
            }
            RacedClient::Curl => {
                let timeout = network.head_start_ms.to_string();
                ["curl", "-s", "-o", "/dev/null", "--happy-eyeballs-timeout-ms", &timeout]
                    .map(str::to_owned)
                    .to_vec()
            }
        };
        words.into_iter().chain([URL.to_owned()]).collect()
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
