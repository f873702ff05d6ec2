//! The plan of a run, as data and pure functions: targets, requests and checks of their responses,
//! the rate and the mix over time, and what is imported into it.
//!
//! This crate contains no sockets, files, threads or clocks. Begin with [`plan`], the load that a run
//! generates; [`pace`], [`mix`] and [`dues`] say when each request is due and to which family.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod check;
pub mod dues;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod import;
pub mod mix;
pub mod pace;
pub mod plan;
pub mod request_form;
pub mod template;
