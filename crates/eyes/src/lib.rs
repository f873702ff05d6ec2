//! What a client does when a family is slow or dead: Happy Eyeballs (RFC 8305), read from the packets at its
//! interface.
//!
//! [`eyes_case`] lists the networks in which a client is watched, [`case_lab`] describes each as a lab, and
//! [`engine`] starts the client in it. [`packet_reader`] makes a [`client_trace`] of the packets of one start;
//! [`behaviour`] finds its delays and its order in that, and [`clause`] judges them.
//!
//! Only [`engine`] opens sockets and files, starts threads and programs, and reads clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod behaviour;
pub mod browser_start;
pub mod case_lab;
pub mod clause;
pub mod client_trace;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
pub mod eyes_case;
pub mod eyes_result;
pub mod figures;
pub mod packet_reader;
pub mod sheet;
