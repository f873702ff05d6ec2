//! Results as text and CSV. Each report is a function from a result to a string.

pub mod csv;
pub mod find;
mod number;
pub mod study;
pub mod text;

use crate::result::FamilyResult;
use crate::timing::Summary;

/// A named figure of something.
type Figure<T> = (&'static str, fn(&T) -> Option<f64>);

/// A phase's name and its durations, where the kind of load has them.
type Phase = (&'static str, fn(&FamilyResult) -> Option<&Summary>);

/// The phases in the order of an exchange, an open loop's times, and the connection's lifetime.
const PHASES: [Phase; 8] = [
    ("connect", |f| Some(&f.connect_us)),
    ("tls", |f| f.tls.as_ref().map(|tls| &tls.tls_us)),
    ("wait", |f| Some(&f.wait_us)),
    ("transfer", |f| Some(&f.transfer_us)),
    ("slip", |f| f.slip_us.as_ref()),
    ("service", |f| f.service_us.as_ref()),
    ("response", |f| Some(&f.response_us)),
    ("lifetime", |f| Some(&f.lifetime_us)),
];

pub use number::{bytes, count, duration_us};
