//! The command lines with which browsers open one page and do nothing else on the network.
//!
//! A browser has a profile of its own for each start, so that nothing is remembered: no addresses, no
//! connections, no protocols of servers.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// A browser that can be started as a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WatchedBrowser {
    /// Chromium.
    Chromium,
    /// Firefox.
    Firefox,
}

/// The options of Chromium that keep it from asking anything by itself.
const CHROMIUM_WORDS: [&str; 16] = [
    "--headless",
    // The page is the lab's own, and containers have no namespaces for the sandbox.
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

/// The settings of Firefox that keep it from asking anything by itself, and from connecting before it has
/// something to ask for: such connections have no second attempt.
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
    user_pref('network.http.http3.disable_when_third_party_roots_found', false);\n\
    user_pref('network.proxy.type', 0);\n\
    user_pref('network.trr.mode', 5);\n\
    user_pref('services.settings.server', 'data:,');\n\
    user_pref('toolkit.telemetry.enabled', false);\n";

impl WatchedBrowser {
    /// All browsers, in the order of help.
    pub const ALL: [WatchedBrowser; 2] = [WatchedBrowser::Chromium, WatchedBrowser::Firefox];

    /// Returns its name, in options and documents.
    pub fn name(self) -> &'static str {
        match self {
            WatchedBrowser::Chromium => "chromium",
            WatchedBrowser::Firefox => "firefox",
        }
    }

    /// Returns the names under which its program may be installed, the usual one first.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            WatchedBrowser::Chromium => &["chromium", "chromium-browser", "google-chrome"],
            WatchedBrowser::Firefox => &["firefox-esr", "firefox"],
        }
    }

    /// Returns the file of a profile that has the browser's settings, and its text; `None` if options are
    /// enough.
    pub fn settings_file(self) -> Option<(&'static str, &'static str)> {
        match self {
            WatchedBrowser::Chromium => None,
            WatchedBrowser::Firefox => Some(("user.js", FIREFOX_SETTINGS)),
        }
    }

    /// Returns the arguments with which it opens a URL, with a profile in a folder.
    pub fn arguments(self, profile: &Path, url: &str) -> Vec<String> {
        let folder = profile.display();
        let mut words: Vec<String> = match self {
            WatchedBrowser::Chromium => {
                let of_profile = format!("--user-data-dir={folder}");
                CHROMIUM_WORDS.map(str::to_owned).into_iter().chain([of_profile]).collect()
            }
            WatchedBrowser::Firefox => {
                let words = ["--headless", "--no-remote", "--profile"].map(str::to_owned);
                words.into_iter().chain([folder.to_string()]).collect()
            }
        };
        words.push(url.to_owned());
        words
    }
}
