//! One measurement of one cell.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};

use crate::figures::{accounts_of_families, figures_of_families};
use crate::instruments::LoadTime;
use sixmark_clients::client::{Client, Job};
use sixmark_design::spec::PlannedCell;
use sixmark_design::spec::Study;
use sixmark_design::spec::command_line::{CellTarget, words};
use sixmark_design::study_result::CellResult;
use sixmark_document::provenance::Ended;
use sixmark_http::url::Url;
use sixmark_lab::Host;
use sixmark_lab::link_report::LinkReport as Link;
use sixmark_plan::plan::secrets::redact;
use sixmark_result::find::FindMax;
use sixmark_result::sameness::GivenResult;
use sixmark_tally::family_result::Families;
use sixmark_units::family::Family;
use sixmark_units::random::Random;

use super::background::{self, Background};
use super::captured;
use super::check::{CellUrls, OptionsOfCells, run_of_cell};
use super::external::ClientLoad;
use super::folder::KeptCell;
use super::instruments::{Beside, InstrumentPlace};
use super::stage::Stage;
use super::used::{self, Used};
use super::work::Work;
use crate::engine::cell_warnings as doubts;
use sixmark_clients::browser::Browsers;
use sixmark_run::{self, Generators, find};
use sixmark_sys::clock;
use sixmark_sys::command_error::CommandError;
use sixmark_watch::capture::Capture;

/// The environment in which cells are measured.
pub(super) struct CellEnvironment<'a> {
    pub(super) study: &'a Study,
    pub(super) work: &'a Work,
    /// The options of the cells that sixmark itself loads.
    pub(super) options: &'a OptionsOfCells,
    pub(super) programs: &'a std::collections::BTreeMap<String, String>,
    /// The folder of the study's file.
    pub(super) here: &'a std::path::Path,
    pub(super) seed: u64,
    /// The browsers that have been started, which cells share.
    pub(super) browsers: &'a Browsers,
    /// The study's folder.
    pub(super) folder: &'a std::path::Path,
    pub(super) stop: &'a Arc<AtomicBool>,
    /// Set when a client did not end in its time.
    pub(super) stuck: AtomicBool,
}

/// Returns a cell's name within its study.
pub(super) fn id(cell: u32, repetition: u32) -> String {
    format!("c{cell:03}-r{repetition}")
}

impl CellEnvironment<'_> {
    /// Measures a cell. Returns `None` if the study was stopped before the cell was done.
    pub(super) fn measure(
        &self,
        cell: &PlannedCell<'_>,
        repetition: u32,
        stage: &Stage<'_>,
    ) -> Result<Option<KeptCell>, CommandError> {
        let place = CellTarget::new(self.study, cell, |name| stage.urls(name));
        let place = place.map_err(CommandError::Usage)?;
        let (started, began) = (SystemTime::now(), Instant::now());
        let around = match self.begin(cell, repetition, stage, &place)? {
            Some(around) => around,
            None => return Ok(None),
        };
        let (server, hosts) = (self.server(cell), stage.hosts(cell)?);
        let used = || Used::until_now(stage, server, &hosts);
        let (before, began_us) = (used()?, clock::real() / 1_000);
        let own = || self.own(cell, repetition, &place, stage.fleet());
        let mut kept = match (cell.client(), &hosts[..]) {
            (Client::Sixmark, [host, ..]) => host.within(own)?,
            (Client::Sixmark, []) => own()?,
            (client, hosts) => self.other(client, cell, repetition, (&place, hosts))?,
        };
        if let Some(kept) = &mut kept {
            used()?.add(&before, &mut kept.cell);
            let load = LoadTime { began_us, ended_us: clock::real() / 1_000 };
            around.end(stage, &place, load, &mut kept.cell)?;
        }
        Ok(kept.map(|mut kept| {
            kept.cell.started = humantime::format_rfc3339_micros(started).to_string();
            kept.cell.took_s = began.elapsed().as_secs_f64();
            kept
        }))
    }

    /// Starts what surrounds a cell: background traffic and a capture. Returns `None` if the study
    /// is to stop.
    fn begin<'s>(
        &'s self,
        cell: &PlannedCell<'s>,
        repetition: u32,
        stage: &Stage<'_>,
        place: &CellTarget,
    ) -> Result<Option<Around<'s>>, CommandError> {
        let mut around = Around::default();
        let Some(up) = stage.up() else {
            around.beside = self.instruments(cell, repetition, stage, place)?;
            return Ok(Some(around));
        };
        around.links = up.links()?;
        if let (Some(traffic), Some(mix)) = (&self.study.traffic, mix(cell)) {
            let seed = self.seed_of(cell, repetition);
            around.traffic = Some(Background::begin(up, traffic, mix, seed, self.work.path())?);
            if !background::go_on(traffic.before, self.stop) {
                return Ok(None);
            }
        }
        if let Some(at) = self.study.lab.as_ref().and_then(|lab| lab.capture.as_ref()) {
            let capture = captured::begin_capture(up, &at.at, &at.interface, &place.urls)?;
            around.capture = Some(capture);
        }
        around.beside = self.instruments(cell, repetition, stage, place)?;
        Ok(Some(around))
    }

    /// Starts the instruments that measure beside a cell.
    fn instruments(
        &self,
        cell: &PlannedCell<'_>,
        repetition: u32,
        stage: &Stage<'_>,
        target: &CellTarget,
    ) -> Result<Option<Beside>, CommandError> {
        let place = InstrumentPlace {
            study: self.study,
            cell,
            id: &id(cell.number, repetition),
            target,
            server: self.server(cell),
            folder: self.folder,
            work: self.work,
            stop: self.stop,
        };
        place.begin(stage)
    }

    /// Returns the service that a cell loads.
    fn server<'s>(&'s self, cell: &PlannedCell<'s>) -> Option<&'s str> {
        self.study.server_of(cell)
    }

    fn own(
        &self,
        cell: &PlannedCell<'_>,
        repetition: u32,
        place: &CellTarget,
        fleet: Option<&Arc<dyn Generators>>,
    ) -> Result<Option<KeptCell>, CommandError> {
        let (seed, folder) = (self.seed_of(cell, repetition), |name: &str| self.value(name));
        let read = self.options.of(cell.number);
        let read =
            read.ok_or_else(|| CommandError::Usage("its options were not read".to_owned()))?;
        let list = self.address_list(cell, place)?;
        let targets = list.as_deref().map_or(CellUrls::Given(&place.urls), CellUrls::Listed);
        let (runnable, extras) = run_of_cell(read, targets, seed, &folder, fleet)?;
        let result = if runnable.searches() {
            find::run_search(runnable, self.stop, |_| {})
        } else {
            sixmark_run::run_plan(runnable, &extras, self.stop, |_| {})
        };
        let result = match result {
            // Agents agree on a time to begin: a load can be stopped before that.
            Err(CommandError::Interrupted(_)) => return Ok(None),
            Ok(result) if result.ended == Ended::Interrupted => return Ok(None),
            result => result?,
        };
        // A search that did not come to its end is no measurement of the cell, which can be made
        // again.
        if let Some(why) = result.find_max.as_ref().and_then(FindMax::describe_stop) {
            return Err(CommandError::Measure(why));
        }
        let list = list.map(|list| list.display().to_string());
        let mut words = words(self.study, cell, place, list.as_deref(), folder);
        if cell.setting("seed").is_none() {
            words.insert(0, format!("--seed={seed}"));
        }
        let mut measured = self.empty(cell, repetition, Client::Sixmark, words);
        measured.ended = result.ended;
        measured.agents = result.fleet.as_ref().map(|fleet| fleet.agents.len() as u32);
        measured.families = figures_of_families(&result);
        measured.accounts = accounts_of_families(&result);
        used::add_server_elsewhere(&mut measured, &result);
        measured.given = given(&result.families);
        measured.warnings = doubts::of_run(&result);
        let (result, output, other_outputs) = (Some(result), None, Vec::new());
        Ok(Some(KeptCell { cell: measured, result, output, other_outputs }))
    }

    /// Writes the address list file of a cell that reads one.
    fn address_list(
        &self,
        cell: &PlannedCell<'_>,
        place: &CellTarget,
    ) -> Result<Option<PathBuf>, CommandError> {
        let Some(list) = cell.address_list() else { return Ok(None) };
        let path = self.work.file("address-list");
        std::fs::write(&path, list.text(&place.urls)).map_err(|error| {
            CommandError::Measure(format!("can't write the address list file: {error}"))
        })?;
        Ok(Some(path))
    }

    fn other(
        &self,
        client: Client,
        cell: &PlannedCell<'_>,
        repetition: u32,
        (place, hosts): (&CellTarget, &[&Host]),
    ) -> Result<Option<KeptCell>, CommandError> {
        let (url, family) = place.single().map_err(CommandError::Usage)?;
        let mut job =
            Job::new(client, &cell.settings(), &url, family, |key| self.study.is_text(key))
                .map_err(|(_, why)| CommandError::Usage(why))?;
        // In the study's folder, because the one for temporary files is often in memory.
        let saved = job.save.then(|| ReceivedFile(self.folder.join("received")));
        job.save_to = saved.as_ref().map(|file| file.0.display().to_string());
        let version = self.programs.get(client.name()).map_or("", String::as_str);
        let stuck = &self.stuck;
        let load = ClientLoad { client, job: &job, version, work: self.work, stuck };
        let Some(done) = load.run(hosts, self.browsers, self.stop)? else { return Ok(None) };
        let mut measured = self.empty(cell, repetition, client, done.command);
        measured.warnings = doubts::of_answer(client, &done.answer);
        let figures = Some(done.answer.figures);
        measured.families = match family {
            Family::Ipv6 => Families { ipv6: figures, ipv4: None },
            Family::Ipv4 => Families { ipv6: None, ipv4: figures },
        };
        let (output, other_outputs) = (Some(done.output), done.other_outputs);
        Ok(Some(KeptCell { cell: measured, result: None, output, other_outputs }))
    }

    fn empty(
        &self,
        cell: &PlannedCell<'_>,
        repetition: u32,
        client: Client,
        command: Vec<String>,
    ) -> CellResult {
        CellResult {
            id: id(cell.number, repetition),
            cell: cell.number,
            repetition,
            levels: cell.at(),
            client: client.name().to_owned(),
            agents: None,
            command: command.iter().map(|word| redact(word)).collect(),
            started: String::new(),
            took_s: 0.0,
            ended: Ended::Complete,
            families: Families::default(),
            given: Families::default(),
            accounts: Families::default(),
            traffic: None,
            links: Vec::new(),
            instruments: None,
            imported: None,
            warnings: Vec::new(),
        }
    }

    /// Returns the value of a name in braces in an option.
    fn value(&self, name: &str) -> Option<String> {
        match name {
            "www" => Some(self.work.www().display().to_string()),
            "here" => Some(self.here.display().to_string()),
            _ => None,
        }
    }

    /// Returns the cell's own seed, derived from that of the study: 53 bits, which every JSON
    /// parser represents exactly.
    fn seed_of(&self, cell: &PlannedCell<'_>, repetition: u32) -> u64 {
        let stream = u64::from(cell.number) << 32 | u64::from(repetition);
        Random::new(self.seed, stream).bits() >> 11
    }
}

/// Returns a summary of the responses of each family.
fn given(of: &Families) -> Families<GivenResult> {
    let [ipv6, ipv4] = Family::BOTH.map(|family| of.of(family).map(GivenResult::of));
    Families { ipv6, ipv4 }
}

/// The file that a client writes responses to. It is removed when this is dropped.
struct ReceivedFile(PathBuf);

impl Drop for ReceivedFile {
    fn drop(&mut self) {
        // It does not exist if the client did not start.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What surrounds a cell while it is measured.
#[derive(Default)]
struct Around<'a> {
    /// The counters of the lab's links before the cell.
    links: Vec<Link>,
    traffic: Option<Background<'a>>,
    capture: Option<Capture>,
    beside: Option<Beside>,
}

impl Around<'_> {
    /// Ends the instruments, the capture and the traffic and adds their results to the cell.
    fn end(
        self,
        stage: &Stage<'_>,
        place: &CellTarget,
        load: LoadTime,
        cell: &mut CellResult,
    ) -> Result<(), CommandError> {
        if let Some(beside) = self.beside {
            beside.end(load, cell)?;
        }
        if let Some(capture) = self.capture {
            captured::end_capture(capture, &path(place), cell)?;
        }
        cell.traffic = self.traffic.map(Background::end);
        let links = stage.up().map_or(Ok(Vec::new()), |up| up.links())?;
        cell.warnings.extend(doubts::of_links(&self.links, &links));
        let is_impaired =
            |link: &Link| link.a_to_b.mechanism.is_some() || link.b_to_a.mechanism.is_some();
        cell.links = links.into_iter().filter(is_impaired).collect();
        Ok(())
    }
}

/// Returns the name of the background traffic of a cell.
fn mix<'a>(cell: &PlannedCell<'a>) -> Option<&'a str> {
    cell.text("traffic").filter(|mix| !mix.is_empty())
}

/// Returns the requested path with its query.
fn path(place: &CellTarget) -> String {
    let url = place.urls.first().and_then(|url| url.parse::<Url>().ok());
    url.map_or(String::new(), |url| url.path)
}
