//! The last line that a program wrote, for people who ask why it failed.

use std::io::{self, PipeReader, Read as _};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use sixmark_units::visible::visible;

/// The most bytes of the line that are read.
const LONGEST_LINE: usize = 1_000;
/// The most characters of it that are kept.
const KEPT: usize = 200;

/// Reads what a program writes into a pipe, however much that is, on a thread of its own. The last line that is not
/// empty comes once all ends of the pipe are closed: its first 200 characters, with hidden ones shown.
///
/// # Errors
/// Returns an error if no thread can be started.
pub fn keep_last_line(mut errors: PipeReader) -> io::Result<Receiver<Option<String>>> {
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let (mut last, mut read) = (LastLine::default(), [0; 4_096]);
        while let Ok(length @ 1..) = errors.read(&mut read) {
            last.take(&read[..length]);
        }
        // Nobody waits for it any more if a process of the program has escaped.
        let _ = sender.send(last.text());
    };
    thread::Builder::new().name("errors".into()).spawn(read)?;
    Ok(receiver)
}

/// The last line of some output that is not empty.
#[derive(Default)]
struct LastLine {
    line: Vec<u8>,
    is_complete: bool,
}

impl LastLine {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if matches!(byte, b'\n' | b'\r') {
                self.is_complete = !self.line.is_empty();
                continue;
            }
            if self.is_complete {
                self.line.clear();
                self.is_complete = false;
            }
            if self.line.len() < LONGEST_LINE {
                self.line.push(*byte);
            }
        }
    }

    fn text(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.line);
        let kept: String = visible(text.trim()).chars().take(KEPT).collect();
        (!kept.is_empty()).then_some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_last_line_that_is_not_empty() {
        let text = |parts: &[&str]| {
            let mut last = LastLine::default();
            parts.iter().for_each(|part| last.take(part.as_bytes()));
            last.text()
        };
        assert_eq!(text(&["first\nse", "cond\n", "\n\n"]).unwrap(), "second");
        assert_eq!(text(&["cut off"]).unwrap(), "cut off");
        assert_eq!(text(&["\u{1b}[1mred\n"]).unwrap(), "\\u{1b}[1mred");
        assert_eq!(text(&["x".repeat(10_000).as_str()]).unwrap().len(), KEPT);
        assert_eq!(text(&["\0".repeat(10_000).as_str()]).unwrap().len(), KEPT);
        assert_eq!(text(&["\n", "  \n"]), None);
    }
}
