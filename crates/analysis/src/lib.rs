//! The analyses of a study: tables, charts, comparisons ([`outputs`]) and the answers to its claims, all
//! computed from the figures of its cells.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod analyse;
pub mod average;
pub mod claims;
mod group_view;
pub mod imported_levels;
mod observation;
pub mod outputs;
mod unlike;
