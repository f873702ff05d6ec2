//! The end of a connection.

use super::connection_report::Closure;

/// The observed events at the end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Closing {
    /// The first reset: which side sent it, or that it refused the SYN.
    reset: Option<Closure>,
    /// True if both sides had sent a FIN before the reset.
    normal: bool,
}

impl Closing {
    /// Records a reset. `refuses` is true if it is the server's answer to the SYN, `through` if
    /// both sides had sent a FIN.
    pub(super) fn cut_off(&mut self, by_client: bool, refuses: bool, through: bool) {
        self.normal |= through && self.reset.is_none();
        let closure = if refuses { Closure::Refused } else { Closure::Reset { by_client } };
        self.reset.get_or_insert(closure);
    }

    pub(super) fn is_cut_off(&self) -> bool {
        self.reset.is_some()
    }

    /// Returns how the connection ended. `through` is true if both sides have sent a FIN;
    /// `otherwise` is the result if neither side ended the connection.
    pub(super) fn closure(&self, through: bool, otherwise: Closure) -> Closure {
        match self.reset {
            Some(_) if self.normal => Closure::Normal,
            Some(reset) => reset,
            None if through => Closure::Normal,
            None => otherwise,
        }
    }
}
