//! The agents that generate the load of a study's cells.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_lab::Up;
use sixmark_run::Generators;
use sixmark_sys::command_error::CommandError;

/// The agents that are to generate the load of the cells that sixmark itself loads.
///
/// A study takes them when its services are up, in a lab anew each time that the lab has been built,
/// and lets them go before that.
pub trait StudyFleet: Debug + Send + Sync {
    /// Returns where the agents are: hosts, or the server that they wait at. A study that is resumed
    /// must have them at the same places.
    fn places(&self) -> Vec<String>;

    /// Takes the agents. `lab` is the study's own lab, if it has one. Call this in the main thread,
    /// because agents that are placed end with the thread that placed them.
    ///
    /// # Errors
    /// An agent can't be placed, is missing or is busy; or another controller has the fleet.
    fn take(
        &self,
        lab: Option<&Up>,
        stop: &AtomicBool,
    ) -> Result<Arc<dyn Generators>, CommandError>;
}
