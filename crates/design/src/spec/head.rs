//! What a study's file begins with, and what parsing it needs.

use std::num::NonZeroU32;
use std::time::Duration;

use super::column::column_name;
use super::differences::{NamedTexts, named_texts};
use crate::form::Form;
use crate::study_result::CellOrder;
use sixmark_document::braces::names_in_braces;
use sixmark_document::fields::{FileField, FileFields};
use sixmark_lab::plan::services::OF_SERVICE;

/// The maximum number of repetitions.
const MOST_REPETITIONS: u64 = 100_000;

/// The requested form of a study, and the functions that parsing its file needs.
pub struct ReadContext<'a> {
    /// The requested form. A long form that a study has only in a lab requests the lab too.
    pub form: Form,
    /// Whether `sixmark run` has a long option of this name.
    pub has_option: &'a dyn Fn(&str) -> bool,
    /// Reads a file in the study's folder.
    pub open: &'a mut dyn FnMut(&str) -> Result<String, String>,
}

/// The name, texts, duration, order and repetitions of a study.
pub(super) struct StudyHead {
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: String,
    pub(super) differences: NamedTexts,
    pub(super) takes: Option<Duration>,
    pub(super) order: CellOrder,
    pub(super) repetitions: Option<NonZeroU32>,
}

/// Parses them.
pub(super) fn read_head(fields: &mut FileFields<'_>) -> StudyHead {
    let orders = [("random", CellOrder::Random), ("written", CellOrder::Written)];
    StudyHead {
        name: fields.need("name").and_then(|field| field.parsed(column_name)),
        title: fields.text("title"),
        description: fields.text("description").unwrap_or_default(),
        differences: named_texts(fields.table("differences")),
        takes: fields.take("takes").and_then(|field| field.time()),
        order: fields.take("order").and_then(|field| field.one_of(&orders)).unwrap_or_default(),
        repetitions: repetitions(fields),
    }
}

/// Parses how often each cell is measured; default: 1.
fn repetitions(fields: &mut FileFields<'_>) -> Option<NonZeroU32> {
    fields.take("repetitions").map_or(Some(NonZeroU32::MIN), |field| read_repetitions(&field))
}

/// Parses how often each cell is measured.
pub(super) fn read_repetitions(field: &FileField<'_>) -> Option<NonZeroU32> {
    let number = field.whole(1, MOST_REPETITIONS)?;
    u32::try_from(number).ok().and_then(NonZeroU32::new)
}

/// Returns all names in braces in the text, except those of services. They may be used as settings.
pub(super) fn placeholders(text: &str) -> Vec<String> {
    let mut all: Vec<String> = names_in_braces(text).into_iter().map(str::to_owned).collect();
    all.retain(|name| !OF_SERVICE.contains(&name.as_str()));
    all
}
