//! Files that are generated for a study or a lab, in the folder `{www}`.

use crate::plan::placeholders::known;
use crate::plan::services::is_inside;
use sixmark_document::braces::names_in_braces;
use sixmark_document::fields::{FileField, FileFields, Scalar};

/// The largest file in bytes, within what file systems support.
const LARGEST: u64 = 1 << 50;

/// A file to generate in the folder `{www}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The path in the folder. May contain factors in braces, each replaced by a level.
    pub path: String,
    /// The size in bytes, as text because it may be a factor in braces.
    pub size: String,
    /// Whether to fill the file with incompressible bytes. Otherwise it is a sparse file of zeros.
    pub random: bool,
}

/// Reads the files to generate. Their names and sizes may contain `factors`.
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

/// Parses the size of a file after factors have been replaced.
///
/// # Errors
/// Returns one line if it is not a number of bytes, or is too large.
pub fn bytes(size: &str) -> Result<u64, String> {
    let bytes = size.parse().ok().filter(|&bytes| bytes <= LARGEST);
    bytes.ok_or_else(|| format!("'{size}' is not a number of bytes"))
}
