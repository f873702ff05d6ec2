//! The course of a study from its first cell to its last.

use super::options::Options;
use super::start::now;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::engine::cell_warnings as doubts;
use crate::instruments::keep_last_over_time;
use sixmark_analysis::imported_levels::with_imported_levels;
use sixmark_analysis::outputs::{claims_at_looks, outputs};
use sixmark_design::levels::label_levels;
use sixmark_design::spec::PlannedCell;
use sixmark_design::spec::Study;
use sixmark_design::spec::cells::{cells, schedule};
use sixmark_design::study_result::{CellResult, StudyComparison, StudyResult};
use sixmark_document::provenance::Ended;
use sixmark_vitals::host::CpuTimes;

use super::cell::{CellEnvironment, id};
use super::check::OptionsOfCells;
use super::files;
use super::folder::{Folder, KeptCell};
use super::hooks::Hook;
use super::machine_noise::MachineNoise;
use super::program::versions;
use super::reach::check_reach;
use super::source::Source;
use super::stage::{Stage, temporary};
use super::start::{begin_study, factor_results, resume};
use super::work::Work;
use sixmark_clients::browser::Browsers;
use sixmark_sys::command_error::CommandError;

/// The limit on open files that services inherit.
const OPEN_FILES: u64 = 1 << 16;

/// The time that writing the document may take after each cell. If it takes longer, it may take at
/// most one part in `SHARE` of the time.
const LONG: Duration = Duration::from_millis(200);
const SHARE: u32 = 20;
/// How often a cell is measured again because its client did not end in its time.
const MORE_TRIES: usize = 3;

/// An event of a running study.
pub enum StudyEvent<'a> {
    /// The study begins, or is resumed with some cells done.
    Begins {
        /// The folder in which it is kept.
        folder: &'a Path,
        /// The number of cells done before.
        done: u32,
        /// The number of cells in all.
        all: u32,
    },
    /// A cell begins.
    Cell {
        /// Its number among all, from 1.
        number: u32,
        /// The number of cells in all.
        all: u32,
        /// Its levels, for people.
        levels: &'a str,
        /// The estimated remaining time in seconds.
        left_s: Option<f64>,
    },
    /// Claims were tested, or it is known that some of them can't be decided in the time left.
    Claims {
        /// The state of the claims, in a line.
        said: &'a str,
    },
    /// A cell has been kept.
    Kept {
        /// Its number among all, from 1.
        number: u32,
        /// The number of cells in all.
        all: u32,
        /// The cell.
        cell: &'a CellResult,
        /// The study's main comparison so far.
        comparison: Option<&'a StudyComparison>,
    },
}

/// A study that ended, by itself or because of a signal.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The document.
    pub document: StudyResult,
    /// The folder in which it is kept.
    pub folder: PathBuf,
    /// Whether anything was measured: false if the study was already complete.
    pub is_new: bool,
}

/// Carries out a study, or the rest of it. Setting `stop` ends it once what is running has been
/// stopped; what was measured by then is kept. `of_cells` is the result of
/// [`read_options`](super::read_options).
///
/// Call this in the main thread, because services end with the thread that started them.
///
/// # Errors
/// Returns an error if something failed. The cells measured by then are kept.
pub fn run_cells(
    source: &Source,
    study: &Study,
    options: &Options,
    of_cells: &OptionsOfCells,
    stop: &Arc<AtomicBool>,
    tell: &mut dyn FnMut(&StudyEvent<'_>),
) -> Result<Finished, CommandError> {
    let programs = versions(study)?;
    let planned = cells(study);
    if options.resume.is_none() {
        check_elsewhere(study, &planned)?;
    }
    let (folder, mut document, complete) = match &options.resume {
        Some(path) => resume(path, source, study, options, &programs)?,
        None => {
            let (folder, document) = begin_study(source, study, options, programs)?;
            (folder, document, None)
        }
    };
    let cells = planned;
    let left = cells_left(study, &cells, &document)?;
    if options.resume.is_some() && !left.is_empty() {
        check_elsewhere(study, &cells)?;
    }
    let (done, all) = (measured(&document), document.cells_planned);
    tell(&StudyEvent::Begins { folder: folder.path(), done, all });
    // A complete study goes on only if it is given more time.
    let goes_on =
        options.until_decided.is_some() || (document.until.is_some() && complete.is_none());
    if let Some(document) = complete.filter(|_| left.is_empty() && !goes_on) {
        let folder = folder.path().to_owned();
        return Ok(Finished { document, folder, is_new: false });
    }
    folder.write_document(&document)?;
    let carried = if left.is_empty() && !goes_on {
        Ok(Ended::Complete)
    } else {
        let mut run = StudyRun::new(study, &cells, &folder, &mut document);
        run.carry_out(&left, &source.here(), options, of_cells, stop, tell)
    };
    finish(study, &mut document, carried.as_ref().ok().copied());
    folder.write_document(&document)?;
    let path = folder.path().to_owned();
    let kept = |error: CommandError| keep_hint(error, &path, done < measured(&document));
    carried.map_err(kept)?;
    Ok(Finished { document: document.clone(), folder: path.clone(), is_new: true })
}

/// Checks that servers that the study does not start answer, before anything is kept.
fn check_elsewhere(study: &Study, cells: &[PlannedCell<'_>]) -> Result<(), CommandError> {
    if study.is_elsewhere() { check_reach(study, cells) } else { Ok(()) }
}

/// Adds a hint on how to resume to an error, if something was kept.
fn keep_hint(error: CommandError, folder: &Path, kept: bool) -> CommandError {
    let hint = format!("; measured cells are kept, continue with --resume {}", folder.display());
    match error {
        CommandError::Measure(line) if kept => CommandError::Measure(line + &hint),
        other => other,
    }
}

/// Returns the cells that are still to be measured, in their order.
fn cells_left(
    study: &Study,
    cells: &[PlannedCell<'_>],
    document: &StudyResult,
) -> Result<Vec<(usize, u32)>, CommandError> {
    let order = schedule(study, cells.len(), document.seed);
    // Cells are numbered from 1 without gaps.
    let known = |kept: &&CellResult| {
        let cell = (kept.cell as usize).checked_sub(1).and_then(|at| cells.get(at));
        cell.is_none_or(|cell| cell.at() != kept.levels)
            || (kept.repetition > study.repetitions.get() && document.until.is_none())
    };
    if let Some(stranger) = document.measured().find(known) {
        return Err(CommandError::Usage(format!(
            "the study no longer has cell {}: its file has changed too much to resume",
            stranger.id
        )));
    }
    let done: BTreeSet<(usize, u32)> =
        document.measured().map(|kept| (kept.cell as usize - 1, kept.repetition)).collect();
    Ok(order.into_iter().filter(|cell| !done.contains(cell)).collect())
}

/// Adds the cell in which it occurred to an error.
fn error_of_cell(id: &str, error: CommandError) -> CommandError {
    error.map(|line| format!("cell {id}: {line}"))
}

/// A study in progress.
pub(super) struct StudyRun<'a> {
    pub(super) study: &'a Study,
    pub(super) cells: &'a [PlannedCell<'a>],
    folder: &'a Folder,
    pub(super) document: &'a mut StudyResult,
    /// The time from which the document may be written again; `None` means at once.
    wait_until: Option<Instant>,
    /// The time at which the first cell began, and the time that the cells themselves took, in
    /// seconds.
    pub(super) began: Instant,
    took_s: f64,
    /// What this machine's processors had done when the first cell began, if that can be read.
    pub(super) machine_before: Option<CpuTimes>,
}

impl<'a> StudyRun<'a> {
    fn new(
        study: &'a Study,
        cells: &'a [PlannedCell<'a>],
        folder: &'a Folder,
        document: &'a mut StudyResult,
    ) -> StudyRun<'a> {
        let began = Instant::now();
        let machine_before = MachineNoise::read_processors();
        let (wait_until, took_s) = (None, 0.0);
        StudyRun { study, cells, folder, document, wait_until, began, took_s, machine_before }
    }

    fn carry_out(
        &mut self,
        left: &[(usize, u32)],
        here: &Path,
        options: &Options,
        of_cells: &OptionsOfCells,
        stop: &Arc<AtomicBool>,
        tell: &mut dyn FnMut(&StudyEvent<'_>),
    ) -> Result<Ended, CommandError> {
        let work = Work::new(self.folder, &temporary(self.study, options.rights))?;
        files::make(self.study, self.cells, &work)?;
        // Services inherit the limit, since thousands of connections may arrive. If it can't be
        // raised, that shows in what fails.
        let _ = sixmark_sys::limit::raise_open_files(OPEN_FILES);
        let www = work.www();
        if !self.study.instruments.is_empty() {
            self.folder.make_instruments()?;
        }
        let Some(mut stage) = Stage::open(self.study, self.folder, &work, options, stop)? else {
            return Ok(Ended::Interrupted);
        };
        let hook = Hook { study: &self.study.name, cell: None, www: &www, stop: Some(stop) };
        let programs = self.document.programs.clone();
        let browsers = Browsers::default();
        let cells = CellEnvironment {
            study: self.study,
            work: &work,
            options: of_cells,
            programs: &programs,
            here,
            seed: self.document.seed,
            browsers: &browsers,
            folder: self.folder.path(),
            stop,
            stuck: AtomicBool::new(false),
        };
        let before = hook.run("before_study", &self.study.hooks.before_study);
        let ended = before.and_then(|()| self.measure_planned(left, &cells, &mut stage, tell));
        let ended = ended.and_then(|ended| match ended {
            Ended::Complete => self.decide_claims(&cells, &mut stage, tell),
            other => Ok(other),
        });
        // The hook after the study undoes what the one before did, however the study ended.
        let after = Hook { stop: None, ..hook };
        let undone = after.run("after_study", &self.study.hooks.after_study);
        stage.close()?;
        ended.and_then(|ended| undone.map(|()| ended))
    }

    /// Measures the remaining cells one after the other.
    pub(super) fn all(
        &mut self,
        left: &[(usize, u32)],
        cells: &CellEnvironment<'_>,
        stage: &mut Stage<'_>,
        tell: &mut dyn FnMut(&StudyEvent<'_>),
    ) -> Result<Ended, CommandError> {
        for &(cell, repetition) in left {
            let cell = &self.cells[cell];
            self.tell_of(cell, tell);
            let kept = self.until_it_ends(cells, stage, cell, repetition)?;
            if !kept || cells.stop.load(Ordering::Relaxed) {
                return Ok(self.ended());
            }
            self.kept(tell);
        }
        Ok(Ended::Complete)
    }

    /// Measures a cell, again if its client does not end in its time. Such attempts are no result,
    /// but the cell has a warning that counts them. Returns false if the study was stopped.
    fn until_it_ends(
        &mut self,
        cells: &CellEnvironment<'_>,
        stage: &mut Stage<'_>,
        cell: &PlannedCell<'_>,
        repetition: u32,
    ) -> Result<bool, CommandError> {
        let name = id(cell.number, repetition);
        let mut stuck = Vec::new();
        loop {
            let of_cell = |error| error_of_cell(&name, error);
            if !stage.prepare(cell, cells.browsers).map_err(of_cell)? {
                return Ok(false);
            }
            match self.one(cells, stage, cell, repetition, &stuck) {
                Err(error)
                    if cells.stuck.swap(false, Ordering::Relaxed) && stuck.len() < MORE_TRIES =>
                {
                    stuck.push(error.to_string());
                }
                done => return done,
            }
        }
    }

    /// Returns how the study ended: interrupted, unless the last cell is done.
    fn ended(&self) -> Ended {
        if measured(self.document) == self.document.cells_planned {
            Ended::Complete
        } else {
            Ended::Interrupted
        }
    }

    /// Measures and keeps a cell. `stuck` are the errors of the attempts before. Returns false if
    /// the study was stopped before that.
    fn one(
        &mut self,
        cells: &CellEnvironment<'_>,
        stage: &Stage<'_>,
        cell: &PlannedCell<'_>,
        repetition: u32,
        stuck: &[String],
    ) -> Result<bool, CommandError> {
        let id = id(cell.number, repetition);
        let www = cells.work.www();
        let (study, of_cell) = (&self.study.name, Some((cell, id.as_str())));
        let hook = Hook { study, cell: of_cell, www: &www, stop: Some(cells.stop) };
        let before = hook.run("before_cell", &self.study.hooks.before_cell);
        let measured = before.and_then(|()| {
            if cells.stop.load(Ordering::Relaxed) {
                Ok(None)
            } else {
                cells.measure(cell, repetition, stage).map_err(|error| error_of_cell(&id, error))
            }
        });
        // The result is kept before anything else can fail.
        let kept = match measured {
            Ok(Some(mut kept)) => {
                kept.cell.warnings.extend(doubts::of_stuck(stuck));
                self.keep(&kept).map(|()| true)
            }
            Ok(None) => Ok(false),
            Err(error) => Err(error),
        };
        let after = Hook { stop: None, ..hook };
        let undone = after.run("after_cell", &self.study.hooks.after_cell);
        kept.and_then(|kept| undone.map(|()| kept))
    }

    fn keep(&mut self, kept: &KeptCell) -> Result<(), CommandError> {
        self.folder.keep(kept)?;
        self.took_s += kept.cell.took_s;
        self.document.cells.push(kept.cell.clone());
        self.write()
    }

    /// Writes the document. If that takes long because there are thousands of cells, it is not
    /// written after each cell: a study is resumed from the files of its cells.
    fn write(&mut self) -> Result<(), CommandError> {
        let began = Instant::now();
        if self.wait_until.is_some_and(|time| began < time) {
            return Ok(());
        }
        finish(self.study, self.document, None);
        self.folder.write_document(self.document)?;
        let took = began.elapsed();
        self.wait_until = (took > LONG).then(|| began + took * SHARE);
        Ok(())
    }

    fn tell_of(&self, cell: &PlannedCell<'_>, tell: &mut dyn FnMut(&StudyEvent<'_>)) {
        let at = cell.at();
        let number = measured(self.document) + 1;
        tell(&StudyEvent::Cell {
            number,
            all: self.document.cells_planned,
            levels: &label_levels(&at),
            left_s: self.left_s(),
        });
    }

    /// Estimates the remaining time. A cell is expected to take as long as it did before, or the
    /// mean of the others if it has not been measured yet.
    fn left_s(&self) -> Option<f64> {
        let done: Vec<&CellResult> = self.document.measured().collect();
        // It is not known how many rounds follow the planned repetitions.
        let in_rounds = self.document.until.as_ref().is_some_and(|until| !until.looks.is_empty());
        if done.is_empty() || in_rounds {
            return None;
        }
        let mean = done.iter().map(|cell| cell.took_s).sum::<f64>() / done.len() as f64;
        let mut took: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
        for cell in &done {
            let entry = took.entry(cell.cell).or_default();
            *entry = (entry.0 + cell.took_s, entry.1 + 1);
        }
        let repetitions = self.study.repetitions.get();
        let left = self.cells.iter().map(|cell| match took.get(&cell.number) {
            Some(&(sum, n)) => sum / f64::from(n) * f64::from(repetitions.saturating_sub(n)),
            None => mean * f64::from(repetitions),
        });
        Some(left.sum::<f64>() * self.overhead())
    }

    /// Returns how many times as long a study takes as its cells: hooks and writing files take time
    /// too.
    pub(super) fn overhead(&self) -> f64 {
        if self.took_s > 0.0 {
            (self.began.elapsed().as_secs_f64() / self.took_s).max(1.0)
        } else {
            1.0
        }
    }

    fn kept(&self, tell: &mut dyn FnMut(&StudyEvent<'_>)) {
        let Some(cell) = self.document.cells.last() else { return };
        tell(&StudyEvent::Kept {
            number: measured(self.document),
            all: self.document.cells_planned,
            cell,
            comparison: self.document.comparisons.first(),
        });
    }
}

/// Returns the number of cells that the study has measured.
fn measured(document: &StudyResult) -> u32 {
    document.measured().count() as u32
}

/// Updates the document with the results of the cells.
pub(super) fn finish(study: &Study, document: &mut StudyResult, ended: Option<Ended>) {
    let study = &*with_imported_levels(study, &document.cells);
    document.factors = factor_results(study);
    let (tables, figures, comparisons) = outputs(study, &document.cells);
    keep_last_over_time(&mut document.cells);
    document.tables = tables;
    document.figures = figures;
    document.comparisons = comparisons;
    document.claims = claims_at_looks(study, &document.cells, document.until.as_ref());
    doubts::put_imported(&mut document.warnings, &document.cells);
    document.ended = ended;
    document.updated = now();
}
