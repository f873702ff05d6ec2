//! Where drivers are held to what all of them must do: a peer, and what it does.

use sixmark_sys::driver::{Driver, SocketRoute};
use sixmark_units::family::Family;

/// What a peer does with every connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scene {
    /// Nothing listens.
    Refuses,
    /// Reads the request, answers with so many bytes and keeps the connection.
    Answers(usize),
    /// Reads the request and closes.
    Closes,
    /// Reads the request and resets.
    Resets,
    /// Reads nothing before it is told to, then everything.
    Hesitates,
    /// Reads the request's beginning, answers with 45 bytes and resets.
    Objects,
    /// Reads the request, answers with 45 bytes and resets at once.
    BreaksOff,
    /// Reads nothing before it is told to, then answers each piece with a byte, as long as they are
    /// what [`piece`] makes, one after the other on a connection.
    Checks,
}

/// The end of a piece. It is in none.
const END: u8 = 0xff;

/// The piece of that length that begins after so many bytes of a connection, with its end.
pub(crate) fn piece(from: usize, length: usize) -> Vec<u8> {
    (from..from + length - 1).map(expected).chain([END]).collect()
}

/// What byte of a connection has this number, where it is not an end.
fn expected(number: usize) -> u8 {
    (number % 251) as u8
}

/// Follows the pieces of a connection.
#[derive(Default)]
pub(crate) struct Checker {
    seen: usize,
}

impl Checker {
    /// How many pieces end in `bytes`, which come next; none where they are not as expected.
    pub(crate) fn check(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut ends = 0;
        for &byte in bytes {
            match byte {
                END => ends += 1,
                byte if byte == expected(self.seen) => {}
                _ => return None,
            }
            self.seen += 1;
        }
        Some(ends)
    }
}

/// A driver and a peer that plays a scene for it.
pub(crate) trait Stage {
    type Driver: Driver;

    fn set(scene: Scene, family: Family) -> Self;
    fn parts(&mut self) -> (&mut Self::Driver, SocketRoute);
    /// Lets a peer that hesitates go on.
    fn go_on(&mut self);
}
