//! A study from its first cell to its last.

use super::options::Options;
use super::start::now;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_model::provenance::Ended;
use sixmark_model::study::outputs::{findings, outputs};
use sixmark_model::study::result::{CellResult, StudyComparison, StudyResult};
use sixmark_model::study::spec::PlannedCell;
use sixmark_model::study::spec::Study;
use sixmark_model::study::spec::cells::{cells, schedule};
use sixmark_sys::enclosure::Rights;

use super::cell::{Bench, id};
use super::check::OptionsOfCells;
use super::files;
use super::folder::{Folder, KeptCell};
use super::hooks::Hook;
use super::program::versions;
use super::source::Source;
use super::stage::{Stage, temporary};
use super::start::{begin_study, resume};
use super::work::Work;
use crate::browser::Browsers;
use sixmark_machine::CommandError;

/// Open files that services are let have.
const OPEN_FILES: u64 = 1 << 16;

/// Writing the document may take so long after each cell, else at most this part of the time.
const LONG: Duration = Duration::from_millis(200);
const SHARE: u32 = 20;

/// What there is to tell while a study runs.
pub enum StudyEvent<'a> {
    /// It begins, or goes on with some cells done: its folder, how many there are, and how many in
    /// all.
    Begins {
        /// Where it is kept.
        folder: &'a Path,
        /// Cells done before.
        done: u32,
        /// Cells in all.
        all: u32,
    },
    /// A cell begins.
    Cell {
        /// Its number among all, from 1.
        number: u32,
        /// Cells in all.
        all: u32,
        /// Its levels, for people.
        levels: &'a str,
        /// Seconds that are probably left.
        left_s: Option<f64>,
    },
    /// A cell has been kept.
    Kept {
        /// Its number among all, from 1.
        number: u32,
        /// Cells in all.
        all: u32,
        /// The cell.
        cell: &'a CellResult,
        /// The study's main comparison as it is now.
        comparison: Option<&'a StudyComparison>,
    },
}

/// A study that ended, by itself or by a signal.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The document.
    pub document: StudyResult,
    /// Where it is kept.
    pub folder: PathBuf,
    /// False where the study was complete before, and nothing was done.
    pub is_new: bool,
}

/// Carries out a study, or what is left of it. `stop` ends it after what is running was stopped;
/// what was measured by then is kept. `of_cells` is what [`read_options`](super::read_options) gave.
///
/// Call this in the main thread: services end when the thread does that started them.
///
/// # Errors
/// What could not be done. The cells measured by then are kept.
pub fn run_cells(
    source: &Source,
    study: &Study,
    options: &Options,
    of_cells: &OptionsOfCells,
    stop: &Arc<AtomicBool>,
    tell: &mut dyn FnMut(&StudyEvent<'_>),
) -> Result<Finished, CommandError> {
    let programs = versions(study)?;
    let (folder, mut document, complete) = match &options.resume {
        Some(path) => resume(path, source, study, options.force, &programs)?,
        None => {
            let (folder, document) = begin_study(source, study, options, programs)?;
            (folder, document, None)
        }
    };
    let cells = cells(study);
    let left = cells_left(study, &cells, &document)?;
    let (done, all) = (document.cells.len() as u32, document.cells_planned);
    tell(&StudyEvent::Begins { folder: folder.path(), done, all });
    if let Some(document) = complete.filter(|_| left.is_empty()) {
        let folder = folder.path().to_owned();
        return Ok(Finished { document, folder, is_new: false });
    }
    folder.write_document(&document)?;
    let carried = match left.is_empty() {
        true => Ok(Ended::Complete),
        false => {
            let mut course = StudyCourse::new(study, &cells, &folder, &mut document);
            course.carry_out(&left, &source.here(), options.rights, of_cells, stop, tell)
        }
    };
    finish(study, &mut document, carried.as_ref().ok().copied());
    folder.write_document(&document)?;
    let path = folder.path().to_owned();
    let kept = |error: CommandError| keep_hint(error, &path, done < document.cells.len() as u32);
    carried.map_err(kept)?;
    Ok(Finished { document: document.clone(), folder: path.clone(), is_new: true })
}

/// An error says how to go on, where something was kept.
fn keep_hint(error: CommandError, folder: &Path, kept: bool) -> CommandError {
    let hint = format!("; what was measured is kept, go on with --resume {}", folder.display());
    match error {
        CommandError::Measure(line) if kept => CommandError::Measure(line + &hint),
        other => other,
    }
}

/// What is still to be measured, in its order.
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
            || kept.repetition > study.repetitions.get()
    };
    if let Some(stranger) = document.cells.iter().find(known) {
        return Err(CommandError::Usage(format!(
            "cell {} is none of the study's as it is now: its file has changed too much to go on",
            stranger.id
        )));
    }
    let done: BTreeSet<(usize, u32)> =
        document.cells.iter().map(|kept| (kept.cell as usize - 1, kept.repetition)).collect();
    Ok(order.into_iter().filter(|cell| !done.contains(cell)).collect())
}

/// An error with the cell that it came in.
fn error_of_cell(id: &str, error: CommandError) -> CommandError {
    error.map(|line| format!("cell {id}: {line}"))
}

/// A study on its way.
struct StudyCourse<'a> {
    study: &'a Study,
    cells: &'a [PlannedCell<'a>],
    folder: &'a Folder,
    document: &'a mut StudyResult,
    /// When the document may be written again; at once where none.
    wait_until: Option<Instant>,
    /// Since when cells have been measured, and what these themselves took, in seconds.
    began: Instant,
    took_s: f64,
}

impl<'a> StudyCourse<'a> {
    fn new(
        study: &'a Study,
        cells: &'a [PlannedCell<'a>],
        folder: &'a Folder,
        document: &'a mut StudyResult,
    ) -> StudyCourse<'a> {
        let began = Instant::now();
        StudyCourse { study, cells, folder, document, wait_until: None, began, took_s: 0.0 }
    }

    fn carry_out(
        &mut self,
        left: &[(usize, u32)],
        here: &Path,
        rights: Option<Rights>,
        of_cells: &OptionsOfCells,
        stop: &Arc<AtomicBool>,
        tell: &mut dyn FnMut(&StudyEvent<'_>),
    ) -> Result<Ended, CommandError> {
        let work = Work::new(self.folder, &temporary(rights))?;
        files::make(self.study, self.cells, &work)?;
        // Services inherit the limit: thousands of connections may come. One that stays lower shows in
        // what fails.
        let _ = sixmark_sys::limit::raise_open_files(OPEN_FILES);
        let www = work.www();
        let Some(mut stage) = Stage::open(self.study, self.folder, &work, rights, stop)? else {
            return Ok(Ended::Interrupted);
        };
        let hook = Hook { study: &self.study.name, cell: None, www: &www, stop: Some(stop) };
        let programs = self.document.programs.clone();
        let browsers = Browsers::default();
        let bench = Bench {
            study: self.study,
            work: &work,
            options: of_cells,
            programs: &programs,
            here,
            seed: self.document.seed,
            browsers: &browsers,
            stop,
        };
        let before = hook.run("before_study", &self.study.hooks.before_study);
        let ended = before.and_then(|()| self.all(left, &bench, &mut stage, tell));
        // What was made before is undone, however the study ended.
        let after = Hook { stop: None, ..hook };
        let undone = after.run("after_study", &self.study.hooks.after_study);
        stage.close()?;
        ended.and_then(|ended| undone.map(|()| ended))
    }

    /// Measures what is left, one after the other.
    fn all(
        &mut self,
        left: &[(usize, u32)],
        bench: &Bench<'_>,
        stage: &mut Stage<'_>,
        tell: &mut dyn FnMut(&StudyEvent<'_>),
    ) -> Result<Ended, CommandError> {
        for &(cell, repetition) in left {
            let cell = &self.cells[cell];
            self.tell_of(cell, tell);
            let kept = stage
                .prepare(cell, bench.browsers)
                .map_err(|error| error_of_cell(&id(cell.number, repetition), error))?
                && self.one(bench, stage, cell, repetition)?;
            if !kept || bench.stop.load(Ordering::Relaxed) {
                return Ok(self.ended());
            }
            self.kept(tell);
        }
        Ok(Ended::Complete)
    }

    /// Interrupted, unless that came with the last cell done.
    fn ended(&self) -> Ended {
        match self.document.cells.len() as u32 == self.document.cells_planned {
            true => Ended::Complete,
            false => Ended::Interrupted,
        }
    }

    /// Measures and keeps a cell. False where the study was stopped before.
    fn one(
        &mut self,
        bench: &Bench<'_>,
        stage: &Stage<'_>,
        cell: &PlannedCell<'_>,
        repetition: u32,
    ) -> Result<bool, CommandError> {
        let id = id(cell.number, repetition);
        let www = bench.work.www();
        let (study, of_cell) = (&self.study.name, Some((cell, id.as_str())));
        let hook = Hook { study, cell: of_cell, www: &www, stop: Some(bench.stop) };
        let before = hook.run("before_cell", &self.study.hooks.before_cell);
        let measured = before.and_then(|()| match bench.stop.load(Ordering::Relaxed) {
            true => Ok(None),
            false => {
                bench.measure(cell, repetition, stage).map_err(|error| error_of_cell(&id, error))
            }
        });
        // What is kept is kept before anything else can fail.
        let kept = match measured {
            Ok(Some(kept)) => self.keep(&kept).map(|()| true),
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

    /// Writes the document. One that takes long to write, having thousands of cells, is not written
    /// after each of them: their own files are what a study goes on from.
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
        let levels: Vec<_> = at.iter().map(|at| format!("{}={}", at.factor, at.level)).collect();
        let number = self.document.cells.len() as u32 + 1;
        tell(&StudyEvent::Cell {
            number,
            all: self.document.cells_planned,
            levels: &levels.join(" "),
            left_s: self.left_s(),
        });
    }

    /// How long the rest will probably take: each cell as long as it took before, one that was not
    /// measured yet as long as the mean of the others.
    fn left_s(&self) -> Option<f64> {
        let done = &self.document.cells;
        if done.is_empty() {
            return None;
        }
        let mean = done.iter().map(|cell| cell.took_s).sum::<f64>() / done.len() as f64;
        let mut took: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
        for cell in done {
            let entry = took.entry(cell.cell).or_default();
            *entry = (entry.0 + cell.took_s, entry.1 + 1);
        }
        let repetitions = self.study.repetitions.get();
        let left = self.cells.iter().map(|cell| match took.get(&cell.number) {
            Some(&(sum, n)) => sum / f64::from(n) * f64::from(repetitions.saturating_sub(n)),
            None => mean * f64::from(repetitions),
        });
        let left: f64 = left.sum();
        // Hooks and what is kept take their time too.
        let beside =
            if self.took_s > 0.0 { self.began.elapsed().as_secs_f64() / self.took_s } else { 1.0 };
        Some(left * beside.max(1.0))
    }

    fn kept(&self, tell: &mut dyn FnMut(&StudyEvent<'_>)) {
        let Some(cell) = self.document.cells.last() else { return };
        tell(&StudyEvent::Kept {
            number: self.document.cells.len() as u32,
            all: self.document.cells_planned,
            cell,
            comparison: self.document.comparisons.first(),
        });
    }
}

/// Puts in what the cells come to.
fn finish(study: &Study, document: &mut StudyResult, ended: Option<Ended>) {
    let (tables, figures, comparisons) = outputs(study, &document.cells);
    document.tables = tables;
    document.figures = figures;
    document.comparisons = comparisons;
    document.findings = findings(study, &document.cells);
    document.ended = ended;
    document.updated = now();
}
