//! The machine that generates the load, as recorded in results.

use std::collections::BTreeMap;
use std::fs::read_to_string;

use crate::provenance::{Environment, RouteTaken};

/// Kernel settings that affect connections, their buffers and their rate.
const SYSCTLS: [&str; 10] = [
    "net/core/rmem_max",
    "net/core/somaxconn",
    "net/core/wmem_max",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_fin_timeout",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_tw_reuse",
    "net/ipv4/tcp_wmem",
    "net/ipv6/conf/all/disable_ipv6",
];

/// Returns what can be read about this machine; what can't be read is omitted.
pub fn environment(routes: Vec<RouteTaken>) -> Environment {
    Environment {
        kernel: format!("Linux {}", read_line("/proc/sys/kernel/osrelease").unwrap_or_default()),
        cpu: cpu().unwrap_or_default(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        sysctls: sysctls(),
        routes,
    }
}

fn read_line(path: &str) -> Option<String> {
    let text = read_to_string(path).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn cpu() -> Option<String> {
    let info = read_to_string("/proc/cpuinfo").ok()?;
    let model = info.lines().find(|line| line.starts_with("model name"))?;
    Some(model.split_once(':')?.1.trim().to_owned())
}

fn sysctls() -> BTreeMap<String, String> {
    let read =
        |name: &&str| Some((name.replace('/', "."), read_line(&format!("/proc/sys/{name}"))?));
    SYSCTLS.iter().filter_map(read).collect()
}
