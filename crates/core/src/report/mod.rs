//! Results as text, CSV, Markdown, HTML and JUnit's XML. Each report is a function from results to a
//! string.

pub mod comparison;
pub mod csv;
pub mod find;
pub mod gates;
pub mod html;
pub mod junit;
pub mod long;
pub mod markdown;
mod reasons;
pub mod sheet;
pub mod study;
pub mod text;
pub mod traffic;
pub mod vitals;

use crate::family_result::FamilyResult;
use crate::timing::Summary;

/// A named figure of something.
type Figure<T> = (&'static str, fn(&T) -> Option<f64>);

/// A phase's name and its durations, where the kind of load has them.
type Phase = (&'static str, fn(&FamilyResult) -> Option<&Summary>);

/// The phases in the order of an exchange, an open loop's times, and the connection's lifetime.
pub(crate) const PHASES: [Phase; 8] = [
    ("connect", |f| Some(&f.connect_us)),
    ("tls", |f| f.tls.as_ref().map(|tls| &tls.tls_us)),
    ("wait", |f| Some(&f.wait_us)),
    ("transfer", |f| Some(&f.transfer_us)),
    ("slip", |f| f.slip_us.as_ref()),
    ("service", |f| f.service_us.as_ref()),
    ("response", |f| Some(&f.response_us)),
    ("lifetime", |f| Some(&f.lifetime_us)),
];
