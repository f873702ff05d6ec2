//! Statistics of the messages of one flow that arrived.

use super::Variation;
use sixmark_document::timing::Timing;

/// The range of sequence numbers below the highest in which duplicates are recognised.
const WINDOW: u32 = 1 << 16;

/// The receiver's record of one flow.
#[derive(Clone, Debug)]
pub struct Hearing {
    /// The number of messages that arrived, including duplicates.
    pub messages: u64,
    /// The bytes of those messages.
    pub bytes: u64,
    /// The number of duplicates.
    pub duplicates: u64,
    /// The number of messages that arrived after one with a higher sequence number (RFC 4737, 3.3),
    /// without duplicates.
    pub reordered: u64,
    /// The arrival time of the first message, in nanoseconds of the receiver's clock; `None` if no
    /// message has arrived.
    pub first_ns: Option<u64>,
    /// The latest arrival time, in nanoseconds of the receiver's clock.
    pub last_ns: u64,
    /// The one-way delays.
    pub variation: Variation,
    /// The absolute differences between the delays of consecutive messages (RFC 3393), in
    /// nanoseconds.
    pub consecutive: Timing,
    lowest: u32,
    highest: u32,
    seen: Vec<u64>,
    last: Option<(u32, i64)>,
}

impl Default for Hearing {
    fn default() -> Hearing {
        Hearing {
            messages: 0,
            bytes: 0,
            duplicates: 0,
            reordered: 0,
            first_ns: None,
            last_ns: 0,
            variation: Variation::default(),
            consecutive: Timing::default(),
            lowest: 0,
            highest: 0,
            seen: vec![0; (WINDOW / 64) as usize],
            last: None,
        }
    }
}

impl Hearing {
    /// Records a message of `bytes` bytes that was sent at `sent_ns` by the sender's clock and
    /// arrived at `at_ns` by the receiver's.
    pub fn record(&mut self, sequence: u32, bytes: u64, sent_ns: u64, at_ns: u64) {
        self.messages += 1;
        self.bytes += bytes;
        self.last_ns = self.last_ns.max(at_ns);
        match self.first_ns {
            None => self.begin(sequence, at_ns),
            Some(_) if self.again(sequence) => {
                self.duplicates += 1;
                return;
            }
            Some(_) => self.place(sequence),
        }
        self.time(sequence, at_ns.wrapping_sub(sent_ns) as i64);
    }

    /// Returns the number of messages without duplicates.
    pub fn unique(&self) -> u64 {
        self.messages - self.duplicates
    }

    /// Returns how many sequence numbers between the lowest and the highest did not arrive. These
    /// messages are known to be lost without asking the sender.
    pub fn missing(&self) -> u64 {
        let span = u64::from(self.highest.wrapping_sub(self.lowest)) + 1;
        if self.messages == 0 { 0 } else { span.saturating_sub(self.unique()) }
    }

    fn begin(&mut self, sequence: u32, at_ns: u64) {
        self.first_ns = Some(at_ns);
        (self.lowest, self.highest) = (sequence, sequence);
        self.mark(sequence);
    }

    /// Returns true if this sequence number has arrived before. A number too far below the highest
    /// to tell counts as new.
    fn again(&self, sequence: u32) -> bool {
        let behind = self.highest.wrapping_sub(sequence);
        behind < WINDOW && self.bit(sequence)
    }

    fn place(&mut self, sequence: u32) {
        let ahead = sequence.wrapping_sub(self.highest);
        // Sequence numbers wrap, so the shorter distance gives the direction.
        if ahead > u32::MAX / 2 {
            self.reordered += 1;
            if self.lowest.wrapping_sub(sequence) < u32::MAX / 2 {
                self.lowest = sequence;
            }
            if self.highest.wrapping_sub(sequence) < WINDOW {
                self.mark(sequence);
            }
            return;
        }
        // The numbers skipped have not arrived. Their bits may be set by numbers one window
        // earlier.
        (1..=ahead.min(WINDOW)).for_each(|n| self.clear(self.highest.wrapping_add(n)));
        self.highest = sequence;
        self.mark(sequence);
    }

    fn time(&mut self, sequence: u32, delay: i64) {
        self.variation.record(delay);
        if let Some((before, other)) = self.last
            && sequence == before.wrapping_add(1)
        {
            self.consecutive.record(delay.abs_diff(other));
        }
        self.last = Some((sequence, delay));
    }

    fn bit(&self, sequence: u32) -> bool {
        let at = sequence % WINDOW;
        self.seen[(at / 64) as usize] >> (at % 64) & 1 == 1
    }

    fn mark(&mut self, sequence: u32) {
        let at = sequence % WINDOW;
        self.seen[(at / 64) as usize] |= 1 << (at % 64);
    }

    fn clear(&mut self, sequence: u32) {
        let at = sequence % WINDOW;
        self.seen[(at / 64) as usize] &= !(1 << (at % 64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sequences: impl IntoIterator<Item = u32>) -> Hearing {
        let mut hearing = Hearing::default();
        for (at, sequence) in sequences.into_iter().enumerate() {
            let at = at as u64 * 1_000;
            hearing.record(sequence, 100, at, at + 500);
        }
        hearing
    }

    fn counts(hearing: &Hearing) -> [u64; 4] {
        [hearing.unique(), hearing.missing(), hearing.duplicates, hearing.reordered]
    }

    #[test]
    fn distinguishes_loss_duplicates_and_reordering() {
        assert_eq!(counts(&of([])), [0, 0, 0, 0]);
        assert_eq!(counts(&of(0..1_000)), [1_000, 0, 0, 0]);
        assert_eq!(counts(&of([0, 1, 4, 5])), [4, 2, 0, 0]);
        assert_eq!(counts(&of([0, 2, 1, 3])), [4, 0, 0, 1]);
        assert_eq!(counts(&of([0, 1, 1, 2, 0])), [3, 0, 2, 0]);
        // Does not start at 0: the receiver may start late, and lower numbers may follow the first.
        assert_eq!(counts(&of([7, 8, 5])), [3, 1, 0, 1]);
    }

    #[test]
    fn sequence_numbers_may_wrap() {
        let found = of((0..10).map(|n| (u32::MAX - 4).wrapping_add(n)));
        assert_eq!(counts(&found), [10, 0, 0, 0]);
        assert_eq!(counts(&of([u32::MAX, 1, 0])), [3, 0, 0, 1]);
    }

    #[test]
    fn does_not_count_a_reused_window_slot_as_a_duplicate() {
        assert_eq!(counts(&of([0, WINDOW, 2 * WINDOW]))[2], 0);
        assert_eq!(counts(&of((0..3 * WINDOW).step_by(3)))[2], 0);
        assert_eq!(counts(&of([5, 5 + 3 * WINDOW, 5 + 3 * WINDOW]))[2], 1);
    }

    #[test]
    fn measures_delay_variation_between_consecutive_messages() {
        let mut hearing = Hearing::default();
        for (sequence, delay) in [(0, 50), (1, 80), (3, 200), (4, 150)] {
            hearing.record(sequence, 1, 1_000_000, 1_000_000 + delay);
        }
        let consecutive = &hearing.consecutive;
        assert_eq!(
            (consecutive.count(), consecutive.min(), consecutive.quantile(1.0)),
            (2, Some(30), Some(50))
        );
        let variation = hearing.variation.timing();
        assert_eq!((variation.min(), variation.quantile(1.0)), (Some(0), Some(150)));
    }
}
