//! How a browser is started so that it opens the site once, with a profile of its own and nothing in the
//! background.

use std::path::Path;

/// A browser that can be started without a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartedBrowser {
    /// Chromium.
    Chromium,
    /// Firefox.
    Firefox,
}

/// Without what Chromium asks by itself, without DNS over HTTPS, and without an attempt at HTTPS where the
/// URL says HTTP.
const CHROMIUM_WORDS: [&str; 16] = [
    "--headless",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LocalNetworkAccessChecks",
    "--disable-gpu",
    "--disable-sync",
    "--dns-over-https-mode=off",
    "--dump-dom",
    "--no-first-run",
    "--no-pings",
    "--no-proxy-server",
];

const FIREFOX_WORDS: [&str; 3] = ["--headless", "--no-remote", "--profile"];

/// The same of Firefox, and without connections before they are needed, which have no backup.
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

impl StartedBrowser {
    /// Returns the names of its program, the usual one first.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            StartedBrowser::Chromium => &["chromium", "chromium-browser"],
            StartedBrowser::Firefox => &["firefox-esr", "firefox"],
        }
    }

    /// Returns the words that follow the name of its program, for a profile in a folder. The URL comes
    /// behind them.
    pub fn words(self, profile: &Path) -> Vec<String> {
        let folder = profile.display().to_string();
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        match self {
            StartedBrowser::Chromium => {
                [own(&CHROMIUM_WORDS), vec![format!("--user-data-dir={folder}")]].concat()
            }
            StartedBrowser::Firefox => [own(&FIREFOX_WORDS), vec![folder]].concat(),
        }
    }

    /// Returns the file that must be in the folder of the profile before it starts, and its text; `None` if
    /// it needs none.
    pub fn profile_file(self) -> Option<(&'static str, &'static str)> {
        match self {
            StartedBrowser::Chromium => None,
            StartedBrowser::Firefox => Some(("user.js", FIREFOX_SETTINGS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_browser_is_told_its_profile() {
        let words = |of: StartedBrowser| of.words(Path::new("/a/b")).join(" ");
        assert!(words(StartedBrowser::Chromium).ends_with("--user-data-dir=/a/b"));
        assert!(words(StartedBrowser::Firefox).ends_with("--profile /a/b"));
    }
}
