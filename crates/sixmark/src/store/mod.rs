//! The store: results kept in a SQLite file.
//!
//! The store keeps complete documents; the columns besides them serve to find them again. Each
//! change is one transaction: if a process dies, an entry is either complete or unchanged.

mod earlier;
mod list;
mod place;
mod schema;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use crate::report::headline::{ListHeadline, SideFigures};
use rusqlite::{
    Connection, ErrorCode, MAIN_DB, OpenFlags, OptionalExtension as _, Transaction,
    TransactionBehavior, params,
};
use serde::Serialize;

pub use list::{ListFilter, ListPage, Listed};
pub use place::{StorePlace, VARIABLE, agent_folder, ignored_data_home};
use schema::FoundStore;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;

/// How long to wait for another sixmark that writes. Each write takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval between two attempts, where SQLite itself does not wait.
const PAUSE: Duration = Duration::from_millis(10);

/// The reason why a store that can be read can't be written.
const READ_ONLY: &str = "this user may not write to it";

/// The number of an entry. A store never assigns the same number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Id(i64);

/// An entry to keep.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry<'a> {
    /// The key figures for lists.
    pub headline: &'a ListHeadline,
    /// The text of the document, as it would be in a file.
    pub document: &'a str,
    /// The command line that produced it; empty if unknown.
    pub command: &'a [String],
    /// The label that the user gave it.
    pub label: Option<&'a str>,
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The device and the inode of the file that was opened.
    identity: (u64, u64),
}

impl Store {
    /// Opens the store. Creates it if it is missing and upgrades it if it is older. Returns none if
    /// no results are to be kept.
    ///
    /// # Errors
    /// Returns an error if it can't be created or opened, if the file is not a store, or if a newer
    /// sixmark has written it.
    pub fn open(place: &StorePlace) -> Result<Option<Store>, CommandError> {
        let Some(path) = place.file()? else { return Ok(None) };
        place.make(path).map_err(|error| cannot("open", path, &error))?;
        let store = Store::connect(path)?;
        // SQLite opens a file that it may not write for reading, and fails at the first change.
        match store.connection.is_readonly(MAIN_DB) {
            Ok(true) => Err(cannot("write to", path, &READ_ONLY)),
            _ => Ok(Some(store)),
        }
    }

    /// Opens the store like [`Store::open`], but returns none if there is no file yet.
    ///
    /// # Errors
    /// Returns the errors of [`Store::open`].
    pub fn open_existing(place: &StorePlace) -> Result<Option<Store>, CommandError> {
        match place.file()? {
            Some(path) if path.exists() => Store::connect(path).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the path of its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that its path still leads to the file that was opened. Entries written to a file that
    /// was deleted or replaced are gone when the store is closed.
    ///
    /// # Errors
    /// Returns an error if it does not.
    pub fn check_in_place(&self) -> Result<(), CommandError> {
        let why = match output::identity(&self.path) {
            Ok(found) if found == self.identity => return Ok(()),
            Ok(_) => "it was replaced by another file meanwhile",
            Err(_) => "it was deleted or moved meanwhile",
        };
        Err(CommandError::Measure(complaint_line("write to", &self.path, &why)))
    }

    /// Keeps a new entry. When this returns, the entry is on the disk.
    ///
    /// # Errors
    /// Returns an error if the store can't be written, or if the start in the headline is not a
    /// valid time.
    pub fn keep(&mut self, entry: &NewEntry<'_>) -> Result<Id, CommandError> {
        self.change("write to", |transaction| {
            let sql = "INSERT INTO entry (kind, schema, started, kept, elapsed_s, command) \
                       VALUES ('', '', '', '', 0, '[]')";
            transaction.execute(sql, [])?;
            let id = Id(transaction.last_insert_rowid());
            put(transaction, id, entry)?;
            Ok(id)
        })
    }

    /// Replaces an entry. If it has been deleted meanwhile, it is inserted again under its number.
    ///
    /// # Errors
    /// Returns the errors of [`Store::keep`].
    pub fn renew(&mut self, id: Id, entry: &NewEntry<'_>) -> Result<(), CommandError> {
        self.change("write to", |transaction| put(transaction, id, entry))
    }

    /// Returns a document exactly as it was kept.
    ///
    /// # Errors
    /// Returns an error if the number is unknown, or if the store can't be read.
    pub fn document(&self, id: Id) -> Result<String, CommandError> {
        let sql = "SELECT json FROM document WHERE entry = ?1";
        let found = self.connection.query_row(sql, [id.0], |row| row.get(0)).optional();
        found.map_err(|error| self.cannot("read", &error))?.ok_or_else(|| self.unknown(&[id]))
    }

    /// Deletes all of these entries, or none of them if one is missing.
    ///
    /// # Errors
    /// Returns an error if one of the numbers is unknown, or if the entries can't be deleted.
    pub fn delete(&mut self, ids: &[Id]) -> Result<(), CommandError> {
        let missing = self.change("write to", |transaction| {
            let missing = absent(transaction, ids)?;
            let mut sql = transaction.prepare("DELETE FROM entry WHERE id = ?1")?;
            let going = if missing.is_empty() { ids } else { &[] };
            going.iter().try_for_each(|id| sql.execute([id.0]).map(drop))?;
            Ok(missing)
        })?;
        if missing.is_empty() { Ok(()) } else { Err(self.unknown(&missing)) }
    }

    /// Returns the error for unknown numbers.
    pub fn unknown(&self, ids: &[Id]) -> CommandError {
        let names: Vec<String> = ids.iter().map(Id::to_string).collect();
        let (noun, path) = (if ids.len() == 1 { "is" } else { "are" }, self.path.display());
        CommandError::Usage(format!(
            "there {noun} no {} in '{path}'; `sixmark history` lists the stored results",
            names.join(", ")
        ))
    }

    fn connect(path: &Path) -> Result<Store, CommandError> {
        let failed = |error: rusqlite::Error| cannot("open", path, &describe_error(&error));
        let lost = |error: std::io::Error| cannot("open", path, &error);
        if !path.is_file() {
            return Err(cannot("open", path, &"it is not a file"));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Before it is opened: a file put in its place meanwhile then counts as another one.
        let identity = output::identity(path).map_err(lost)?;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        set_pragmas(&connection).map_err(failed)?;
        let found = patiently(|| schema::prepare(&mut connection, schema::STEPS));
        match found.map_err(failed)? {
            FoundStore::Ready => Ok(Store { connection, path: path.to_owned(), identity }),
            FoundStore::Foreign => Err(cannot("open", path, &"it is another program's database")),
            FoundStore::Newer(version) => Err(cannot(
                "open",
                path,
                &format!(
                    "a newer sixmark wrote it (version {version}, this one supports {}); use that \
                     one, or another --store",
                    schema::STEPS.len()
                ),
            )),
        }
    }

    /// Runs a change in a transaction.
    fn change<T>(
        &mut self,
        doing: &str,
        mut with: impl FnMut(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CommandError> {
        let connection = &mut self.connection;
        let done = patiently(|| {
            // Immediate: two processes that read first and then want to write would block each
            // other.
            let behaviour = TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(behaviour)?;
            let done = with(&transaction)?;
            transaction.commit()?;
            Ok(done)
        });
        // What became of the file is the cause of whatever went wrong.
        self.check_in_place()?;
        done.map_err(|error| self.cannot(doing, &error))
    }

    fn cannot(&self, doing: &str, error: &rusqlite::Error) -> CommandError {
        CommandError::Measure(complaint_line(doing, &self.path, &describe_error(error)))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = String;

    fn from_str(text: &str) -> Result<Id, String> {
        let number = text.parse().ok().filter(|&number| number > 0).map(Id);
        number.ok_or_else(|| "expected a number from `sixmark history`, or last".to_owned())
    }
}

/// Sets the options of a connection that are not stored in the file.
fn set_pragmas(connection: &Connection) -> rusqlite::Result<()> {
    // Entries reported as kept must survive a loss of power. With WAL, NORMAL guarantees that only
    // for what was kept before the last checkpoint. FULL costs one fsync per result.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Returns the numbers that are unknown.
fn absent(from: &Transaction<'_>, ids: &[Id]) -> rusqlite::Result<Vec<Id>> {
    let mut sql = from.prepare("SELECT 1 FROM entry WHERE id = ?1")?;
    let mut missing = Vec::new();
    for &id in ids {
        if !sql.exists([id.0])? {
            missing.push(id);
        }
    }
    Ok(missing)
}

/// Writes an entry and replaces the one with its number.
fn put(to: &Transaction<'_>, id: Id, entry: &NewEntry<'_>) -> rusqlite::Result<()> {
    let NewEntry { headline, document, command, label } = *entry;
    let sql = "INSERT INTO entry (id, kind, schema, started, kept, elapsed_s, ended, command, \
               label, metric, verdict) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
               ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, schema = excluded.schema, \
               started = excluded.started, kept = excluded.kept, \
               elapsed_s = excluded.elapsed_s, ended = excluded.ended, \
               command = excluded.command, label = excluded.label, \
               metric = excluded.metric, verdict = excluded.verdict";
    to.execute(
        sql,
        params![
            id.0,
            headline.kind.name(),
            headline.schema,
            started(headline)?,
            humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            headline.elapsed_s,
            headline.ended.map(list::stored_word).transpose()?,
            serde_json::to_string(command).map_err(list::encoding)?,
            label,
            headline.verdict.map(|judged| judged.metric.to_string()),
            verdict_word(headline)?,
        ],
    )?;
    for table in ["target", "side", "document"] {
        to.execute(&format!("DELETE FROM {table} WHERE entry = ?1"), [id.0])?;
    }
    to.execute("INSERT INTO document (entry, json) VALUES (?1, ?2)", params![id.0, document])?;
    put_targets(to, id, &headline.targets)?;
    put_sides(to, id, &headline.sides)
}

/// Returns the verdict of a comparison, or that of a check; `None` without either.
fn verdict_word(headline: &ListHeadline) -> rusqlite::Result<Option<String>> {
    let of_comparison = headline.verdict.map(|judged| list::stored_word(judged.verdict));
    let of_check = headline.site_verdict.map(list::stored_word);
    of_comparison.or(of_check).transpose()
}

fn put_targets(to: &Transaction<'_>, id: Id, targets: &[String]) -> rusqlite::Result<()> {
    let mut sql = to.prepare("INSERT INTO target (entry, place, url) VALUES (?1, ?2, ?3)")?;
    let mut put = |(place, url)| sql.execute(params![id.0, place, url]).map(drop);
    targets.iter().enumerate().try_for_each(&mut put)
}

fn put_sides(to: &Transaction<'_>, id: Id, sides: &[SideFigures]) -> rusqlite::Result<()> {
    let mut sql = to.prepare(
        "INSERT INTO side (entry, place, name, requests, failed, requests_per_s, \
         response_p50_us, response_p99_us, holds_per_s, fails_per_s) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    let mut put = |(place, of): (usize, &SideFigures)| {
        let (p50, p99) = (of.response_p50_us, of.response_p99_us);
        let (sent, failed, rate) = (of.requests, of.failed, of.requests_per_s);
        let (holds, fails) = (of.holds_per_s, of.fails_per_s);
        let row = params![id.0, place, of.name, sent, failed, rate, p50, p99, holds, fails];
        sql.execute(row).map(drop)
    };
    sides.iter().enumerate().try_for_each(&mut put)
}

/// Returns the start in a uniform format, so that the order of texts is the order of times.
fn started(headline: &ListHeadline) -> rusqlite::Result<String> {
    let time = humantime::parse_rfc3339(&headline.started).map_err(list::encoding)?;
    Ok(humantime::format_rfc3339_millis(time).to_string())
}

/// Retries where SQLite fails at once instead of waiting: where waiting inside SQLite could
/// deadlock two processes, and while a file is switched to a write-ahead log.
fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && begin.elapsed() < PATIENCE => sleep(PAUSE),
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Returns a description of a SQLite error for users.
fn describe_error(error: &rusqlite::Error) -> String {
    let known = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program has locked it"
        }
        Some(ErrorCode::DiskFull) => "the disk is full",
        Some(ErrorCode::ReadOnly) => READ_ONLY,
        Some(ErrorCode::NotADatabase) => "it is not a SQLite database",
        Some(ErrorCode::DatabaseCorrupt) => "it is damaged",
        Some(ErrorCode::TooBig) => "the document is larger than SQLite's limit (1 GB)",
        _ => return error.to_string(),
    };
    known.to_owned()
}

fn cannot(doing: &str, path: &Path, why: &dyn fmt::Display) -> CommandError {
    CommandError::Usage(complaint_line(doing, path, why))
}

fn complaint_line(doing: &str, path: &Path, why: &dyn fmt::Display) -> String {
    format!("can't {doing} the store '{}': {why}", path.display())
}
