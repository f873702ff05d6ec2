//! The design of a study: its file ([`spec`]), with factors, levels, cells and claims, the form in which
//! it is carried out, and its document ([`study_result`]).
//!
//! A *cell* is one combination of the factors' levels, and is measured once in each repetition.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod form;
pub mod levels;
pub mod looks;
pub mod spec;
pub mod study_result;
