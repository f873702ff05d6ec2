//! What packets say of traffic that others made: connections and exchanges as they passed by, counted
//! as a run's are.

mod result;

pub use result::{
    Rates, RoundTripResult, SentResult, Source, Watched, WatchedFamily, WatchedServer,
};
