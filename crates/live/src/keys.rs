//! The keys of a view.

/// A key that a view understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKey {
    /// End early, and keep what was measured.
    Quit,
    /// Pause before the next block, or go on.
    Pause,
    /// Show the next page.
    Page,
    /// Show or hide the list of keys.
    Help,
}

/// Returns the keys in bytes that a terminal sent. Sequences of other keys, which begin with ESC,
/// are skipped to their final byte (ECMA-48, 5.4).
pub fn keys_of(bytes: &[u8]) -> Vec<ViewKey> {
    let mut keys = Vec::new();
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'q' | b'Q' => keys.push(ViewKey::Quit),
            b'p' | b'P' => keys.push(ViewKey::Pause),
            b'\t' => keys.push(ViewKey::Page),
            b'?' | b'h' => keys.push(ViewKey::Help),
            0x1b => match rest.next() {
                Some(b'[') => drop(rest.find(|byte| (0x40..=0x7e).contains(byte))),
                Some(b'O') => drop(rest.next()),
                _ => {}
            },
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_keys_among_other_escape_sequences() {
        for (bytes, keys) in [
            (&b"q"[..], &[ViewKey::Quit][..]),
            (b"\tp?", &[ViewKey::Page, ViewKey::Pause, ViewKey::Help]),
            (b"\x1b[Aq\x1b[1;5pq", &[ViewKey::Quit, ViewKey::Quit]),
            (b"\x1bOPq", &[ViewKey::Quit]),
            (b"\x1b[200", &[]),
            (b"\x1bq", &[]),
            (b"\x1b", &[]),
            (b"xyz\xff", &[]),
        ] {
            assert_eq!(keys_of(bytes), keys, "{bytes:?}");
        }
    }
}
