//! What the kernel counts, read: sources, samples at an interval, and where runs get them from.
//!
//! A [`Sources`] belongs to the network namespace of the thread that opened it, whatever thread asks it
//! for samples then.

mod cgroups;
mod file;
mod from;
mod links;
mod machine;
mod meter;
mod namespace;
mod offloads;
mod processes;
mod sampler;
mod scrape;
mod serve;
mod sockets;
mod sources;

pub use from::VitalsFrom;
pub(crate) use meter::{Meter, Metered};
pub use offloads::offloads;
pub use sampler::{SamplingEnd, every};
pub use serve::Server;
pub use sources::{Sources, WantedVitals};
