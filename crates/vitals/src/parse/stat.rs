//! Parses the counters of processors and events.

use procfs_core::{CpuTime, ExplicitSystemInfo, FromBufReadSI as _, KernelStats};

use super::TICK_US;
use crate::counter::Counter;
use crate::host::{CpuTimes, Events, MachineVitals};

/// Parses `/proc/stat`. Values that are not in that file are 0 or empty.
///
/// # Errors
/// Returns a one-line error if the text does not have the kernel's format.
pub fn stat(text: &str) -> Result<MachineVitals, String> {
    let (ticks_per_second, page_size) = (1_000_000 / TICK_US, 4_096);
    let system = ExplicitSystemInfo {
        boot_time_secs: 0,
        ticks_per_second,
        page_size,
        is_little_endian: true,
    };
    let found = KernelStats::from_buf_read(text.as_bytes(), &system)
        .map_err(|error| format!("/proc/stat: {error}"))?;
    // procfs-core does not parse this line. Its first number is the sum of the others.
    let sum = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Ok(MachineVitals {
        cpu: times(&found.total),
        cores: found.cpu_time.iter().map(times).collect(),
        events: Events {
            context_switches: Counter(found.ctxt),
            interrupts: Counter(sum("intr ").unwrap_or(0)),
            forks: Counter(found.processes),
            ..Events::default()
        },
        running: found.procs_running.unwrap_or(0).into(),
        blocked: found.procs_blocked.unwrap_or(0).into(),
        ..MachineVitals::default()
    })
}

fn times(of: &CpuTime) -> CpuTimes {
    let us = |ticks: u64| Counter(ticks.saturating_mul(TICK_US));
    let or = |ticks: Option<u64>| us(ticks.unwrap_or(0));
    CpuTimes {
        user_us: us(of.user),
        nice_us: us(of.nice),
        system_us: us(of.system),
        irq_us: or(of.irq),
        softirq_us: or(of.softirq),
        steal_us: or(of.steal),
        idle_us: us(of.idle),
        iowait_us: or(of.iowait),
    }
}

/// Returns the runs of the softirqs NET_RX and NET_TX, over all processors (`/proc/softirqs`).
pub fn softirqs(text: &str) -> [Counter; 2] {
    ["NET_RX:", "NET_TX:"].map(|name| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name));
        let numbers = line.unwrap_or("").split_whitespace().filter_map(|n| n.parse::<u64>().ok());
        Counter(numbers.sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  6244693 417205 1140590 4469959 1309557 2 328468 4394 0 0\n\
        cpu0 3075212 199484 566540 2486245 450746 1 172311 2238 0 0\n\
        cpu1 3169480 217720 574050 1983714 858811 1 156156 2156 0 0\n\
        intr 161641386 0 0 17\nctxt 534923981\nbtime 1763000000\nprocesses 901\n\
        procs_running 3\nprocs_blocked 1\nsoftirq 9 1 2 3\n";

    #[test]
    fn processors_and_events_are_read() {
        let found = stat(STAT).unwrap();
        assert_eq!(found.cpu.user_us, Counter(62_446_930_000));
        assert_eq!(found.cpu.steal_us, Counter(43_940_000));
        assert_eq!(found.cpu.busy_us(), (6_244_693 + 417_205 + 1_140_590 + 2 + 328_468) * TICK_US);
        assert_eq!(found.cores.len(), 2);
        assert_eq!(found.cores[1].idle_us, Counter(19_837_140_000));
        assert_eq!(found.events.interrupts, Counter(161_641_386));
        assert_eq!(found.events.context_switches, Counter(534_923_981));
        assert_eq!((found.running, found.blocked), (3, 1));
        assert!(stat("cpu 1 2\n").unwrap_err().starts_with("/proc/stat"));
    }

    #[test]
    fn softirqs_of_all_processors_are_summed_up() {
        let text = "                    CPU0       CPU1\n          HI:          1          2\n      \
                    NET_TX:         18          7\n      NET_RX:    2342342      10000\n";
        assert_eq!(softirqs(text), [Counter(2_352_342), Counter(25)]);
    }
}
