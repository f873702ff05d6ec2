//! Templates as data, for another process that fills them in. Nothing is lost: neither the lines of
//! files nor values that documents omit.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::parse::{check_pieces, fits};
use super::{BraceValue, Encoding, ListLines, Template, TemplatePiece, TemplatePlace};

/// The most files of lines, each counted once for lines and once for columns.
const MOST_FILES: usize = 1_024;

/// A template in the form in which it is carried.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WireTemplate(TemplateForm);

/// The form of a template.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TemplateForm {
    /// Text without placeholders.
    Text(String),
    /// Any other template.
    Parsed {
        /// What documents contain instead of the template.
        shown: String,
        /// Its parts.
        pieces: Vec<WirePiece>,
    },
}

/// A part of a template.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WirePiece {
    /// Text.
    Text(String),
    /// A placeholder, and how its value is encoded.
    Value(WireValue, Encoding),
}

/// A placeholder.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WireValue {
    /// The sequence number.
    Seq,
    /// A random UUID.
    Uuid,
    /// A random number.
    Rand(i64, i64),
    /// A line of a file: its number among the files of the template's source, that in the list of
    /// carried files, and the column.
    Line(usize, usize, Option<usize>),
}

/// A file of lines.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct WireFile {
    /// The text in base64.
    text: String,
    /// Whether the lines have been split into columns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    columns: bool,
}

/// The files that templates refer to. Templates that share a file share it here too.
#[derive(Default)]
pub struct WireFiles(Vec<Arc<ListLines>>);

impl WireFiles {
    /// Reads files.
    ///
    /// # Errors
    /// There are too many, or one is not a file of lines.
    pub fn read(files: Vec<WireFile>) -> Result<WireFiles, String> {
        if files.len() > MOST_FILES {
            return Err(format!(
                "the plan has {} files of lines, not {MOST_FILES} at most",
                files.len()
            ));
        }
        let lines = files.into_iter().map(|file| {
            let wrong = |error| format!("a file of lines can’t be read: {error}");
            let text = STANDARD.decode(file.text).map_err(|error| wrong(error.to_string()))?;
            let mut lines = ListLines::new(text).map_err(wrong)?;
            if file.columns {
                lines.read_columns();
            }
            Ok(Arc::new(lines))
        });
        lines.collect::<Result<_, String>>().map(WireFiles)
    }

    /// Returns the files in the form in which they are carried.
    pub fn wire_form(&self) -> Vec<WireFile> {
        let wire_file = |lines: &Arc<ListLines>| WireFile {
            text: STANDARD.encode(lines.text()),
            columns: lines.has_columns(),
        };
        self.0.iter().map(wire_file).collect()
    }

    /// Returns the number of a file, which is added if necessary.
    fn number(&mut self, lines: &Arc<ListLines>) -> usize {
        let known = self.0.iter().position(|known| Arc::ptr_eq(known, lines));
        known.unwrap_or_else(|| {
            self.0.push(Arc::clone(lines));
            self.0.len() - 1
        })
    }
}

impl WireTemplate {
    /// Returns the form of a template, whose files are added to `files`.
    pub fn of(template: &Template, files: &mut WireFiles) -> WireTemplate {
        WireTemplate(match template.pieces.as_slice() {
            [TemplatePiece::Text(text)] if *text == template.source => {
                TemplateForm::Text(text.clone())
            }
            pieces => TemplateForm::Parsed {
                shown: template.source.clone(),
                pieces: pieces.iter().map(|piece| WirePiece::of(piece, files)).collect(),
            },
        })
    }

    /// Returns the template.
    ///
    /// # Errors
    /// It is not valid in this place, or `files` lacks a file that it refers to.
    pub fn template(self, place: TemplatePlace, files: &WireFiles) -> Result<Template, String> {
        let template = match self.0 {
            TemplateForm::Text(text) => Template::constant(text),
            TemplateForm::Parsed { shown, pieces } => {
                let pieces = pieces.into_iter().map(|piece| piece.piece(place, files));
                Template { source: shown, pieces: pieces.collect::<Result<_, _>>()? }
            }
        };
        check_pieces(&template.pieces, place).map(|()| template)
    }
}

impl WirePiece {
    fn of(piece: &TemplatePiece, files: &mut WireFiles) -> WirePiece {
        let (value, encoding) = match piece {
            TemplatePiece::Text(text) => return WirePiece::Text(text.clone()),
            TemplatePiece::Value(value, encoding) => (value, *encoding),
        };
        let value = match value {
            BraceValue::Seq => WireValue::Seq,
            BraceValue::Uuid => WireValue::Uuid,
            BraceValue::Rand { from, to } => WireValue::Rand(*from, *to),
            BraceValue::Line { file, lines, column } => {
                WireValue::Line(*file, files.number(lines), *column)
            }
        };
        WirePiece::Value(value, encoding)
    }

    fn piece(self, place: TemplatePlace, files: &WireFiles) -> Result<TemplatePiece, String> {
        let (value, encoding) = match self {
            WirePiece::Text(text) => return Ok(TemplatePiece::Text(text)),
            WirePiece::Value(value, encoding) => (value, encoding),
        };
        let value = match value {
            WireValue::Seq => BraceValue::Seq,
            WireValue::Uuid => BraceValue::Uuid,
            WireValue::Rand(from, to) if from > to => {
                return Err(format!("a template draws a number from {from} to {to}"));
            }
            WireValue::Rand(from, to) => BraceValue::Rand { from, to },
            WireValue::Line(file, number, column) => {
                let lines = files.0.get(number).filter(|_| file < MOST_FILES);
                let lines = lines.ok_or("a template refers to a file that the plan lacks")?;
                if column.is_some() && !lines.has_columns() {
                    return Err("a template refers to columns that its file lacks".to_owned());
                }
                lines.check(column, |value| fits(value, place, encoding))?;
                BraceValue::Line { file, lines: Arc::clone(lines), column }
            }
        };
        Ok(TemplatePiece::Value(value, encoding))
    }
}
