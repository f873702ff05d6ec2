//! Limits on files, ports, queues and memory.

use sixmark_sys::limit;

use super::files::{number, text};
use crate::facts::{LimitFacts, Reading};
use crate::parse;

/// The mount of control groups of version 2.
pub(super) const GROUPS: &str = "/sys/fs/cgroup";

pub(super) fn examine_limits() -> LimitFacts {
    let ports = text("/proc/sys/net/ipv4/ip_local_port_range").and_then(|range| {
        let reserved = text("/proc/sys/net/ipv4/ip_local_reserved_ports").unwrap_or_default();
        parse::ports(&range, &reserved)
    });
    LimitFacts {
        open_files: limit::open_files_limits()
            .map_err(|error| format!("the limits on open files can't be read: {error}")),
        most_open_files: number("/proc/sys/fs/nr_open"),
        ports,
        backlog: number("/proc/sys/net/core/somaxconn"),
        memory: text("/proc/meminfo").and_then(|text| parse::memory(&text)),
        memory_limit: memory_limit(),
    }
}

/// Returns the lowest limit of the control groups in which the process is.
fn memory_limit() -> Reading<Option<u64>> {
    let groups = text("/proc/self/cgroup")?;
    let limit = |path: String| number(&format!("{GROUPS}{path}/memory.max")).ok();
    Ok(parse::group_paths(&groups).into_iter().filter_map(limit).min())
}
