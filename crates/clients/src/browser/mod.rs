//! Browsers as clients of studies, driven by their automation protocols. They load one URL after
//! the other, and the times are the browser's own.
//!
//! A script fetches the URL, so that content of any type works: a document of a type that the
//! browser does not display would be a download, whose times no protocol reports. The script needs
//! a page of the same origin, which is synthesized in the browser so that the server never sees a
//! request for it.

mod chromium;
mod confinement;
mod firefox;
mod session;
mod threads;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::client::{Client, Job, PageLoad};
use serde_json::{Value, json};

use confinement::Confinement;
use sixmark_sys::group_usage as usage;
pub use threads::Browsers;

/// How long a browser may take for anything but a load, such as to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long after the failure of a script its browser may take to report the reason.
const SOON: Duration = Duration::from_secs(1);

/// The page that a script needs. Its inline icon keeps the browser from requesting one from the
/// server.
const PAGE: &str = "<!doctype html><link rel=icon href=data:,>";

/// The operations of a browser.
trait Browser {
    /// Opens a page of the URL's origin, with its own connections, cache and cookies.
    fn open(&mut self, url: &str) -> Result<(), String>;

    /// Fetches the URL from that page.
    fn fetch(&mut self, url: &str, timeout: Duration) -> Result<PageLoad, String>;

    /// Closes the page.
    fn close(&mut self) -> Result<(), String>;

    /// Returns its process id, which is also that of its process group.
    fn id(&self) -> u32;

    /// Returns the end of its standard error.
    fn said(&self) -> String;

    /// Returns how it is confined.
    fn confinement(&self) -> Confinement;
}

/// The results of a job's loads.
pub struct Loads {
    /// The loads in their order.
    pub loads: Vec<PageLoad>,
    /// The time from the beginning of the first load to the end of the last, in seconds.
    pub wall_s: f64,
    /// The browser's processor time during that, in seconds.
    pub cpu_s: f64,
    /// The end of the browser's standard error.
    pub said: String,
}

fn start_browser(
    client: Client,
    words: &[String],
    insecure: bool,
    folder: &Path,
) -> Result<Box<dyn Browser>, String> {
    let confinement = Confinement::new();
    Ok(match client {
        Client::Firefox => Box::new(firefox::Firefox::start(words, insecure, folder, confinement)?),
        _ => Box::new(chromium::Chromium::start(words, folder, confinement)?),
    })
}

/// Makes all loads of a job. Returns `None` if the study was stopped before they were done.
fn load_all(
    browser: &mut dyn Browser,
    job: &Job,
    stop: &AtomicBool,
) -> Result<Option<Loads>, String> {
    browser.confinement().check(&job.url)?;
    let (began, used) = (Instant::now(), usage::of_group(browser.id()));
    let count = job.count.unwrap_or(1);
    let mut loads = Vec::new();
    let mut is_open = false;
    for _ in 0..count {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if is_open && !job.keep_alive {
            browser.close()?;
            is_open = false;
        }
        if !is_open {
            browser.open(&job.url)?;
            is_open = true;
        }
        loads.push(browser.fetch(&job.url, job.timeout)?);
    }
    if is_open {
        browser.close()?;
    }
    let wall_s = began.elapsed().as_secs_f64();
    let cpu_s = (usage::of_group(browser.id()) - used).max(0.0);
    Ok(Some(Loads { loads, wall_s, cpu_s, said: browser.said() }))
}

/// Returns the script that fetches the URL. Its value is the number of bytes, or an exclamation
/// mark followed by the error.
fn script(url: &str, timeout: Duration) -> String {
    let settings = r#"cache:"no-store",credentials:"omit",redirect:"manual""#;
    format!(
        "fetch({},{{{settings},signal:AbortSignal.timeout({})}})\
         .then(r=>r.arrayBuffer()).then(b=>''+b.byteLength,e=>'!'+e)",
        Value::from(url),
        timeout.as_millis()
    )
}

/// Parses the script's value: the bytes of content, or the error.
fn loaded_bytes(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| text.trim_start_matches('!').to_owned())
}

/// Returns a failed load, of which only the error and the duration are known.
fn failed_load(error: &str, took: Duration) -> PageLoad {
    let response_us = took.as_secs_f64() * 1e6;
    PageLoad { error: Some(error.to_owned()), response_us, ..PageLoad::default() }
}

/// Returns the header field that is sent with the page.
fn page_type(name: &str, value: Value) -> Value {
    json!({name: "Content-Type", "value": value})
}

/// Returns the end of a file, for error messages.
fn last_of(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let from = bytes.len().saturating_sub(4_000);
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}
