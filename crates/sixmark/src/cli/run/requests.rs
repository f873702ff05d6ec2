//! The requests to send: one that the options describe, or the mix of a file.

use super::values::RequestFormat;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sixmark_document::provenance::Warning;
use sixmark_record::import::{AccessLog, Imported, Wanted, har, is_log_line};
use sixmark_record::pace::{Speed, Timetable};
use sixmark_record::plan::request::usual_method;
use sixmark_record::plan::secrets::basic_authorization;
use sixmark_record::plan::{Body, PlanRequests, Request, Target, requests};
use sixmark_record::template::Template;

use super::args::RequestArgs;
use super::options::PlanOptions;
use sixmark_record::warnings as warning;
use sixmark_record::warnings::{ENTRIES, LINES, Unit};
use sixmark_sys::command_error::CommandError;

/// Size of the beginning of a file from which its format is detected, in bytes.
const BEGINNING: usize = 64 << 10;
/// Maximum length of a log line, in bytes. No server writes longer lines for requests.
const LONGEST_LINE: u64 = 1 << 20;

/// The requests that the options describe.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) requests: PlanRequests,
    /// The times of the requests. `None` unless a recording is replayed.
    pub(super) timetable: Option<Timetable>,
    /// A warning about entries of the file that were left out.
    pub(super) warning: Option<Warning>,
}

/// Returns the requests that the options describe.
pub(super) fn sent(options: &PlanOptions<'_>, targets: &[Target]) -> Result<Sent, CommandError> {
    let args = &options.workload.request;
    let fields = args.header.iter().cloned().chain(authorization(args)?);
    let fields: Vec<_> = fields.map(|(name, value)| (name, Template::constant(value))).collect();
    let Some(file) = &args.requests else {
        let mut request = single(args)?;
        request.add(&fields, &args.expect);
        if !options.keep_secrets {
            request.redact();
        }
        return Ok(Sent { requests: PlanRequests::one(request), timetable: None, warning: None });
    };
    let speed = options.course.replay;
    let reading = RequestsReading { args, speed, file, targets };
    let (mut list, timetable, warning) = reading.read()?;
    list.iter_mut().for_each(|request| request.add(&fields, &args.expect));
    if !options.keep_secrets {
        list.iter_mut().for_each(Request::redact);
    }
    let requests = PlanRequests::new(list).map_err(|error| reading_error(file, &error))?;
    Ok(Sent { requests, timetable, warning })
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
pub(super) fn files_named(args: &RequestArgs, file: &Path) -> Vec<PathBuf> {
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
    let mut from = File::open(file).ok().filter(|_| file.is_file())?;
    let mut text = Vec::new();
    from.by_ref().take(BEGINNING as u64).read_to_end(&mut text).ok()?;
    if args.requests_format.unwrap_or_else(|| format_of(&text)) != RequestFormat::Toml {
        return None;
    }
    from.read_to_end(&mut text).ok()?;
    String::from_utf8(text).ok()
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

/// The requests, the times at which to send them, and a warning about what was left out.
type FoundRequests = (Vec<Request>, Option<Timetable>, Option<Warning>);

impl RequestsReading<'_> {
    fn read(&self) -> Result<FoundRequests, CommandError> {
        let mut from = self.open().map_err(|error| self.wrong(error))?;
        let beginning = from.fill_buf().map_err(|error| self.wrong(error))?;
        let format = self.args.requests_format.unwrap_or_else(|| format_of(beginning));
        self.fits(format)?;
        match format {
            RequestFormat::Toml => self.toml(from).map(|requests| (requests.to_vec(), None, None)),
            RequestFormat::Har => self.har(from).and_then(|found| self.imported(found, ENTRIES)),
            RequestFormat::Log => self.log(from).and_then(|found| self.imported(found, LINES)),
        }
    }

    fn open(&self) -> io::Result<BufReader<Box<dyn io::Read>>> {
        let from: Box<dyn io::Read> = match self.file == Path::new("-") {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(self.file)?),
        };
        Ok(BufReader::with_capacity(BEGINNING, from))
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
                ("--har-host", "is an access log, which names no hosts; omit it")
            }
            _ => return Ok(()),
        };
        Err(CommandError::Usage(format!("{option}: '{}' {why}", self.file.display())))
    }

    fn toml(&self, mut from: impl io::Read) -> Result<PlanRequests, CommandError> {
        let mut text = String::new();
        from.read_to_string(&mut text).map_err(|error| self.wrong(error))?;
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let mut open = |name: &str| std::fs::read(folder.join(name)).map_err(|e| e.to_string());
        requests::parse_requests(&text, &mut open).map_err(|wrong| {
            let of_file = wrong.of_file(&self.file.display().to_string());
            CommandError::Usage(format!("{of_file}{}", self.hint(&text)))
        })
    }

    /// Returns an addition to the error message if the file may not be a request file at all: every
    /// file that is neither JSON nor has lines of a log is assumed to be one.
    fn hint(&self, text: &str) -> &'static str {
        let is_toml = self.args.requests_format.is_some() || text.contains("[request");
        match is_toml || text.trim().is_empty() {
            true => "",
            false => "; for a HAR file or an access log use --requests-format har or log",
        }
    }

    fn wanted(&self) -> Wanted {
        let (unsafe_methods, times) = (self.args.unsafe_methods, self.speed.is_some());
        Wanted { unsafe_methods, times }
    }

    fn har(&self, mut from: impl io::Read) -> Result<Imported, CommandError> {
        let mut text = Vec::new();
        from.read_to_end(&mut text).map_err(|error| self.wrong(error))?;
        let hosts = match &self.args.har_host {
            Some(host) => vec![host.to_ascii_lowercase()],
            None => self.targets.iter().map(|target| har::host_of(&target.authority)).collect(),
        };
        har::parse_har(&text, &hosts, &self.wanted()).map_err(|error| self.wrong(error))
    }

    /// Reads an access log line by line, since it may be larger than memory.
    fn log(&self, mut from: impl BufRead) -> Result<Imported, CommandError> {
        let (mut log, mut line) = (AccessLog::new(&self.wanted()), Vec::new());
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
        let Imported { requests, times, left_out } = found;
        if requests.is_empty() {
            return Err(self.wrong(warning::nothing_imported(&left_out, unit)));
        }
        let table = |speed| Timetable::new(times, speed).map_err(|error| self.wrong(error));
        let timetable = self.speed.map(table).transpose()?;
        Ok((requests, timetable, warning::requests_left_out(&left_out, unit)))
    }
}

/// Detects the format of a file from its beginning: JSON is a HAR file, and a line of a log that is
/// not a comment makes an access log. Everything else is a request file.
fn format_of(beginning: &[u8]) -> RequestFormat {
    let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning).trim_ascii_start();
    let mut lines = text.split(|&byte| byte == b'\n');
    match lines.any(|line| !line.starts_with(b"#") && is_log_line(line)) {
        _ if text.starts_with(b"{") => RequestFormat::Har,
        true => RequestFormat::Log,
        false => RequestFormat::Toml,
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::speed;
    use super::*;

    #[test]
    fn a_file_is_known_by_its_beginning() {
        let log = "odd line\n::1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 1\n";
        for (text, format) in [
            ("\u{feff} \n{\"log\": 1}", RequestFormat::Har),
            (log, RequestFormat::Log),
            ("# a mix\n[[request]]\n", RequestFormat::Toml),
            (&*format!("# {}\n[[request]]", log.replace('\n', "")), RequestFormat::Toml),
            ("", RequestFormat::Toml),
        ] {
            assert_eq!(format_of(text.as_bytes()), format, "{text}");
        }
    }

    #[test]
    fn a_speed_is_a_factor() {
        for (text, found) in [("2x", 2.0), ("0.5", 0.5), ("1", 1.0)] {
            assert_eq!(speed(text), Ok(found));
        }
        for text in ["", "x", "0", "-1", "1e3", "inf", "fast", "2xx", "5000x"] {
            assert!(speed(text).unwrap_err().contains("--replay=2x"), "{text}");
        }
    }
}
