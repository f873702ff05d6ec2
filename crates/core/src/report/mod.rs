//! Results as text and CSV. Each report is a function from a result to a string.

pub mod csv;
mod number;
pub mod text;

use crate::result::FamilyResult;
use crate::timing::Summary;

/// A named figure of something.
type Figure<T> = (&'static str, fn(&T) -> Option<f64>);

/// A phase's name and its durations.
type Phase = (&'static str, fn(&FamilyResult) -> &Summary);

/// The phases in the order of an exchange, and the connection's lifetime.
const PHASES: [Phase; 5] = [
    ("connect", |f| &f.connect_us),
    ("wait", |f| &f.wait_us),
    ("transfer", |f| &f.transfer_us),
    ("response", |f| &f.response_us),
    ("lifetime", |f| &f.lifetime_us),
];

pub use number::{bytes, count, duration_us};
