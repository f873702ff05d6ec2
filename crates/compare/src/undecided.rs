//! Why a metric has no verdict.

use serde::{Deserialize, Serialize};

use sixmark_stats::Refused;

/// Why a metric has no verdict, for advice on what would decide it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UndecidedCause {
    /// Too few samples lie beyond the quantile.
    FewSamples,
    /// There are too few pairs to show any difference.
    FewPairs,
    /// The pairs are too few to test this metric beside those before it.
    NotTested,
    /// A side has no figure in some pairs.
    NoFigure,
    /// The interval is too wide.
    Noise,
    /// Of as many metrics as were tested, one may differ this much by chance.
    Chance,
    /// Side A differed as much from itself.
    NoiseFloor,
    /// This machine's own delay differs between the sides by as much.
    OwnDelay,
    /// The figures allow no estimate.
    Unusable,
}

/// The cause, and the reason in words.
#[derive(Debug)]
pub(crate) struct Undecided {
    pub(crate) cause: UndecidedCause,
    pub(crate) reason: String,
}

impl Undecided {
    pub(crate) fn new(cause: UndecidedCause, reason: impl Into<String>) -> Undecided {
        Undecided { cause, reason: reason.into() }
    }
}

impl From<&Refused> for Undecided {
    fn from(refused: &Refused) -> Undecided {
        let cause = match refused {
            Refused::ThinTail { .. } => UndecidedCause::FewSamples,
            Refused::TooFew { .. } => UndecidedCause::FewPairs,
            Refused::Empty
            | Refused::NotFinite
            | Refused::NoShare
            | Refused::NoProportion
            | Refused::Moved => UndecidedCause::Unusable,
        };
        Undecided::new(cause, refused.to_string())
    }
}
