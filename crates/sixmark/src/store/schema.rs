//! The tables of the store, and the upgrade of older stores.

use rusqlite::{Connection, Result, TransactionBehavior};

/// The mark of a store in a SQLite file (`PRAGMA application_id`): "6mrk".
const APPLICATION: i32 = 0x366d_726b;

/// The steps that create the tables. A store of version N has had the first N steps. A released
/// step never changes; new ones are appended. docs/store.md describes the resulting tables.
pub(super) const STEPS: &[&str] = &[
    "
    -- What is kept. Numbers are not given twice, so that one written down stays what it was.
    CREATE TABLE entry (
        id        INTEGER PRIMARY KEY AUTOINCREMENT,
        kind      TEXT NOT NULL,
        schema    TEXT NOT NULL,
        started   TEXT NOT NULL,
        kept      TEXT NOT NULL,
        elapsed_s REAL NOT NULL,
        ended     TEXT,
        command   TEXT NOT NULL,
        label     TEXT,
        metric    TEXT,
        verdict   TEXT
    ) STRICT;
    CREATE INDEX entry_started ON entry (started);

    CREATE TABLE target (
        entry INTEGER NOT NULL REFERENCES entry (id) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        url   TEXT NOT NULL,
        PRIMARY KEY (entry, place)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE side (
        entry           INTEGER NOT NULL REFERENCES entry (id) ON DELETE CASCADE,
        place           INTEGER NOT NULL,
        name            TEXT NOT NULL,
        requests        INTEGER NOT NULL,
        failed          INTEGER NOT NULL,
        requests_per_s  REAL NOT NULL,
        response_p50_us REAL,
        response_p99_us REAL,
        PRIMARY KEY (entry, place)
    ) STRICT, WITHOUT ROWID;

    -- Apart from what is listed, so that a list does not read past it.
    CREATE TABLE document (
        entry INTEGER PRIMARY KEY REFERENCES entry (id) ON DELETE CASCADE,
        json  TEXT NOT NULL
    ) STRICT;
",
    "
    -- The result of a search for the highest rate.
    ALTER TABLE side ADD COLUMN holds_per_s REAL;
    ALTER TABLE side ADD COLUMN fails_per_s REAL;
    UPDATE side SET
        holds_per_s = (SELECT json_extract(json, '$.find_max.families.' || side.name || '.holds')
            FROM document WHERE document.entry = side.entry),
        fails_per_s = (SELECT json_extract(json, '$.find_max.families.' || side.name || '.fails')
            FROM document WHERE document.entry = side.entry)
    WHERE name IN ('ipv6', 'ipv4')
        AND (SELECT kind FROM entry WHERE entry.id = side.entry) = 'run';
",
    "
    -- Checks are kept from this version on; earlier ones can't list them. Each looks for the one
    -- before it.
    CREATE INDEX target_url ON target (url);
",
];

/// The kind of a SQLite file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundStore {
    /// A store with up-to-date tables.
    Ready,
    /// The database of another program.
    Foreign,
    /// A store of a version newer than these steps.
    Newer(usize),
}

/// Upgrades the tables, completely or not at all.
pub(super) fn prepare(connection: &mut Connection, steps: &[&str]) -> Result<FoundStore> {
    // One snapshot: with separate reads, a store that another sixmark is creating could look
    // foreign.
    let snapshot = connection.transaction()?;
    let seen = look(&snapshot)?;
    drop(snapshot);
    match seen {
        Look::Foreign => return Ok(FoundStore::Foreign),
        Look::Version(version) if version > steps.len() => return Ok(FoundStore::Newer(version)),
        Look::Version(version) => {
            settle(connection, version == 0)?;
            if version == steps.len() {
                return Ok(FoundStore::Ready);
            }
        }
    }
    // Another sixmark may have upgraded it meanwhile, even a newer one. Only under the lock is the
    // version certain.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = match look(&transaction)? {
        Look::Foreign => return Ok(FoundStore::Foreign),
        Look::Version(version) if version > steps.len() => return Ok(FoundStore::Newer(version)),
        Look::Version(version) if version == steps.len() => return Ok(FoundStore::Ready),
        Look::Version(version) => version,
    };
    steps[version..].iter().try_for_each(|step| transaction.execute_batch(step))?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", steps.len())?;
    transaction.commit()?;
    Ok(FoundStore::Ready)
}

enum Look {
    Foreign,
    /// The version; 0 for an empty file.
    Version(usize),
}

fn look(connection: &Connection) -> Result<Look> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables = "SELECT count(*) FROM sqlite_schema";
    let empty = connection.query_row(tables, [], |row| row.get::<_, u64>(0))? == 0;
    let ours = application == APPLICATION || (empty && application == 0 && version == 0);
    Ok(match usize::try_from(version) {
        Ok(version) if ours => Look::Version(version),
        _ => Look::Foreign,
    })
}

/// Applies the settings that are stored in the file. They can't be changed inside a transaction.
fn settle(connection: &Connection, new: bool) -> Result<()> {
    if new {
        // The file shrinks when results are deleted. The setting takes effect only before the first
        // table is created.
        connection.pragma_update(None, "auto_vacuum", "FULL")?;
    }
    // Readers and a writer do not block each other.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(connection: &Connection) -> usize {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    const FIRST: &str = "CREATE TABLE entry (id INTEGER PRIMARY KEY, words TEXT NOT NULL)";
    const SECOND: &str = "ALTER TABLE entry ADD COLUMN label TEXT;
        UPDATE entry SET label = upper(words)";

    /// Returns a store of the first version with one entry.
    fn old() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        assert_eq!(prepare(&mut connection, &[FIRST]).unwrap(), FoundStore::Ready);
        connection.execute("INSERT INTO entry (words) VALUES ('run')", []).unwrap();
        connection
    }

    #[test]
    fn upgrades_an_older_store_without_losing_entries() {
        let mut connection = old();
        let all = [FIRST, SECOND, "CREATE TABLE more (id INTEGER)"];
        assert_eq!(prepare(&mut connection, &all).unwrap(), FoundStore::Ready);
        assert_eq!(version(&connection), 3);
        let label = connection.query_row("SELECT label FROM entry", [], |row| row.get(0));
        assert_eq!(label, Ok("RUN".to_owned()));
        assert_eq!(prepare(&mut connection, &all).unwrap(), FoundStore::Ready, "and only once");
    }

    #[test]
    fn upgrading_fills_in_the_rates_of_stored_searches() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert_eq!(prepare(&mut connection, &STEPS[..1]).unwrap(), FoundStore::Ready);
        let search = r#"{"find_max": {"families": {"ipv6": {"holds": 995.0, "fails": 1040.0}}}}"#;
        for (id, json) in [(1, search), (2, r#"{"find_max": null}"#)] {
            let entry = "INSERT INTO entry (id, kind, schema, started, kept, elapsed_s, command) \
                         VALUES (?1, 'run', 's', 't', 't', 1.0, '[]')";
            connection.execute(entry, [id]).unwrap();
            let side = "INSERT INTO side (entry, place, name, requests, failed, requests_per_s) \
                        VALUES (?1, 0, 'ipv6', 1, 0, 1.0)";
            connection.execute(side, [id]).unwrap();
            let document = "INSERT INTO document (entry, json) VALUES (?1, ?2)";
            connection.execute(document, rusqlite::params![id, json]).unwrap();
        }
        assert_eq!(prepare(&mut connection, STEPS).unwrap(), FoundStore::Ready);
        let rates = |id: i64| -> (Option<f64>, Option<f64>) {
            let sql = "SELECT holds_per_s, fails_per_s FROM side WHERE entry = ?1";
            connection.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
        };
        assert_eq!([rates(1), rates(2)], [(Some(995.0), Some(1040.0)), (None, None)]);
    }

    #[test]
    fn a_failed_upgrade_step_leaves_the_store_unchanged() {
        let mut connection = old();
        let broken =
            [FIRST, SECOND, "CREATE TABLE more (id INTEGER); INSERT INTO nothing VALUES (1)"];
        prepare(&mut connection, &broken).unwrap_err();
        assert_eq!(version(&connection), 1);
        connection.query_row("SELECT label FROM entry", [], |_| Ok(())).unwrap_err();
        assert_eq!(prepare(&mut connection, &[FIRST, SECOND]).unwrap(), FoundStore::Ready);
    }

    #[test]
    fn a_newer_store_is_left_alone() {
        let mut connection = old();
        prepare(&mut connection, &[FIRST, SECOND]).unwrap();
        assert_eq!(prepare(&mut connection, &[FIRST]).unwrap(), FoundStore::Newer(2));
        assert_eq!(version(&connection), 2);
    }

    #[test]
    fn the_database_of_another_program_is_left_alone() {
        for sql in ["CREATE TABLE bookmarks (url TEXT)", "PRAGMA application_id = 7"] {
            let mut connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(sql).unwrap();
            assert_eq!(prepare(&mut connection, STEPS).unwrap(), FoundStore::Foreign, "{sql}");
            let entry = "SELECT count(*) FROM sqlite_schema WHERE name = 'entry'";
            assert_eq!(connection.query_row(entry, [], |row| row.get(0)), Ok(0));
        }
    }
}
