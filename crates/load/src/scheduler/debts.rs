//! Exchanges that are owed to endpoints: their turn came while every connection to their endpoint
//! was busy and no more could be opened. Others go before them, but only a limited number.

use std::collections::VecDeque;

/// Maximum number of endpoints that are checked for one that can be paid. With more endpoints than
/// connections, nearly every exchange needs another connection anyway.
const LOOKED_AT: usize = 16;

/// The number of exchanges owed to each endpoint.
#[derive(Debug)]
pub(super) struct Debts {
    owed: Vec<u32>,
    /// The endpoints to which exchanges are owed, those that have waited for longest first.
    owing: VecDeque<usize>,
    total: usize,
}

impl Debts {
    /// Creates an empty list for `endpoints` endpoints.
    pub(super) fn new(endpoints: usize) -> Debts {
        Debts { owed: vec![0; endpoints], owing: VecDeque::new(), total: 0 }
    }

    /// Returns the number of all exchanges owed.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Returns the endpoint that has waited for longest among those that match `of`.
    pub(super) fn oldest(&self, of: impl Fn(usize) -> bool) -> Option<usize> {
        self.owing.iter().copied().find(|&endpoint| of(endpoint))
    }

    /// Adds an exchange to this endpoint, whose turn is passed over.
    pub(super) fn add(&mut self, endpoint: usize) {
        if self.owed[endpoint] == 0 {
            self.owing.push_back(endpoint);
        }
        self.owed[endpoint] += 1;
        self.total += 1;
    }

    /// Removes the first exchange for which there is a way now, and returns its endpoint. Endpoints
    /// that are `held` are passed over.
    pub(super) fn pay<W>(
        &mut self,
        held: &impl Fn(usize) -> bool,
        way: &mut impl FnMut(usize) -> Option<W>,
    ) -> Option<(usize, W)> {
        let mut looked_at = 0;
        for position in 0..self.owing.len() {
            let endpoint = self.owing[position];
            if held(endpoint) {
                continue;
            }
            if looked_at == LOOKED_AT {
                break;
            }
            looked_at += 1;
            if let Some(way) = way(endpoint) {
                self.settle(endpoint, position);
                return Some((endpoint, way));
            }
        }
        None
    }

    fn settle(&mut self, endpoint: usize, position: usize) {
        self.total -= 1;
        self.owed[endpoint] -= 1;
        if self.owed[endpoint] == 0 {
            self.owing.remove(position);
        } else if position == 0 {
            // It is the turn of the other endpoints next.
            self.owing.rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_owed_is_paid_once_to_whom_there_is_a_way_the_oldest_first() {
        let mut debts = Debts::new(3);
        [2, 0, 2].iter().for_each(|&endpoint| debts.add(endpoint));
        assert_eq!((debts.total(), debts.oldest(|_| true)), (3, Some(2)));
        assert_eq!(debts.oldest(|endpoint| endpoint < 2), Some(0));
        let none = |_| false;
        assert_eq!(debts.pay(&none, &mut |_| None::<()>), None);
        let to_first = &mut |endpoint| (endpoint == 0).then_some('a');
        assert_eq!(debts.pay(&none, to_first), Some((0, 'a')));
        assert_eq!(debts.pay(&none, &mut Some), Some((2, 2)));
        assert_eq!(debts.pay(&none, &mut Some), Some((2, 2)));
        assert_eq!((debts.pay(&none, &mut Some), debts.total()), (None, 0));
    }

    #[test]
    fn endpoints_that_wait_take_turns() {
        let mut debts = Debts::new(2);
        [0, 0, 0, 1, 1].iter().for_each(|&endpoint| debts.add(endpoint));
        let paid: Vec<_> = (0..5).map(|_| debts.pay(&|_| false, &mut Some).unwrap().0).collect();
        assert_eq!(paid, [0, 1, 0, 1, 0]);
    }

    #[test]
    fn those_that_are_held_keep_what_they_are_owed_and_are_in_nobodys_way() {
        let others = LOOKED_AT + 1;
        let mut debts = Debts::new(others + 1);
        (0..=others).for_each(|endpoint| debts.add(endpoint));
        let held = |endpoint| endpoint < others;
        assert_eq!(debts.pay(&held, &mut Some), Some((others, others)));
        assert_eq!((debts.pay(&held, &mut Some), debts.total()), (None, others));
    }
}
