//! Listing the entries of the store.

use crate::report::headline::{DocumentKind, Judged, ListHeadline, SideFigures};
use rusqlite::types::Type;
use rusqlite::{Row, named_params};
use serde::de::IntoDeserializer as _;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};

use super::{Id, Store};
use sixmark_sys::command_error::CommandError;

/// A filter of entries; without conditions it matches all of them.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// The kind of the document.
    pub kind: Option<DocumentKind>,
    /// The earliest start, RFC 3339 in UTC with milliseconds.
    pub since: Option<String>,
    /// The latest start, in the same form.
    pub until: Option<String>,
    /// A part of one of its URLs, in upper or lower case.
    pub target: Option<String>,
    /// The label.
    pub label: Option<String>,
    /// The most entries to return.
    pub limit: Option<u32>,
}

/// An entry as a list shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its number.
    pub id: Id,
    /// The time at which it was last written, RFC 3339 in UTC.
    pub kept: String,
    /// The command line that produced it; empty if unknown.
    pub command: Vec<String>,
    /// The label that the user gave it.
    pub label: Option<String>,
    /// The key figures of its document.
    #[serde(flatten)]
    pub headline: ListHeadline,
}

/// A part of the matching entries.
#[derive(Clone, Debug)]
pub struct ListPage {
    /// The entries, newest first by their start.
    pub entries: Vec<Listed>,
    /// The number of further entries that match the filter.
    pub more: u64,
}

/// A `:limit` of -1 means no limit.
const MATCHING: &str = "FROM entry WHERE (:kind IS NULL OR kind = :kind) \
    AND (:since IS NULL OR started >= :since) AND (:until IS NULL OR started <= :until) \
    AND (:label IS NULL OR label = :label) \
    AND (:target IS NULL OR EXISTS (SELECT 1 FROM target \
        WHERE target.entry = entry.id AND instr(lower(url), lower(:target))))";
const COLUMNS: &str = "id, kind, schema, started, kept, elapsed_s, ended, command, label, metric, \
    verdict";

impl Store {
    /// Returns the entries that match the filter, newest first.
    ///
    /// # Errors
    /// Returns an error if the store can't be read.
    pub fn list(&self, filter: &ListFilter) -> Result<ListPage, CommandError> {
        self.page(filter).map_err(|error| self.cannot("read", &error))
    }

    /// Returns an entry; none if the number is unknown.
    ///
    /// # Errors
    /// Returns an error if the store can't be read.
    pub fn entry(&self, id: Id) -> Result<Option<Listed>, CommandError> {
        let found = self.entries(&format!("SELECT {COLUMNS} FROM entry WHERE id = ?1"), [id.0]);
        Ok(found.map_err(|error| self.cannot("read", &error))?.pop())
    }

    fn page(&self, filter: &ListFilter) -> rusqlite::Result<ListPage> {
        let limit = filter.limit.map_or(-1, i64::from);
        let (kind, label) = (filter.kind.map(DocumentKind::name), &filter.label);
        let (since, until, target) = (&filter.since, &filter.until, &filter.target);
        let fitting = named_params! {":kind": kind, ":since": since, ":until": until,
        ":label": label, ":target": target};
        let count = format!("SELECT count(*) {MATCHING}");
        let all: u64 = self.connection.query_row(&count, fitting, |row| row.get(0))?;
        let newest =
            format!("SELECT {COLUMNS} {MATCHING} ORDER BY started DESC, id DESC LIMIT :limit");
        let limited = [fitting, named_params! {":limit": limit}].concat();
        let entries = self.entries(&newest, limited.as_slice())?;
        let more = all.saturating_sub(entries.len() as u64);
        Ok(ListPage { entries, more })
    }

    fn entries(&self, sql: &str, of: impl rusqlite::Params) -> rusqlite::Result<Vec<Listed>> {
        let mut sql = self.connection.prepare(sql)?;
        let mut entries = sql.query_map(of, listed)?.collect::<rusqlite::Result<Vec<_>>>()?;
        for entry in &mut entries {
            entry.headline.targets = self.targets(entry.id)?;
            entry.headline.sides = self.sides(entry.id)?;
        }
        Ok(entries)
    }

    fn targets(&self, id: Id) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT url FROM target WHERE entry = ?1 ORDER BY place";
        self.connection.prepare(sql)?.query_map([id.0], |row| row.get(0))?.collect()
    }

    fn sides(&self, id: Id) -> rusqlite::Result<Vec<SideFigures>> {
        let sql = "SELECT name, requests, failed, requests_per_s, response_p50_us, \
                   response_p99_us, holds_per_s, fails_per_s FROM side WHERE entry = ?1 ORDER BY place";
        self.connection.prepare(sql)?.query_map([id.0], read_side)?.collect()
    }
}

/// Returns an entry without its targets and sides.
fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    let kind: DocumentKind = from_word(&row.get::<_, String>(1)?)?;
    let judged = |metric: String, verdict: String| {
        Ok::<_, rusqlite::Error>(Judged {
            metric: from_word(&metric)?,
            verdict: from_word(&verdict)?,
        })
    };
    let (metric, verdict): (Option<String>, Option<String>) = (row.get(9)?, row.get(10)?);
    let site_verdict = verdict.as_deref().filter(|_| kind == DocumentKind::Check);
    let site_verdict = site_verdict.map(from_word).transpose()?;
    // Earlier versions also stored a verdict for runs, which was wrong too often.
    let compared = metric.zip(verdict).filter(|_| kind == DocumentKind::Comparison);
    let ended: Option<String> = row.get(6)?;
    let command: String = row.get(7)?;
    Ok(Listed {
        id: Id(row.get(0)?),
        kept: row.get(4)?,
        command: serde_json::from_str(&command).map_err(encoding)?,
        label: row.get(8)?,
        headline: ListHeadline {
            kind,
            schema: row.get(2)?,
            started: row.get(3)?,
            elapsed_s: row.get(5)?,
            ended: ended.map(|word| from_word(&word)).transpose()?,
            targets: Vec::new(),
            verdict: compared.map(|(m, v)| judged(m, v)).transpose()?,
            site_verdict,
            sides: Vec::new(),
        },
    })
}

fn read_side(row: &Row<'_>) -> rusqlite::Result<SideFigures> {
    Ok(SideFigures {
        name: row.get(0)?,
        requests: row.get(1)?,
        failed: row.get(2)?,
        requests_per_s: row.get(3)?,
        response_p50_us: row.get(4)?,
        response_p99_us: row.get(5)?,
        holds_per_s: row.get(6)?,
        fails_per_s: row.get(7)?,
    })
}

/// Returns the word that represents a value in documents.
pub(super) fn stored_word(value: impl Serialize) -> rusqlite::Result<String> {
    match serde_json::to_value(value).map_err(encoding)? {
        serde_json::Value::String(word) => Ok(word),
        other => Err(encoding(format!("{other} is no word"))),
    }
}

fn from_word<T: for<'de> Deserialize<'de>>(word: &str) -> rusqlite::Result<T> {
    let from: StrDeserializer<'_, serde::de::value::Error> = word.into_deserializer();
    T::deserialize(from).map_err(encoding)
}

/// Wraps an error of encoding or decoding as a SQL error.
pub(super) fn encoding(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into())
}
