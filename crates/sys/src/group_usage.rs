//! The processor time of a process group.

use std::fs;

/// Clock ticks per second in the times of /proc: 100 wherever Linux runs user programs (USER_HZ).
const TICKS: f64 = 100.0;

/// Returns the processor time of all processes of a group, in seconds, including that of children
/// they have waited for. 0 if /proc cannot be read.
pub fn of_group(group: u32) -> f64 {
    let Ok(processes) = fs::read_dir("/proc") else { return 0.0 };
    let stats =
        processes.flatten().filter_map(|found| fs::read_to_string(found.path().join("stat")).ok());
    stats.filter_map(|stat| ticks(&stat, group)).sum::<u64>() as f64 / TICKS
}

/// Returns the ticks of one process if it belongs to the group (proc_pid_stat(5)).
fn ticks(stat: &str, group: u32) -> Option<u64> {
    // The process name, in parentheses, may contain any character.
    let (_, rest) = stat.rsplit_once(')')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let number = |field: usize| words.get(field - 3).and_then(|word| word.parse::<u64>().ok());
    let own = number(5)? == u64::from(group);
    own.then(|| (14..=17).filter_map(number).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_ticks_of_a_group_member_with_any_name() {
        let stat = "7 (a b) c) S 1 42 42 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0";
        assert_eq!(ticks(stat, 42), Some(100));
        assert_eq!(ticks(stat, 43), None);
        assert_eq!(ticks("7 (a", 42), None);
    }
}
