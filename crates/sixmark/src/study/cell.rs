//! One cell, measured once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};

use sixmark_core::family::Family;
use sixmark_core::pace::Random;
use sixmark_core::plan::study::Study;
use sixmark_core::plan::study::cells::Cell;
use sixmark_core::plan::study::words::{Place, words};
use sixmark_core::result::{Ended, Families};
use sixmark_core::study::client::{Client, Job};
use sixmark_core::study::figures::figures;
use sixmark_core::study::result::CellResult;

use super::Commands;
use super::doubts;
use super::external;
use super::folder::Kept;
use super::stage::Stage;
use super::work::Work;
use crate::browser::Browsers;
use crate::{Error, find, run};

/// What cells are measured with.
pub(super) struct Bench<'a> {
    pub(super) study: &'a Study,
    pub(super) work: &'a Work,
    pub(super) commands: &'a Commands<'a>,
    pub(super) programs: &'a std::collections::BTreeMap<String, String>,
    /// The folder of the study's file.
    pub(super) here: &'a std::path::Path,
    pub(super) seed: u64,
    /// Those that were started, which cells share.
    pub(super) browsers: &'a Browsers,
    pub(super) stop: &'a Arc<AtomicBool>,
}

/// A cell's name within its study.
pub(super) fn id(cell: u32, repetition: u32) -> String {
    format!("c{cell:03}-r{repetition}")
}

impl Bench<'_> {
    /// Measures a cell. None where the study was stopped before the cell was done.
    pub(super) fn measure(
        &self,
        cell: &Cell<'_>,
        repetition: u32,
        stage: &Stage<'_>,
    ) -> Result<Option<Kept>, Error> {
        let place = Place::new(self.study, cell, |name| stage.urls(name));
        let place = place.map_err(Error::Usage)?;
        let (started, began) = (SystemTime::now(), Instant::now());
        let here = || match cell.client() {
            Client::Sixmark => self.own(cell, repetition, &place),
            client => self.other(client, cell, repetition, &place),
        };
        let kept = match stage.host(cell)? {
            Some(host) => host.within(here)?,
            None => here()?,
        };
        Ok(kept.map(|mut kept| {
            kept.cell.started = humantime::format_rfc3339_micros(started).to_string();
            kept.cell.took_s = began.elapsed().as_secs_f64();
            kept
        }))
    }

    fn own(&self, cell: &Cell<'_>, repetition: u32, place: &Place) -> Result<Option<Kept>, Error> {
        let mut words = words(self.study, cell, place, |name| self.value(name));
        if cell.setting("seed").is_none() {
            words.insert(0, format!("--seed={}", self.seed_of(cell, repetition)));
        }
        let ready = (self.commands.ready)(&words)?;
        let result = match ready.searches() {
            true => find::run(ready, self.stop, |_, _| {})?,
            false => run::run(ready, self.stop, |_| {})?,
        };
        if result.ended == Ended::Interrupted {
            return Ok(None);
        }
        let mut measured = self.empty(cell, repetition, Client::Sixmark, words);
        measured.ended = result.ended;
        measured.families = figures(&result);
        measured.warnings = doubts::of_run(&result);
        Ok(Some(Kept { cell: measured, result: Some(result), output: None }))
    }

    fn other(
        &self,
        client: Client,
        cell: &Cell<'_>,
        repetition: u32,
        place: &Place,
    ) -> Result<Option<Kept>, Error> {
        let (url, family) = place.single().map_err(Error::Usage)?;
        let job = Job::new(client, &cell.settings(), &url, family, |key| self.study.is_text(key))
            .map_err(|(_, why)| Error::Usage(why))?;
        let version = self.programs.get(client.name()).map_or("", String::as_str);
        let Some(done) = external::run(client, &job, version, self.work, self.browsers, self.stop)?
        else {
            return Ok(None);
        };
        let mut measured = self.empty(cell, repetition, client, done.command);
        measured.warnings = doubts::of_answer(client, &done.answer);
        let figures = Some(done.answer.figures);
        measured.families = match family {
            Family::Ipv6 => Families { ipv6: figures, ipv4: None },
            Family::Ipv4 => Families { ipv6: None, ipv4: figures },
        };
        Ok(Some(Kept { cell: measured, result: None, output: Some(done.output) }))
    }

    fn empty(
        &self,
        cell: &Cell<'_>,
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
            command,
            started: String::new(),
            took_s: 0.0,
            ended: Ended::Complete,
            families: Families { ipv6: None, ipv4: None },
            warnings: Vec::new(),
        }
    }

    /// What stands in braces in an option's value.
    fn value(&self, name: &str) -> Option<String> {
        match name {
            "www" => Some(self.work.www().display().to_string()),
            "here" => Some(self.here.display().to_string()),
            _ => None,
        }
    }

    /// The cell's own seed, from that of the study: 53 bits, which every reader of JSON keeps.
    fn seed_of(&self, cell: &Cell<'_>, repetition: u32) -> u64 {
        let stream = u64::from(cell.number) << 32 | u64::from(repetition);
        Random::new(self.seed, stream).bits() >> 11
    }
}
