//! How a connection ends.

use super::observed::Closure;

/// What was seen of a connection's end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Closing {
    /// Who cut it off first, and whether that was an answer to the SYN.
    reset: Option<Closure>,
    /// Both sides had said their last before that.
    normal: bool,
}

impl Closing {
    /// One side cuts it off. `refuses` where it is the server that had said nothing yet but to a SYN;
    /// `through` where both sides had said their last.
    pub(super) fn cut_off(&mut self, by_client: bool, refuses: bool, through: bool) {
        self.normal |= through && self.reset.is_none();
        let closure = if refuses { Closure::Refused } else { Closure::Reset { by_client } };
        self.reset.get_or_insert(closure);
    }

    pub(super) fn is_cut_off(&self) -> bool {
        self.reset.is_some()
    }

    /// How it ended: `otherwise` where nobody ended it; `through` where both sides have said their last.
    pub(super) fn closure(&self, through: bool, otherwise: Closure) -> Closure {
        match self.reset {
            Some(_) if self.normal => Closure::Normal,
            Some(reset) => reset,
            None if through => Closure::Normal,
            None => otherwise,
        }
    }
}
