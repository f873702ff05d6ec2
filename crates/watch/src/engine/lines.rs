//! The files with a line for each connection or each exchange.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::lines::{LineForm, WatchLines};
use sixmark_wire::flow::{ConnectionReport, HttpExchange};

use super::WatchSettings;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;

/// Lines are buffered up to this number of bytes, or until [`WatchFiles::flush`].
const FULL: usize = 1 << 16;

/// Both files, if they were requested.
#[derive(Debug)]
pub(super) struct WatchFiles {
    connections: Option<LinesWriter>,
    exchanges: Option<LinesWriter>,
}

#[derive(Debug)]
struct LinesWriter {
    path: PathBuf,
    /// The open file; none after an error, from when on nothing is written.
    file: Option<File>,
    lines: WatchLines,
    /// The error, until it has been reported.
    lost: Option<String>,
}

impl WatchFiles {
    pub(super) fn create(settings: &WatchSettings) -> Result<WatchFiles, CommandError> {
        let mut connections =
            settings.connections.as_deref().map(LinesWriter::create).transpose()?;
        let mut exchanges = settings.exchanges.as_deref().map(LinesWriter::create).transpose()?;
        connections.iter_mut().for_each(|to| to.lines.connections());
        exchanges.iter_mut().for_each(|to| to.lines.exchanges());
        Ok(WatchFiles { connections, exchanges })
    }

    pub(super) fn connection(&mut self, of: &ConnectionReport) {
        if let Some(to) = &mut self.connections {
            to.lines.connection(of);
            to.flush_if_full();
        }
    }

    pub(super) fn exchange(&mut self, of: &HttpExchange) {
        if let Some(to) = &mut self.exchanges {
            to.lines.exchange(of);
            to.flush_if_full();
        }
    }

    /// Writes the buffered lines, so that they survive the process.
    pub(super) fn flush(&mut self) {
        self.both().for_each(|to| to.flush());
    }

    /// Returns why files can no longer be written, each reason once.
    pub(super) fn lost(&mut self) -> Vec<String> {
        self.both().filter_map(|to| to.lost.take()).collect()
    }

    fn both(&mut self) -> impl Iterator<Item = &mut LinesWriter> {
        self.connections.iter_mut().chain(&mut self.exchanges)
    }
}

impl LinesWriter {
    fn create(path: &Path) -> Result<LinesWriter, CommandError> {
        let form = form(path)?;
        let cannot =
            |error| CommandError::Usage(format!("can't write '{}': {error}", path.display()));
        let file = output::create(path).map_err(cannot)?;
        let (path, file) = (path.to_owned(), Some(file));
        Ok(LinesWriter { path, file, lines: WatchLines::new(form), lost: None })
    }

    fn flush_if_full(&mut self) {
        if self.lines.collected() >= FULL {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let collected = self.lines.take();
        if collected.is_empty() {
            return;
        }
        let written = self.file.as_mut().map(|file| file.write_all(collected.as_bytes()));
        if let Some(Err(error)) = written {
            self.file = None;
            self.lost = Some(unable(&self.path, &error));
        }
    }
}

/// Returns the format of the lines, by the extension of the file's name.
fn form(path: &Path) -> Result<LineForm, CommandError> {
    let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
    match end.as_deref() {
        Some("csv") => Ok(LineForm::Csv),
        Some("jsonl" | "ndjson") => Ok(LineForm::Json),
        _ => Err(CommandError::Usage(format!(
            "'{}' has an unknown format; use a name that ends in .csv or .jsonl",
            path.display()
        ))),
    }
}

fn unable(path: &Path, error: &io::Error) -> String {
    format!("can't write '{}': {error}", path.display())
}
