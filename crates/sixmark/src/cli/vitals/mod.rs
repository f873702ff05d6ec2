//! `sixmark vitals`.

mod args;
mod lines;

pub(super) use args::VitalsArgs;

use std::time::{Duration, SystemTime};

use sixmark_document::provenance::{Tool, Warning};
use sixmark_sheet::board::elapsed_text;
use sixmark_vitals::live_line::live_line;
use sixmark_vitals::sheet::vitals_text;
use sixmark_vitals::vitals_result::{SCHEMA, VitalsHead, VitalsResult};
use sixmark_vitals::{Total, VitalsSample};

use super::files::CommandFiles;
use super::listen::Listen;
use super::out::{self, OutputPlace, complain, encoded, print, warn};
use super::progress::{can_repaint, repaint};
use super::{signals, stop_flag};
use lines::{Columns, JsonLines};
use sixmark_document::environment;
use sixmark_document::provenance::{FILE_INCOMPLETE, file_incomplete};
use sixmark_sys::command_error::CommandError;
use sixmark_vitals::engine as vitals;
use sixmark_vitals::engine::{SAMPLING, Server, Sources, USUAL_SOCKET_SHARE, WantedVitals};
use sixmark_vitals::warnings::warn_of_change;

/// Interval between two progress lines and between two samples of a long document, in microseconds.
const SECOND_US: u64 = 1_000_000;

/// Maximum number of samples in the document before it has only one for each second.
const FINE: usize = 600;

/// Maximum number of samples in the document; if there are more, every second one is dropped. This
/// is one sample per second for a day.
const MOST: usize = 86_400;

/// Takes, shows and writes samples.
pub(super) fn main(args: &VitalsArgs) -> Result<u8, CommandError> {
    let files = CommandFiles::default().document("--json", args.json.as_ref());
    files.lines("--jsonl", args.jsonl.clone()).lines("--csv", args.csv.clone()).check()?;
    let to_standard = [&args.json, &args.jsonl, &args.csv].contains(&&Some(OutputPlace::Standard));
    args.inside.go()?;
    let mut sources = Sources::open(&wanted(args))?;
    let mut taking = Taking::open(args)?;
    let stop = stop_flag()?;
    let ended = vitals::every(&mut sources, args.interval, args.duration, &stop, |sample| {
        taking.see(&sample)
    })?;
    taking.clear();
    let result = taking.result(&ended)?;
    let shown = !args.quiet && !to_standard;
    let printed = if shown { print(&vitals_text(&result)) } else { Ok(()) };
    warn(result.warnings.iter().filter(|warning| warning.code != FILE_INCOMPLETE));
    let document = encoded(&result)?;
    let written = args.json.as_ref().map_or(Ok(()), |place| place.write(&document));
    out::do_all([printed, written])?;
    if out::is_incomplete(&result.warnings) {
        return Ok(out::INCOMPLETE);
    }
    signals::status_after(ended.why, Ok(0))
}

fn wanted(args: &VitalsArgs) -> WantedVitals {
    WantedVitals {
        pids: args.pid.clone(),
        services: args.service.clone(),
        cgroups: args.cgroup.clone(),
        host: None,
        sockets: Some(args.socket_cpu.map_or(USUAL_SOCKET_SHARE, |percent| percent / 100.0)),
    }
}

/// The samples taken so far, and where they are written.
struct Taking {
    head: VitalsHead,
    /// How long samples are taken; `None` if until a signal.
    duration: Option<Duration>,
    total: Total,
    samples: Vec<VitalsSample>,
    /// Whether only the last sample of each second is kept.
    coarse: bool,
    taken: u64,
    shown: bool,
    /// Whether the first sample is reported in a line, where no progress is shown.
    says: bool,
    last_shown: Option<VitalsSample>,
    jsonl: Option<JsonLines>,
    csv: Option<(JsonLines, Columns)>,
    /// Warnings about files that could not be written any more. They have already been printed.
    lost: Vec<Warning>,
    server: Option<Server>,
}

impl Taking {
    fn open(args: &VitalsArgs) -> Result<Taking, CommandError> {
        let head = vitals_head(args)?;
        let mut jsonl = args.jsonl.as_ref().map(JsonLines::open).transpose()?;
        if let Some(lines) = &mut jsonl {
            lines.json(&head)?;
        }
        let csv = args.csv.as_ref().map(JsonLines::open).transpose()?;
        let server = args.prometheus.as_ref().map(|Listen(at)| {
            Server::start(at, &args.prometheus_host).map_err(|error| {
                let at = at.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let line = format!("--prometheus: can't listen at {at}: {error}");
                match error.kind() {
                    std::io::ErrorKind::Other => CommandError::Measure(line),
                    _ => CommandError::Usage(format!(
                        "{line}; choose another port, or 127.0.0.1:PORT if this host has no IPv6"
                    )),
                }
            })
        });
        let server = server.transpose()?;
        Ok(Taking {
            head,
            duration: args.duration,
            total: Total::default(),
            samples: Vec::new(),
            coarse: false,
            taken: 0,
            shown: !args.quiet && can_repaint(),
            says: !args.quiet && !can_repaint(),
            last_shown: None,
            jsonl,
            csv: csv.map(|lines| (lines, Columns::default())),
            lost: Vec::new(),
            server,
        })
    }

    fn see(&mut self, sample: &VitalsSample) -> Result<(), CommandError> {
        self.taken += 1;
        self.write(sample);
        if let Some(server) = &self.server {
            server.show(sample);
            // Printed with the first sample, because the page is empty before.
            if self.taken == 1 {
                complain(&format!("serving http://{}/metrics", server.address()));
            }
        }
        if self.taken == 1 && self.says {
            // A script needs to know when sampling has begun.
            complain(&format!("{SAMPLING}; Ctrl-C ends it"));
        }
        let _ = self.total.see(sample);
        self.keep(sample);
        self.show(sample);
        Ok(())
    }

    /// Writes a sample to the files. If a file can't be written any more, only that file ends.
    fn write(&mut self, sample: &VitalsSample) {
        let json = self.jsonl.as_mut().map_or(Ok(()), |lines| lines.json(sample));
        if json.is_err() {
            self.jsonl = None;
        }
        let csv =
            self.csv.as_mut().map_or(Ok(()), |(lines, columns)| lines.text(&columns.lines(sample)));
        if csv.is_err() {
            self.csv = None;
        }
        let new = [json, csv].into_iter().filter_map(Result::err);
        let new: Vec<_> = new.map(|error| file_incomplete(&error.to_string())).collect();
        warn(&new);
        self.lost.extend(new);
    }

    /// Keeps the sample for the document. If there are many, only the last one of each second is
    /// kept.
    fn keep(&mut self, sample: &VitalsSample) {
        if !self.coarse && self.samples.len() >= FINE {
            self.coarse = true;
            let all = std::mem::take(&mut self.samples);
            all.into_iter().for_each(|sample| self.put(sample));
        }
        self.put(sample.clone());
    }

    fn put(&mut self, sample: VitalsSample) {
        let second = |sample: &VitalsSample| sample.since_us / SECOND_US;
        if self.coarse
            && self.samples.len() > 1
            && self.samples.last().is_some_and(|last| second(last) == second(&sample))
        {
            self.samples.pop();
        }
        if self.samples.len() >= MOST {
            let mut number = 0;
            self.samples.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
        self.samples.push(sample);
    }

    fn show(&mut self, sample: &VitalsSample) {
        if !self.shown {
            return;
        }
        match &self.last_shown {
            Some(last) if sample.since_us - last.since_us < SECOND_US => {}
            Some(last) => {
                let elapsed = elapsed_text(sample.since_us / SECOND_US, self.duration);
                repaint(&(elapsed + &live_line(&sample.since(last, &mut 0))));
                self.last_shown = Some(sample.clone());
            }
            None => self.last_shown = Some(sample.clone()),
        }
    }

    fn clear(&self) {
        if self.shown {
            repaint("");
        }
    }

    fn result(self, ended: &vitals::SamplingEnd) -> Result<VitalsResult, CommandError> {
        let few = || CommandError::Measure("ended before a second sample was taken".to_owned());
        let Total { change, resets, busiest, busiest_core, .. } = self.total;
        let change = change.ok_or_else(few)?;
        let share = change.own_cpu_us.0 as f64 / change.since_us.max(1) as f64;
        Ok(VitalsResult {
            head: self.head,
            elapsed_s: change.seconds(),
            ended: ended.why,
            taken: self.taken,
            missed: ended.missed,
            resets,
            own_cpu_share: share,
            busiest,
            busiest_core,
            warnings: [self.lost, warn_of_change(&change)].concat(),
            change,
            samples: self.samples,
        })
    }
}

fn vitals_head(args: &VitalsArgs) -> Result<VitalsHead, CommandError> {
    let interfaces = vitals::offloads()
        .map_err(|error| CommandError::Measure(format!("can't list the interfaces: {error}")))?;
    let interval: Duration = args.interval;
    Ok(VitalsHead {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        environment: environment::environment(Vec::new()),
        host: args.inside.host().map(str::to_owned),
        interval_s: interval.as_secs_f64(),
        interfaces,
    })
}
