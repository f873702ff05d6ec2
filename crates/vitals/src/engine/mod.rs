//! Readings of the kernel's counters: the sources, samples at an interval, and the places from
//! which runs read vitals.
//!
//! A [`Sources`] belongs to the network namespace of the thread that opened it, whichever thread
//! takes the samples.

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
pub use meter::{Meter, Metered, ProcessorsUse};
pub use offloads::offloads;
pub use sampler::{SamplingEnd, every};
pub use serve::Server;
/// The words with which `sixmark vitals` says that it has taken the first sample.
pub const SAMPLING: &str = "taking samples";

pub use sources::{Sources, USUAL_SOCKET_SHARE, WantedVitals};
