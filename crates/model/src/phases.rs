//! The phases of an exchange, and how each is read from figures.

use crate::family_result::FamilyResult;
use crate::timing::Summary;

/// A phase's name and its durations, where the kind of load has them.
pub type Phase = (&'static str, fn(&FamilyResult) -> Option<&Summary>);

/// The phases in the order of an exchange, an open loop's times, and the connection's lifetime.
pub const PHASES: [Phase; 8] = [
    ("connect", |f| Some(&f.connect_us)),
    ("tls", |f| f.tls.as_ref().map(|tls| &tls.tls_us)),
    ("wait", |f| Some(&f.wait_us)),
    ("transfer", |f| Some(&f.transfer_us)),
    ("slip", |f| f.slip_us.as_ref()),
    ("service", |f| f.service_us.as_ref()),
    ("response", |f| Some(&f.response_us)),
    ("lifetime", |f| Some(&f.lifetime_us)),
];
