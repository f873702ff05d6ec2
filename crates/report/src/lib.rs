//! How the result of a run is shown: page and Markdown ([`sheet`]), terminal ([`text`]), live view
//! ([`board`]), and values for spreadsheets ([`csv`]). Nothing here is measured or decided.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod board;
pub mod csv;
pub mod gate_text;
pub mod sheet;
pub mod text;
