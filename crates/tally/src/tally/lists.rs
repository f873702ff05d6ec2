//! The counts that are kept in lists: by endpoint, by request and by step.

use super::{EndpointTally, FamilyTally};
use crate::by_request::RequestTally;
use crate::by_step::StepTally;

impl FamilyTally {
    /// Returns the counts of one endpoint, which are created if necessary.
    #[inline]
    pub fn endpoint(&mut self, number: usize) -> &mut EndpointTally {
        entry(&mut self.endpoints, number)
    }

    /// Returns the counts of the requests with one name, which are created if necessary.
    #[inline]
    pub fn request(&mut self, number: usize) -> &mut RequestTally {
        entry(&mut self.requests, number)
    }

    /// Returns the counts of one step, which are created if necessary.
    #[inline]
    pub fn step(&mut self, number: usize) -> &mut StepTally {
        entry(&mut self.steps, number)
    }

    /// Returns the counts to which an exchange belongs beside those of its family: by the number of
    /// its request's name, and of its step. They are created if necessary.
    #[inline]
    pub fn counted_apart(
        &mut self,
        name: Option<usize>,
        step: Option<usize>,
    ) -> impl Iterator<Item = &mut RequestTally> {
        let of_name = name.map(|number| entry(&mut self.requests, number));
        let of_step = step.map(|number| &mut entry(&mut self.steps, number).exchanges);
        of_name.into_iter().chain(of_step)
    }
}

/// Returns an entry of a list, which grows if necessary.
#[inline]
fn entry<T: Default>(list: &mut Vec<T>, number: usize) -> &mut T {
    if list.len() <= number {
        list.resize_with(number + 1, T::default);
    }
    &mut list[number]
}
