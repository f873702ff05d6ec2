//! The values of a TOML file with their positions, so that every mistake is reported with its line.

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A mistake in a file written by a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMistake {
    /// The line number, from 1; 0 for the whole file.
    pub line: usize,
    /// The key with the tables that contain it, for example `factors.size`; may be empty.
    pub key: String,
    /// What is wrong, and what is allowed.
    pub message: String,
    /// The name of the file, if it is not the study's own.
    pub file: Option<String>,
}

impl FileMistake {
    /// Formats the mistake as one line that begins with `name`, the study's file.
    pub fn of_file(&self, name: &str) -> String {
        format!("{}:{self}", self.file.as_deref().unwrap_or(name))
    }
}

impl fmt::Display for FileMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        if !self.key.is_empty() {
            write!(f, " {}:", self.key)?;
        }
        write!(f, " {}", self.message)
    }
}

/// The text of a file, and the mistakes found in it.
pub struct FileText<'a> {
    text: &'a str,
    file: Option<String>,
    wrongs: RefCell<Vec<FileMistake>>,
}

/// The keys of a table. Keys that are never taken are mistakes.
pub struct FileFields<'a> {
    book: &'a FileText<'a>,
    path: String,
    at: usize,
    left: Vec<FileField<'a>>,
    known: Vec<&'static str>,
}

/// A key and its value.
#[derive(Clone)]
pub struct FileField<'a> {
    book: &'a FileText<'a>,
    /// The key without the tables that contain it.
    pub name: String,
    path: String,
    at: usize,
    value: &'a DeValue<'a>,
}

/// A value that is neither a list nor a table.
pub enum Scalar {
    /// `true`, `false`.
    Flag(bool),
    /// A string, or a number as written.
    Text(String),
}

impl<'a> FileText<'a> {
    /// Creates the text of the study's own file, or of the one named `file`.
    pub fn new(text: &'a str, file: Option<&str>) -> FileText<'a> {
        FileText { text, file: file.map(str::to_owned), wrongs: RefCell::default() }
    }

    /// Parses the whole text as a table.
    ///
    /// # Errors
    /// The text is not valid TOML.
    pub fn parse(&self) -> Result<Spanned<DeTable<'a>>, FileMistake> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.wrong_at(at, "", &error.message().replace('\n', "; "))
        })
    }

    /// Returns the mistakes found, sorted by line.
    pub fn into_wrongs(self) -> Vec<FileMistake> {
        let mut wrongs = self.wrongs.into_inner();
        wrongs.sort_by_key(|wrong| wrong.line);
        wrongs.dedup();
        wrongs
    }

    /// Returns true while no mistake was found.
    pub fn is_clean(&self) -> bool {
        self.wrongs.borrow().is_empty()
    }

    /// Returns the line of a byte offset.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
    }

    /// Records a mistake.
    pub(crate) fn wrong(&self, at: usize, key: &str, message: &str) {
        let wrong = self.wrong_at(at, key, message);
        self.wrongs.borrow_mut().push(wrong);
    }

    /// Records a mistake at a line, from 1; 0 for the whole file.
    pub fn wrong_line(&self, line: usize, key: &str, message: &str) {
        let wrong = FileMistake { line, ..self.wrong_at(0, key, message) };
        self.wrongs.borrow_mut().push(wrong);
    }

    /// Records the mistakes of another file.
    pub fn extend(&self, wrongs: Vec<FileMistake>) {
        self.wrongs.borrow_mut().extend(wrongs);
    }

    fn wrong_at(&self, at: usize, key: &str, message: &str) -> FileMistake {
        let message: String =
            message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        FileMistake { line: self.line(at), key: key.to_owned(), message, file: self.file.clone() }
    }
}

impl<'a> FileFields<'a> {
    /// Creates the keys of a table at a byte offset.
    pub fn new(
        book: &'a FileText<'a>,
        path: &str,
        at: usize,
        table: &'a DeTable<'a>,
    ) -> FileFields<'a> {
        let field = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let name: &std::borrow::Cow<'a, str> = key.get_ref();
            let dot = if path.is_empty() { "" } else { "." };
            FileField {
                book,
                name: name.to_string(),
                path: format!("{path}{dot}{name}"),
                at: key.span().start,
                value: value.get_ref(),
            }
        };
        let mut left: Vec<FileField<'a>> = table.iter().map(field).collect();
        // In the order of the file, which is also the order of factors and levels.
        left.sort_by_key(|field| field.at);
        FileFields { book, path: path.to_owned(), at, left, known: Vec::new() }
    }

    /// Takes the value of a key.
    pub fn take(&mut self, name: &'static str) -> Option<FileField<'a>> {
        self.known.push(name);
        let at = self.left.iter().position(|field| field.name == name)?;
        Some(self.left.remove(at))
    }

    /// Takes the value of a required key, and records a mistake if it is missing.
    pub fn need(&mut self, name: &'static str) -> Option<FileField<'a>> {
        let found = self.take(name);
        if found.is_none() {
            self.wrong(&format!("{name} is missing"));
        }
        found
    }

    /// Takes a string, if it is there.
    pub fn text(&mut self, name: &'static str) -> Option<String> {
        self.take(name)?.text()
    }

    /// Takes a list of strings; empty if it is not there.
    pub fn texts(&mut self, name: &'static str) -> Vec<String> {
        self.take(name).map_or(Vec::new(), |field| field.texts())
    }

    /// Takes the tables of a list, `[[name]]`.
    pub fn tables(&mut self, name: &'static str) -> Vec<FileFields<'a>> {
        let items = self.take(name).map_or(Vec::new(), |field| field.items());
        items.iter().filter_map(FileField::fields).collect()
    }

    /// Takes the table of a key, `[name]`.
    pub fn table(&mut self, name: &'static str) -> Option<FileFields<'a>> {
        self.take(name)?.fields()
    }

    /// Takes every key not yet taken, whatever its name.
    pub fn rest(&mut self) -> Vec<FileField<'a>> {
        std::mem::take(&mut self.left)
    }

    /// Records every key not yet taken as unknown.
    pub fn end(self) {
        for field in &self.left {
            field.wrong(&format!("unknown key; allowed: {}", self.known.join(", ")));
        }
    }

    /// Records a mistake in the table.
    pub fn wrong(&self, message: &str) {
        self.book.wrong(self.at, &self.path, message);
    }

    /// Returns the text of the whole file.
    pub fn text_of_file(&self) -> &'a str {
        self.book.text
    }
}

impl<'a> FileField<'a> {
    /// Records a mistake in the value.
    pub fn wrong(&self, message: &str) {
        self.book.wrong(self.at, &self.path, message);
    }

    /// Returns the line of the value.
    pub fn line(&self) -> usize {
        self.book.line(self.at)
    }

    fn expected<T>(&self, what: &str) -> Option<T> {
        let found = match self.value {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.wrong(&format!("expected {what}, found {found}"));
        None
    }

    /// Returns true if the value is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// Returns true if the value is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// Returns true if the value is this string.
    pub fn is_text(&self, text: &str) -> bool {
        matches!(self.value, DeValue::String(own) if own.as_ref() == text)
    }

    /// Returns the value as a string.
    pub fn text(&self) -> Option<String> {
        match self.value {
            DeValue::String(text) => Some(text.to_string()),
            _ => self.expected("a text in quotes"),
        }
    }

    /// Returns the value as a string, a number as written, or a flag.
    pub fn scalar(&self) -> Option<Scalar> {
        match self.value {
            DeValue::String(text) => Some(Scalar::Text(text.to_string())),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Some(Scalar::Text(number.to_string())),
                    Err(_) => {
                        self.wrong("is too large a number");
                        None
                    }
                }
            }
            DeValue::Float(float) => Some(Scalar::Text(float.as_str().replace('_', ""))),
            DeValue::Boolean(flag) => Some(Scalar::Flag(*flag)),
            _ => self.expected("a text, a number, true or false"),
        }
    }

    /// Returns the value as a number.
    pub fn number(&self) -> Option<f64> {
        let read = match self.value {
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok().map(|n| n as f64)
            }
            DeValue::Float(number) => number.as_str().replace('_', "").parse().ok(),
            _ => return self.expected("a number"),
        };
        match read.filter(|number: &f64| number.is_finite()) {
            Some(number) => Some(number),
            None => {
                self.wrong("is not a finite number");
                None
            }
        }
    }

    /// Returns the value as a whole number from `least` to `most`.
    pub fn whole(&self, least: u64, most: u64) -> Option<u64> {
        let number = self.number()?;
        let fits = number.fract() == 0.0 && number >= least as f64 && number <= most as f64;
        if !fits {
            self.wrong(&format!("{number} is not a whole number from {least} to {most}"));
        }
        fits.then_some(number as u64)
    }

    /// Returns the value as a flag: `true` or `false`.
    pub fn flag(&self) -> Option<bool> {
        match self.value {
            DeValue::Boolean(flag) => Some(*flag),
            _ => self.expected("true or false"),
        }
    }

    /// Returns the value as a duration with its unit: `"10s"`, `"500ms"`, `"2m"`.
    pub fn time(&self) -> Option<Duration> {
        let text = self.text()?;
        let time = parse_time(&text);
        if time.is_none() {
            self.wrong(&format!("'{text}' is not a time, as in 10s, 500ms or 2m"));
        }
        time
    }

    /// Returns the value as one of several words.
    pub fn one_of<T: Copy>(&self, allowed: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = allowed.iter().find(|(name, _)| *name == text).map(|&(_, found)| found);
        if found.is_none() {
            let names: Vec<_> = allowed.iter().map(|(name, _)| *name).collect();
            self.wrong(&format!("'{text}' is none of: {}", names.join(", ")));
        }
        found
    }

    /// Returns the result of parsing the string.
    pub fn parsed<T>(&self, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let text = self.text()?;
        parse(&text).map_err(|message| self.wrong(&message)).ok()
    }

    /// Returns the values of a list.
    pub fn items(&self) -> Vec<FileField<'a>> {
        let DeValue::Array(values) = self.value else {
            let none: Option<()> = self.expected("a list in brackets");
            return none.map_or(Vec::new(), |()| Vec::new());
        };
        let item = |value: &'a Spanned<DeValue<'a>>| FileField {
            at: value.span().start,
            value: value.get_ref(),
            ..self.clone()
        };
        values.iter().map(item).collect()
    }

    /// Returns the strings of a list.
    pub fn texts(&self) -> Vec<String> {
        self.items().iter().filter_map(FileField::text).collect()
    }

    /// Returns the keys of a table.
    pub fn fields(&self) -> Option<FileFields<'a>> {
        match self.value {
            DeValue::Table(table) => Some(FileFields::new(self.book, &self.path, self.at, table)),
            _ => self.expected("a table"),
        }
    }
}

/// Parses a number and its unit of time.
pub fn parse_time(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = text[..unit].parse().ok()?;
    let scale = match &text[unit..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * scale).ok()
}
