//! Parses the files of control groups, version 2.

use procfs_core::{FromBufRead as _, ProcessCGroups};

use crate::counter::Counter;
use crate::group::{Group, GroupKind};

/// Returns the control group of a process from its `/proc/PID/cgroup`, as a path relative to the
/// mount point of version 2, or `None` if it is in the root group, which contains all processes.
pub fn path_of(text: &str) -> Option<String> {
    let found = ProcessCGroups::from_buf_read(text.as_bytes()).ok()?;
    let own = found.0.into_iter().find(|group| group.hierarchy == 0)?;
    (own.pathname != "/").then_some(own.pathname)
}

/// Builds a group from the contents of `cpu.stat`, `memory.current`, `io.stat` and `pids.current`.
/// The text of a missing file is empty; its values are then 0.
pub fn cgroup(name: &str, cpu: &str, memory: &str, io: &str, pids: &str) -> Group {
    let of = |name: &str| {
        let line = cpu.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Counter(line.and_then(|number| number.trim().parse().ok()).unwrap_or(0))
    };
    let bytes = |name: &str| {
        let words = io.split_whitespace().filter_map(|word| word.strip_prefix(name));
        Counter(words.filter_map(|number| number.parse::<u64>().ok()).sum())
    };
    let mut group = Group {
        name: name.to_owned(),
        kind: GroupKind::Cgroup,
        processes: pids.trim().parse().unwrap_or(0),
        memory_bytes: memory.trim().parse().unwrap_or(0),
        ..Group::default()
    };
    group.counters.user_us = of("user_usec");
    group.counters.system_us = of("system_usec");
    group.counters.read_bytes = bytes("rbytes=");
    group.counters.written_bytes = bytes("wbytes=");
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_version_2_is_found() {
        let text = "9:name=systemd:/\n4:memory:/x\n0::/system.slice/nginx.service\n";
        assert_eq!(path_of(text).as_deref(), Some("/system.slice/nginx.service"));
        assert_eq!(path_of("9:name=systemd:/\n0::/\n"), None);
    }

    #[test]
    fn a_group_is_read_from_its_files() {
        let cpu = "usage_usec 300\nuser_usec 200\nsystem_usec 100\nnr_periods 0\n";
        let io = "254:0 rbytes=4096 wbytes=8192 rios=1 wios=2\n254:16 rbytes=1 wbytes=0\n";
        let found = cgroup("/web", cpu, "123456\n", io, "7\n");
        assert_eq!((found.cpu_us(), found.memory_bytes, found.processes), (300, 123_456, 7));
        assert_eq!(found.counters.read_bytes, Counter(4_097));
        assert_eq!(cgroup("/web", "", "", "", "").cpu_us(), 0);
    }
}
