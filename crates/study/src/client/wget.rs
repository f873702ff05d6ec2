//! GNU Wget: transfers one after the other. Wget prints a line with the rate of each.

use super::read::scaled;
use super::{Answer, ClientFigures, Job, MOST_LISTED, ProgramOutput, Quantity};
use sixmark_units::family::Family;

/// The units of Wget's rates, powers of 1,024. Wget prints three digits.
const RATES: [(&str, f64); 4] =
    [("B/s", 1.0), ("KB/s", 1_024.0), ("MB/s", 1_048_576.0), ("GB/s", 1_073_741_824.0)];

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
    let begun = said.err.lines().filter(|line| is_begin(line)).count() as u64;
    if begun != sent {
        return Err(format!("reported {begun} transfers, {sent} were requested"));
    }
    let saved = said.err.lines().filter(|line| line.contains(" saved ["));
    let saved = saved.map(saved_line).collect::<Result<Vec<_>, _>>()?;
    let bytes: f64 = saved.iter().map(|(bytes, _)| bytes).sum();
    let seconds: f64 = saved.iter().map(|(bytes, rate)| bytes / rate).sum();
    let mut figures = ClientFigures::default();
    // The elapsed time includes the start of the process; the rates that Wget prints do not.
    figures.counts(sent, saved.len() as u64, said.wall_s);
    if seconds > 0.0 {
        figures.quantity(Quantity::Goodput, bytes / seconds);
    }
    let refused = said.err.lines().filter(|line| line.contains(" ERROR ")).count();
    Ok(figures.answer(said, refused as u64))
}

/// Reports whether a line begins a transfer: `--2026-11-21 17:41:25--  http://…`, or `ftp://…`
fn is_begin(line: &str) -> bool {
    line.strip_prefix("--").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit())
            && (rest.contains("--  http") || rest.contains("--  ftp://"))
    })
}

/// Parses the bytes and the bytes/s of a line such as
/// `2026-11-21 17:41:25 (1.56 GB/s) - '/dev/null' saved [5879824/5879824]`.
fn saved_line(line: &str) -> Result<(f64, f64), String> {
    let wrong = || format!("its output has the line '{line}', which has another form");
    let rate = line.split_once('(').and_then(|(_, rest)| rest.split_once(')')).ok_or_else(wrong)?.0;
    let bytes = line.rsplit_once(" saved [").ok_or_else(wrong)?.1;
    let bytes = bytes.strip_suffix(']').ok_or_else(wrong)?.split('/').next().unwrap_or_default();
    let bytes: f64 = bytes.parse().map_err(|_| wrong())?;
    match scaled(rate, &RATES)? {
        rate if rate > 0.0 || bytes == 0.0 => Ok((bytes, rate.max(f64::MIN_POSITIVE))),
        _ => Err(wrong()),
    }
}
