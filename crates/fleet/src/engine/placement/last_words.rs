//! What a placed process writes to standard error: the last of it is kept for an error, and lines
//! are passed on.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use sixmark_sys::threads::no_thread;
use sixmark_units::visible::visible;

use super::remote::MARK;

/// The bytes that are kept, and the longest line that is passed on whole.
const KEPT: usize = 4096;

/// What is done with a line.
pub(super) type Tell = Box<dyn Fn(&str) + Send>;

/// The standard error of a process. A thread reads it to its end, so that the process never waits
/// for it.
pub(super) struct LastWords {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The last bytes.
    last: Vec<u8>,
    /// Those of a line that is not complete.
    line: Vec<u8>,
    at_end: bool,
    tell: Option<Tell>,
}

impl LastWords {
    /// Begins to read.
    ///
    /// # Errors
    /// No thread can be created.
    pub(super) fn collect(mut from: impl Read + Send + 'static) -> io::Result<LastWords> {
        let shared: Arc<Shared> = Arc::default();
        let its = Arc::clone(&shared);
        let read = move || {
            let mut buffer = vec![0; KEPT];
            loop {
                match from.read(&mut buffer) {
                    Ok(length) if length > 0 => its.lock().take(&buffer[..length]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    _ => break,
                }
            }
            let mut state = its.lock();
            state.pass_line_on();
            state.at_end = true;
            drop(state);
            its.changed.notify_all();
        };
        // It is not joined: a connection that ssh shares in the background keeps the stream open
        // (ControlPersist of ssh_config(5)).
        Builder::new().name("last-words".into()).spawn(read).map_err(|error| no_thread(&error))?;
        Ok(LastWords { shared })
    }

    /// Passes on each line from now on, and those that are kept.
    pub(super) fn pass_on(&self, tell: Tell) {
        let mut state = self.shared.lock();
        let whole = state.last.len() - state.line.len().min(state.last.len());
        let kept = state.last[..whole].to_vec();
        kept.split(|&byte| byte == b'\n').for_each(|line| pass(&tell, line));
        state.tell = Some(tell);
    }

    /// Returns the last of what was written, at most 4 KiB. Waits until the process has closed the
    /// stream, for at most `patience`.
    pub(super) fn text(&self, patience: Duration) -> String {
        let state = self.shared.lock();
        let waited = self.shared.changed.wait_timeout_while(state, patience, |s| !s.at_end);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        String::from_utf8_lossy(&state.last).into_owned()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, bytes: &[u8]) {
        self.last.extend(bytes);
        let surplus = self.last.len().saturating_sub(KEPT);
        self.last.drain(..surplus);
        for &byte in bytes {
            if byte == b'\n' || self.line.len() >= KEPT {
                self.pass_line_on();
            }
            if byte != b'\n' {
                self.line.push(byte);
            }
        }
    }

    fn pass_line_on(&mut self) {
        let line = std::mem::take(&mut self.line);
        if let Some(tell) = &self.tell {
            pass(tell, &line);
        }
    }
}

fn pass(tell: &Tell, line: &[u8]) {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end();
    if !line.is_empty() && !line.starts_with(MARK) {
        tell(&visible(line));
    }
}

/// Returns the last line that is not empty and not for this program alone, safe to show.
pub(super) fn last_line(text: &str) -> String {
    let lines = text.lines().rev().map(str::trim);
    let mut theirs = lines.filter(|line| !line.is_empty() && !line.starts_with(MARK));
    let last = theirs.next().unwrap_or_default();
    let last = last.strip_prefix("sixmark: ").unwrap_or(last);
    visible(&last.chars().take(400).collect::<String>()).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::mpsc::channel;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(60);

    #[test]
    fn keeps_the_last_output_and_passes_on_each_line_once() {
        let (reader, mut writer) = io::pipe().unwrap();
        let words = LastWords::collect(reader).unwrap();
        writer.write_all(b"one\nsixmark-placement: version x\ntw").unwrap();
        while !words.text(Duration::ZERO).ends_with("tw") {}
        let (sender, told) = channel();
        words.pass_on(Box::new(move |line| sender.send(line.to_owned()).unwrap()));
        writer.write_all(b"o\r\n\nthree \x1b[1m\nfour").unwrap();
        drop(writer);
        assert!(words.text(DEADLINE).ends_with("\nfour"));
        let told: Vec<String> = told.try_iter().collect();
        assert_eq!(told, ["one", "two", "three \\u{1b}[1m", "four"]);
    }

    #[test]
    fn keeps_a_bounded_amount_of_output() {
        let (reader, mut writer) = io::pipe().unwrap();
        let words = LastWords::collect(reader).unwrap();
        for number in 0..100_000 {
            writeln!(writer, "line {number}").unwrap();
        }
        writer.write_all(&vec![b'x'; 100_000]).unwrap();
        writer.write_all(b"\nlast\n\n").unwrap();
        drop(writer);
        let text = words.text(DEADLINE);
        assert_eq!((text.len(), last_line(&text)), (KEPT, "last".to_owned()));
        assert!(words.shared.lock().line.capacity() <= 2 * KEPT);
    }

    #[test]
    fn finds_the_last_readable_line_of_the_output() {
        for (text, line) in [
            ("", ""),
            ("\n \n", ""),
            ("a\nb\r\n\n", "b"),
            ("a\nsixmark-placement: absent", "a"),
            ("sixmark: no lab is up\n", "no lab is up"),
            ("\u{1b}]0;x\u{7}", "\\u{1b}]0;x\\u{7}"),
        ] {
            assert_eq!(last_line(text), line, "{text:?}");
        }
    }
}
