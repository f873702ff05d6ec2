//! What happens to frames on a link, in one direction.

use crate::plan::fields::Fields;

/// What happens to frames that travel over a link in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairment {}

impl Impairment {
    /// The same, with what `other` says in the place of what this does.
    #[must_use]
    pub fn with(self, _other: Impairment) -> Impairment {
        self
    }
}

/// Takes a direction's keys from among others.
pub(crate) fn impairment(_fields: &mut Fields<'_>) -> Impairment {
    Impairment {}
}
