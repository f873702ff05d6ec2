//! A line of a log as values with names, in each layout.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::formats::{COMBINED_REQUEST, DATE_AND_TIME, Layout, LogFormat};
use super::quoted::{find_time, quoted, split_quoted};
use crate::import::left_out::Unfit;
use crate::import::when::{RecordedTime, parse_time};

/// What the lines before say about a line.
#[derive(Debug, Default)]
pub(super) struct LogState {
    /// The names of the columns.
    columns: Vec<String>,
    /// The date of lines that have only a time.
    date: Vec<u8>,
}

/// The values of a line.
#[derive(Debug)]
pub(super) enum LineValues<'a> {
    Combined(CombinedLine<'a>),
    Object(Map<String, Value>),
    Columns(NamedColumns<'a>),
}

/// A line of the combined format.
#[derive(Debug)]
pub(super) struct CombinedLine<'a> {
    time: RecordedTime,
    request: Cow<'a, [u8]>,
}

/// Columns and their names.
#[derive(Debug)]
pub(super) struct NamedColumns<'a> {
    names: ColumnNames<'a>,
    values: Vec<Cow<'a, [u8]>>,
    /// [`DATE_AND_TIME`]; empty if there is none.
    joined: Vec<u8>,
}

/// Names of columns, from the log or from the format.
#[derive(Clone, Copy, Debug)]
enum ColumnNames<'a> {
    Given(&'a [String]),
    Usual(&'static [&'static str]),
}

impl CombinedLine<'_> {
    fn read(line: &[u8]) -> Result<CombinedLine<'_>, Unfit> {
        let no_time = || Unfit::found("no time as in [10/Oct/2000:13:55:36 -0700]", line);
        let (time, rest) = find_time(line).ok_or_else(no_time)?;
        let request = quoted(rest).ok_or("no request in quotes after the time")?;
        Ok(CombinedLine { time, request })
    }
}

impl LogState {
    /// Takes notice of a line that is about others. Returns false if it is none.
    pub(super) fn directive(&mut self, format: &LogFormat, line: &[u8]) -> bool {
        if !matches!(format.layout, Layout::Directives { .. }) || !line.starts_with(b"#") {
            return false;
        }
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_ascii_whitespace();
        let name = words.next().unwrap_or_default();
        if name.eq_ignore_ascii_case("#Fields:") {
            self.columns = words.map(str::to_owned).collect();
        } else if name.eq_ignore_ascii_case("#Date:") {
            self.date = words.next().unwrap_or_default().into();
        }
        true
    }

    /// Returns whether a line before named this column.
    pub(super) fn names(&self, name: &str) -> bool {
        self.columns.iter().any(|column| is_same(column, name))
    }

    /// Returns the values of a line.
    pub(super) fn values<'a>(
        &'a self,
        format: &LogFormat,
        line: &'a [u8],
    ) -> Result<LineValues<'a>, Unfit> {
        match format.layout {
            Layout::Combined => CombinedLine::read(line).map(LineValues::Combined),
            Layout::Json => serde_json::from_slice(line)
                .map(LineValues::Object)
                .map_err(|_| Unfit::found("not a JSON object", line)),
            Layout::Directives { separator, usual } => {
                let names = if self.columns.is_empty() {
                    ColumnNames::Usual(usual)
                } else {
                    ColumnNames::Given(&self.columns)
                };
                if names.is_empty() {
                    return Err("no #Fields line before it".into());
                }
                let mut columns = NamedColumns::split(names, line, separator);
                columns.join_date_and_time(&self.date);
                Ok(LineValues::Columns(columns))
            }
            Layout::Columns(names) => {
                let columns = NamedColumns::split(ColumnNames::Usual(names), line, b' ');
                Ok(LineValues::Columns(columns))
            }
        }
    }
}

impl<'a> NamedColumns<'a> {
    fn split(names: ColumnNames<'a>, line: &'a [u8], separator: u8) -> NamedColumns<'a> {
        let values = match separator {
            b' ' => split_quoted(line),
            _ => line.split(|&byte| byte == separator).map(Cow::Borrowed).collect(),
        };
        NamedColumns { names, values, joined: Vec::new() }
    }

    /// Joins both, which are in UTC (CloudFront and IIS write no other).
    fn join_date_and_time(&mut self, usual_date: &[u8]) {
        let date = self.get("date").filter(|date| is_given(date)).unwrap_or(usual_date);
        if let Some(time) = self.get("time") {
            self.joined = [date, b"T", time, b"Z"].concat();
        }
    }

    fn get(&self, name: &str) -> Option<&[u8]> {
        if name == DATE_AND_TIME {
            return Some(&self.joined);
        }
        self.values.get(self.names.position(name)?).map(|value| &**value)
    }
}

impl ColumnNames<'_> {
    fn is_empty(self) -> bool {
        match self {
            ColumnNames::Given(names) => names.is_empty(),
            ColumnNames::Usual(names) => names.is_empty(),
        }
    }

    fn position(self, name: &str) -> Option<usize> {
        match self {
            ColumnNames::Given(names) => names.iter().position(|other| is_same(other, name)),
            ColumnNames::Usual(names) => names.iter().position(|other| is_same(other, name)),
        }
    }
}

impl LineValues<'_> {
    /// Returns the time: the first of the named values that is one.
    pub(super) fn time(&self, names: &[&str]) -> Option<RecordedTime> {
        match self {
            LineValues::Combined(line) => Some(line.time),
            _ => names.iter().find_map(|name| parse_time(&self.get(name)?)),
        }
    }

    /// Returns the first of the named values that is given.
    pub(super) fn first(&self, names: &[&str]) -> Option<Cow<'_, [u8]>> {
        names.iter().find_map(|name| self.get(name).filter(|value| is_given(value)))
    }

    /// Returns whether the line has one of these values, given or not.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name).is_some())
    }

    fn get(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        match self {
            LineValues::Combined(line) => {
                (name == COMBINED_REQUEST).then(|| (&*line.request).into())
            }
            LineValues::Object(object) => text_of(lookup(object, name)?),
            LineValues::Columns(columns) => columns.get(name).map(Cow::Borrowed),
        }
    }
}

/// Servers write `-` for a value that there is none of.
fn is_given(value: &[u8]) -> bool {
    !matches!(value, b"" | b"-")
}

fn text_of(value: &Value) -> Option<Cow<'_, [u8]>> {
    match value {
        Value::String(text) => Some(text.as_bytes().into()),
        Value::Number(number) => Some(number.to_string().into_bytes().into()),
        _ => None,
    }
}

/// Returns the value of this name, also within other objects.
fn lookup<'v>(object: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let find =
        |name: &str| object.iter().find(|(key, _)| is_same(key, name)).map(|(_, value)| value);
    find(name).or_else(|| {
        let (outer, inner) = name.split_once('.')?;
        lookup(find(outer)?.as_object()?, inner)
    })
}

/// Compares names as `requestMethod`, `request_method` and `Request-Method`, which are the same.
fn is_same(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

fn letters(name: &str) -> impl Iterator<Item = u8> {
    let letters = name.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b'@'));
    letters.map(|byte| byte.to_ascii_lowercase())
}
