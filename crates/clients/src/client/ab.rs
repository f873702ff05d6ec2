//! ApacheBench (ab): HTTP/1.0, optionally with persistent connections (`-k`).

use super::read::{behind, maybe, parse_number};
use super::{
    Answer, ClientFigures, Job, ProgramOutput, Quantity, TimePoint, TimedPhase, ToldFigures,
};

pub(super) fn ab_arguments(job: &Job) -> Result<Vec<String>, String> {
    job.literal()?;
    job.speaks(&["http/1.0"])?;
    if job.streams > 1 {
        return Err("has one exchange on a connection: omit streams".into());
    }
    if u64::from(job.connections) > job.count.unwrap_or(u64::MAX) {
        return Err("can't have more connections than requests".into());
    }
    let mut words = ["-q", "-d"].map(str::to_owned).to_vec();
    match (job.duration, job.count) {
        (None, _) => words.extend(["-n".to_owned(), job.counted()?.to_string()]),
        // -t sets -n to 50,000, so that -n comes after it.
        (Some(time), count) => words.extend([
            "-t".to_owned(),
            (time.as_secs_f64().ceil() as u64).to_string(),
            "-n".to_owned(),
            count.unwrap_or(10_000_000).to_string(),
        ]),
    }
    words.extend(["-c".to_owned(), job.connections.to_string()]);
    words.extend(["-s".to_owned(), job.timeout_s().to_string()]);
    words.extend(job.keep_alive.then(|| "-k".to_owned()));
    for header in &job.headers {
        words.extend(["-H".to_owned(), header.clone()]);
    }
    words.push(job.url.clone());
    Ok(words)
}

pub(super) fn read_ab(said: &ProgramOutput<'_>) -> Result<Answer, String> {
    ab_figures(said.out).map(|told| told.answer(said))
}

/// Parses what ab prints.
pub(crate) fn ab_figures(text: &str) -> Result<ToldFigures, String> {
    let completed: u64 = parse_number(behind(text, "Complete requests:")?)?;
    let failed: u64 = parse_number(behind(text, "Failed requests:")?)?;
    let elapsed_s: f64 = parse_number(behind(text, "Time taken for tests:")?)?;
    let rate: f64 = parse_number(behind(text, "Requests per second:")?)?;
    let kib: f64 = parse_number(behind(text, "Transfer rate:")?)?;
    let content: f64 = parse_number(behind(text, "HTML transferred:")?)?;
    let written = maybe(text, "Write errors:").map_or(Ok(0), parse_number::<u64>)?;
    let refused = maybe(text, "Non-2xx responses:").map_or(Ok(0), parse_number)?;
    // The rate is printed with more digits than the time that it is worked out from.
    let elapsed_s = if rate > 0.0 { completed as f64 / rate } else { elapsed_s };
    let mut figures = ClientFigures::default();
    figures.counts(completed, completed.saturating_sub(failed), elapsed_s);
    figures.quantity(Quantity::RequestsPerS, rate);
    figures.quantity(Quantity::TransferRate, kib * 1_024.0);
    figures.quantity(Quantity::WriteErrors, written as f64);
    if elapsed_s > 0.0 {
        figures.quantity(Quantity::Goodput, content / elapsed_s);
    }
    if let Some(per_request) = maybe(text, "Time per request:") {
        figures.time_us(
            TimedPhase::Response,
            TimePoint::Mean,
            parse_number::<f64>(per_request)? * 1e3,
        );
    }
    Ok(ToldFigures { figures, refused })
}
