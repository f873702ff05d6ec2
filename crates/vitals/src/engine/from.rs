//! `--vitals-from`: the sources of a server's vitals.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::vitals_result::samples_of;
use crate::{VitalsSample, exposition};
use sixmark_http::url::Url;
use sixmark_sys::netns::NetNs;

use super::scrape;
use super::sources::{Sources, WantedVitals};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::text_file;

/// A source of vitals that has been found.
#[derive(Clone, Debug)]
pub enum VitalsFrom {
    /// A file that `sixmark vitals` wrote or is writing.
    File(PathBuf),
    /// A page of metrics.
    Page(FetchedPage),
    /// A host of a running lab.
    Host(Host),
}

/// A page of metrics that has been fetched once.
#[derive(Clone, Debug)]
pub struct FetchedPage {
    /// Its URL as it was given.
    pub(super) name: String,
    pub(super) place: scrape::PageAddress,
    /// The kind of its exporter.
    pub(super) who: exposition::Exporter,
}

/// The network of a lab host.
#[derive(Clone, Debug)]
pub struct Host {
    name: String,
    network: Arc<NetNs>,
    number: u64,
}

impl VitalsFrom {
    /// Parses the option's value and checks that the source exists: a file, a URL, `lab:HOST`, or
    /// the name of a host of the running lab, whose network `network_of` gives. Must be called
    /// before this process enters a lab.
    ///
    /// # Errors
    /// Returns a one-line error if the source yields no vitals.
    pub fn find(
        text: &str,
        network_of: impl Fn(&str) -> Result<OwnedFd, CommandError>,
    ) -> Result<VitalsFrom, CommandError> {
        if text.contains("://") {
            return fetch_page(text, |_| true).map(VitalsFrom::Page);
        }
        if let Some(name) = text.strip_prefix("lab:") {
            return host(name, network_of).map(VitalsFrom::Host);
        }
        if Path::new(text).exists() {
            file(text)
        } else {
            host(text, network_of).map(VitalsFrom::Host).map_err(|_| {
                CommandError::Usage(format!(
                    "--vitals-from {text}: no such file, nor a host of a running lab; give a file \
                     that `sixmark vitals --jsonl FILE` writes on the server, \
                     http://HOST:PORT/metrics, or lab:HOST"
                ))
            })
        }
    }

    /// Fetches a page of metrics for someone else, who may have it fetched only from addresses that
    /// `permits` permits. Files of this machine and hosts of its labs are refused.
    ///
    /// # Errors
    /// Returns a one-line error if the text is not a URL, an address is not permitted, or the page
    /// can't be fetched.
    pub fn find_page(
        text: &str,
        permits: impl Fn(SocketAddr) -> bool,
    ) -> Result<VitalsFrom, CommandError> {
        if !text.contains("://") {
            return Err(CommandError::Usage(format!(
                "--vitals-from {}: an agent reads pages of metrics only; give http://HOST:PORT/metrics",
                text.escape_debug()
            )));
        }
        fetch_page(text, permits).map(VitalsFrom::Page)
    }

    /// Returns its name as it was given.
    pub(super) fn name(&self) -> String {
        match self {
            VitalsFrom::File(path) => path.display().to_string(),
            VitalsFrom::Page(page) => page.name.clone(),
            VitalsFrom::Host(host) => host.name.clone(),
        }
    }
}

fn file(text: &str) -> Result<VitalsFrom, CommandError> {
    let path = PathBuf::from(text);
    match read_samples(&path) {
        // The file may still grow while it is used.
        Err(why) if !why.contains("fewer than two") => {
            Err(CommandError::Usage(format!("--vitals-from {text}: the file {why}")))
        }
        _ => Ok(VitalsFrom::File(path)),
    }
}

/// Reads the samples of a file.
pub(super) fn read_samples(path: &Path) -> Result<Vec<VitalsSample>, String> {
    let text = text_file::read_file(path).map_err(|error| format!("can't be read: {error}"))?;
    samples_of(&text)
}

fn fetch_page(
    text: &str,
    permits: impl Fn(SocketAddr) -> bool,
) -> Result<FetchedPage, CommandError> {
    let shown = text.escape_debug();
    let wrong = |why: String| CommandError::Usage(format!("--vitals-from {shown}: {why}"));
    let mut url: Url = text.parse().map_err(wrong)?;
    if url.path == "/" {
        url.path = "/metrics".to_owned();
    }
    let place = scrape::PageAddress::find(url)?;
    if let Some(address) = place.addresses().iter().find(|address| !permits(**address)) {
        return Err(wrong(format!("--allow does not include {address}")));
    }
    let found = place.fetch().map_err(|why| {
        CommandError::Measure(format!("--vitals-from {text}: can't fetch metrics: {why}"))
    })?;
    let (who, _) = exposition::processor_time(&found, 0).ok_or_else(|| {
        wrong("the page has no CPU time; it must come from node_exporter or sixmark".to_owned())
    })?;
    Ok(FetchedPage { name: text.to_owned(), place, who })
}

fn host(
    text: &str,
    network_of: impl Fn(&str) -> Result<OwnedFd, CommandError>,
) -> Result<Host, CommandError> {
    let name = text.split_once('/').map_or(text, |(_, name)| name);
    let network = network_of(text)?;
    let cannot = |error| CommandError::Measure(format!("can't enter the host {name}: {error}"));
    let number = std::fs::File::from(network.try_clone().map_err(cannot)?);
    let number = number.metadata().map_err(cannot)?.ino();
    Ok(Host { name: name.to_owned(), network: Arc::new(NetNs::from(network)), number })
}

impl Host {
    /// Opens the sources for its network and the processes in it.
    ///
    /// # Errors
    /// Returns an error if the namespace can't be entered, or if the kernel's counters can't be
    /// read.
    pub(super) fn open(&self) -> Result<Sources, CommandError> {
        let wanted = WantedVitals {
            host: Some((self.number, self.name.clone())),
            ..WantedVitals::default()
        };
        let mut found = None;
        let look = || {
            let opened = Sources::open(&wanted);
            opened.map_err(|error| std::io::Error::other(error.to_string()))
        };
        let entered = self.network.within(look).map(|sources| found = Some(sources));
        match (entered, found) {
            (Ok(()), Some(sources)) => Ok(sources),
            (Err(error), _) => Err(CommandError::Measure(format!(
                "--vitals-from {}: can't enter the host: {error}; run as root, or load from a host \
                 of the same lab (--in)",
                self.name
            ))),
            (Ok(()), None) => Err(CommandError::Measure("the host reported nothing".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_reads_no_files_and_no_pages_outside_its_allow_list() {
        for (text, said) in [
            ("/proc/self/environ", "an agent reads pages of metrics only"),
            ("lab:client", "an agent reads pages of metrics only"),
            ("http://[::1]:9/metrics", "--allow does not include [::1]:9"),
            ("http://127.0.0.1:9/", "--allow does not include 127.0.0.1:9"),
            ("https://[::1]:9/", "only over http://"),
        ] {
            let line = VitalsFrom::find_page(text, |_| false).unwrap_err().to_string();
            assert!(line.contains(said) && !line.contains('\n'), "{text}: {line}");
        }
        // A permitted address is asked: nothing listens there.
        let asked = VitalsFrom::find_page("http://[::1]:9/", |_| true).unwrap_err().to_string();
        assert!(asked.contains("can't fetch metrics"), "{asked}");
    }
}
