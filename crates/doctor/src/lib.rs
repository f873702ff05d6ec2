//! What a machine allows sixmark: which commands and options work here, and the command that mends
//! each thing that is missing.
//!
//! [`engine`] reads the kernel's settings and tries what can be tried. Its result, [`facts`], is
//! plain data. [`judge`] turns facts into findings, so that a table of facts can stand for any
//! machine. [`doctor_result`] is the document; [`sheet`] shows it.
//!
//! Only [`engine`] opens files and sockets, starts processes and reads clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod doctor_result;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
pub mod facts;
pub mod finding;
pub mod judge;
pub mod parse;
pub mod purpose;
pub mod sheet;
