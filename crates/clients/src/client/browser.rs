//! Browsers: page loads one after the other. The driver of the browser reports each load as a line
//! of JSON, with the times that the browser measured.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Answer, Client, ClientFigures, Job, ProgramOutput};
use crate::client::{Quantity, TimePoint, TimedPhase};
use sixmark_units::family::Family;

/// One load as reported by the browser. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageLoad {
    /// The browser's error message if the load failed or was incomplete; else `None`.
    pub error: Option<String>,
    /// The status of the response; 0 if there was none.
    pub status: u16,
    /// The protocol of the response, by its ALPN name.
    pub protocol: String,
    /// The address of the server, if the browser reports it.
    pub peer: Option<IpAddr>,
    /// Whether the connection had been used before.
    pub reused: bool,
    /// The number of bytes of content after decoding.
    pub content_bytes: u64,
    /// The number of bytes of the response as transferred.
    pub bytes: u64,
    /// The time to establish the connection, without TLS.
    pub connect_us: Option<f64>,
    /// The time of the TLS handshake.
    pub tls_us: Option<f64>,
    /// The time from the end of the request to the first byte of the response.
    pub wait_us: Option<f64>,
    /// The time from the beginning of the response to its last byte.
    pub transfer_us: Option<f64>,
    /// The time from the start of the load in the browser's network code to the last byte.
    pub response_us: f64,
}

/// The arguments of Chromium. The driver adds the folder of the profile, and turns the sandbox off
/// if it can't be set up.
const CHROMIUM: [&str; 16] = [
    "--headless",
    "--remote-debugging-pipe",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-proxy-server",
    // The servers of a study may have local addresses, which these checks would not allow.
    "--disable-features=LocalNetworkAccessChecks",
];
const FIREFOX: [&str; 3] = ["--headless", "--remote-debugging-port", "0"];

pub(super) fn browser_arguments(client: Client, job: &Job) -> Result<Vec<String>, String> {
    job.one_at_a_time()?;
    job.speaks(&["http/1.1", "http/2"])?;
    job.counted()?;
    if job.duration.is_some() {
        return Err("ends after a number of loads: count = N, without duration".into());
    }
    if !job.headers.is_empty() {
        return Err("sends its own fields: omit header".into());
    }
    if client == Client::Firefox {
        // Firefox does not report the peer's address, so the URL must determine the family.
        job.literal()?;
    }
    let words: &[&str] = if client == Client::Firefox { &FIREFOX } else { &CHROMIUM };
    let mut words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    if client == Client::Chromium && job.insecure {
        words.push("--ignore-certificate-errors".to_owned());
    }
    Ok(words)
}

pub(super) fn read_browser(job: &Job, said: &ProgramOutput<'_>) -> Result<Answer, String> {
    let loads = said.out.lines().map(read_page_load).collect::<Result<Vec<PageLoad>, _>>()?;
    let sent = job.counted()?;
    if loads.len() as u64 != sent {
        return Err(format!("reported {} loads, {sent} were requested", loads.len()));
    }
    let good: Vec<&PageLoad> = loads.iter().filter(|load| load.error.is_none()).collect();
    good.iter().try_for_each(|load| as_asked(job, load))?;
    let elapsed_s = loads.iter().map(|load| load.response_us).sum::<f64>() / 1e6;
    let mut figures = ClientFigures::default();
    figures.counts(sent, good.len() as u64, elapsed_s);
    if elapsed_s > 0.0 {
        let sum = |of: fn(&PageLoad) -> u64| good.iter().map(|load| of(load)).sum::<u64>() as f64;
        figures.quantity(Quantity::Goodput, sum(|load| load.content_bytes) / elapsed_s);
        figures.quantity(Quantity::TransferRate, sum(|load| load.bytes) / elapsed_s);
    }
    figures.quantity(Quantity::Opened, good.iter().filter(|load| !load.reused).count() as f64);
    let mut mean = |phase, of: fn(&PageLoad) -> Option<f64>| {
        let times: Vec<f64> = good.iter().filter_map(|load| of(load)).collect();
        if !times.is_empty() {
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            figures.time_us(phase, TimePoint::Mean, mean);
        }
    };
    mean(TimedPhase::Connect, |load| load.connect_us);
    mean(TimedPhase::Tls, |load| load.tls_us);
    mean(TimedPhase::Wait, |load| load.wait_us);
    mean(TimedPhase::Transfer, |load| load.transfer_us);
    mean(TimedPhase::Response, |load| Some(load.response_us));
    let refused = good.iter().filter(|load| load.status >= 300).count();
    Ok(figures.answer(said, refused as u64))
}

/// Fails if the load used another family or protocol than requested, or reused a connection
/// although it should not.
fn as_asked(job: &Job, load: &PageLoad) -> Result<(), String> {
    if let Some(peer) = load.peer.filter(|peer| Family::of(*peer) != job.family) {
        return Err(format!("it went to {peer}, which is not {}", job.family));
    }
    if load.reused && !job.keep_alive {
        return Err("it used a connection again, which it should not".to_owned());
    }
    let spoken = if load.protocol == "h2" { "http/2" } else { &load.protocol };
    match &job.protocol {
        Some(asked) if asked != spoken => Err(format!("it spoke {spoken} instead of {asked}")),
        _ => Ok(()),
    }
}

fn read_page_load(line: &str) -> Result<PageLoad, String> {
    let wrong = |why: String| format!("'{line}' does not describe a page load: {why}");
    let load: PageLoad = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
    let times = [load.connect_us, load.tls_us, load.wait_us, load.transfer_us];
    if times.into_iter().flatten().chain([load.response_us]).all(|us| us >= 0.0) {
        Ok(load)
    } else {
        Err(wrong("a time is below 0".to_owned()))
    }
}
