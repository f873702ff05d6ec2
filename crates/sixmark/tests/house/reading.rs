//! Text files that users give are read in one place, which knows byte order marks and sizes.

use crate::sources::{crates, files};

/// The places that read bytes: bodies and data files of requests are sent as they are, or decoded
/// where they become text.
const READS_BYTES: [&[&str]; 1] = [&["requests"]];

#[test]
fn the_command_line_reads_text_files_only_through_text_file() {
    let all =
        crates().into_iter().filter(|(name, _)| ["options", "sixmark"].contains(&name.as_str()));
    for file in all.flat_map(|(_, folder)| files(&folder.join("src"))) {
        let text = file.text.split("#[cfg(test)]").next().unwrap();
        let module = file.module.join("::");
        assert!(!text.contains("read_to_string("), "{module}: use sixmark_sys::text_file");
        let bytes = READS_BYTES.iter().any(|known| file.module == *known);
        assert!(bytes || !text.contains("fs::read("), "{module}: use sixmark_sys::text_file");
    }
}
