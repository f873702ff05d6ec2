//! Looking up the addresses of host names, each family by itself.
//!
//! [`look_up`] asks the system's resolver, so that `/etc/hosts` and nsswitch.conf(5) apply. Its
//! answers don't say enough: glibc reports FORMERR as an unknown name, musl needs seconds to report
//! SERVFAIL, and neither names the server. Where it has no address, [`ask`] therefore asks the name
//! servers of resolv.conf(5) directly. What a family has then is one of four: addresses, no such
//! name, no address of this type, or a failure with what each name server answered.
//!
//! [`message`] (DNS messages, RFC 1035) and [`sources`] (the resolver's files) are pure.

pub mod ask;
mod lookup;
#[cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod message;
#[cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod sources;
pub mod transport;

pub use lookup::{FamilyAnswer, FamilyLookup, NameLookup, look_up, look_up_any};
