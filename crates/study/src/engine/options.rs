//! The options of a study run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sixmark_sys::enclosure::Rights;

use super::study_fleet::StudyFleet;

/// The options of a study run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The seed of the order and of all cells; random if absent.
    pub seed: Option<u64>,
    /// The folder to keep it in; if absent, named after the study and the time.
    pub out: Option<PathBuf>,
    /// The folder of a study to resume.
    pub resume: Option<PathBuf>,
    /// Whether to resume although something has changed.
    pub force: bool,
    /// How long the command may measure until the study's claims are decided. If absent, a new study has
    /// its repetitions alone, and one that is resumed what it began with.
    pub until_decided: Option<Duration>,
    /// The rights in the enclosure of this process, which a study in a lab needs.
    pub rights: Option<Rights>,
    /// The agents that generate the load of the cells that sixmark itself loads; this process if
    /// absent.
    pub fleet: Option<Arc<dyn StudyFleet>>,
}
