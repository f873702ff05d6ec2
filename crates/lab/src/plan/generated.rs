//! Files that are made for a study or a lab, within the folder `{www}`.

use crate::plan::services::{is_inside, known};
use sixmark_document::braces::names_in_braces;
use sixmark_document::fields::{FileField, FileFields, Scalar};

/// The largest file that may be made: what a file system's offsets can say.
const LARGEST: u64 = 1 << 50;

/// A file made for the study, within the folder `{www}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Its name; factors in braces stand for each of their levels.
    pub path: String,
    /// How large, in bytes; a text as it may be a factor in braces.
    pub size: String,
    /// Filled with bytes that don't compress, not with a hole.
    pub random: bool,
}

/// Files to make; `factors` may stand in their names and sizes.
pub fn generated(tables: Vec<FileFields<'_>>, factors: &[&str]) -> Vec<Generated> {
    tables.into_iter().filter_map(|fields| generate(fields, factors)).collect()
}

fn generate(mut fields: FileFields<'_>, factors: &[&str]) -> Option<Generated> {
    let path = fields.need("path").and_then(|field| {
        let path = known(&field, factors)?;
        if !is_inside(&path) {
            field.wrong("is not a file name inside {www}");
        }
        Some(path)
    });
    let size = fields.need("size").and_then(|field| size(&field, factors));
    let random = fields.take("random").and_then(|field| field.flag()).unwrap_or(false);
    fields.end();
    Some(Generated { path: path?, size: size?, random })
}

fn size(field: &FileField<'_>, factors: &[&str]) -> Option<String> {
    match field.scalar()? {
        Scalar::Text(text) if !names_in_braces(&text).is_empty() => known(field, factors),
        _ => field.whole(0, LARGEST).map(|bytes| bytes.to_string()),
    }
}

/// How large a file is whose size has been filled in.
///
/// # Errors
/// It is no number of bytes.
pub fn bytes(size: &str) -> Result<u64, String> {
    let bytes = size.parse().ok().filter(|&bytes| bytes <= LARGEST);
    bytes.ok_or_else(|| format!("'{size}' is not a number of bytes"))
}
