//! Results that were kept, in a SQLite file.
//!
//! What is kept is the whole document; the columns beside it are there to find it again. Each
//! change is one transaction: whenever a process dies, an entry is there whole or as it was before.

mod list;
mod place;
mod schema;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior,
    params,
};
use serde::Serialize;
use sixmark_report::headline::{ListHeadline, SideFigures};

pub use list::{ListFilter, ListPage, Listed};
pub use place::{StorePlace, VARIABLE, ignored_data_home};
use schema::FoundStore;
use sixmark_machine::CommandError;

/// How long to wait for another sixmark that writes: each takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two attempts that SQLite itself does not wait with.
const PAUSE: Duration = Duration::from_millis(10);

/// The number of what is kept; no two ever have the same in one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Id(i64);

/// What is to be kept.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry<'a> {
    /// What a list says of it.
    pub headline: &'a ListHeadline,
    /// The document, as it would be in a file.
    pub document: &'a str,
    /// The command line that made it; empty where nobody knows.
    pub command: &'a [String],
    /// What its user called it.
    pub label: Option<&'a str>,
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store, which is made where there is none yet and brought up to date where it is
    /// older. None where results are to be kept nowhere.
    ///
    /// # Errors
    /// It can't be made or opened, is something else, or was written by a newer sixmark.
    pub fn open(place: &StorePlace) -> Result<Option<Store>, CommandError> {
        let Some(path) = place.file()? else { return Ok(None) };
        place.make(path).map_err(|error| cannot("open", path, &error))?;
        Store::connect(path).map(Some)
    }

    /// The same, but none as well where nothing was ever kept.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_existing(place: &StorePlace) -> Result<Option<Store>, CommandError> {
        match place.file()? {
            Some(path) if path.exists() => Store::connect(path).map(Some),
            _ => Ok(None),
        }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps something new. When this returns, it is on the disk.
    ///
    /// # Errors
    /// It can't be written, or says of no time that is one when it began.
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

    /// Puts what something has become in the place of what it was; where that was deleted
    /// meanwhile, it is there again under its number.
    ///
    /// # Errors
    /// As [`Store::keep`].
    pub fn renew(&mut self, id: Id, entry: &NewEntry<'_>) -> Result<(), CommandError> {
        self.change("write to", |transaction| put(transaction, id, entry))
    }

    /// A document as it was kept, to the byte.
    ///
    /// # Errors
    /// Nothing has that number, or it can't be read.
    pub fn document(&self, id: Id) -> Result<String, CommandError> {
        let sql = "SELECT json FROM document WHERE entry = ?1";
        let found = self.connection.query_row(sql, [id.0], |row| row.get(0)).optional();
        found.map_err(|error| self.cannot("read", &error))?.ok_or_else(|| self.unknown(&[id]))
    }

    /// Deletes all of these or, where one is not there, none.
    ///
    /// # Errors
    /// Nothing has one of the numbers, or they can't be deleted.
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

    /// What to say of numbers that nothing has.
    pub fn unknown(&self, ids: &[Id]) -> CommandError {
        let names: Vec<String> = ids.iter().map(Id::to_string).collect();
        let (noun, path) = (if ids.len() == 1 { "is" } else { "are" }, self.path.display());
        CommandError::Usage(format!(
            "there {noun} no {} in '{path}'; `sixmark history` lists what there is",
            names.join(", ")
        ))
    }

    fn connect(path: &Path) -> Result<Store, CommandError> {
        let failed = |error: rusqlite::Error| cannot("open", path, &describe_error(&error));
        if !path.is_file() {
            return Err(cannot("open", path, &"it is no file"));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        set_pragmas(&connection).map_err(failed)?;
        let found = patiently(|| schema::prepare(&mut connection, schema::STEPS));
        match found.map_err(failed)? {
            FoundStore::Ready => Ok(Store { connection, path: path.to_owned() }),
            FoundStore::Foreign => Err(cannot("open", path, &"it is another program's database")),
            FoundStore::Newer(version) => Err(cannot(
                "open",
                path,
                &format!(
                    "a newer sixmark has written it (version {version}, this one knows {}); use that \
                     one, or another --store",
                    schema::STEPS.len()
                ),
            )),
        }
    }

    /// Does something whole or not at all.
    fn change<T>(
        &mut self,
        doing: &str,
        mut with: impl FnMut(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CommandError> {
        let connection = &mut self.connection;
        let done = patiently(|| {
            // Immediate: two that read first and then want to write would be in each other's way.
            let behaviour = TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(behaviour)?;
            let done = with(&transaction)?;
            transaction.commit()?;
            Ok(done)
        });
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
        number.ok_or_else(|| "give a number that `sixmark history` shows, or last".to_owned())
    }
}

/// Settings of a connection, which don't stay with the file.
fn set_pragmas(connection: &Connection) -> rusqlite::Result<()> {
    // What was reported as kept has to survive a loss of power too; with WAL, NORMAL would promise
    // that only of what was kept before the last checkpoint. It costs one fsync a result.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Those that nothing has.
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

/// Writes an entry over whatever has its number.
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
            headline.verdict.map(|judged| list::stored_word(judged.verdict)).transpose()?,
        ],
    )?;
    for table in ["target", "side", "document"] {
        to.execute(&format!("DELETE FROM {table} WHERE entry = ?1"), [id.0])?;
    }
    to.execute("INSERT INTO document (entry, json) VALUES (?1, ?2)", params![id.0, document])?;
    put_targets(to, id, &headline.targets)?;
    put_sides(to, id, &headline.sides)
}

fn put_targets(to: &Transaction<'_>, id: Id, targets: &[String]) -> rusqlite::Result<()> {
    let mut sql = to.prepare("INSERT INTO target (entry, place, url) VALUES (?1, ?2, ?3)")?;
    let mut put = |(place, url)| sql.execute(params![id.0, place, url]).map(drop);
    targets.iter().enumerate().try_for_each(&mut put)
}

fn put_sides(to: &Transaction<'_>, id: Id, sides: &[SideFigures]) -> rusqlite::Result<()> {
    let mut sql = to.prepare(
        "INSERT INTO side (entry, place, name, requests, failed, requests_per_s, \
             response_p50_us, response_p99_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let mut put = |(place, of): (usize, &SideFigures)| {
        let (p50, p99) = (of.response_p50_us, of.response_p99_us);
        let (sent, failed, rate) = (of.requests, of.failed, of.requests_per_s);
        sql.execute(params![id.0, place, of.name, sent, failed, rate, p50, p99]).map(drop)
    };
    sides.iter().enumerate().try_for_each(&mut put)
}

/// In one form, so that times are in order where their texts are.
fn started(headline: &ListHeadline) -> rusqlite::Result<String> {
    let time = humantime::parse_rfc3339(&headline.started).map_err(list::encoding)?;
    Ok(humantime::format_rfc3339_millis(time).to_string())
}

/// Tries again where SQLite gives up at once instead of waiting: where waiting inside SQLite might
/// lock two processes out of each other, and while a file becomes one with a log.
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

/// SQLite's words, in those of whoever has to do something about it.
fn describe_error(error: &rusqlite::Error) -> String {
    let known = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program keeps it locked"
        }
        Some(ErrorCode::DiskFull) => "the disk is full",
        Some(ErrorCode::ReadOnly) => "it may not be written",
        Some(ErrorCode::NotADatabase) => "it is no SQLite database",
        Some(ErrorCode::DatabaseCorrupt) => "it is damaged",
        Some(ErrorCode::TooBig) => "the document is larger than SQLite takes (1 GB)",
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
