//! Measurement of a run's cost, by vitals that are read during the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::cost::{Cost, CpuScope, Work, cost};
use crate::exposition::{Exporter, processor_time};
use crate::host::CpuTimes;
use crate::section::{MachineRole, Vitals, VitalsSource};
use crate::series::{Point, PointSeries};
use crate::{Counters as _, Total, VitalsSample};
use sixmark_document::provenance::Warning;
use sixmark_sys::clock;
use sixmark_sys::usage::processor_us;

use super::from::{self, FetchedPage, VitalsFrom};
use super::sources::{Sources, WantedVitals};
use crate::warnings::{warn_of_client, warn_of_server};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::threads::no_thread;

/// The interval at which processor time is read of this machine.
const PAUSE: Duration = Duration::from_millis(100);
/// The interval at which a page is fetched that sixmark serves. A page of node_exporter costs its
/// server more. It is fetched at the beginning, at the end of the warm-up and at the end, and in
/// between just often enough that little is lost if the server dies.
const PAUSE_OF_PAGES: Duration = Duration::from_secs(1);
const PAUSE_OF_NODE_EXPORTER: Duration = Duration::from_secs(10);
/// The longest interval between two checks whether a thread must end.
const LONGEST: Duration = Duration::from_secs(1);

/// Sources that are being read.
#[derive(Debug)]
pub struct Meter {
    client: Local,
    server: Option<Remote>,
}

#[derive(Debug)]
enum Remote {
    File(VitalsFrom),
    Page(Fetching),
    Host(String, Box<Local>),
}

/// A flag that tells a thread to end when it is dropped; the thread may take a while to notice.
#[derive(Debug, Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The readings of a complete run.
#[derive(Debug)]
pub struct Metered {
    client: MeterReading,
    server: Option<MeterReading>,
    /// The end by this machine's wall clock, microseconds since 1970.
    ended_us: u64,
}

/// What this machine's processors did during a measurement, its warm-up included: shares (0 to 1)
/// of the time of all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorsUse {
    /// Busy, by any process.
    pub busy: f64,
    /// Taken by the hypervisor (steal).
    pub stolen: f64,
}

impl ProcessorsUse {
    /// Processors that are busy for a smaller share (0 to 1) of the time are no cause of noise.
    pub const NOISY_BUSY: f64 = 0.8;
    /// A smaller stolen share (0 to 1) of the time is no cause of noise.
    pub const NOISY_STOLEN: f64 = 0.01;

    /// Returns the use between two readings; `None` if no time passed, or a counter went back.
    pub fn between(before: &CpuTimes, after: &CpuTimes) -> Option<ProcessorsUse> {
        let mut resets = 0;
        let cpu = after.since(before, &mut resets);
        let (busy, stolen) = (cpu.busy_share()?, cpu.steal_share()?);
        (resets == 0).then_some(ProcessorsUse { busy, stolen })
    }
}

/// The readings of one source.
#[derive(Debug)]
struct MeterReading {
    source: VitalsSource,
    name: Option<String>,
    series: PointSeries,
    /// Complete samples: all of a file, else the first and the last, or none of a page.
    samples: Vec<VitalsSample>,
    /// Why readings are missing.
    problem: Option<String>,
}

impl Meter {
    /// Starts reading this machine, and a server if one is given. Returns none if this machine's
    /// counters can't be read and no server is given.
    ///
    /// # Errors
    /// Returns an error if a given source yields nothing.
    pub fn start(
        server: Option<&VitalsFrom>,
        warmup: Duration,
    ) -> Result<Option<Meter>, CommandError> {
        let own = || processor_us() as f64;
        let client =
            Sources::open(&WantedVitals::default()).and_then(|all| Local::start(all, Some(own)));
        let client = match client {
            Err(_) if server.is_none() => return Ok(None),
            client => client?,
        };
        let server = match server {
            None => None,
            Some(file @ VitalsFrom::File(_)) => Some(Remote::File(file.clone())),
            Some(VitalsFrom::Page(page)) => {
                let pause = match page.who {
                    Exporter::Sixmark => PAUSE_OF_PAGES,
                    Exporter::Node => PAUSE_OF_NODE_EXPORTER,
                };
                Some(Remote::Page(Fetching::start(page, warmup, pause)?))
            }
            Some(VitalsFrom::Host(host)) => {
                let name = VitalsFrom::Host(host.clone()).name();
                Some(Remote::Host(name, Box::new(Local::start(host.open()?, None)?)))
            }
        };
        Ok(Some(Meter { client, server }))
    }

    /// Stops reading. Must be called as soon as the load has ended.
    pub fn end(self) -> Metered {
        let mut client = self.client.end(VitalsSource::Here, None);
        let ended_us = client.series.span_us().map_or(0, |(_, last)| last);
        client.name = None;
        let server = self.server.map(|server| match server {
            Remote::File(file) => of_file(&file),
            Remote::Page(page) => page.end(),
            Remote::Host(name, local) => local.end(VitalsSource::Lab, Some(name)),
        });
        Metered { client, server, ended_us }
    }
}

impl Metered {
    /// Returns when a measurement began that took `elapsed_s` and has just ended.
    pub fn began_us(&self, elapsed_s: f64) -> u64 {
        self.ended_us.saturating_sub((elapsed_s * 1e6) as u64)
    }

    /// Returns the processor time over a stretch, microseconds: of this process, and of the
    /// server's processes or, if these are unknown, of its whole machine. A value is absent if the
    /// readings do not cover nearly all of the stretch.
    pub fn used(&self, work: &Work) -> (Option<f64>, Option<f64>) {
        let all = |cost: &Cost| cost.us_per_request.map(|_| cost.cpu_s * 1e6);
        let client = self.client.place(work, CpuScope::Own);
        let server = self.server.as_ref().map(|server| server.place(work, CpuScope::Processes));
        let of = |place: &MachineRole| place.cost().and_then(all);
        (of(&client), server.as_ref().and_then(of))
    }

    /// Returns what this machine's processors did; `None` if it is not known.
    pub fn client_processors(&self) -> Option<ProcessorsUse> {
        let [first, .., last] = self.client.samples.as_slice() else { return None };
        ProcessorsUse::between(&first.host.cpu, &last.host.cpu)
    }

    /// Returns the cost of the work, and warnings about it.
    pub fn section(&self, work: &Work) -> (Vitals, Vec<Warning>) {
        let client = self.client.place(work, CpuScope::Own);
        let server = self.server.as_ref().map(|server| server.place(work, CpuScope::Processes));
        let mut doubts = warn_of_client(&client);
        if let (Some(reading), Some(place)) = (&self.server, &server) {
            doubts.extend(warn_of_server(place, work, reading.problem.as_deref()));
        }
        (Vitals { client, server }, doubts)
    }
}

impl MeterReading {
    fn place(&self, work: &Work, scope: CpuScope) -> MachineRole {
        let covered = self.series.between(work.from_us, work.to_us);
        MachineRole {
            source: self.source,
            name: self.name.clone(),
            covered_s: covered.map_or(0.0, |used| used.covered_us / 1e6),
            machine: cost(work, &self.series, CpuScope::Host),
            processes: cost(work, &self.series, scope),
            change: self.change(work),
        }
    }

    /// Returns the change over all samples; for a file, only over those within the measured time.
    fn change(&self, work: &Work) -> Option<VitalsSample> {
        let mut total = Total::default();
        let is_of = |sample: &&VitalsSample| {
            self.source != VitalsSource::File || (work.from_us..=work.to_us).contains(&sample.at_us)
        };
        for sample in self.samples.iter().filter(is_of) {
            let _ = total.see(sample);
        }
        total.change
    }
}

/// The counters of a kernel, read by a thread.
#[derive(Debug)]
struct Local {
    first: VitalsSample,
    stop: Stop,
    thread: JoinHandle<(Sources, PointSeries)>,
    own: Option<fn() -> f64>,
}

impl Local {
    fn start(mut sources: Sources, own: Option<fn() -> f64>) -> Result<Local, CommandError> {
        let cannot = |error| CommandError::Measure(format!("can't read kernel counters: {error}"));
        let first = sources.sample().map_err(cannot)?;
        let stop = Stop::default();
        let stopped = Arc::clone(&stop.0);
        let mut series = PointSeries::default();
        series.push(point(&mut sources, own).map_err(cannot)?);
        let read = move || {
            while !stopped.load(Ordering::Acquire) {
                std::thread::park_timeout(PAUSE);
                // A reading that fails may succeed later; otherwise it is missing in the result.
                point(&mut sources, own).into_iter().for_each(|point| series.push(point));
            }
            (sources, series)
        };
        let thread = std::thread::Builder::new().name("vitals".into()).spawn(read);
        Ok(Local { first, stop, thread: thread.map_err(cannot)?, own })
    }

    fn end(self, source: VitalsSource, name: Option<String>) -> MeterReading {
        drop(self.stop);
        self.thread.thread().unpark();
        let mut reading = MeterReading {
            source,
            name,
            series: PointSeries::default(),
            samples: vec![self.first],
            problem: None,
        };
        let Ok((mut sources, series)) = self.thread.join() else {
            reading.problem = Some("the thread that reads it died".to_owned());
            return reading;
        };
        reading.series = series;
        sources.want_all();
        match sources.sample() {
            Ok(last) => reading.samples.push(last),
            Err(error) => reading.problem = Some(error.to_string()),
        }
        // The time up to now is not part of the run, but a very short run has no other point.
        point(&mut sources, self.own).into_iter().for_each(|point| reading.series.push(point));
        reading
    }
}

fn point(sources: &mut Sources, own: Option<fn() -> f64>) -> std::io::Result<Point> {
    let point = sources.point()?;
    Ok(match own {
        Some(own) => Point { processes_us: Some(own()), ..point },
        None => point,
    })
}

/// A page of metrics, fetched by a thread.
#[derive(Debug)]
struct Fetching {
    name: String,
    stop: Stop,
    thread: JoinHandle<(PointSeries, Option<String>)>,
    source: VitalsSource,
}

impl Fetching {
    fn start(
        page: &FetchedPage,
        warmup: Duration,
        pause: Duration,
    ) -> Result<Fetching, CommandError> {
        let stop = Stop::default();
        let (stopped, page) = (Arc::clone(&stop.0), page.clone());
        let (name, who) = (page.name.clone(), page.who);
        let mut fetched = Fetched { page, series: PointSeries::default(), problem: None };
        fetched.fetch();
        let read = move || {
            let began = Instant::now();
            let mut next = match who {
                Exporter::Node if !warmup.is_zero() => warmup,
                _ => pause,
            };
            let mut answers = true;
            while !stopped.load(Ordering::Acquire) {
                let left = next.saturating_sub(began.elapsed());
                if left.is_zero() {
                    answers = fetched.fetch();
                    next = began.elapsed() + pause;
                } else {
                    std::thread::park_timeout(left.min(LONGEST));
                }
            }
            // A server that did not respond a moment ago must not delay the end.
            if answers {
                fetched.fetch();
            }
            (fetched.series, fetched.problem)
        };
        let thread = std::thread::Builder::new().name("vitals-from".into()).spawn(read);
        let thread =
            thread.map_err(|error| CommandError::Measure(no_thread(&error).to_string()))?;
        let source = match who {
            Exporter::Sixmark => VitalsSource::Sixmark,
            Exporter::Node => VitalsSource::NodeExporter,
        };
        Ok(Fetching { name, stop, thread, source })
    }

    fn end(self) -> MeterReading {
        drop(self.stop);
        self.thread.thread().unpark();
        let died = |_| (PointSeries::default(), Some("the thread that fetches it died".to_owned()));
        let (series, problem) = self.thread.join().unwrap_or_else(died);
        MeterReading {
            source: self.source,
            name: Some(self.name),
            series,
            samples: Vec::new(),
            problem,
        }
    }
}

#[derive(Debug)]
struct Fetched {
    page: FetchedPage,
    series: PointSeries,
    problem: Option<String>,
}

impl Fetched {
    /// Fetches the page and adds its figures. Returns false if that failed.
    fn fetch(&mut self) -> bool {
        let before = clock::real() / 1_000;
        let fetched = self.page.place.fetch();
        // The page was generated at some time in between.
        let at_us = before.midpoint(clock::real() / 1_000);
        let told = fetched.and_then(|page| {
            let told = processor_time(&page, at_us);
            told.ok_or_else(|| "the page no longer has CPU time".to_owned())
        });
        match told {
            Ok((_, point)) => self.series.push(point),
            Err(why) => {
                self.problem = Some(why);
                return false;
            }
        }
        true
    }
}

fn of_file(file: &VitalsFrom) -> MeterReading {
    let VitalsFrom::File(path) = file else { return of_samples(file, Err(String::new())) };
    of_samples(file, from::read_samples(path))
}

fn of_samples(file: &VitalsFrom, read: Result<Vec<VitalsSample>, String>) -> MeterReading {
    let (samples, problem) = match read {
        Ok(samples) => (samples, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let series = samples.iter().map(Point::of).collect();
    MeterReading { source: VitalsSource::File, name: Some(file.name()), series, samples, problem }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::super::scrape;
    use super::*;

    #[test]
    fn keeps_the_samples_fetched_before_the_server_died() {
        let listener = TcpListener::bind("[::1]:0").unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        let (told, all_told) = std::sync::mpsc::channel();
        let serve = std::thread::spawn(move || {
            for second in 1..=4 {
                let (mut stream, _) = listener.accept().unwrap();
                // Reads the whole head: closing a socket with unread data would reset the
                // connection.
                let head = BufReader::new(&stream).lines().map(Result::unwrap);
                assert_ne!(head.take_while(|line| !line.is_empty()).count(), 0);
                let page = format!("node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {second}\n");
                write!(stream, "HTTP/1.0 200 OK\r\n\r\n{page}").unwrap();
            }
            drop(listener);
            told.send(()).unwrap();
        });
        let place = scrape::PageAddress::find(url.parse().unwrap()).unwrap();
        let page = FetchedPage { name: url, place, who: Exporter::Node };
        let meter = Fetching::start(&page, Duration::ZERO, Duration::from_millis(1)).unwrap();
        all_told.recv_timeout(Duration::from_secs(30)).unwrap();
        let reading = meter.end();
        serve.join().unwrap();
        let (first_us, last_us) = reading.series.span_us().unwrap();
        assert!(last_us > first_us, "more than the first page is kept");
        assert!(reading.problem.is_some(), "and that it died is known");
    }
}
