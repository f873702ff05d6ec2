//! The files that have a line for each connection, or each exchange.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sixmark_core::flow::{Observed, Transfer};
use sixmark_core::watch::lines::Form;

use super::Settings;
use crate::{Error, output};

/// Lines are collected until they are so many bytes.
const FULL: usize = 1 << 16;

/// Both files, where they were asked for.
#[derive(Debug)]
pub(super) struct Lines {
    connections: Option<Writer>,
    exchanges: Option<Writer>,
}

#[derive(Debug)]
struct Writer {
    path: PathBuf,
    form: Form,
    file: File,
    collected: String,
    /// What went wrong first; nothing is written from then on.
    failed: Option<Error>,
}

impl Lines {
    pub(super) fn create(settings: &Settings) -> Result<Lines, Error> {
        let mut connections = settings.connections.as_deref().map(Writer::create).transpose()?;
        let mut exchanges = settings.exchanges.as_deref().map(Writer::create).transpose()?;
        connections.iter_mut().for_each(|to| to.form.connections(&mut to.collected));
        exchanges.iter_mut().for_each(|to| to.form.exchanges(&mut to.collected));
        Ok(Lines { connections, exchanges })
    }

    pub(super) fn connection(&mut self, of: &Observed) {
        if let Some(to) = &mut self.connections {
            to.form.connection(of, &mut to.collected);
            to.flush_if(FULL);
        }
    }

    pub(super) fn exchange(&mut self, of: &Transfer) {
        if let Some(to) = &mut self.exchanges {
            to.form.exchange(of, &mut to.collected);
            to.flush_if(FULL);
        }
    }

    /// Fails where one can't be written.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        let both = self.connections.iter_mut().chain(&mut self.exchanges);
        both.filter_map(|to| to.failed.take()).try_for_each(Err)
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        let both = self.connections.iter_mut().chain(&mut self.exchanges);
        both.for_each(|to| to.flush_if(1));
        self.check()
    }
}

impl Writer {
    fn create(path: &Path) -> Result<Writer, Error> {
        let form = form(path)?;
        let cannot = |error| Error::Usage(format!("can't write '{}': {error}", path.display()));
        let file = output::create(path).map_err(cannot)?;
        Ok(Writer { path: path.to_owned(), form, file, collected: String::new(), failed: None })
    }

    fn flush_if(&mut self, least: usize) {
        if self.collected.len() < least {
            return;
        }
        if self.failed.is_none() {
            let written = self.file.write_all(self.collected.as_bytes());
            self.failed = written.err().map(|error| unable(&self.path, &error));
        }
        self.collected.clear();
    }
}

/// What a file's name ends with says what it is.
fn form(path: &Path) -> Result<Form, Error> {
    let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
    match end.as_deref() {
        Some("csv") => Ok(Form::Csv),
        Some("jsonl" | "ndjson") => Ok(Form::Json),
        _ => Err(Error::Usage(format!(
            "'{}' does not say what lines it is to have; let it end with .csv or .jsonl",
            path.display()
        ))),
    }
}

fn unable(path: &Path, error: &io::Error) -> Error {
    Error::Measure(format!("can't write '{}': {error}", path.display()))
}
