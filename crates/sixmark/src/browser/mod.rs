//! Browsers, driven by the protocols that are made for it, as clients of studies: loads one after the
//! other, with the browser's own times.
//!
//! The URL is fetched by a script, so that any content will do: a document of a type that the
//! browser doesn't show would be a download, which no protocol tells the times of. The script needs a
//! page of the same origin, which is made up in the browser, so that the server never sees it.

mod chromium;
mod confinement;
mod firefox;
mod hand;
mod talk;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sixmark_model::study::client::{Client, Job, PageLoad};

use confinement::Confinement;
pub(crate) use hand::Browsers;
use sixmark_machine::usage;

/// The longest that a browser may take for what is no load: to start, say, on a full machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long after a script has failed its browser may take to tell why.
const SOON: Duration = Duration::from_secs(1);

/// The page that a script needs. Its icon keeps the browser from asking the server for one.
const PAGE: &str = "<!doctype html><link rel=icon href=data:,>";

/// What a browser can do.
trait Browser {
    /// Opens a page of the URL's origin, with connections, cache and cookies of its own.
    fn open(&mut self, url: &str) -> Result<(), String>;

    /// Fetches the URL from that page.
    fn fetch(&mut self, url: &str, timeout: Duration) -> Result<PageLoad, String>;

    /// Closes the page.
    fn close(&mut self) -> Result<(), String>;

    /// Its process id, which is that of its process group too.
    fn id(&self) -> u32;

    /// The end of what it said on standard error.
    fn said(&self) -> String;

    /// How it runs.
    fn confinement(&self) -> Confinement;
}

/// What loads came to.
pub(crate) struct Loads {
    /// In their order.
    pub(crate) loads: Vec<PageLoad>,
    /// From the first one's beginning to the last one's end, in seconds.
    pub(crate) wall_s: f64,
    /// Processor time of the browser in that time, in seconds.
    pub(crate) cpu_s: f64,
    /// The end of what the browser said on standard error.
    pub(crate) said: String,
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

/// All loads of a job. None where the study was stopped before they were done.
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

/// The script that fetches; it returns the number of bytes, or what went wrong behind an exclamation
/// mark.
fn script(url: &str, timeout: Duration) -> String {
    let settings = r#"cache:"no-store",credentials:"omit",redirect:"manual""#;
    format!(
        "fetch({},{{{settings},signal:AbortSignal.timeout({})}})\
         .then(r=>r.arrayBuffer()).then(b=>''+b.byteLength,e=>'!'+e)",
        Value::from(url),
        timeout.as_millis()
    )
}

/// What the script returned: bytes of content, or why there are none.
fn loaded_bytes(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| text.trim_start_matches('!').to_owned())
}

/// A load of which nothing is known but why it failed and how long that took.
fn failed_load(error: &str, took: Duration) -> PageLoad {
    let response_us = took.as_secs_f64() * 1e6;
    PageLoad { error: Some(error.to_owned()), response_us, ..PageLoad::default() }
}

/// The head that goes with the page.
fn page_type(name: &str, value: Value) -> Value {
    json!({name: "Content-Type", "value": value})
}

/// The end of a file, for those who want to know why.
fn last_of(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let from = bytes.len().saturating_sub(4_000);
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}
