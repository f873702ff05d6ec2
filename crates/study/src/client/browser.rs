//! Browsers: loads one after the other, each told of in a line of JSON by whoever drives the browser,
//! with the browser's own times.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Answer, Client, ClientFigures, Job, ProgramOutput};
use crate::client::{Quantity, TimePoint, TimedPhase};
use sixmark_units::family::Family;

/// One load as its browser tells of it. Times in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageLoad {
    /// Why nothing or not all came, in the browser's words.
    pub error: Option<String>,
    /// The response's status; 0 where none came.
    pub status: u16,
    /// What was spoken, by its ALPN name.
    pub protocol: String,
    /// Whom the browser was connected to, where it tells.
    pub peer: Option<IpAddr>,
    /// The connection had been used before.
    pub reused: bool,
    /// Bytes of content, decoded.
    pub content_bytes: u64,
    /// Bytes of the response as sent.
    pub bytes: u64,
    /// Making the connection, without TLS.
    pub connect_us: Option<f64>,
    /// The handshake of TLS.
    pub tls_us: Option<f64>,
    /// From the request sent to the first byte of the response.
    pub wait_us: Option<f64>,
    /// From there to the last byte.
    pub transfer_us: Option<f64>,
    /// From when the browser's network code began to the last byte.
    pub response_us: f64,
}

/// What every browser is called with. Whoever starts it adds the folder of its profile, and leaves its
/// sandbox out where that can't be made.
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
    // A server of the study's is no stranger's way into the user's home.
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
        // It does not tell whom it was connected to.
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

/// Refuses what came another way than the study asked for.
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
    match times.into_iter().flatten().chain([load.response_us]).all(|us| us >= 0.0) {
        true => Ok(load),
        false => Err(wrong("a time is below 0".to_owned())),
    }
}
