//! Other programs that can load in sixmark's place: how each is called, and how what it says is
//! read. Output that does not look as it should is an error, not a zero.

mod ab;
mod browser;
mod curl;
mod fio;
mod h2load;
mod read;
mod wget;
mod wrk;

pub use fio::{Blocks, engine_for};

use std::collections::BTreeMap;
use std::time::Duration;

pub use browser::PageLoad;

use crate::setting::is_of_lab;
use crate::setting::{Setting, SettingValue};
use sixmark_http::url::{Host, Url};
use sixmark_record::metric::{Metric, Quantity};
use sixmark_record::outcome::Outcome;
use sixmark_record::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::family::Family;

/// A program that loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// This one, in its own process.
    Sixmark,
    /// curl, one transfer after the other in one process.
    Curl,
    /// GNU Wget, the same.
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

/// What a cell asks of a program that is not sixmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What is fetched.
    pub url: String,
    /// Over which family.
    pub family: Family,
    /// How many requests.
    pub count: Option<u64>,
    /// For how long.
    pub duration: Option<Duration>,
    /// Connections at once.
    pub connections: u32,
    /// Exchanges at once on each.
    pub streams: u32,
    /// Threads.
    pub threads: u32,
    /// The longest that one may take.
    pub timeout: Duration,
    /// Connections carry more than one request.
    pub keep_alive: bool,
    /// What is to be spoken; each program's own habit where nothing is said.
    pub protocol: Option<String>,
    /// Fields of each request.
    pub headers: Vec<String>,
    /// Certificates are not checked.
    pub insecure: bool,
    /// Blocks read or written, for a client that does that.
    pub blocks: Blocks,
}

/// What a program that has ended left behind.
#[derive(Clone, Copy, Debug)]
pub struct ProgramOutput<'a> {
    /// On standard output.
    pub out: &'a str,
    /// On standard error.
    pub err: &'a str,
    /// Seconds from its start to its end.
    pub wall_s: f64,
    /// Seconds of processor time that it used.
    pub cpu_s: f64,
}

/// A cell's figures by the names of [`Metric`], and what is odd about them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The figures, in the units that their measures are kept in.
    pub figures: BTreeMap<String, f64>,
    /// Responses that were whole and whose status was no success, as the program tells of them.
    pub refused: u64,
}

impl Client {
    /// Every program.
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

    /// Their names.
    pub const NAMES: [&str; 9] =
        ["sixmark", "curl", "wget", "ab", "wrk", "h2load", "fio", "chromium", "firefox"];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Its name, which is that of the program.
    pub fn name(self) -> &'static str {
        Client::NAMES[self as usize]
    }

    /// The Debian package that has it.
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

    /// Whether it is driven from load to load, and goes on afterwards.
    pub fn is_browser(self) -> bool {
        matches!(self, Client::Chromium | Client::Firefox)
    }

    /// What makes it tell its version.
    pub fn version_option(self) -> &'static str {
        match self {
            Client::Ab => "-V",
            Client::Wrk => "-v",
            _ => "--version",
        }
    }

    /// Its arguments for a job.
    ///
    /// # Errors
    /// It can't do that.
    pub fn arguments(self, job: &Job) -> Result<Vec<String>, String> {
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

    /// What makes it write what it did to this file, where that doesn't go to standard output.
    pub fn output_option(self, file: &str) -> Option<String> {
        (self == Client::Fio).then(|| format!("--output={file}"))
    }

    /// What it did.
    ///
    /// # Errors
    /// What it said does not look as it should.
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

/// How many connections an ab or h2load may have at most.
const MOST_CONNECTIONS: u32 = 20_000;
/// The most requests of a program that takes each as an argument of its own.
const MOST_LISTED: u64 = 10_000;
/// How long a request may take unless the study says otherwise: as `sixmark run` has it.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Settings that a job has no use for: the study's own.
const NOT_FOR_CLIENTS: [&str; 4] = ["family", "server", "client", "path"];

impl Job {
    /// What `settings` ask of a client. `placeholder` tells of a key that only stands in texts.
    ///
    /// # Errors
    /// The line of a setting that these programs don't know, and why.
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

    /// Sets what is about blocks; false of anything else.
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

    /// The count, which the program can't do without.
    fn counted(&self) -> Result<u64, String> {
        self.count.ok_or_else(|| "needs a number of requests: count = N".to_owned())
    }

    /// Refuses more than one connection or stream.
    fn one_at_a_time(&self) -> Result<(), String> {
        match self.connections == 1 && self.streams == 1 {
            true => Ok(()),
            false => Err("fetches one at a time: concurrency = 1".to_owned()),
        }
    }

    /// Refuses every protocol that is not among these.
    fn speaks(&self, known: &[&str]) -> Result<(), String> {
        match &self.protocol {
            Some(protocol) if !known.contains(&protocol.as_str()) => {
                let habit = "or omit it for the client's default";
                Err(format!("does not speak {protocol}: say {}, {habit}", known.join(", ")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a name where the program has no option for the family.
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

    /// Whole seconds, at least one.
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

/// Puts figures together.
#[derive(Default)]
struct ClientFigures(BTreeMap<String, f64>);

impl ClientFigures {
    fn quantity(&mut self, quantity: Quantity, value: f64) {
        self.0.insert(Metric::Quantity(quantity).to_string(), value);
    }

    fn time_us(&mut self, phase: TimedPhase, point: TimePoint, us: f64) {
        self.0.insert(Metric::Time(phase, point).to_string(), us);
    }

    /// What all have: how many, how long, and what follows from these.
    fn counts(&mut self, sent: u64, completed: u64, elapsed_s: f64) {
        let failed = sent.saturating_sub(completed);
        self.quantity(Quantity::Sent, sent as f64);
        self.quantity(Quantity::Completed, completed as f64);
        self.quantity(Quantity::Failed, failed as f64);
        self.quantity(Quantity::Failures, if sent > 0 { failed as f64 / sent as f64 } else { 0.0 });
        self.quantity(Quantity::Elapsed, elapsed_s);
        let per_s = if elapsed_s > 0.0 { completed as f64 / elapsed_s } else { 0.0 };
        self.quantity(Quantity::RequestsPerS, per_s);
        self.0.insert(Metric::Outcome(Outcome::Normal).to_string(), completed as f64);
    }

    fn answer(mut self, said: &ProgramOutput<'_>, refused: u64) -> Answer {
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
