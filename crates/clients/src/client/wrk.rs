//! wrk: a closed loop over HTTP/1.1 for a given duration.

use super::read::{TIMES, behind, maybe, parse_number, scaled};
use super::{Answer, ClientFigures, Job, ProgramOutput, Quantity, TimePoint, TimedPhase};

const SIZES: [(&str, f64); 5] = [
    ("B", 1.0),
    ("KB", 1_024.0),
    ("MB", 1_048_576.0),
    ("GB", 1_073_741_824.0),
    ("TB", 1_099_511_627_776.0),
];

pub(super) fn wrk_arguments(job: &Job) -> Result<Vec<String>, String> {
    job.literal()?;
    job.speaks(&["http/1.1"])?;
    let Some(time) = job.duration.filter(|_| job.count.is_none()) else {
        return Err("ends after a time: duration = \"10s\", without count".into());
    };
    if job.streams > 1 {
        return Err("has one exchange on a connection: omit streams".into());
    }
    if job.threads > job.connections {
        return Err("can't have more threads than connections".into());
    }
    let mut words = vec![format!("-t{}", job.threads), format!("-c{}", job.connections)];
    words.push(format!("-d{}s", time.as_secs_f64().ceil()));
    words.extend([format!("--timeout={}s", job.timeout_s()), "--latency".to_owned()]);
    let close = (!job.keep_alive).then(|| "Connection: close".to_owned());
    for header in job.headers.iter().cloned().chain(close) {
        words.extend(["-H".to_owned(), header]);
    }
    words.push(job.url.clone());
    Ok(words)
}

pub(super) fn read_wrk(said: &ProgramOutput<'_>) -> Result<Answer, String> {
    let text = said.out;
    let line = text.lines().find(|line| line.contains(" requests in ") && line.ends_with(" read"));
    let line = line.ok_or("its output has no line 'N requests in TIME, SIZE read'")?;
    let completed: u64 = parse_number(line)?;
    let rate: f64 = parse_number(behind(text, "Requests/sec:")?)?;
    let received = scaled(behind(text, "Transfer/sec:")?, &SIZES)?;
    let spans = line.split(" requests in ").nth(1).and_then(|rest| rest.split(',').next());
    let elapsed_s = scaled(spans.unwrap_or_default(), &TIMES)? / 1e6;
    let errors = match maybe(text, "Socket errors:") {
        Some(errors) => socket_errors(errors)?,
        None => [0; 4],
    };
    let refused = maybe(text, "Non-2xx or 3xx responses:").map_or(Ok(0), parse_number)?;
    let mut figures = ClientFigures::default();
    // The rate is printed with more digits than the time that it is worked out from.
    let elapsed_s = if rate > 0.0 { completed as f64 / rate } else { elapsed_s };
    figures.counts(completed + errors.iter().sum::<u64>(), completed, elapsed_s);
    figures.quantity(Quantity::RequestsPerS, rate);
    figures.quantity(Quantity::TransferRate, received);
    figures.quantity(Quantity::WriteErrors, errors[2] as f64);
    let latency = behind(text, "Latency")?;
    let mean = latency.split_whitespace().next().unwrap_or_default();
    figures.time_us(TimedPhase::Response, TimePoint::Mean, scaled(mean, &TIMES)?);
    for (label, point) in
        [("50%", TimePoint::P50), ("90%", TimePoint::P90), ("99%", TimePoint::P99)]
    {
        figures.time_us(TimedPhase::Response, point, scaled(behind(text, label)?, &TIMES)?);
    }
    Ok(figures.answer(said, refused))
}

/// Parses a list such as `connect 0, read 12, write 0, timeout 3`.
fn socket_errors(text: &str) -> Result<[u64; 4], String> {
    let counts: Vec<u64> = text
        .split(',')
        .zip(["connect ", "read ", "write ", "timeout "])
        .filter_map(|(part, name)| part.trim().strip_prefix(name)?.parse().ok())
        .collect();
    counts.try_into().map_err(|_| format!("its output has the socket errors '{text}'"))
}
