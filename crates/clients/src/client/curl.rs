//! curl: transfers one after the other. curl prints a line for each (`--write-out`).

use super::{Answer, ClientFigures, Job, MOST_LISTED, ProgramOutput, ToldFigures};
use crate::client::{Quantity, TimePoint, TimedPhase};

/// The format of the line that curl prints for each transfer.
const LINE: &str = "%{exitcode} %{http_code} %{size_download} %{size_header} %{time_connect} \
                    %{time_appconnect} %{time_pretransfer} %{time_starttransfer} %{time_total} \
                    %{num_connects}\\n";

pub(super) fn curl_arguments(job: &Job) -> Result<Vec<String>, String> {
    job.one_at_a_time()?;
    job.speaks(&["http/1.0", "http/1.1", "http/2", "h2c"])?;
    if job.duration.is_some() {
        return Err("ends after a number of requests: count = N, without duration".into());
    }
    let count = job.count.unwrap_or(1);
    if count > MOST_LISTED {
        return Err(format!("fetches at most {MOST_LISTED} in a row"));
    }
    let family = if job.family == sixmark_units::family::Family::Ipv6 { "-6" } else { "-4" };
    // -q ignores ~/.curlrc, which is not part of the study. -g turns globbing off, because IPv6
    // addresses have brackets.
    let mut words = ["-q", "-g", "-s", family].map(str::to_owned).to_vec();
    words.extend(version(job).map(str::to_owned));
    words.extend(["--max-time".into(), format!("{}", job.timeout.as_secs_f64())]);
    words.extend(["--noproxy".to_owned(), "*".to_owned(), "-w".to_owned(), LINE.to_owned()]);
    words.extend(job.insecure.then(|| "-k".to_owned()));
    let close = (!job.keep_alive).then(|| "Connection: close".to_owned());
    for header in job.headers.iter().cloned().chain(close) {
        words.extend(["-H".to_owned(), header]);
    }
    for _ in 0..count {
        words.extend(["-o".to_owned(), job.output().to_owned(), job.url.clone()]);
    }
    Ok(words)
}

fn version(job: &Job) -> Option<&'static str> {
    match job.protocol.as_deref()? {
        "http/1.0" => Some("--http1.0"),
        "http/1.1" => Some("--http1.1"),
        "http/2" => Some("--http2"),
        _ => Some("--http2-prior-knowledge"),
    }
}

/// One transfer. Times are in seconds since its start, lengths in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CurlTransfer {
    /// curl's exit status for it: 0 if it was complete.
    pub(crate) code: u32,
    /// The status of the response.
    pub(crate) status: u32,
    pub(crate) body: f64,
    pub(crate) head: f64,
    pub(crate) connect: f64,
    /// 0 without TLS.
    pub(crate) tls: f64,
    pub(crate) sent: f64,
    pub(crate) first: f64,
    pub(crate) total: f64,
    /// The number of connections that it opened.
    pub(crate) connects: f64,
}

pub(super) fn read_curl(job: &Job, said: &ProgramOutput<'_>) -> Result<Answer, String> {
    let transfers = said.out.lines().map(transfer).collect::<Result<Vec<_>, _>>()?;
    let sent = job.count.unwrap_or(1);
    if transfers.len() as u64 != sent {
        return Err(format!("reported {} transfers, {sent} were requested", transfers.len()));
    }
    Ok(curl_figures(&transfers).answer(said))
}

/// Returns the figures of transfers.
pub(crate) fn curl_figures(transfers: &[CurlTransfer]) -> ToldFigures {
    let sent = transfers.len() as u64;
    let good: Vec<&CurlTransfer> = transfers.iter().filter(|transfer| transfer.code == 0).collect();
    let elapsed_s: f64 = transfers.iter().map(|transfer| transfer.total).sum();
    let mut figures = ClientFigures::default();
    figures.counts(sent, good.len() as u64, elapsed_s);
    let sum = |of: fn(&CurlTransfer) -> f64| good.iter().map(|t| of(t)).sum::<f64>();
    if elapsed_s > 0.0 {
        figures.quantity(Quantity::Goodput, sum(|t| t.body) / elapsed_s);
        figures.quantity(Quantity::TransferRate, sum(|t| t.body + t.head) / elapsed_s);
    }
    figures.quantity(Quantity::Opened, transfers.iter().map(|transfer| transfer.connects).sum());
    let opened: Vec<&CurlTransfer> = good.iter().copied().filter(|t| t.connects > 0.0).collect();
    mean(&mut figures, TimedPhase::Connect, opened.iter().map(|t| t.connect));
    mean(
        &mut figures,
        TimedPhase::Tls,
        opened.iter().filter(|t| t.tls > 0.0).map(|t| t.tls - t.connect),
    );
    mean(&mut figures, TimedPhase::Wait, good.iter().map(|t| t.first - t.sent));
    mean(&mut figures, TimedPhase::Transfer, good.iter().map(|t| t.total - t.first));
    mean(&mut figures, TimedPhase::Response, good.iter().map(|t| t.total));
    let refused = good.iter().filter(|transfer| transfer.status >= 300).count();
    ToldFigures { figures, refused: refused as u64 }
}

fn mean(figures: &mut ClientFigures, phase: TimedPhase, seconds: impl Iterator<Item = f64>) {
    let seconds: Vec<f64> = seconds.collect();
    if !seconds.is_empty() {
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        figures.time_us(phase, TimePoint::Mean, mean * 1e6);
    }
}

fn transfer(line: &str) -> Result<CurlTransfer, String> {
    let wrong = || format!("its output has the unexpected line '{line}'");
    let words: Vec<f64> =
        line.split(' ').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    let [code, status, body, head, connect, tls, sent, first, total, connects] = words[..] else {
        return Err(wrong());
    };
    if words.iter().any(|number| !number.is_finite() || *number < 0.0) {
        return Err(wrong());
    }
    let (code, status) = (code as u32, status as u32);
    Ok(CurlTransfer { code, status, body, head, connect, tls, sent, first, total, connects })
}
