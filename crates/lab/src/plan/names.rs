//! Names of hosts, bridges and links.

use sixmark_document::braces::is_name;
use sixmark_document::fields::FileField;

/// Names of interfaces have 15 bytes at most, and interfaces are called after what is behind them.
const LONGEST: usize = 15;

/// Notes what the name of a key has wrong.
pub(super) fn check_name(field: &FileField<'_>, what: &str) {
    check_text(field, &field.name, what);
}

/// Notes what a name has wrong.
pub(super) fn check_text(field: &FileField<'_>, name: &str, what: &str) {
    if !is_name(name) || name.contains('.') || name.len() > LONGEST {
        field.wrong(&format!(
            "is not a valid name of {what}: use up to {LONGEST} lower-case letters, digits, - and \
             _, a letter first"
        ));
    }
    if matches!(name, "lo" | "br0" | "nat64") {
        field.wrong("is reserved: every host has an interface of this name");
    }
}
