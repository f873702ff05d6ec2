//! `sixmark --version --verbose`: what this program was built from.

use std::ffi::OsString;

use sixmark_document::provenance;

/// What the build script recorded, as `NAME`.
macro_rules! built {
    ($name:literal) => {
        env!(concat!("SIXMARK_BUILD_", $name))
    };
}

/// Lets documents name the commit.
pub(super) fn declare_commit() {
    if !built!("COMMIT").is_empty() {
        provenance::declare_commit(built!("COMMIT"));
    }
}

/// Returns true if more than the version is asked for.
pub(super) fn wants_all(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).any(|word| word == "--verbose")
}

/// Returns the lines of `sixmark --version --verbose`.
pub(super) fn describe_build() -> String {
    let mut text = concat!("sixmark ", env!("CARGO_PKG_VERSION"), "\n").to_owned();
    let mut add = |name: &str, value: &str| text += &format!("{name}: {value}\n");
    add("commit", &commit());
    add("target", built!("TARGET"));
    add("profile", built!("PROFILE"));
    add("features", or(built!("FEATURES"), "none"));
    add("rustc", built!("RUSTC"));
    add("AWS-LC", aws_lc_rs::awslc_version());
    add("SQLite", rusqlite::version());
    for library in built!("LIBRARIES").split(';') {
        if let Some((name, version)) = library.split_once(' ') {
            add(name, version);
        }
    }
    text
}

fn commit() -> String {
    let (digits, dirty) = match built!("COMMIT").strip_suffix("-dirty") {
        Some(digits) => (digits, ", changed since"),
        None => (built!("COMMIT"), ""),
    };
    let of_day = match built!("COMMIT_DATE") {
        "" => String::new(),
        day => format!(" of {day}"),
    };
    let unknown = if cfg!(debug_assertions) {
        "unknown (a debug build does not record it)"
    } else {
        "unknown (built without Git)"
    };
    format!("{}{of_day}{dirty}", or(digits, unknown))
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}
