//! Studies: measuring their cells, and the sheet of what was found.
//!
//! [`engine`] measures cells, with other clients and with browsers; only it opens files, starts
//! programs and reads clocks. The design of a study and its document are in `sixmark-design`, other
//! clients in `sixmark-clients`, what is computed from cells in `sixmark-analysis`. [`inspection`] is the study
//! of clients in the networks of `sixmark-eyes`, which has neither a file nor cells.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod board;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
pub mod figures;
pub mod import_place;
pub mod inspection;
mod instruments;
pub mod sheet;

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
