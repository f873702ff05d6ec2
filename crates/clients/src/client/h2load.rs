//! h2load: a closed loop over HTTP/2, or HTTP/1.1 (`--h1`).

use super::read::{TIMES, behind, parse_number, scaled};
use super::{
    Answer, ClientFigures, Job, ProgramOutput, Quantity, TimePoint, TimedPhase, ToldFigures,
};

pub(super) fn h2load_arguments(job: &Job) -> Result<Vec<String>, String> {
    job.literal()?;
    job.speaks(&["http/1.1", "http/2", "h2c"])?;
    if !job.keep_alive {
        return Err("keeps its connections: omit no-keep-alive".into());
    }
    let http1 = job.protocol.as_deref() == Some("http/1.1");
    let mut words = vec![format!("-c{}", job.connections), format!("-t{}", job.threads)];
    match job.duration {
        None => words.push(format!("-n{}", job.counted()?)),
        Some(time) => words.push(format!("-D{}", time.as_secs_f64().ceil())),
    }
    if job.threads > job.connections || job.count.is_some_and(|n| n < job.connections.into()) {
        return Err("has at least one connection a thread and one request a connection".into());
    }
    words.push(format!("-m{}", job.streams));
    words.push(format!("-N{}", job.timeout_s()));
    words.extend(http1.then(|| "--h1".to_owned()));
    words.extend(job.headers.iter().map(|header| format!("-H{header}")));
    words.push(job.url.clone());
    Ok(words)
}

pub(super) fn read_h2load(said: &ProgramOutput<'_>) -> Result<Answer, String> {
    h2load_figures(said.out).map(|told| told.answer(said))
}

/// Parses what h2load prints.
pub(crate) fn h2load_figures(text: &str) -> Result<ToldFigures, String> {
    let finished = behind(text, "finished in ")?;
    let mut parts = finished.split(", ");
    let elapsed_s = scaled(parts.next().unwrap_or_default(), &TIMES)? / 1e6;
    let rate: f64 = parse_number(parts.next().unwrap_or_default())?;
    let requests = behind(text, "requests:")?;
    let [begun, good] = [" started", " succeeded"].map(|name| counted(requests, name));
    let codes = behind(text, "status codes:")?;
    let traffic = behind(text, "traffic:")?;
    let [total, content] = [" total", " data"].map(|name| in_brackets(traffic, name));
    let refused = counted(codes, " 3xx")? + counted(codes, " 4xx")? + counted(codes, " 5xx")?;
    let mut figures = ClientFigures::default();
    // h2load counts responses with an error status as failed, although they are complete.
    let completed = good? + counted(codes, " 4xx")? + counted(codes, " 5xx")?;
    figures.counts(begun?, completed, elapsed_s);
    figures.quantity(Quantity::RequestsPerS, rate);
    if elapsed_s > 0.0 {
        figures.quantity(Quantity::TransferRate, total? / elapsed_s);
        figures.quantity(Quantity::Goodput, content? / elapsed_s);
    }
    for (label, phase) in
        [("time for request:", TimedPhase::Response), ("time for connect:", TimedPhase::Connect)]
    {
        let words: Vec<&str> = behind(text, label)?.split_whitespace().collect();
        let [min, max, mean, ..] = words[..] else {
            return Err(format!("its line '{label}' lacks figures"));
        };
        for (word, point) in [(min, TimePoint::Min), (max, TimePoint::Max), (mean, TimePoint::Mean)]
        {
            figures.time_us(phase, point, scaled(word, &TIMES)?);
        }
    }
    Ok(ToldFigures { figures, refused })
}

/// Parses the number before a name in a list such as `1000 total, 1000 started`.
fn counted(text: &str, name: &str) -> Result<u64, String> {
    let part = text.split(',').find_map(|part| part.trim().strip_suffix(name));
    part.and_then(|number| number.trim().parse().ok())
        .ok_or_else(|| format!("its output has no number of '{}'", name.trim()))
}

/// Parses the number of bytes before a name, as in `4.02MB (4214000) total`.
fn in_brackets(text: &str, name: &str) -> Result<f64, String> {
    let part = text.split(',').find_map(|part| part.trim().strip_suffix(name));
    let bytes = part.and_then(|part| part.split_once('(')?.1.split(')').next()?.parse().ok());
    bytes.ok_or_else(|| format!("its output has no number of bytes of '{}'", name.trim()))
}
