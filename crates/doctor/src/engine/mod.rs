//! Reads and tries what a machine allows.

mod exchange;
mod families;
mod files;
mod host;
mod kernel;
mod limits;
mod processors;
mod storage;

use std::path::PathBuf;

use sixmark_lab::trial;

use crate::facts::{Facts, NamespaceFacts, ProgramFacts};

/// What only the caller knows.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The programs that commands and studies use.
    pub programs: ProgramFacts,
    /// The store; `Ok(None)` if no results are stored, an error if it has no place.
    pub store: Result<Option<WantedStore>, String>,
}

/// The file of the store.
#[derive(Clone, Debug)]
pub struct WantedStore {
    /// Its path.
    pub path: PathBuf,
    /// Whether missing folders above it are made.
    pub makes_folders: bool,
}

/// Reads and tries everything. This process must have one thread; it has one afterwards.
pub fn examine(wanted: Wanted) -> Facts {
    // First, because it forks.
    let namespaces = examine_namespaces();
    Facts {
        host: host::examine_host(),
        families: families::examine_families(),
        loopback_up: families::is_loopback_up(),
        namespaces,
        uring: kernel::examine_uring(),
        kernel: kernel::examine_kernel(),
        limits: limits::examine_limits(),
        processors: processors::examine_processors(),
        interfaces: families::examine_interfaces(),
        programs: wanted.programs,
        storage: storage::examine_storage(wanted.store),
    }
}

fn examine_namespaces() -> NamespaceFacts {
    let trial = trial::try_out();
    let number = |path: &str| files::number(path).ok();
    NamespaceFacts {
        trial,
        userns_clone: number("/proc/sys/kernel/unprivileged_userns_clone"),
        apparmor_restricts: number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        max_user: number("/proc/sys/user/max_user_namespaces"),
        max_net: number("/proc/sys/user/max_net_namespaces"),
    }
}
