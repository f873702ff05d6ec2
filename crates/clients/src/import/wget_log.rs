//! Logs of GNU Wget (`-o FILE`), in English. Unlike the output of a client of a study, a log may
//! have a progress bar, redirects and several transfers, and come from any version.

use super::proxy::{THROUGH_PROXY, authority, port_of_url};
use super::{SeenFamilies, ToldTransfers};
use crate::client::read::{TIMES, maybe, scaled};
use crate::client::wget::{SavedFile, add_goodput, begun_url, is_refused, saved_line};
use crate::client::{ClientFigures, ToldFigures};
use sixmark_tally::metric::Quantity;

/// Reports whether a text has the first line of a transfer.
pub(super) fn is_log(text: &str) -> bool {
    text.lines().any(|line| begun_url(line).is_some())
}

/// The transfers of a log.
#[derive(Default)]
struct WgetLog {
    begun: u64,
    saved: Vec<SavedFile>,
    refused: u64,
    families: SeenFamilies,
    /// Whether the next transfer continues this one, because of a redirect.
    follows: bool,
    /// The URL of the transfer.
    url: String,
}

/// Parses a log.
pub(super) fn read_wget_log(text: &str) -> Result<ToldTransfers, String> {
    let mut log = WgetLog::default();
    for (number, line) in (1..).zip(text.lines()) {
        // A progress bar is written over itself.
        for piece in line.split('\r') {
            log.line(piece).map_err(|why| format!("line {number}: {why}"))?;
        }
    }
    log.figures(text)
}

impl WgetLog {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some((url, is_again)) = begun_url(line) {
            if is_again {
                return Err("a transfer was tried again, so that the rate is that of its last \
                            part: use --tries=1"
                    .to_owned());
            }
            self.families.add(host(url));
            url.clone_into(&mut self.url);
            self.begun += u64::from(!std::mem::take(&mut self.follows));
        } else if let Some(saved) = saved_line(line)? {
            self.saved.push(saved);
        } else if line.starts_with("Connecting to ") && line.ends_with("connected.") {
            self.check_direct(line)?;
            self.families.add(connected_to(line));
        } else if line.starts_with("Proxy request sent") {
            return Err(format!("it went {THROUGH_PROXY}"));
        } else if line.starts_with("Location: ") && line.ends_with("[following]") {
            self.follows = true;
        } else {
            self.refused += u64::from(is_refused(line));
        }
        Ok(())
    }

    /// Fails if a line says that Wget connected to another server than that of the URL. With https it
    /// says nothing else of a proxy.
    fn check_direct(&self, line: &str) -> Result<(), String> {
        let to = line.trim_start_matches("Connecting to ").trim_end_matches("... connected.");
        let port = to.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
        let is_other = |(found, of_url)| found != of_url;
        let host = host(&self.url).to_ascii_lowercase();
        // A name in other letters may be written in several ways.
        let is_plain =
            host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-".contains(&byte));
        let elsewhere = is_plain && !to.to_ascii_lowercase().contains(&host);
        if elsewhere || port.zip(port_of_url(&self.url)).is_some_and(is_other) {
            Err(format!("it was connected to {to}, so that it went {THROUGH_PROXY}"))
        } else {
            Ok(())
        }
    }

    fn figures(self, text: &str) -> Result<ToldTransfers, String> {
        let saved = self.saved.len() as u64;
        if saved > self.begun {
            return Err("it has more saved files than transfers".to_owned());
        }
        let mut figures = ClientFigures::default();
        figures.requests(self.begun, saved);
        add_goodput(&mut figures, &self.saved);
        let wall_s = maybe(text, "Total wall clock time:").and_then(clock_time);
        if let Some(wall_s) = wall_s {
            figures.quantity(Quantity::Elapsed, wall_s);
        }
        let seconds: f64 = self.saved.iter().map(|file| file.seconds).sum();
        Ok(ToldTransfers {
            told: ToldFigures { figures, refused: self.refused },
            version: maybe(text, "DEBUG output created by ").map(str::to_owned),
            families: self.families,
            took_s: wall_s.unwrap_or(seconds),
            complete: saved > 0,
        })
    }
}

/// Returns the host of a URL, with the brackets of an address.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = authority(rest);
    match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => place.split(':').next().unwrap_or_default(),
    }
}

/// Returns the address in a line such as `Connecting to example.net
/// (example.net)|2001:db8::1|:80... connected.`; before Wget 1.10 it is `example.net[192.0.2.1]:80`.
fn connected_to(line: &str) -> &str {
    let rest = line.strip_prefix("Connecting to ").unwrap_or_default();
    let of_bars = || rest.split('|').nth(1);
    let of_brackets = || rest.split_once('[')?.1.split(']').next();
    let plain = || rest.split(':').next();
    of_bars().or_else(of_brackets).or_else(plain).unwrap_or_default()
}

/// Parses a duration such as `1m 2s` in seconds.
fn clock_time(text: &str) -> Option<f64> {
    let parts = text.split_whitespace().map(|part| scaled(&part.replace(',', "."), &TIMES).ok());
    let us = parts.sum::<Option<f64>>()?;
    Some(us / 1e6)
}
