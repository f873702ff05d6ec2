//! Processors.

use std::collections::BTreeSet;
use std::fs;

use super::files::{number, text};
use super::limits::GROUPS;
use crate::facts::{ProcessorFacts, Reading};
use crate::parse;

/// The folder of the processors.
const PROCESSORS: &str = "/sys/devices/system/cpu";

pub(super) fn examine_processors() -> ProcessorFacts {
    let online = text(&format!("{PROCESSORS}/online")).and_then(|list| parse::count_listed(&list));
    let allowed = text("/proc/self/status")
        .and_then(|status| parse::count_listed(parse::status_field(&status, "Cpus_allowed_list")?));
    // A container lists processors that the machine lacks.
    let allowed = match (&allowed, &online) {
        (Ok(allowed), Ok(online)) => Ok((*allowed).min(*online)),
        _ => allowed,
    };
    ProcessorFacts {
        online,
        allowed,
        quota: quota(),
        governors: governors(),
        boosts: boosts(),
        smt: smt(),
        is_virtual: text("/proc/cpuinfo").map(|text| is_virtual(&text)),
        steal: text("/proc/stat").and_then(|text| parse::steal(&text)),
    }
}

/// Returns the lowest limit of the control groups in which the process is.
fn quota() -> Reading<Option<f64>> {
    let groups = text("/proc/self/cgroup")?;
    let of = |path: String| parse::quota(&text(&format!("{GROUPS}{path}/cpu.max")).ok()?);
    Ok(parse::group_paths(&groups).into_iter().filter_map(of).reduce(f64::min))
}

fn governors() -> Reading<BTreeSet<String>> {
    let folders = fs::read_dir(format!("{PROCESSORS}/cpufreq")).into_iter().flatten().flatten();
    let governor = |folder: fs::DirEntry| {
        text(&folder.path().join("scaling_governor").display().to_string()).ok()
    };
    let found: BTreeSet<String> = folders.filter_map(governor).collect();
    if found.is_empty() {
        Err("the kernel shows no governor (usual in virtual machines)".to_owned())
    } else {
        Ok(found)
    }
}

fn boosts() -> Option<bool> {
    let boost = number(&format!("{PROCESSORS}/cpufreq/boost")).map(|value| value > 0);
    let no_turbo = number(&format!("{PROCESSORS}/intel_pstate/no_turbo")).map(|value| value == 0);
    boost.or(no_turbo).ok()
}

fn smt() -> Reading<bool> {
    number(&format!("{PROCESSORS}/smt/active")).map(|value| value > 0)
}

/// Returns whether the processor has the flag that hypervisors set.
fn is_virtual(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|line| line.split_whitespace().any(|flag| flag == "hypervisor"))
}
