//! The exchanges by which endpoints are behind the ratio: every connection to their endpoint was
//! busy when they were drawn, and no more could be opened. Others go before them, but only a
//! limited number.

use std::collections::VecDeque;

/// Maximum number of endpoints that are checked for one whose deficit can be reduced. With more
/// endpoints than connections, nearly every exchange needs another connection anyway.
const LOOKED_AT: usize = 16;

/// The number of exchanges by which each endpoint is behind.
#[derive(Debug)]
pub(super) struct FairnessDeficits {
    deficit: Vec<u32>,
    /// The endpoints that are behind, those that have waited for longest first.
    behind: VecDeque<usize>,
    total: usize,
}

impl FairnessDeficits {
    /// Creates an empty list for `endpoints` endpoints.
    pub(super) fn new(endpoints: usize) -> FairnessDeficits {
        FairnessDeficits { deficit: vec![0; endpoints], behind: VecDeque::new(), total: 0 }
    }

    /// Returns the deficits of all endpoints together.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Returns the endpoint that has waited for longest among those that match `of`.
    pub(super) fn oldest(&self, of: impl Fn(usize) -> bool) -> Option<usize> {
        self.behind.iter().copied().find(|&endpoint| of(endpoint))
    }

    /// Adds an exchange to this endpoint, which is passed over.
    pub(super) fn add(&mut self, endpoint: usize) {
        if self.deficit[endpoint] == 0 {
            self.behind.push_back(endpoint);
        }
        self.deficit[endpoint] += 1;
        self.total += 1;
    }

    /// Removes the first exchange for which there is a way now, and returns its endpoint. Endpoints
    /// that are `held` are passed over.
    pub(super) fn settle<W>(
        &mut self,
        held: &impl Fn(usize) -> bool,
        way: &mut impl FnMut(usize) -> Option<W>,
    ) -> Option<(usize, W)> {
        let mut looked_at = 0;
        for position in 0..self.behind.len() {
            let endpoint = self.behind[position];
            if held(endpoint) {
                continue;
            }
            if looked_at == LOOKED_AT {
                break;
            }
            looked_at += 1;
            if let Some(way) = way(endpoint) {
                self.reduce(endpoint, position);
                return Some((endpoint, way));
            }
        }
        None
    }

    fn reduce(&mut self, endpoint: usize, position: usize) {
        self.total -= 1;
        self.deficit[endpoint] -= 1;
        if self.deficit[endpoint] == 0 {
            self.behind.remove(position);
        } else if position == 0 {
            // The other endpoints are next.
            self.behind.rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settles_each_deficit_once_the_oldest_that_has_a_way_first() {
        let mut fairness_deficits = FairnessDeficits::new(3);
        [2, 0, 2].iter().for_each(|&endpoint| fairness_deficits.add(endpoint));
        assert_eq!((fairness_deficits.total(), fairness_deficits.oldest(|_| true)), (3, Some(2)));
        assert_eq!(fairness_deficits.oldest(|endpoint| endpoint < 2), Some(0));
        let none = |_| false;
        assert_eq!(fairness_deficits.settle(&none, &mut |_| None::<()>), None);
        let to_first = &mut |endpoint| (endpoint == 0).then_some('a');
        assert_eq!(fairness_deficits.settle(&none, to_first), Some((0, 'a')));
        assert_eq!(fairness_deficits.settle(&none, &mut Some), Some((2, 2)));
        assert_eq!(fairness_deficits.settle(&none, &mut Some), Some((2, 2)));
        assert_eq!(
            (fairness_deficits.settle(&none, &mut Some), fairness_deficits.total()),
            (None, 0)
        );
    }

    #[test]
    fn endpoints_that_wait_take_turns() {
        let mut fairness_deficits = FairnessDeficits::new(2);
        [0, 0, 0, 1, 1].iter().for_each(|&endpoint| fairness_deficits.add(endpoint));
        let settled: Vec<_> =
            (0..5).map(|_| fairness_deficits.settle(&|_| false, &mut Some).unwrap().0).collect();
        assert_eq!(settled, [0, 1, 0, 1, 0]);
    }

    #[test]
    fn held_endpoints_stay_in_the_queue_without_blocking_others() {
        let others = LOOKED_AT + 1;
        let mut fairness_deficits = FairnessDeficits::new(others + 1);
        (0..=others).for_each(|endpoint| fairness_deficits.add(endpoint));
        let held = |endpoint| endpoint < others;
        assert_eq!(fairness_deficits.settle(&held, &mut Some), Some((others, others)));
        assert_eq!(
            (fairness_deficits.settle(&held, &mut Some), fairness_deficits.total()),
            (None, others)
        );
    }
}
