//! How long responses lay unread, by the kernel's timestamps of when they arrived.

use sixmark_sys::driver::Arrival;

/// The number of pieces into which bytes that arrived one after the other are divided at most.
const PIECES: u64 = 16;
/// The shortest difference, nanoseconds, for which bytes are divided.
const STEP_NS: u64 = 1_000;

/// How long before the time of an event its bytes had arrived, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lateness {
    /// The lateness of the first byte, at least that of the last one.
    first: u64,
    last: u64,
}

impl Lateness {
    /// Returns the lateness of bytes that arrived at these times, in an event at the time `at`.
    pub(crate) fn of_event(at: u64, arrival: Arrival) -> Lateness {
        let Arrival { first, last } = arrival;
        Lateness { first: at.saturating_sub(first), last: at.saturating_sub(last) }
    }

    /// Returns the lateness of the first byte.
    pub(crate) fn of_first(self) -> u64 {
        self.first
    }

    /// Divides the bytes of an event into pieces, each with its lateness. Between the first byte and
    /// the last, whose times are known, bytes are taken to have arrived at a constant rate.
    pub(crate) fn divide(self, bytes: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
        let span = self.first.saturating_sub(self.last);
        let pieces = (span / STEP_NS).clamp(1, PIECES);
        let size = bytes.len().div_ceil(pieces as usize).max(1);
        let lateness = move |piece: u64| match pieces {
            1 => self.first,
            _ => self.first - span * (2 * piece + 1) / (2 * pieces),
        };
        bytes.chunks(size).zip((0..).map(lateness))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divide(first: u64, last: u64, length: usize) -> Vec<(usize, u64)> {
        let lateness = Lateness::of_event(1_000_000, Arrival { first, last });
        let bytes = vec![0; length];
        lateness.divide(&bytes).map(|(piece, late)| (piece.len(), late)).collect()
    }

    #[test]
    fn bytes_that_arrived_together_are_one_piece() {
        assert_eq!(divide(900_000, 900_000, 4_000), [(4_000, 100_000)]);
        assert_eq!(divide(900_000, 900_999, 4_000), [(4_000, 100_000)]);
        assert_eq!(divide(900_000, 900_000, 0), []);
    }

    #[test]
    fn spreads_lateness_over_bytes_that_arrived_gradually() {
        let divided = divide(200_000, 1_000_000, 1_600);
        assert_eq!(divided.len(), 16);
        assert!(divided.iter().all(|&(length, _)| length == 100));
        let lateness: Vec<u64> = divided.iter().map(|&(_, late)| late).collect();
        assert_eq!((lateness[0], lateness[8], lateness[15]), (775_000, 375_000, 25_000));
        assert_eq!(divide(997_000, 1_000_000, 10), [(4, 2_500), (4, 1_500), (2, 500)]);
    }

    #[test]
    fn fewer_bytes_than_pieces_are_a_piece_each() {
        assert_eq!(divide(200_000, 1_000_000, 2), [(1, 775_000), (1, 725_000)]);
    }

    #[test]
    fn bytes_that_arrived_after_the_event_are_not_late() {
        assert_eq!(divide(1_500_000, 1_600_000, 1), [(1, 0)]);
    }
}
