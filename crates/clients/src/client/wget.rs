//! GNU Wget: transfers one after the other. Wget prints a line with the rate of each.

use super::read::scaled;
use super::{Answer, ClientFigures, Job, MOST_LISTED, ProgramOutput, Quantity, ToldFigures};
use sixmark_units::family::Family;

/// The units of Wget's rates in bytes/s: powers of 1,024 or, with `--report-speed=bits`, bits by
/// powers of 1,000. Wget prints three digits.
const RATES: [(&str, f64); 8] = [
    ("B/s", 1.0),
    ("KB/s", 1_024.0),
    ("MB/s", 1_048_576.0),
    ("GB/s", 1_073_741_824.0),
    ("b/s", 0.125),
    ("Kb/s", 125.0),
    ("Mb/s", 125e3),
    ("Gb/s", 125e6),
];

pub(super) fn wget_arguments(job: &Job) -> Result<Vec<String>, String> {
    job.one_at_a_time()?;
    job.speaks(&["http/1.1"])?;
    if job.duration.is_some() {
        return Err("ends after a number of requests: count = N, without duration".into());
    }
    let count = job.count.unwrap_or(1);
    if count > MOST_LISTED {
        return Err(format!("fetches at most {MOST_LISTED} in a row"));
    }
    let family = if job.family == Family::Ipv6 { "-6" } else { "-4" };
    let mut words = vec!["--no-config", "--no-proxy"];
    words.extend(["-O", job.output(), "--tries=1", "--progress=dot:giga", family]);
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    words.push(format!("--timeout={}", job.timeout.as_secs_f64()));
    words.extend(job.insecure.then(|| "--no-check-certificate".to_owned()));
    words.extend((!job.keep_alive).then(|| "--no-http-keep-alive".to_owned()));
    words.extend(job.headers.iter().map(|header| format!("--header={header}")));
    words.extend((0..count).map(|_| job.url.clone()));
    Ok(words)
}

pub(super) fn read_wget(job: &Job, said: &ProgramOutput<'_>) -> Result<Answer, String> {
    let sent = job.count.unwrap_or(1);
    let begun = said.err.lines().filter(|line| begun_url(line).is_some()).count() as u64;
    if begun != sent {
        return Err(format!("reported {begun} transfers, {sent} were requested"));
    }
    let mut saved = Vec::new();
    for line in said.err.lines() {
        saved.extend(saved_line(line)?);
    }
    let mut figures = ClientFigures::default();
    // The elapsed time includes the start of the process; the rates that Wget prints do not.
    figures.counts(sent, saved.len() as u64, said.wall_s);
    add_goodput(&mut figures, &saved);
    let refused = said.err.lines().filter(|line| is_refused(line)).count() as u64;
    Ok(ToldFigures { figures, refused }.answer(said))
}

/// Adds the bytes/s over all files that were saved.
pub(crate) fn add_goodput(figures: &mut ClientFigures, saved: &[SavedFile]) {
    let bytes: f64 = saved.iter().map(|file| file.bytes).sum();
    let seconds: f64 = saved.iter().map(|file| file.seconds).sum();
    if seconds > 0.0 {
        figures.quantity(Quantity::Goodput, bytes / seconds);
    }
}

/// Returns the URL of a line that begins a transfer, `--2026-11-21 17:41:25--  http://…`, and
/// whether it is another try of the same transfer. Wget up to 1.10 prints no date.
pub(crate) fn begun_url(line: &str) -> Option<(&str, bool)> {
    let rest =
        line.strip_prefix("--").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let after = rest?.split_once("--  ")?.1;
    let again = after.strip_prefix("(try:").and_then(|rest| rest.split_once(')'));
    let url = again.map_or(after, |(_, url)| url.trim_start());
    let is_url = ["http://", "https://", "ftp://", "ftps://"].iter().any(|at| url.starts_with(at));
    is_url.then_some((url, again.is_some()))
}

/// Reports whether a line says that the response had an error status.
pub(crate) fn is_refused(line: &str) -> bool {
    line.contains(" ERROR ")
}

/// A file that Wget has saved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SavedFile {
    pub(crate) bytes: f64,
    /// The duration that follows from the printed rate.
    pub(crate) seconds: f64,
}

/// Parses a line such as `2026-11-21 17:41:25 (1.56 GB/s) - '/dev/null' saved [5879824/5879824]`.
/// Returns `None` for a line that says of no file that it was saved.
pub(crate) fn saved_line(line: &str) -> Result<Option<SavedFile>, String> {
    let wrong = || format!("its output has the line '{line}', which has another form");
    let after = |label: &str| line.rsplit_once(label).map(|(_, bytes)| bytes);
    let Some(bytes) = after(" saved [").or_else(|| after(" - written to stdout [")) else {
        return Ok(None);
    };
    let rate = line.split_once('(').and_then(|(_, rest)| rest.split_once(')')).ok_or_else(wrong)?.0;
    let bytes = bytes.strip_suffix(']').ok_or_else(wrong)?.split('/').next().unwrap_or_default();
    let bytes: u64 = bytes.parse().map_err(|_| wrong())?;
    let bytes = bytes as f64;
    // Some locales write a comma.
    match scaled(&rate.replace(',', "."), &RATES)? {
        rate if rate > 0.0 => Ok(Some(SavedFile { bytes, seconds: bytes / rate })),
        _ if bytes == 0.0 => Ok(Some(SavedFile { bytes, seconds: 0.0 })),
        _ => Err(wrong()),
    }
}
