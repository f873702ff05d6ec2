//! Names of hosts, bridges and links.

use sixmark_document::braces::is_name;
use sixmark_document::fields::FileField;

/// The maximum length of a name. Interfaces are named after the node at the other end, and their
/// names are limited to 15 bytes.
const LONGEST: usize = 15;

/// Reports an error if the key is not a valid name.
pub(super) fn check_name(field: &FileField<'_>, what: &str) {
    check_text(field, &field.name, what);
}

/// Reports an error if `name` is not valid.
pub(super) fn check_text(field: &FileField<'_>, name: &str, what: &str) {
    if !is_name(name) || name.contains('.') || name.len() > LONGEST {
        field.wrong(&format!(
            "is not a valid name of {what}: use up to {LONGEST} lower-case letters, digits, - and \
             _, a letter first"
        ));
    }
    if matches!(name, "lo" | "br0" | "nat64" | "clat") {
        field.wrong("is reserved: every host has an interface of this name");
    }
}
