//! The instruments beside a cell: sixmark's own `watch` at the server's link, and its `vitals` at
//! both ends.
//!
//! They are processes of their own, so that what they cost is not part of the client's figures.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::instruments::{
    KernelEndOfCell, LoadTime, client_of_cell, doubts_of_packets, kernel_of_cell, packets_of_cell,
};
use sixmark_design::spec::command_line::CellTarget;
use sixmark_design::spec::instruments::Instrument;
use sixmark_design::spec::{PlannedCell, Study};
use sixmark_design::study_result::{CellInstruments, CellResult, KernelEnd};
use sixmark_http::url::Host as UrlHost;
use sixmark_lab::Host;
use sixmark_lab::plan::storage::server;
use sixmark_units::family::Family;
use sixmark_vitals::engine::SAMPLING;
use sixmark_watch::engine::WATCHING;

use super::captured::ports_of;
use super::cell_warnings::doubt;
use super::folder::INSTRUMENTS;
use super::own_program::{Finished, OwnProgram};
use super::stage::Stage;
use super::work::Work;
use sixmark_sys::command_error::CommandError;

/// How long `watch` goes on after the load while connections are open.
const SETTLE: &str = "1s";
/// The interval of the kernel's samples, and the share of a processor's time, in percent, that
/// counting sockets may take. Cells may be short, and sockets live shorter still.
const INTERVAL: &str = "50ms";
const SOCKET_CPU: &str = "5";
/// The size of the ring of packets in MiB.
const RING: &str = "32";
/// The number of bytes of each packet that are captured: its headers and the beginning of a head.
const SNAP: &str = "192";

/// The instruments that measure beside a cell.
pub(super) struct Beside {
    packets: Option<OwnProgram>,
    kernel: Vec<(KernelEndOfCell, OwnProgram)>,
    /// The instruments that could not be started, and why.
    missing: Vec<String>,
}

/// Where a cell's instruments are started.
pub(super) struct InstrumentPlace<'a> {
    pub(super) study: &'a Study,
    pub(super) cell: &'a PlannedCell<'a>,
    /// The name of the cell's measurement.
    pub(super) id: &'a str,
    pub(super) target: &'a CellTarget,
    /// The service that the cell loads.
    pub(super) server: Option<&'a str>,
    /// The study's folder.
    pub(super) folder: &'a Path,
    pub(super) work: &'a Work,
    pub(super) stop: &'a AtomicBool,
}

impl InstrumentPlace<'_> {
    /// Starts the instruments that the study asks for, and waits until they measure. `None` if it
    /// asks for none.
    pub(super) fn begin(&self, stage: &Stage<'_>) -> Result<Option<Beside>, CommandError> {
        let wanted = &self.study.instruments;
        if wanted.is_empty() || !self.cell.has_instruments() {
            return Ok(None);
        }
        let mut beside = Beside { packets: None, kernel: Vec::new(), missing: Vec::new() };
        if wanted.contains(&Instrument::Packets) {
            let program = self.program("packets", "watch", self.server_host(stage)?)?;
            beside.packets = Some(program.start(&self.words_of_watch(stage))?);
        }
        if wanted.contains(&Instrument::Kernel) {
            for (end, host) in self.ends(stage)? {
                let name = format!("kernel-{}", end.word());
                let program = self.program(&name, "vitals", host)?;
                let document = program.document();
                let words = self.words_of_vitals(stage, end);
                let host = host.map(|host| host.name().to_owned());
                let at = KernelEndOfCell { end, host, document };
                beside.kernel.push((at, program.start(&words)?));
            }
        }
        beside.wait(self.stop)?;
        Ok(Some(beside))
    }

    fn program<'p>(
        &'p self,
        name: &str,
        command: &'static str,
        host: Option<&'p Host>,
    ) -> Result<OwnProgramPlace<'p>, CommandError> {
        let file = format!("{INSTRUMENTS}/{}-{name}.json", self.id);
        let path = std::path::absolute(self.folder.join(&file));
        let path = path.map_err(|error| {
            CommandError::Measure(format!("can't find the folder of the study: {error}"))
        })?;
        let log = self.work.file(&format!("{name}.log"));
        Ok(OwnProgramPlace { command, file, path, log, host })
    }

    /// Returns the host of the service; `None` without a lab.
    fn server_host<'s>(&self, stage: &'s Stage<'_>) -> Result<Option<&'s Host>, CommandError> {
        let Some(up) = stage.up() else { return Ok(None) };
        let service = self.study.services.iter().find(|of| Some(of.name.as_str()) == self.server);
        match service.and_then(|service| service.host.as_deref()) {
            Some(name) => up.hosts().get(name).map(Some),
            None => stage.host(self.cell),
        }
    }

    /// Returns both ends of the cell's connections as far as their kernels can be read.
    fn ends<'s>(
        &self,
        stage: &'s Stage<'_>,
    ) -> Result<Vec<(KernelEnd, Option<&'s Host>)>, CommandError> {
        let (client, server) = (stage.host(self.cell)?, self.server_host(stage)?);
        Ok(match (client, server) {
            (Some(client), Some(server)) if client.name() != server.name() => {
                vec![(KernelEnd::Client, Some(client)), (KernelEnd::Server, Some(server))]
            }
            (host, _) if host.is_some() || self.is_on_loopback() => vec![(KernelEnd::Both, host)],
            _ => vec![(KernelEnd::Client, None)],
        })
    }

    /// Reports whether all targets are addresses of this machine's loopback.
    fn is_on_loopback(&self) -> bool {
        let is_loopback = |url: &String| match server(url).map(|url| url.host) {
            Ok(UrlHost::Address(address, _)) => address.is_loopback(),
            Ok(UrlHost::Name(name)) => name == "localhost",
            Err(_) => false,
        };
        self.target.urls.iter().all(is_loopback)
    }

    fn words_of_watch(&self, stage: &Stage<'_>) -> Vec<String> {
        let fixed = ["--settle", SETTLE, "--ring", RING, "--snap", SNAP, "--store", "none"];
        let mut words: Vec<String> = fixed.map(str::to_owned).into();
        if stage.up().is_none() && self.is_on_loopback() {
            words.extend(["--interface", "lo"].map(str::to_owned));
        }
        for port in ports_of(&self.target.urls) {
            words.extend(["--port".to_owned(), port.to_string()]);
        }
        words
    }

    fn words_of_vitals(&self, stage: &Stage<'_>, end: KernelEnd) -> Vec<String> {
        let fixed = ["--interval", INTERVAL, "--socket-cpu", SOCKET_CPU];
        let mut words: Vec<String> = fixed.map(str::to_owned).into();
        let server = self.server.filter(|_| end != KernelEnd::Client);
        if let Some(pid) = server.and_then(|server| stage.pid_of(server)) {
            words.extend(["--pid".to_owned(), pid.to_string()]);
        }
        words
    }
}

/// A command of sixmark that is to be started as an instrument.
struct OwnProgramPlace<'a> {
    command: &'static str,
    /// The file of its document in the study's folder, and where it is.
    file: String,
    path: PathBuf,
    log: PathBuf,
    host: Option<&'a Host>,
}

impl OwnProgramPlace<'_> {
    fn document(&self) -> String {
        self.file.clone()
    }

    fn start(self, words: &[String]) -> Result<OwnProgram, CommandError> {
        let path = self.path.display().to_string();
        let document = ["--json".to_owned(), path];
        let words: Vec<String> = words.iter().cloned().chain(document).collect();
        OwnProgram::start(self.command, &words, (self.file, self.path), self.log, self.host)
    }
}

impl Beside {
    /// Waits until all instruments measure. One that ends instead is missing.
    fn wait(&mut self, stop: &AtomicBool) -> Result<(), CommandError> {
        if let Some(packets) = self.packets.take() {
            match packets.until_it_says(WATCHING, stop)? {
                Ok(packets) => self.packets = Some(packets),
                Err(why) => self.missing.push(format!("the packets instrument is missing: {why}")),
            }
        }
        for (at, kernel) in std::mem::take(&mut self.kernel) {
            match kernel.until_it_says(SAMPLING, stop)? {
                Ok(kernel) => self.kernel.push((at, kernel)),
                Err(why) => self.missing.push(format!("the kernel instrument is missing: {why}")),
            }
        }
        Ok(())
    }

    /// Ends the instruments and adds their figures to those of the cell.
    pub(super) fn end(mut self, load: LoadTime, cell: &mut CellResult) -> Result<(), CommandError> {
        let loaded: Vec<Family> = cell.families.iter().map(|(family, _)| family).collect();
        let client = client_of_cell(&cell.families);
        let (mut kernel, mut packets) = (Vec::new(), None);
        // The kernels' last samples are taken before the watch waits for connections to end.
        for (at, program) in self.kernel {
            let found = program.finish()?.and_then(|Finished { document, .. }| {
                let few = "it took too few samples".to_owned();
                kernel_of_cell(&document, at, load, &loaded).ok_or(few)
            });
            match found {
                Ok(found) => kernel.push(found),
                Err(why) => self.missing.push(format!("the kernel instrument is missing: {why}")),
            }
        }
        match self.packets.map(OwnProgram::finish).transpose()? {
            Some(Ok(Finished { document, file, cpu_share })) => {
                let found = packets_of_cell(&document, file, cpu_share);
                cell.warnings.extend(doubts_of_packets(&client, &found));
                packets = Some(found);
            }
            Some(Err(why)) => {
                self.missing.push(format!("the packets instrument is missing: {why}"));
            }
            None => {}
        }
        let missing = self.missing.into_iter().map(|line| doubt("instrument_missing", line));
        cell.warnings.extend(missing);
        cell.instruments = Some(CellInstruments { client, packets, kernel });
        Ok(())
    }
}
