//! Basic types that every other crate of sixmark uses: the address family ([`family`]), counts
//! ([`counts`]), quantities as text ([`quantity`]), days ([`calendar`]), the encoding of text files
//! ([`plain_text`]), untrusted text for a terminal ([`visible`]), random numbers from a seed
//! ([`random`]), and what the kernel reports of a TCP connection ([`tcp_info`]).
//!
//! This crate contains nothing about HTTP, packets, runs or results, and it uses no socket, file,
//! thread or clock. Begin with [`family::Family`] and [`family::PerFamily`], which occur throughout
//! the project.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod calendar;
pub mod counts;
pub mod family;
pub mod net;
pub mod plain_text;
pub mod quantity;
pub mod random;
pub mod tcp_info;
pub mod visible;
