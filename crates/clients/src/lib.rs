//! Other clients than sixmark: their command lines and what they print ([`client`]), files of tools that
//! ran elsewhere ([`import`]), and browsers ([`browser`]).
//!
//! Only [`browser`] opens files, starts programs and reads clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod browser;
pub mod client;
pub mod import;
pub mod import_tool;
pub mod setting;
