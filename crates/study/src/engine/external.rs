//! Cells whose load another program generates.

use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::client::{Answer, Client, Job, ProgramOutput};
use sixmark_sys::process::Running;

use super::folder::FolderOutput;
use super::program::client_program;
use super::work::Work;
use crate::browser::Browsers;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::plain_command;

/// The interval at which `stop` is checked.
const LOOK: Duration = Duration::from_millis(100);
/// How much longer than requested a program may take.
const GRACE: Duration = Duration::from_secs(60);

/// The outcome of a program.
pub(super) struct Done {
    pub(super) answer: Answer,
    pub(super) output: FolderOutput,
    /// The program and its arguments.
    pub(super) command: Vec<String>,
}

/// Runs a job with a client in the calling thread's network namespace: runs a program to its end,
/// or drives one of the browsers. Returns `None` if the study was stopped before.
///
/// # Errors
/// Returns an error if the client can't be started, does not end, or if its output can't be parsed.
/// The error then names `version`.
pub(super) fn run_client(
    client: Client,
    job: &Job,
    version: &str,
    work: &Work,
    browsers: &Browsers,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Done>, CommandError> {
    match client.is_browser() {
        true => drive(client, job, version, work, browsers, stop),
        false => run_to_end(client, job, version, work, stop),
    }
}

/// Drives a browser. Its output is a line of JSON for each load.
fn drive(
    client: Client,
    job: &Job,
    version: &str,
    work: &Work,
    browsers: &Browsers,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Done>, CommandError> {
    let name = client.name();
    let arguments = client.arguments(job).map_err(CommandError::Usage)?;
    let folder = work.folder("browsers")?;
    let done = browsers.load(client, &arguments, job, &folder, stop)?;
    let Some(done) = done else { return Ok(None) };
    let lines = done.loads.iter().map(|load| serde_json::to_string(load).map(|line| line + "\n"));
    let out: String = lines
        .collect::<Result<_, _>>()
        .map_err(|error| CommandError::Measure(format!("{name}: {error}")))?;
    let said = ProgramOutput { out: &out, err: &done.said, wall_s: done.wall_s, cpu_s: done.cpu_s };
    let answer = client
        .read(job, &said)
        .map_err(|why| CommandError::Measure(format!("{name} ({version}): {why}")))?;
    let command = [name.to_owned()].into_iter().chain(arguments).collect();
    let output = FolderOutput { stdout: out, stderr: done.said, status: "runs on".to_owned() };
    Ok(Some(Done { answer, output, command }))
}

fn run_to_end(
    client: Client,
    job: &Job,
    version: &str,
    work: &Work,
    stop: &AtomicBool,
) -> Result<Option<Done>, CommandError> {
    let name = client.name();
    let cannot = |why: &dyn std::fmt::Display| CommandError::Measure(format!("{name}: {why}"));
    let mut arguments = client.arguments(job).map_err(CommandError::Usage)?;
    let program = client_program(client).ok_or_else(|| cannot(&"is no longer installed"))?;
    let files = ["stdout", "stderr"].map(|name| work.file(name));
    let [out, err] = [File::create(&files[0]), File::create(&files[1])];
    arguments.extend(client.output_option(&files[0].display().to_string()));
    let mut command = plain_command(&program);
    command.args(&arguments).stdout(out.map_err(|e| cannot(&e))?);
    command.stderr(err.map_err(|e| cannot(&e))?);
    let began = Instant::now();
    let mut running = Running::start(&mut command).map_err(|error| cannot(&error))?;
    let most = most(job);
    let exit = loop {
        if let Some(exit) = running.wait(LOOK).map_err(|error| cannot(&error))? {
            break exit;
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if began.elapsed() > most {
            return Err(cannot(&format!("did not end within {} s", most.as_secs())));
        }
    };
    let wall_s = began.elapsed().as_secs_f64();
    let [out, err] = files.map(|file| {
        let bytes = fs::read(file).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let said = ProgramOutput { out: &out, err: &err, wall_s, cpu_s: exit.user_s + exit.system_s };
    let answer = client.read(job, &said).map_err(|why| {
        let (status, last) = (exit.status, last_line([&err, &out]));
        CommandError::Measure(format!(
            "the output of {name} ({version}) can't be read: {why} ({status}){last}"
        ))
    })?;
    let command = [name.to_owned()].into_iter().chain(arguments).collect();
    let output = FolderOutput { stdout: out, stderr: err, status: exit.status.to_string() };
    Ok(Some(Done { answer, output, command }))
}

/// Returns the last line of the first text that has one, as a clause for messages.
fn last_line(texts: [&str; 2]) -> String {
    let last = |text: &str| {
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        Some(format!("; its last line: {line}"))
    };
    texts.into_iter().find_map(last).unwrap_or_default()
}

/// Returns the longest time that it may take: its duration, or all its requests one after the
/// other, each with its timeout.
fn most(job: &Job) -> Duration {
    let requests = u32::try_from(job.count.unwrap_or(1)).unwrap_or(u32::MAX);
    let asked = job.duration.unwrap_or_else(|| job.timeout.saturating_mul(requests));
    asked.saturating_add(job.timeout).saturating_add(GRACE)
}
