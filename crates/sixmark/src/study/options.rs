//! What may be chosen for a study that runs.

use std::path::PathBuf;

use sixmark_sys::enclosure::Rights;

/// What may be chosen for a study that runs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Decides the order; random where absent.
    pub seed: Option<u64>,
    /// The folder to keep it in; named after the study and the time where absent.
    pub out: Option<PathBuf>,
    /// The folder of a study to go on with.
    pub resume: Option<PathBuf>,
    /// Goes on though something has changed.
    pub force: bool,
    /// What the enclosure allows that this process is in, which a study in a lab needs.
    pub rights: Option<Rights>,
}
