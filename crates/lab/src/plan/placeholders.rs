//! Names in braces in the texts of files.

use sixmark_document::braces::names_in_braces;
use sixmark_document::fields::FileField;

/// Reads a text whose placeholders are all in `allowed`.
pub fn known(field: &FileField<'_>, allowed: &[&str]) -> Option<String> {
    let text = field.text()?;
    if let Some(name) = names_in_braces(&text).iter().find(|name| !allowed.contains(name)) {
        let allowed: Vec<_> = allowed.iter().map(|name| format!("{{{name}}}")).collect();
        field.wrong(&format!("{{{name}}} has no value here; allowed: {}", allowed.join(", ")));
        return None;
    }
    Some(text)
}
