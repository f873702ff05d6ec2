//! Whether a program works in networks of IPv6 alone, of IPv4 alone, of both and with translation, and why not.
//!
//! [`app_scenario`] lists the scenarios, [`scenario_lab`] describes the network of each as a lab, and [`engine`]
//! starts the program in it. [`wire_reader`] makes an [`app_wire`] of the packets of one start;
//! [`client_findings`] and [`server_findings`] find in a start what is wrong, and [`judge_program`] judges all
//! of them. [`only6_result`] is the document and [`sheet`] shows it. [`filed_folder`] is what is filed: the
//! document, its captures and their hashes, from which everything can be computed again.
//!
//! Only [`engine`] opens sockets and files, starts threads and programs, and reads clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod app_finding;
pub mod app_scenario;
pub mod app_start;
pub mod app_wire;
pub mod client_findings;
pub mod content_literals;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
pub mod filed_folder;
pub mod judge_program;
pub mod only6_result;
pub mod only6_warnings;
pub mod scenario_lab;
pub mod server_findings;
pub mod sheet;
pub mod way_cost;
pub mod wire_reader;
