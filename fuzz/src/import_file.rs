//! A file of another tool that is imported into a study: whatever it holds, it is read or refused in one line, and
//! its figures are finite.

use sixmark_clients::import::{ImportTool, read_output};

/// Reads an input as the file of the tool that it shows, and of each tool. Panics where what this module says does
/// not hold.
pub fn check(input: &[u8]) {
    for tool in ImportTool::ALL.map(Some).into_iter().chain([None]) {
        match read_output(input, tool) {
            Ok(output) => {
                assert!(!output.figures.is_empty(), "{output:?}");
                let all = output.figures.values().chain([&output.took_s]);
                assert!(all.clone().all(|value| value.is_finite() && *value >= 0.0), "{output:?}");
                assert!(output.version.is_none_or(|line| !line.contains(char::is_control)));
            }
            Err(why) => assert!(!why.is_empty() && !why.contains(char::is_control), "{why:?}"),
        }
    }
}
