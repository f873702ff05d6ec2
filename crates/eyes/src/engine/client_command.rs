//! The command that starts a client in its host.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::{command_of, find_program};

use crate::browser_start::WatchedBrowser;
use crate::case_lab::ClientPlace;
use crate::eyes_case::SiteScheme;

use super::served_link::ServedLink;
use super::site_identity::{AUTHORITY_VARIABLES, SiteIdentity};

/// The place of the site's URL in a command.
const URL_PLACE: &str = "{url}";
/// The place of the file with the authority of the site's certificate.
const AUTHORITY_PLACE: &str = "{ca}";

/// The client that is watched.
#[derive(Clone, Copy, Debug)]
pub enum WatchedClient<'a> {
    /// A command and its arguments. `{url}` in them stands for the site's URL, which is the last argument
    /// if it is in none; `{ca}` for the file with the authority of its certificate.
    Command(&'a [String]),
    /// A browser, each time with a new profile.
    Browser(WatchedBrowser),
    /// A client beyond an interface of the machine, which somebody else starts.
    Served(&'a ServedLink),
}

impl WatchedClient<'_> {
    /// Returns where it is.
    pub(super) fn place(&self) -> ClientPlace {
        match self {
            WatchedClient::Served(_) => ClientPlace::Outside,
            WatchedClient::Command(_) | WatchedClient::Browser(_) => ClientPlace::Lab,
        }
    }

    /// Returns its program, empty if it is not started here.
    ///
    /// # Errors
    /// Returns an error if it is not there.
    pub fn find(&self) -> Result<PathBuf, CommandError> {
        let names: Vec<&str> = match self {
            WatchedClient::Command(words) => {
                words.first().map(String::as_str).into_iter().collect()
            }
            WatchedClient::Browser(browser) => browser.programs().to_vec(),
            WatchedClient::Served(_) => return Ok(PathBuf::new()),
        };
        if let Some(name) = names.first().filter(|name| name.contains('/'))
            && Path::new(name).exists()
            && find_program(name).is_none()
        {
            return Err(CommandError::Usage(format!(
                "'{name}' is no program that can be executed"
            )));
        }
        names.iter().find_map(|name| find_program(name)).ok_or_else(|| {
            CommandError::Usage(format!("no program '{}' is there", names.join("' or '")))
        })
    }
}

/// The folder of a client: its profile, and what it must trust.
#[derive(Debug)]
pub(super) struct ClientFolder {
    folder: PathBuf,
    authority: Option<PathBuf>,
}

impl ClientFolder {
    /// Makes the folder of a new client.
    pub(super) fn make(
        folder: &Path,
        client: WatchedClient<'_>,
        identity: Option<&SiteIdentity>,
    ) -> io::Result<ClientFolder> {
        std::fs::create_dir_all(folder)?;
        let authority = identity.map(|of| of.write_authority(folder)).transpose()?;
        if let WatchedClient::Browser(browser) = client {
            if let Some((name, text)) = browser.settings_file() {
                std::fs::write(folder.join(name), text)?;
            }
            if let (WatchedBrowser::Firefox, Some(identity)) = (browser, identity) {
                let line = identity.firefox_override(SiteScheme::Https.port());
                std::fs::write(folder.join("cert_override.txt"), line)?;
            }
        }
        Ok(ClientFolder { folder: folder.to_owned(), authority })
    }

    /// Removes the folder, with all that the client has left in it.
    ///
    /// # Errors
    /// Returns an error if it can't be removed.
    pub(super) fn remove(self) -> io::Result<()> {
        std::fs::remove_dir_all(self.folder)
    }

    /// Returns the command that opens a URL.
    pub(super) fn command(
        &self,
        client: WatchedClient<'_>,
        program: &Path,
        identity: Option<&SiteIdentity>,
        url: &str,
    ) -> Command {
        // A proxy would connect in its stead.
        let mut command = command_of(program);
        match client {
            WatchedClient::Command(words) => {
                command.args(self.filled(words, url));
            }
            WatchedClient::Browser(browser) => {
                if let (WatchedBrowser::Chromium, Some(identity)) = (browser, identity) {
                    let hash = identity.public_key_hash();
                    command.arg(format!("--ignore-certificate-errors-spki-list={hash}"));
                }
                command.args(browser.arguments(&self.folder, url)).env("HOME", &self.folder);
            }
            WatchedClient::Served(_) => {}
        }
        if let Some(authority) = &self.authority {
            command.envs(AUTHORITY_VARIABLES.map(|name| (name, authority)));
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Returns the arguments with what stands for the places in them.
    fn filled(&self, words: &[String], url: &str) -> Vec<String> {
        let authority = self.authority.as_deref().unwrap_or(Path::new("")).to_string_lossy();
        let fill = |of: &String| of.replace(URL_PLACE, url).replace(AUTHORITY_PLACE, &authority);
        let mut filled: Vec<String> = words.iter().skip(1).map(fill).collect();
        if !words.iter().any(|of| of.contains(URL_PLACE)) {
            filled.push(url.to_owned());
        }
        filled
    }
}
