//! Studies: their document, and the tables, charts and comparisons that are computed from their
//! cells. [`spec`] describes a study and its file.
//!
//! A *cell* is one combination of the factors' levels, and is measured once in each repetition.
//!
//! [`engine`] measures cells, with other clients and with browsers ([`browser`]); only these two
//! open files, start programs and read clocks. [`study_result`] is the document.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod analyse;
pub mod average;
pub mod board;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod browser;
mod claims;
pub mod client;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
pub mod figures;
pub mod form;
mod group_view;
pub mod import;
mod import_tool;
mod imported_levels;
mod instruments;
pub mod levels;
pub mod looks;
mod observation;
pub mod outputs;
pub mod setting;
pub mod sheet;
pub mod spec;
pub mod study_result;
mod unlike;

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of several texts in hexadecimal. The length of each text is hashed before
/// it, so that other texts with the same concatenation have another digest.
pub fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hexadecimal(hash)
}

/// Returns the SHA-256 of bytes in hexadecimal, as `sha256sum` prints it.
fn digest_of_bytes(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(bytes);
    hexadecimal(hash)
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
