//! Whether a site is as good over IPv6 as over IPv4, from where the user stands.
//!
//! [`engine`] looks the name up and fetches the site a few times from each of its addresses. Its
//! result, [`observed`] with each [`site_fetch`], is plain data. [`judge`] turns it into findings, so that
//! a table of observations can stand for any site. [`check_result`] is the document; [`changed_since`]
//! compares two of them; [`sheet`] shows it.
//!
//! Only [`engine`] opens sockets and files, starts threads and reads clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod changed_since;
pub mod check_result;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
pub mod happy_eyeballs;
pub mod judge;
pub mod observed;
pub mod path_probe;
pub mod sheet;
pub mod site_fetch;
pub mod site_finding;
pub mod site_since;
pub mod site_verdict;
pub mod special_address;
pub mod zone_servers;
