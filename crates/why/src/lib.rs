//! Why the response times of two sides differ.
//!
//! [`divide`] divides the difference among the parts of a response, [`differs_with`] names what else
//! differs, and [`sheet`] says both.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod differs_with;
pub mod divide;
pub mod divided_difference;
pub mod part;
pub mod sheet;
