//! The options of commands that load, as typed, in groups by what they are about.
//!
//! A command takes the groups that mean something to it, and so lacks the options of the others.
#![allow(
    missing_docs,
    rustdoc::broken_intra_doc_links,
    reason = "a comment of an option is its help, in which brackets are optional parts"
)]

mod connection;
mod fill;
mod load;
mod measure;
mod request;
mod target;
mod workload;

pub use connection::ConnectionArgs;
pub use load::{LoadArgs, OpenLoopArgs, ScheduleArgs};
pub use measure::{MeasureArgs, SeedArgs};
pub use request::RequestArgs;
pub use target::TargetArgs;
pub use workload::WorkloadArgs;
