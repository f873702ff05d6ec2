//! The options that select stored results.

use super::when::When;
use crate::report::headline::DocumentKind;
use crate::store::ListFilter;

/// Which results of a kind are meant.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct FilterArgs {
    /// Only results that started at or after this day, time (UTC) or age (2d)
    #[arg(long, value_name = "DATE")]
    since: Option<When>,

    /// Only results that started at or before this day, time (UTC) or age
    #[arg(long, value_name = "DATE")]
    until: Option<When>,

    /// Only results with this text in a target's URL
    #[arg(long, value_name = "TEXT")]
    pub(super) target: Option<String>,

    /// Only results with this label
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,

    /// Show at most this many results, the newest; 0 shows all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: u32,
}

impl FilterArgs {
    /// Returns the filter for results of a kind, or of any.
    pub(super) fn filter(self, kind: Option<DocumentKind>) -> ListFilter {
        ListFilter {
            kind,
            since: self.since.map(|when| when.begin()),
            until: self.until.map(|when| when.end()),
            target: self.target,
            label: self.label,
            limit: (self.limit > 0).then_some(self.limit),
        }
    }
}
