//! Figures as their source prints them.

use serde::{Deserialize, Serialize};

use sixmark_sheet::write::grouped;

/// A figure as its source prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrintedFigure {
    /// The text with all its digits, `1.9640`; of a range, `84 to 103`. Beside figures in another
    /// unit it is converted to theirs.
    pub printed: String,
    /// The value, in the unit of its column; null for a range, which has no other figure than its
    /// ends.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub value: Option<f64>,
    /// The lower end of a range; absent for a single figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub low: Option<f64>,
    /// The upper end of a range; absent for a single figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub high: Option<f64>,
    /// True if the source does not state the figure, but states others from which it follows.
    /// Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub derived: bool,
}

/// A figure as this version writes it, or as a number, as earlier ones did.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenFigure {
    Printed(PrintedFigure),
    Number(f64),
}

impl From<WrittenFigure> for PrintedFigure {
    fn from(written: WrittenFigure) -> PrintedFigure {
        match written {
            WrittenFigure::Printed(printed) => printed,
            WrittenFigure::Number(value) => PrintedFigure {
                printed: value.to_string(),
                value: Some(value),
                low: None,
                high: None,
                derived: false,
            },
        }
    }
}

/// Figures as this version writes them, or the only one, as earlier versions did.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenFigures {
    Several(Vec<Option<WrittenFigure>>),
    One(WrittenFigure),
}

/// Reads the published figures of a place, also those that earlier versions wrote.
pub(super) fn read_figures<'de, D: serde::Deserializer<'de>>(
    document: D,
) -> Result<Vec<Option<PrintedFigure>>, D::Error> {
    Ok(match Option::<WrittenFigures>::deserialize(document)? {
        None => Vec::new(),
        Some(WrittenFigures::One(figure)) => vec![Some(figure.into())],
        Some(WrittenFigures::Several(all)) => {
            all.into_iter().map(|figure| figure.map(PrintedFigure::from)).collect()
        }
    })
}

impl PrintedFigure {
    /// Returns the text for people: with thousands grouped, and ` (derived)` after a figure that the
    /// source does not state.
    pub fn shown(&self) -> String {
        let text = grouped(&self.printed);
        if self.derived { format!("{text} (derived)") } else { text }
    }

    /// Returns the two ends of a range; `None` for a single figure.
    pub fn range(&self) -> Option<[f64; 2]> {
        Some([self.low?, self.high?])
    }
}
