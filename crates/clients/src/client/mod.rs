//! Programs that can generate the load instead of sixmark: their arguments, and the parsing of
//! their output. Unexpected output is an error, not a zero.

pub(crate) mod ab;
mod browser;
pub(crate) mod curl;
mod fio;
pub(crate) mod h2load;
mod merge;
pub(crate) mod read;
pub(crate) mod wget;
mod wrk;

pub use fio::{Blocks, engine_for};

use std::collections::BTreeMap;
use std::time::Duration;

pub use browser::PageLoad;
pub use merge::merge_answers;

use crate::setting::is_of_lab;
use crate::setting::{Setting, SettingValue};
use sixmark_http::url::{Host, Url};
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::family::Family;

/// A program that generates load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// sixmark itself, in the process of the study.
    Sixmark,
    /// curl, one transfer after the other in one process.
    Curl,
    /// GNU Wget, one transfer after the other in one process.
    Wget,
    /// ApacheBench.
    Ab,
    /// wrk.
    Wrk,
    /// nghttp2's h2load.
    H2load,
    /// fio, which loads storage instead of a web server.
    Fio,
    /// Chromium, without a window.
    Chromium,
    /// Firefox, without a window.
    Firefox,
}

/// The load that a cell requests from a client other than sixmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The URL to fetch.
    pub url: String,
    /// The family to use.
    pub family: Family,
    /// The number of requests, if set.
    pub count: Option<u64>,
    /// The duration, if set.
    pub duration: Option<Duration>,
    /// The number of concurrent connections.
    pub connections: u32,
    /// The number of concurrent requests on each connection.
    pub streams: u32,
    /// The number of threads.
    pub threads: u32,
    /// The time limit of a request.
    pub timeout: Duration,
    /// Whether a connection may carry more than one request.
    pub keep_alive: bool,
    /// The protocol to use; if `None`, the program's default.
    pub protocol: Option<String>,
    /// Header fields that are added to each request.
    pub headers: Vec<String>,
    /// Whether certificates are accepted without verification.
    pub insecure: bool,
    /// Whether the responses are written to a file, instead of being discarded.
    pub save: bool,
    /// The file that they are written to.
    pub save_to: Option<String>,
    /// The settings of blocks to read or write, for fio.
    pub blocks: Blocks,
}

/// The output and the resource usage of a client's run.
#[derive(Clone, Copy, Debug)]
pub struct ProgramOutput<'a> {
    /// Its standard output.
    pub out: &'a str,
    /// Its standard error.
    pub err: &'a str,
    /// The duration of the run in seconds.
    pub wall_s: f64,
    /// The processor time that it used, in seconds.
    pub cpu_s: f64,
}

/// The results of a cell that a client other than sixmark loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The figures by the name of their [`Metric`], in its base unit.
    pub figures: BTreeMap<String, f64>,
    /// The number of complete responses without a successful status, as reported by the program.
    pub refused: u64,
}

impl Client {
    /// All clients.
    pub const ALL: [Client; 9] = [
        Client::Sixmark,
        Client::Curl,
        Client::Wget,
        Client::Ab,
        Client::Wrk,
        Client::H2load,
        Client::Fio,
        Client::Chromium,
        Client::Firefox,
    ];

    /// The names of all clients, in the same order.
    pub const NAMES: [&str; 9] =
        ["sixmark", "curl", "wget", "ab", "wrk", "h2load", "fio", "chromium", "firefox"];

    /// Returns the client of this name.
    pub fn named(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Returns its name, which is that of the program.
    pub fn name(self) -> &'static str {
        Client::NAMES[self as usize]
    }

    /// Returns the Debian package that contains it.
    pub fn package(self) -> &'static str {
        match self {
            Client::Sixmark => "sixmark",
            Client::Curl => "curl",
            Client::Wget => "wget",
            Client::Ab => "apache2-utils",
            Client::Wrk => "wrk",
            Client::H2load => "nghttp2-client",
            Client::Fio => "fio",
            Client::Chromium => "chromium",
            Client::Firefox => "firefox-esr",
        }
    }

    /// Returns true if it is a browser, which is controlled load by load and keeps running
    /// afterwards.
    pub fn is_browser(self) -> bool {
        matches!(self, Client::Chromium | Client::Firefox)
    }

    /// Returns the option that prints its version.
    pub fn version_option(self) -> &'static str {
        match self {
            Client::Ab => "-V",
            Client::Wrk => "-v",
            _ => "--version",
        }
    }

    /// Returns its arguments for a job.
    ///
    /// # Errors
    /// Returns a message if the program can't do this job.
    pub fn arguments(self, job: &Job) -> Result<Vec<String>, String> {
        if job.save && !matches!(self, Client::Curl | Client::Wget) {
            let name = self.name();
            return Err(format!("{name} discards responses: save applies to curl and wget"));
        }
        let arguments = match self {
            Client::Sixmark => Err("is no other program".to_owned()),
            Client::Curl => curl::curl_arguments(job),
            Client::Wget => wget::wget_arguments(job),
            Client::Ab => ab::ab_arguments(job),
            Client::Wrk => wrk::wrk_arguments(job),
            Client::H2load => h2load::h2load_arguments(job),
            Client::Fio => fio::fio_arguments(job),
            Client::Chromium | Client::Firefox => browser::browser_arguments(self, job),
        };
        arguments.map_err(|why| format!("{} {why}", self.name()))
    }

    /// Returns the option that makes it write its results to this file; `None` if it prints them.
    pub fn output_option(self, file: &str) -> Option<String> {
        (self == Client::Fio).then(|| format!("--output={file}"))
    }

    /// Parses the output of a run.
    ///
    /// # Errors
    /// Returns a message if the output has an unexpected form or does not match the job.
    pub fn read(self, job: &Job, said: &ProgramOutput<'_>) -> Result<Answer, String> {
        match self {
            Client::Sixmark => Err("sixmark writes its own document".to_owned()),
            Client::Curl => curl::read_curl(job, said),
            Client::Wget => wget::read_wget(job, said),
            Client::Ab => ab::read_ab(said),
            Client::Wrk => wrk::read_wrk(said),
            Client::H2load => h2load::read_h2load(said),
            Client::Fio => fio::read_fio(job, said),
            Client::Chromium | Client::Firefox => browser::read_browser(job, said),
        }
    }
}

/// The maximum number of connections, of streams and of threads of another client.
const MOST_CONNECTIONS: u32 = 20_000;
/// The maximum number of requests of a program that takes the URL of each as an argument.
const MOST_LISTED: u64 = 10_000;
/// The default timeout of a request, the same as that of `sixmark run`.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The setting that has responses written to a file.
pub const SAVE: &str = "save";

/// Settings that concern the study and are not passed to a client.
const NOT_FOR_CLIENTS: [&str; 4] = ["family", "server", "client", "path"];

impl Job {
    /// Creates the job that `settings` describe. `placeholder` returns true for a key that only
    /// replaces its name in braces.
    ///
    /// # Errors
    /// Returns the line of a setting that is invalid or that other clients do not have, and a
    /// message.
    pub fn new(
        client: Client,
        settings: &[&Setting],
        url: &str,
        family: Family,
        placeholder: impl Fn(&str) -> bool,
    ) -> Result<Job, (usize, String)> {
        let mut job = Job {
            url: url.to_owned(),
            family,
            count: None,
            duration: None,
            connections: 1,
            streams: 1,
            threads: 1,
            timeout: TIMEOUT,
            keep_alive: true,
            protocol: None,
            headers: Vec::new(),
            insecure: false,
            save: false,
            save_to: None,
            blocks: Blocks::default(),
        };
        for setting in settings {
            let key = setting.key.as_str();
            let wrong = |why: String| (setting.line, format!("{key}: {why}"));
            if client == Client::Fio && job.set_block(setting).map_err(wrong)? {
                continue;
            }
            if !NOT_FOR_CLIENTS.contains(&key)
                && !is_of_lab(key)
                && key != "size"
                && !placeholder(key)
            {
                job.set(setting).map_err(wrong)?;
            }
        }
        Ok(job)
    }

    /// Stores a setting for fio. Returns false if it is not one.
    fn set_block(&mut self, setting: &Setting) -> Result<bool, String> {
        let Some(place) = self.blocks.place(&setting.key) else { return Ok(false) };
        let SettingValue::Text(text) = &setting.value else {
            return Err("needs one value".to_owned());
        };
        *place = Some(text.clone());
        Ok(true)
    }

    fn set(&mut self, setting: &Setting) -> Result<(), String> {
        let text = || match &setting.value {
            SettingValue::Text(text) => Ok(text.as_str()),
            _ => Err("needs one value".to_owned()),
        };
        let flag = || match setting.value {
            SettingValue::Flag(flag) => Ok(flag),
            _ => Err("is true or false".to_owned()),
        };
        match setting.key.as_str() {
            "count" => self.count = Some(positive(text()?)?),
            "duration" => self.duration = Some(parse_time(text()?)?),
            "timeout" => self.timeout = parse_time(text()?)?,
            "concurrency" | "connections" => self.connections = few(text()?)?,
            "streams" => self.streams = few(text()?)?,
            "threads" => self.threads = few(text()?)?,
            "no-keep-alive" => self.keep_alive = !flag()?,
            "insecure" => self.insecure = flag()?,
            SAVE => self.save = flag()?,
            "protocol" => self.protocol = Some(text()?.to_owned()),
            "header" => match &setting.value {
                SettingValue::List(list) => self.headers.clone_from(list),
                _ => self.headers = vec![text()?.to_owned()],
            },
            key if Blocks::KEYS.contains(&key) => {
                return Err("applies only to client = \"fio\"".into());
            }
            _ => return Err("is an option of sixmark run that other clients don't have".into()),
        }
        Ok(())
    }

    /// Returns the count, or an error if it is absent: this program requires it.
    fn counted(&self) -> Result<u64, String> {
        self.count.ok_or_else(|| "needs a number of requests: count = N".to_owned())
    }

    /// Fails if the job has more than one connection or stream.
    fn one_at_a_time(&self) -> Result<(), String> {
        if self.connections == 1 && self.streams == 1 {
            Ok(())
        } else {
            Err("fetches one at a time: concurrency = 1".to_owned())
        }
    }

    /// Fails if a protocol is requested that is not among these.
    fn speaks(&self, known: &[&str]) -> Result<(), String> {
        match &self.protocol {
            Some(protocol) if !known.contains(&protocol.as_str()) => {
                let habit = "or omit it for the client's default";
                Err(format!("does not speak {protocol}: say {}, {habit}", known.join(", ")))
            }
            _ => Ok(()),
        }
    }

    /// Fails if the URL has a host name, because the program has no option for the family.
    fn literal(&self) -> Result<(), String> {
        let url: Url = self.url.parse()?;
        match url.host {
            Host::Address(..) => Ok(()),
            Host::Name(_) => Err(format!(
                "has no option for the family: {} needs an address as its host",
                self.url
            )),
        }
    }

    /// Returns the file that responses are written to.
    fn output(&self) -> &str {
        self.save_to.as_deref().unwrap_or("/dev/null")
    }

    /// Returns the timeout in whole seconds, at least one.
    fn timeout_s(&self) -> u64 {
        self.timeout.as_secs_f64().ceil().max(1.0) as u64
    }
}

fn positive(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| "is not a whole number of 1 or more".to_owned())
}

fn few(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=MOST_CONNECTIONS).contains(n));
    number.ok_or_else(|| format!("is not a whole number from 1 to {MOST_CONNECTIONS}"))
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<u64>().ok().map(Duration::from_secs);
    let time = seconds
        .or_else(|| sixmark_document::fields::parse_time(text))
        .filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("'{text}' is not a time, as in 10s, 500ms or 2m"))
}

/// Collects the figures of a client, by the names of their metrics.
#[derive(Debug, Default)]
pub(crate) struct ClientFigures(pub(crate) BTreeMap<String, f64>);

/// What a program says of its requests, without what the study measures of its process.
#[derive(Debug, Default)]
pub(crate) struct ToldFigures {
    pub(crate) figures: ClientFigures,
    /// The number of complete responses without a successful status.
    pub(crate) refused: u64,
}

impl ToldFigures {
    /// Adds what the study measured of the process.
    fn answer(self, said: &ProgramOutput<'_>) -> Answer {
        self.figures.answer(said, self.refused)
    }
}

impl ClientFigures {
    pub(crate) fn quantity(&mut self, quantity: Quantity, value: f64) {
        self.0.insert(Metric::Quantity(quantity).to_string(), value);
    }

    fn time_us(&mut self, phase: TimedPhase, point: TimePoint, us: f64) {
        self.0.insert(Metric::Time(phase, point).to_string(), us);
    }

    /// Adds the figures that every client has: counts, duration, and what follows from them.
    fn counts(&mut self, sent: u64, completed: u64, elapsed_s: f64) {
        self.requests(sent, completed);
        self.quantity(Quantity::Elapsed, elapsed_s);
        let per_s = if elapsed_s > 0.0 { completed as f64 / elapsed_s } else { 0.0 };
        self.quantity(Quantity::RequestsPerS, per_s);
    }

    /// Adds the counts of requests.
    pub(crate) fn requests(&mut self, sent: u64, completed: u64) {
        let failed = sent.saturating_sub(completed);
        self.quantity(Quantity::Sent, sent as f64);
        self.quantity(Quantity::Completed, completed as f64);
        self.quantity(Quantity::Failed, failed as f64);
        self.quantity(Quantity::Failures, if sent > 0 { failed as f64 / sent as f64 } else { 0.0 });
        self.0.insert(Metric::Outcome(Outcome::Normal).to_string(), completed as f64);
    }

    /// Adds responses without a successful status to those that failed, as sixmark itself counts
    /// them.
    fn refuse(&mut self, refused: u64) {
        let of = |quantity: Quantity| {
            self.0.get(&Metric::Quantity(quantity).to_string()).copied().unwrap_or(0.0)
        };
        // A client may have counted such a response as failed for another reason, too.
        let sent = of(Quantity::Sent);
        let failed = (of(Quantity::Failed) + refused as f64).min(sent);
        self.quantity(Quantity::Unaccepted, refused as f64);
        self.quantity(Quantity::Failed, failed);
        self.quantity(Quantity::Failures, if sent > 0.0 { failed / sent } else { 0.0 });
    }

    fn answer(mut self, said: &ProgramOutput<'_>, refused: u64) -> Answer {
        if refused > 0 {
            self.refuse(refused);
        }
        self.quantity(Quantity::Wall, said.wall_s);
        self.quantity(Quantity::Cpu, said.cpu_s);
        if said.wall_s > 0.0 {
            self.quantity(Quantity::CpuShare, said.cpu_s / said.wall_s);
        }
        Answer { figures: self.0, refused }
    }
}

#[cfg(test)]
mod tests;
