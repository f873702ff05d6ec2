//! What makes the figures of this machine scatter: processors that are busy or stolen.

use std::fmt;

use sixmark_units::quantity::write_percent;
use sixmark_vitals::engine::{ProcessorsUse, Sources, WantedVitals};
use sixmark_vitals::host::CpuTimes;

/// The cause of noise since a study began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MachineNoise(ProcessorsUse);

impl MachineNoise {
    /// Reads what this machine's processors did; `None` if that can't be read.
    pub(super) fn read_processors() -> Option<CpuTimes> {
        let mut sources = Sources::open(&WantedVitals::default()).ok()?;
        Some(sources.sample().ok()?.host.cpu)
    }

    /// Returns the noise since an earlier reading; `None` if there is none worth a word.
    pub(super) fn since(before: Option<&CpuTimes>) -> Option<MachineNoise> {
        let now = MachineNoise::read_processors()?;
        let used = ProcessorsUse::between(before?, &now)?;
        let ProcessorsUse { busy, stolen } = used;
        let noisy = stolen >= ProcessorsUse::NOISY_STOLEN || busy >= ProcessorsUse::NOISY_BUSY;
        noisy.then_some(MachineNoise(used))
    }
}

impl fmt::Display for MachineNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProcessorsUse { busy, stolen } = self.0;
        if stolen >= ProcessorsUse::NOISY_STOLEN {
            write!(f, "the hypervisor took {} of this machine's time", write_percent(stolen))
        } else {
            write!(f, "this machine's processors are {} busy", write_percent(busy))
        }
    }
}
