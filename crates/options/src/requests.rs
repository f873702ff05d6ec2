//! The requests to send: one that the options describe, or the mix of a file.

use crate::values::RequestFormat;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::IgnoredAny;
use sixmark_document::provenance::Warning;
use sixmark_plan::import::{
    AccessLog, Imported, LogFormat, Wanted, detect_log_format, har, is_container_line,
};
use sixmark_plan::pace::{Speed, Timetable};
use sixmark_plan::plan::request::usual_method;
use sixmark_plan::plan::secrets::basic_authorization;
use sixmark_plan::plan::{Body, PlanRequests, Request, Target, requests};
use sixmark_plan::template::Template;

use crate::args::RequestArgs;
use crate::plan_options::PlanOptions;
use sixmark_result::warnings as warning;
use sixmark_result::warnings::{ENTRIES, LINES, Unit};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::text_file;

/// Size of the beginning of a file from which its format is detected, in bytes.
const BEGINNING: usize = 64 << 10;
/// Maximum length of a log line, in bytes. No server writes longer lines for requests.
const LONGEST_LINE: u64 = 1 << 20;

/// The requests that the options describe.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) requests: PlanRequests,
    /// The times of the requests. `None` unless a recording is replayed.
    pub(crate) timetable: Option<Timetable>,
    /// Warnings about entries of the file that are left out, or are not sent as recorded.
    pub(crate) warnings: Vec<Warning>,
}

/// Returns the requests that the options describe.
pub(crate) fn sent(options: &PlanOptions<'_>, targets: &[Target]) -> Result<Sent, CommandError> {
    let args = &options.workload.request;
    let fields = args.header.iter().cloned().chain(authorization(args)?);
    let fields: Vec<_> = fields.map(|(name, value)| (name, Template::constant(value))).collect();
    let Some(file) = &args.requests else {
        let mut request = single(args)?;
        request.add(&fields, &args.expect);
        if !options.keep_secrets {
            request.redact();
        }
        let requests = PlanRequests::one(request);
        return Ok(Sent { requests, timetable: None, warnings: Vec::new() });
    };
    let speed = options.schedule.replay;
    let reading = RequestsReading { args, speed, file, targets };
    let (mut list, timetable, warnings) = reading.read()?;
    list.iter_mut().for_each(|request| request.add(&fields, &args.expect));
    if !options.keep_secrets {
        list.iter_mut().for_each(Request::redact);
    }
    let requests = PlanRequests::new(list).map_err(|error| reading_error(file, &error))?;
    Ok(Sent { requests, timetable, warnings })
}

/// Returns the field that `--user` stands for.
fn authorization(args: &RequestArgs) -> Result<Option<(String, String)>, CommandError> {
    let Some((name, value)) = args.user.as_deref().map(basic_authorization) else {
        return Ok(None);
    };
    if args.header.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
        let line = "--user and --header both give an Authorization field; omit one of them";
        return Err(CommandError::Usage(line.to_owned()));
    }
    Ok(Some((name.to_owned(), value)))
}

/// Returns the files that a request file names, as far as it can be read. Pipes are not read here,
/// because they can be read only once.
pub(crate) fn files_named(args: &RequestArgs, file: &Path) -> Vec<PathBuf> {
    let mut named = Vec::new();
    if let Some(text) = toml_text(args, file) {
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut open = |name: &str| {
            let path = folder.join(name);
            let content = std::fs::read(&path).map_err(|error| error.to_string());
            named.push(path);
            content
        };
        // Errors are reported when the file is read for the plan.
        let _ = requests::parse_requests(&text, &mut open);
    }
    named
}

/// Returns the text of a request file. `None` for a HAR file or an access log.
fn toml_text(args: &RequestArgs, file: &Path) -> Option<String> {
    let from = File::open(file).ok().filter(|_| file.is_file())?;
    let mut from = text_file::unpacking_reader(from, BEGINNING).ok()?;
    match format_in(args, from.fill_buf().ok()?) {
        RequestFormat::Toml => text_file::read_from(from).ok(),
        RequestFormat::Har | RequestFormat::Log => None,
    }
}

fn reading_error(file: &Path, error: &str) -> CommandError {
    CommandError::Usage(format!("can't read the requests '{}': {error}", file.display()))
}

fn single(args: &RequestArgs) -> Result<Request, CommandError> {
    let body = match (&args.body_file, args.body.clone()) {
        (Some(file), _) => Some(std::fs::read(file).map_err(|error| {
            CommandError::Usage(format!("can't read the body '{}': {error}", file.display()))
        })?),
        (None, text) => text.map(String::into_bytes),
    };
    let method = args.method.clone().unwrap_or_else(|| usual_method(body.is_some()).to_owned());
    Ok(Request { body: body.map(|body| Body::Constant(Arc::new(body))), ..Request::plain(&method) })
}

/// A file of requests, and what decides how it is read.
struct RequestsReading<'a> {
    args: &'a RequestArgs,
    /// The speed of the replay. `None` if there is no replay.
    speed: Option<Speed>,
    file: &'a Path,
    targets: &'a [Target],
}

/// The requests, the times at which to send them, and warnings about those that are not sent as
/// recorded.
type FoundRequests = (Vec<Request>, Option<Timetable>, Vec<Warning>);

impl RequestsReading<'_> {
    fn read(&self) -> Result<FoundRequests, CommandError> {
        let mut from = self.open().map_err(|error| self.wrong(error))?;
        let beginning = from.fill_buf().map_err(|error| self.wrong(error))?;
        let format = format_in(self.args, beginning);
        self.fits(format)?;
        match format {
            RequestFormat::Toml => {
                self.toml(from).map(|requests| (requests.to_vec(), None, Vec::new()))
            }
            RequestFormat::Har => self.har(from).and_then(|found| self.imported(found, ENTRIES)),
            RequestFormat::Log => {
                let format = self.log_format(beginning)?;
                self.log(format, from).and_then(|found| self.imported(found, LINES))
            }
        }
    }

    /// Opens the file, decompressed, as text whose beginning is in the buffer.
    fn open(&self) -> io::Result<BufReader<Box<dyn io::Read>>> {
        if self.file == Path::new("-") {
            text_file::unpacking_reader(io::stdin(), BEGINNING)
        } else {
            text_file::unpacking_reader(File::open(self.file)?, BEGINNING)
        }
    }

    fn wrong(&self, error: impl ToString) -> CommandError {
        reading_error(self.file, &error.to_string())
    }

    /// Returns an error if an option does not apply to a file of this format.
    fn fits(&self, format: RequestFormat) -> Result<(), CommandError> {
        let args = self.args;
        let (option, why) = match format {
            RequestFormat::Toml if self.speed.is_some() => (
                "--replay",
                "is a request file, which has no times to replay; use a HAR file or an access log",
            ),
            RequestFormat::Toml if args.unsafe_methods => {
                ("--unsafe-methods", "is a request file, whose methods are all sent; omit it")
            }
            RequestFormat::Toml if args.har_host.is_some() => {
                ("--har-host", "is a request file, which names no hosts; omit it")
            }
            RequestFormat::Log if args.har_host.is_some() => {
                ("--har-host", "is an access log, of which all lines are used; omit it")
            }
            RequestFormat::Toml | RequestFormat::Har if args.log_format.is_some() => {
                ("--log-format", "is not read as an access log; omit --requests-format")
            }
            _ => return Ok(()),
        };
        Err(CommandError::Usage(format!("{option}: '{}' {why}", self.file.display())))
    }

    fn toml(&self, from: impl io::Read) -> Result<PlanRequests, CommandError> {
        let text = text_file::read_from(from).map_err(|error| self.wrong(error))?;
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let mut open = |name: &str| std::fs::read(folder.join(name)).map_err(|e| e.to_string());
        requests::parse_requests(&text, &mut open).map_err(|wrong| {
            let of_file = wrong.of_file(&self.file.display().to_string());
            CommandError::Usage(format!("{of_file}{}", self.hint(&text)))
        })
    }

    /// Returns an addition to the error message if the file may not be a request file at all: every
    /// file that is neither JSON nor has lines of a log is assumed to be one.
    fn hint(&self, text: &str) -> String {
        let is_toml = self.args.requests_format.is_some() || text.contains("[request");
        if is_toml || text.trim().is_empty() {
            String::new()
        } else {
            format!(
                "; for a HAR file or an access log use --requests-format har or log (formats of \
                 logs: {})",
                LogFormat::names()
            )
        }
    }

    /// Returns the format of the access log that begins in this way.
    fn log_format(&self, beginning: &[u8]) -> Result<&'static LogFormat, CommandError> {
        if let Some(format) = self.args.log_format {
            return Ok(format);
        }
        // Of an empty log every format says the same.
        let empty = beginning.trim_ascii().is_empty().then(|| LogFormat::named("combined"));
        detect_log_format(beginning).or(empty.flatten()).ok_or_else(|| {
            self.wrong(format!(
                "it begins with no line of an access log in a known format ({}); name its format \
                 with --log-format",
                LogFormat::names()
            ))
        })
    }

    fn wanted(&self) -> Wanted {
        let (unsafe_methods, times) = (self.args.unsafe_methods, self.speed.is_some());
        Wanted { unsafe_methods, times }
    }

    fn har(&self, from: impl io::Read) -> Result<Imported, CommandError> {
        let text = text_file::read_from(from).map_err(|error| self.wrong(error))?;
        let hosts = match &self.args.har_host {
            Some(host) => vec![host.to_ascii_lowercase()],
            None => self.targets.iter().map(|target| har::host_of(&target.authority)).collect(),
        };
        har::parse_har(text.as_bytes(), &hosts, &self.wanted()).map_err(|error| self.wrong(error))
    }

    /// Reads an access log line by line, since it may be larger than memory.
    fn log(
        &self,
        format: &'static LogFormat,
        mut from: impl BufRead,
    ) -> Result<Imported, CommandError> {
        let (mut log, mut line) = (AccessLog::new(format, &self.wanted()), Vec::new());
        loop {
            line.clear();
            let read = from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
            if read.map_err(|error| self.wrong(error))? == 0 {
                return Ok(log.finish());
            }
            log.line(&line).map_err(|error| self.wrong(error))?;
        }
    }

    fn imported(&self, found: Imported, unit: Unit) -> Result<FoundRequests, CommandError> {
        let Imported { requests, times, left_out, altered } = found;
        if requests.is_empty() {
            return Err(self.wrong(warning::nothing_imported(&left_out, unit)));
        }
        let table = |speed| Timetable::new(times, speed).map_err(|error| self.wrong(error));
        let timetable = self.speed.map(table).transpose()?;
        let left_out = warning::requests_left_out(&left_out, unit);
        let changed = warning::requests_changed(&altered, unit);
        Ok((requests, timetable, left_out.into_iter().chain(changed).collect()))
    }
}

/// Returns the format of a file that begins in this way.
fn format_in(args: &RequestArgs, beginning: &[u8]) -> RequestFormat {
    let of_log = args.log_format.map(|_| RequestFormat::Log);
    args.requests_format.or(of_log).unwrap_or_else(|| format_of(beginning))
}

/// Detects the format of a file from its beginning: JSON is a HAR file, unless each line is an
/// object of its own; these, and other lines in a known format, make an access log. Everything else
/// is a request file.
fn format_of(beginning: &[u8]) -> RequestFormat {
    let text = beginning.trim_ascii_start();
    let is_log = || detect_log_format(text).is_some();
    if !text.starts_with(b"{") {
        return if is_log() { RequestFormat::Log } else { RequestFormat::Toml };
    }
    let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    if text.split(|&byte| byte == b'\n').next().is_some_and(is_container_line) {
        return RequestFormat::Log;
    }
    let mut object = || serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(lines.next()?).ok();
    match object() {
        Some(first) if !first.contains_key("log") && (object().is_some() || is_log()) => {
            RequestFormat::Log
        }
        _ => RequestFormat::Har,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::speed;

    #[test]
    fn detects_the_request_file_format_from_its_beginning() {
        let log = "odd line\n::1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 1\n";
        for (text, format) in [
            (" \n{\"log\": 1}", RequestFormat::Har),
            ("{\"log\": {\"entries\": []}}\n", RequestFormat::Har),
            (&*format!("{{\n \"a\": \"b\",\n{log}"), RequestFormat::Har),
            ("{\"a\": 1}\n{\"b\": 2}\n", RequestFormat::Log),
            ("{\"a\": 1}\n", RequestFormat::Har),
            (
                "{\"log\":\"started\\n\",\"stream\":\"stderr\",\"time\":\"2024\"}\n",
                RequestFormat::Log,
            ),
            ("{\"log\":\"started\\n\",\"stream\":\"stderr\"}\n", RequestFormat::Har),
            (log, RequestFormat::Log),
            ("{\"ts\": 1704164645, \"method\": \"GET\", \"path\": \"/\"}\n", RequestFormat::Log),
            ("#Fields: date time cs-method cs-uri-stem\n", RequestFormat::Log),
            ("# a mix\n[[request]]\n", RequestFormat::Toml),
            (&*format!("# {}\n[[request]]", log.replace('\n', "")), RequestFormat::Toml),
            ("", RequestFormat::Toml),
        ] {
            assert_eq!(format_of(text.as_bytes()), format, "{text}");
        }
    }

    #[test]
    fn the_help_names_every_format_of_logs() {
        use clap::Args as _;
        let command = RequestArgs::augment_args(clap::Command::new("run"));
        let option = command.get_arguments().find(|option| option.get_id() == "log_format");
        let help = option.and_then(|option| option.get_help()).unwrap().to_string();
        assert!(help.contains(&LogFormat::names()), "{help}");
    }

    #[test]
    fn parses_the_replay_speed_as_a_factor() {
        for (text, found) in [("2x", 2.0), ("0.5", 0.5), ("1", 1.0)] {
            assert_eq!(speed(text), Ok(found));
        }
        for text in ["", "x", "0", "-1", "1e3", "inf", "fast", "2xx", "5000x"] {
            assert!(speed(text).unwrap_err().contains("--replay=2x"), "{text}");
        }
    }
}
