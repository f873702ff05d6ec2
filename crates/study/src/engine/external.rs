//! Cells whose load another program generates.

use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_clients::client::{Answer, Client, Job, ProgramOutput, merge_answers};
use sixmark_lab::Host;
use sixmark_sys::process::Running;

use super::folder::FolderOutput;
use super::program::client_program;
use super::work::Work;
use sixmark_clients::browser::Browsers;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::plain_command;

/// The interval at which `stop` is checked.
const LOOK: Duration = Duration::from_millis(100);
/// How much longer than requested a program may take.
const GRACE: Duration = Duration::from_secs(60);

/// The outcome of a program, or of one in each of several hosts.
pub(super) struct Done {
    /// The figures; of several hosts, those of all together.
    pub(super) answer: Answer,
    /// The output of the program, in the first host.
    pub(super) output: FolderOutput,
    /// The outputs in the other hosts.
    pub(super) other_outputs: Vec<FolderOutput>,
    /// The program and its arguments.
    pub(super) command: Vec<String>,
}

/// The load of a client.
#[derive(Clone, Copy)]
pub(super) struct ClientLoad<'a> {
    pub(super) client: Client,
    pub(super) job: &'a Job,
    /// The program's version, which errors name.
    pub(super) version: &'a str,
    pub(super) work: &'a Work,
    /// Set if it does not end in its time.
    pub(super) stuck: &'a AtomicBool,
}

impl ClientLoad<'_> {
    /// Carries it out: runs a program to its end, or drives one of the browsers; in each of the hosts
    /// of a lab at the same time, or without any in the calling thread's network namespace. Returns
    /// `None` if the study was stopped before.
    ///
    /// # Errors
    /// Returns an error if the client can't be started, does not end, or if its output can't be
    /// parsed.
    pub(super) fn run(
        &self,
        hosts: &[&Host],
        browsers: &Browsers,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Done>, CommandError> {
        let here = |file: &str| {
            if self.client.is_browser() {
                drive(self, browsers, stop)
            } else {
                run_to_end(self, file, stop)
            }
        };
        let in_host = |host: &Host| host.within(|| here(host.name()));
        match hosts {
            [] => here("client"),
            [host] => in_host(host),
            hosts => self.run_in_all(hosts, &in_host),
        }
    }

    /// Carries it out in several hosts at the same time, and merges what they did.
    fn run_in_all(
        &self,
        hosts: &[&Host],
        in_host: &(dyn Fn(&Host) -> Result<Option<Done>, CommandError> + Sync),
    ) -> Result<Option<Done>, CommandError> {
        let all = std::thread::scope(|scope| {
            let started: Vec<_> =
                hosts.iter().map(|host| scope.spawn(move || in_host(host))).collect();
            let lost = || CommandError::Measure(format!("{}: its task ended", self.client.name()));
            let ended = started.into_iter().map(|one| one.join().unwrap_or_else(|_| Err(lost())));
            ended.collect::<Result<Vec<_>, _>>()
        })?;
        let Some(all) = all.into_iter().collect::<Option<Vec<Done>>>() else { return Ok(None) };
        let answers: Vec<Answer> = all.iter().map(|done| done.answer.clone()).collect();
        let mut all = all.into_iter();
        let first = all.next().map(|first| Done {
            answer: merge_answers(&answers),
            other_outputs: all.map(|done| done.output).collect(),
            ..first
        });
        Ok(first)
    }
}

/// Drives a browser. Its output is a line of JSON for each load.
fn drive(
    load: &ClientLoad<'_>,
    browsers: &Browsers,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Done>, CommandError> {
    let &ClientLoad { client, job, version, work, .. } = load;
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
    Ok(Some(Done { answer, output, other_outputs: Vec::new(), command }))
}

/// Runs a program to its end. `file` begins the names of the files that its output goes to.
fn run_to_end(
    load: &ClientLoad<'_>,
    file: &str,
    stop: &AtomicBool,
) -> Result<Option<Done>, CommandError> {
    let &ClientLoad { client, job, version, work, stuck } = load;
    let name = client.name();
    let cannot = |why: &dyn std::fmt::Display| CommandError::Measure(format!("{name}: {why}"));
    let mut arguments = client.arguments(job).map_err(CommandError::Usage)?;
    let program = client_program(client).ok_or_else(|| cannot(&"is no longer installed"))?;
    let files = ["stdout", "stderr"].map(|name| work.file(&format!("{file}-{name}")));
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
            stuck.store(true, Ordering::Relaxed);
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
    Ok(Some(Done { answer, output, other_outputs: Vec::new(), command }))
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
