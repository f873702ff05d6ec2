//! Another program loads in sixmark's place.

use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_model::study::client::{Answer, Client, Job, ProgramOutput};
use sixmark_sys::process::Running;

use super::folder::FolderOutput;
use super::program::client_program;
use super::work::Work;
use crate::browser::Browsers;
use sixmark_machine::CommandError;
use sixmark_machine::program::plain_command;

/// Between two looks whether the study is to stop.
const LOOK: Duration = Duration::from_millis(100);
/// What a program may take beyond what it was asked for.
const GRACE: Duration = Duration::from_secs(60);

/// What a program did.
pub(super) struct Done {
    pub(super) answer: Answer,
    pub(super) output: FolderOutput,
    /// The program and its arguments.
    pub(super) command: Vec<String>,
}

/// Has a client do a job, in the calling thread's network namespace: runs it to its end, or drives one
/// of the browsers. None where the study was stopped before.
///
/// # Errors
/// It can't be started, does not end, or says what can't be read; `version` is named then.
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

/// What a browser's loads were is its output: a line of JSON for each.
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
    let program = client_program(client).ok_or_else(|| cannot(&"is not there any more"))?;
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
            "{name} ({version}) can't be understood: {why} ({status}){last}"
        ))
    })?;
    let command = [name.to_owned()].into_iter().chain(arguments).collect();
    let output = FolderOutput { stdout: out, stderr: err, status: exit.status.to_string() };
    Ok(Some(Done { answer, output, command }))
}

/// The last line of the first that has one.
fn last_line(texts: [&str; 2]) -> String {
    let last = |text: &str| {
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        Some(format!("; its last line: {line}"))
    };
    texts.into_iter().find_map(last).unwrap_or_default()
}

/// The longest that it may take: its time, or all its requests one after the other.
fn most(job: &Job) -> Duration {
    let requests = u32::try_from(job.count.unwrap_or(1)).unwrap_or(u32::MAX);
    let asked = job.duration.unwrap_or_else(|| job.timeout.saturating_mul(requests));
    asked.saturating_add(job.timeout).saturating_add(GRACE)
}
