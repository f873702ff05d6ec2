//! Parses files of the kernel and of the system.

use std::collections::BTreeSet;

use crate::facts::{CapabilityFacts, MemoryFacts, PortRange};

/// Returns the value of a field such as `CapEff:` in /proc/PID/status.
pub fn status_field<'a>(status: &'a str, name: &str) -> Result<&'a str, String> {
    let field = |line: &'a str| line.strip_prefix(name)?.strip_prefix(':').map(str::trim);
    status.lines().find_map(field).ok_or_else(|| format!("/proc/self/status has no {name}"))
}

/// Returns the effective user id in /proc/PID/status.
pub fn effective_user(status: &str) -> Result<u32, String> {
    let ids = status_field(status, "Uid")?;
    let id = ids.split_whitespace().nth(1).and_then(|id| id.parse().ok());
    id.ok_or_else(|| format!("/proc/self/status: Uid: {ids}"))
}

/// Returns the capabilities in /proc/PID/status.
pub fn capabilities(status: &str) -> Result<CapabilityFacts, String> {
    let set = |name: &str| {
        let text = status_field(status, name)?;
        u64::from_str_radix(text, 16).map_err(|_| format!("/proc/self/status: {name}: {text}"))
    };
    Ok(CapabilityFacts {
        effective: set("CapEff")?,
        bounding: set("CapBnd")?,
        no_new: status_field(status, "NoNewPrivs").is_ok_and(|value| value != "0"),
    })
}

/// Returns the number of processors in a list such as `0-3,8`.
pub fn count_listed(list: &str) -> Result<u64, String> {
    let wrong = || format!("'{}' is not a list of processors", list.trim());
    let mut count: u64 = 0;
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let numbers = first.parse::<u64>().ok().zip(last.parse::<u64>().ok());
        let (first, last) = numbers.filter(|(first, last)| first <= last).ok_or_else(wrong)?;
        count = count.saturating_add((last - first).saturating_add(1));
    }
    Ok(count)
}

/// Returns the ports of ip_local_port_range without those of ip_local_reserved_ports.
pub fn ports(range: &str, reserved: &str) -> Result<PortRange, String> {
    let mut numbers = range.split_whitespace().map(str::parse::<u64>);
    let (Some(Ok(low)), Some(Ok(high))) = (numbers.next(), numbers.next()) else {
        return Err(format!("ip_local_port_range is '{}'", range.trim()));
    };
    let mut found = 0;
    for part in reserved.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let numbers = first.parse::<u64>().ok().zip(last.parse::<u64>().ok());
        let (first, last) = numbers.ok_or_else(|| format!("reserved ports: '{part}'"))?;
        found += last.min(high).saturating_add(1).saturating_sub(first.max(low));
    }
    Ok(PortRange { low, high, reserved: found })
}

/// Returns the memory in /proc/meminfo.
pub fn memory(meminfo: &str) -> Result<MemoryFacts, String> {
    let bytes = |name: &str| {
        let value = |line: &str| {
            let kib = line.strip_prefix(name)?.strip_prefix(':')?.trim().strip_suffix("kB")?;
            kib.trim().parse::<u64>().ok()
        };
        let found = meminfo.lines().find_map(value);
        found.map(|kib| kib * 1024).ok_or_else(|| format!("/proc/meminfo has no {name}"))
    };
    Ok(MemoryFacts { total: bytes("MemTotal")?, available: bytes("MemAvailable")? })
}

/// Returns the share of time that a hypervisor took, in /proc/stat.
pub fn steal(stat: &str) -> Result<f64, String> {
    let wrong = || "/proc/stat has no line of all processors".to_owned();
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).ok_or_else(wrong)?;
    let ticks: Vec<u64> = line.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal; time of guests is part of user's.
    let (Some(all), Some(steal)) = (ticks.get(..8), ticks.get(7)) else { return Err(wrong()) };
    let sum: u64 = all.iter().sum();
    Ok(if sum == 0 { 0.0 } else { *steal as f64 / sum as f64 })
}

/// Returns the folders of the process's control groups, innermost first, below the mount of
/// version 2 (`cpu.max`), from /proc/self/cgroup.
pub fn group_paths(cgroup: &str) -> Vec<String> {
    let Some(path) = cgroup.lines().find_map(|line| line.strip_prefix("0::")) else {
        return Vec::new();
    };
    let mut path = path.trim_end_matches('/');
    let mut found = Vec::new();
    while !path.is_empty() {
        found.push(path.to_owned());
        path = path.rsplit_once('/').map_or("", |(above, _)| above);
    }
    found.push(String::new());
    found
}

/// Returns the number of processors that a `cpu.max` allows; `None` if it sets no limit.
pub fn quota(cpu_max: &str) -> Option<f64> {
    let mut words = cpu_max.split_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next()?.parse().ok()?;
    (period > 0.0).then_some(quota / period)
}

/// Returns whether a system is Debian or one made from it, from /etc/os-release.
pub fn is_debian(os_release: &str) -> bool {
    let value = |line: &str| {
        let (name, value) = line.split_once('=')?;
        matches!(name, "ID" | "ID_LIKE").then(|| value.trim_matches('"').to_owned())
    };
    let values: BTreeSet<String> = os_release.lines().filter_map(value).collect();
    values.iter().any(|value| value.split(' ').any(|word| matches!(word, "debian" | "ubuntu")))
}

/// The inode of the first PID namespace, a constant of the kernel (PROC_PID_INIT_INO).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// What shows that a process is in a container.
#[derive(Clone, Debug, Default)]
pub struct ContainerMarks {
    /// The target of /proc/self/ns/pid.
    pub namespace: String,
    /// The text of /run/.containerenv, which podman makes.
    pub podman: Option<String>,
    /// Whether there is /.dockerenv.
    pub docker: bool,
    /// The environment variable `container`.
    pub variable: Option<String>,
}

/// Returns what made the container; `None` outside of one. Images of containers are also booted as
/// virtual machines, so that their files alone prove nothing: there must be a PID namespace.
pub fn container(marks: &ContainerMarks) -> Option<String> {
    if marks.namespace == FIRST_PID_NAMESPACE {
        return None;
    }
    let podman = marks.podman.as_ref().map(|_| "podman".to_owned());
    let variable = marks.variable.clone().filter(|name| !name.is_empty());
    let docker = marks.docker.then(|| "docker".to_owned());
    Some(podman.or(variable).or(docker).unwrap_or_else(|| "a PID namespace".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_user_and_capabilities_of_a_process() {
        let status = "Name:\tsixmark\nUid:\t1000\t1001\t1000\t1000\nNoNewPrivs:\t1\n\
                      CapPrm:\t0000000000002000\nCapEff:\t0000000000002000\n\
                      CapBnd:\t000001ffffffffff\nSeccomp:\t2\n";
        assert_eq!(effective_user(status), Ok(1001));
        let expected =
            CapabilityFacts { effective: 0x2000, bounding: 0x1ff_ffff_ffff, no_new: true };
        assert_eq!(capabilities(status), Ok(expected));
        assert_eq!(status_field(status, "Seccomp"), Ok("2"));
        assert!(status_field(status, "Cap").is_err());
    }

    #[test]
    fn counts_lists_and_port_ranges() {
        for (list, count) in [("0-1\n", 2), ("0-3,8", 5), ("7", 1), ("", 0)] {
            assert_eq!(count_listed(list), Ok(count), "{list}");
        }
        assert!(count_listed("3-1").is_err());
        let usual = ports("32768\t60999\n", "\n").unwrap();
        assert_eq!((usual.low, usual.high, usual.count()), (32_768, 60_999, 28_232));
        let fewer = ports("40000 40019", "1-39999,40001,40010-50000").unwrap();
        assert_eq!((fewer.reserved, fewer.count()), (11, 9));
        assert!(ports("", "").is_err());
    }

    #[test]
    fn parses_memory_and_steal_time() {
        let found = memory("MemTotal:  24683520 kB\nMemFree: 1 kB\nMemAvailable:  1024 kB\n");
        let expected = MemoryFacts { total: 24_683_520 * 1024, available: 1_048_576 };
        assert_eq!(found, Ok(expected));
        assert!(memory("MemTotal: 1 kB\n").is_err());
        assert_eq!(steal("cpu  10 0 10 50 10 0 10 10 5 5\ncpu0 1\n"), Ok(0.1));
        assert!(steal("cpu  1 2\n").is_err());
    }

    #[test]
    fn lists_control_group_paths_up_to_the_root() {
        assert_eq!(group_paths("1:cpu:/x\n0::/a/b\n"), ["/a/b", "/a", ""]);
        assert_eq!(group_paths("0::/\n"), [""]);
        assert_eq!(group_paths("1:cpu:/x\n"), Vec::<String>::new());
        assert_eq!((quota("150000 100000\n"), quota("max 100000\n")), (Some(1.5), None));
    }

    #[test]
    fn recognises_debian_and_its_derivatives() {
        assert!(is_debian("NAME=x\nID=debian\n"));
        assert!(is_debian("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"));
        assert!(!is_debian("ID=fedora\nVARIANT=debian\n"));
    }

    #[test]
    fn recognises_a_container_by_its_pid_namespace() {
        let booted = ContainerMarks {
            namespace: FIRST_PID_NAMESPACE.into(),
            docker: true,
            ..ContainerMarks::default()
        };
        assert_eq!(container(&booted), None);
        let of = |marks: ContainerMarks| {
            container(&ContainerMarks { namespace: "pid:[4026532300]".into(), ..marks })
        };
        let podman = ContainerMarks { podman: Some(String::new()), ..ContainerMarks::default() };
        assert_eq!(of(podman).as_deref(), Some("podman"));
        let docker = ContainerMarks { docker: true, ..ContainerMarks::default() };
        assert_eq!(of(docker).as_deref(), Some("docker"));
        assert_eq!(of(ContainerMarks::default()).as_deref(), Some("a PID namespace"));
    }
}
