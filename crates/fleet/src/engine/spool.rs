//! The records that an agent keeps on its disk until a controller confirms that it has them all.
//!
//! A share's records are lines of one file, `LOAD.INCARNATION.records` in the agent's folder. Each
//! line is on the disk before it is published.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::names::LoadName;
use crate::records::RecordPlace;

/// How the file of a share's records is called after its load and incarnation.
const ENDING: &str = "records";
/// The file that counts how often an agent was started with this folder.
const STARTS: &str = "starts";

/// The folder of an agent.
#[derive(Clone, Debug)]
pub struct SpoolFolder {
    path: PathBuf,
    incarnation: u64,
}

/// A share's records on the disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpoolFile {
    path: PathBuf,
    /// The load.
    pub load: LoadName,
    /// The incarnation of the agent that counted.
    pub incarnation: u64,
}

impl SpoolFolder {
    /// Opens the folder, which is created if necessary, for an agent that is starting: its
    /// incarnation is one more than that of the agent before.
    ///
    /// # Errors
    /// The folder can't be created or written.
    pub fn open(path: &Path) -> io::Result<SpoolFolder> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let starts = path.join(STARTS);
        let before = fs::read_to_string(&starts).ok();
        let incarnation = before.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
        let next = path.join(format!("{STARTS}.new"));
        fs::write(&next, format!("{}\n", incarnation + 1))?;
        fs::rename(next, starts)?;
        Ok(SpoolFolder { path: path.to_owned(), incarnation })
    }

    /// Returns how many agents were started with this folder before.
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Begins the records of a share.
    ///
    /// # Errors
    /// The file exists already, or can't be created.
    pub fn begin(&self, load: &LoadName) -> io::Result<(SpoolFile, SpoolWriter)> {
        let incarnation = self.incarnation;
        let path = self.path.join(format!("{load}.{incarnation}.{ENDING}"));
        let file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(&path)?;
        Ok((SpoolFile { path, load: load.clone(), incarnation }, SpoolWriter { file, length: 0 }))
    }

    /// Returns the shares whose records are kept, in no particular order.
    pub fn kept(&self) -> Vec<SpoolFile> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.filter_map(|entry| spool_file(entry.path())).collect()
    }
}

fn spool_file(path: PathBuf) -> Option<SpoolFile> {
    let name = path.file_name()?.to_str()?;
    let mut parts = name.split('.');
    let (load, incarnation, ending) = (parts.next()?, parts.next()?, parts.next()?);
    let (load, incarnation) = (load.parse().ok()?, incarnation.parse().ok()?);
    (ending == ENDING && parts.next().is_none()).then_some(SpoolFile { path, load, incarnation })
}

impl SpoolFile {
    /// Returns the records with their numbers, from number `from` on. A number may be missing: that
    /// record could not be written. What a killed agent wrote in part is no record.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn records_from(&self, from: u64) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let mut reader = BufReader::new(File::open(&self.path)?);
        let mut records = Vec::new();
        loop {
            let mut line = Vec::new();
            reader.read_until(b'\n', &mut line)?;
            if line.pop() != Some(b'\n') {
                return Ok(records);
            }
            let place = crate::messages::read_json::<RecordPlace>(&line);
            // A line that can't be read is damaged: its number is not known.
            if let Ok(RecordPlace { number }) = place
                && number >= from
            {
                records.push((number, line));
            }
        }
    }

    /// Removes the records.
    ///
    /// # Errors
    /// The file can't be removed.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Writes a share's records.
#[derive(Debug)]
pub struct SpoolWriter {
    file: File,
    /// The length of the whole records, in bytes.
    length: u64,
}

impl SpoolWriter {
    /// Writes a record, and returns when it is on the disk.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn write(&mut self, record: &[u8]) -> io::Result<()> {
        let line = [record, b"\n"].concat();
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.length += line.len() as u64,
            // A later record must not continue half a line.
            Err(_) => drop(self.file.set_len(self.length)),
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_complete_records_after_a_restart_and_skips_damaged_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent");
        let load: LoadName = "l-1".parse().unwrap();
        let first = SpoolFolder::open(&path).unwrap();
        let (file, mut writer) = first.begin(&load).unwrap();
        // The record with number 1 could not be written.
        for number in [0, 2, 3] {
            writer.write(format!(r#"{{"number":{number}}}"#).as_bytes()).unwrap();
        }
        writer.file.write_all(b"damaged\n").unwrap();
        writer.file.write_all(b"half").unwrap();
        assert!(first.begin(&load).is_err());
        let second = SpoolFolder::open(&path).unwrap();
        assert_eq!((first.incarnation(), second.incarnation()), (0, 1));
        assert_eq!(second.kept(), std::slice::from_ref(&file));
        let numbers = |from| {
            let records = file.records_from(from).unwrap();
            records.into_iter().map(|(number, _)| number).collect::<Vec<_>>()
        };
        assert_eq!((numbers(0), numbers(3), numbers(4)), (vec![0, 2, 3], vec![3], vec![]));
        assert_eq!(file.records_from(3).unwrap()[0].1, br#"{"number":3}"#);
        file.remove().unwrap();
        assert_eq!(second.kept(), []);
    }
}
