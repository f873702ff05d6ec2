//! Counters: numbers that only grow until they are reset.

use serde::{Deserialize, Serialize};

/// The number of events since some starting point; in a change, the number of events during it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Counter(pub u64);

impl Counter {
    /// Returns the growth since `before`, or `None` if the counter fell: it was reset in between,
    /// and its value before the reset is not known.
    pub fn since(self, before: Counter) -> Option<Counter> {
        self.0.checked_sub(before.0).map(Counter)
    }
}

/// A set of counters of one thing.
pub trait Counters: Copy {
    /// Calls `see` with the name and the value of each counter.
    fn each(&self, see: &mut dyn FnMut(&'static str, Counter));

    /// Calls `change` with each counter and the same counter of `other`.
    fn with(&mut self, other: &Self, change: &mut dyn FnMut(&mut Counter, Counter));

    /// Returns the growth of each counter since `before`. A counter that fell counts as grown from
    /// 0 and increments `resets`.
    #[must_use]
    fn since(&self, before: &Self, resets: &mut u64) -> Self {
        let mut grown = *self;
        grown.with(before, &mut |now, before| match now.since(before) {
            Some(by) => *now = by,
            None => *resets += 1,
        });
        grown
    }

    /// Adds each counter of another change.
    fn add(&mut self, other: &Self) {
        self.with(other, &mut |sum, by| sum.0 = sum.0.saturating_add(by.0));
    }
}

/// Defines a struct whose fields are all counters.
macro_rules! counters {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$of:meta])* $field:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name {
            $($(#[$of])* pub $field: $crate::counter::Counter,)*
        }

        impl $crate::counter::Counters for $name {
            fn each(&self, see: &mut dyn FnMut(&'static str, $crate::counter::Counter)) {
                $(see(stringify!($field), self.$field);)*
            }

            fn with(
                &mut self,
                other: &Self,
                change: &mut dyn FnMut(
                    &mut $crate::counter::Counter,
                    $crate::counter::Counter,
                ),
            ) {
                $(change(&mut self.$field, other.$field);)*
            }
        }
    };
}
pub(crate) use counters;

/// Extends 32-bit counters that the kernel keeps per processor to one sum of 64 bits that does not
/// wrap.
#[derive(Clone, Debug, Default)]
pub struct Widened {
    last: Vec<u32>,
    sum: u64,
}

impl Widened {
    /// Takes the current value of each processor's counter. Returns the sum over all processors
    /// since the kernel started, including the wraps that were observed. Must be called before any
    /// of them wraps twice.
    pub fn see(&mut self, now: &[u32]) -> Counter {
        if self.last.len() == now.len() {
            let grown = now.iter().zip(&self.last).map(|(now, last)| now.wrapping_sub(*last));
            self.sum = self.sum.saturating_add(grown.map(u64::from).sum());
        } else {
            // The number of processors changed, so counters can't be matched with earlier ones.
            self.sum = self.sum.max(now.iter().copied().map(u64::from).sum());
        }
        self.last = now.to_vec();
        Counter(self.sum)
    }
}

#[cfg(test)]
#[allow(unreachable_pub)]
mod tests {
    use super::*;

    counters! {
        /// For tests.
        pub struct Two {
            /// One.
            one,
            /// The other.
            other,
        }
    }

    #[test]
    fn counts_a_counter_that_fell_from_zero_and_reports_a_reset() {
        let before = Two { one: Counter(10), other: Counter(100) };
        let now = Two { one: Counter(15), other: Counter(3) };
        let mut resets = 0;
        let grown = now.since(&before, &mut resets);
        assert_eq!(grown, Two { one: Counter(5), other: Counter(3) });
        assert_eq!(resets, 1);
    }

    #[test]
    fn sums_changes_and_lists_them_by_name() {
        let mut sum = Two { one: Counter(1), other: Counter(u64::MAX) };
        sum.add(&Two { one: Counter(2), other: Counter(7) });
        let mut seen = Vec::new();
        sum.each(&mut |name, value| seen.push((name, value.0)));
        assert_eq!(seen, [("one", 3), ("other", u64::MAX)]);
    }

    #[test]
    fn continues_a_32_bit_counter_that_wraps() {
        let mut widened = Widened::default();
        assert_eq!(widened.see(&[u32::MAX - 1, 10]), Counter(u64::from(u32::MAX) + 9));
        assert_eq!(widened.see(&[3, 12]), Counter(u64::from(u32::MAX) + 9 + 5 + 2));
        // With one processor fewer, the sum does not fall.
        assert_eq!(widened.see(&[4]), Counter(u64::from(u32::MAX) + 16));
    }
}
