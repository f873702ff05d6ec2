//! How a load is divided among agents: each gets a range of its workers, whose numbers divide
//! connections, requests, arrivals, families and random numbers exactly. Constant arrivals are
//! divided among the agents first (`sixmark_plan::dues`), so that each has the ratio of families.

use std::ops::Range;

use sixmark_plan::mix::share_of_worker;

/// Returns the workers of each of `agents` agents, as evenly as possible. With fewer workers than
/// agents, the last ones get none.
pub fn worker_ranges(workers: u32, agents: u32) -> Vec<Range<u32>> {
    let range = |agent: u32| {
        let (first, number) = share_of_worker(workers.into(), agents.into(), agent.into());
        first as u32..(first + number) as u32
    };
    (0..agents).map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_workers_and_differ_in_length_by_at_most_one() {
        for workers in 1..40 {
            for agents in 1..12 {
                let ranges = worker_ranges(workers, agents);
                let all: Vec<u32> = ranges.iter().cloned().flatten().collect();
                assert_eq!(all, (0..workers).collect::<Vec<_>>(), "{workers} {agents}");
                let lengths = || ranges.iter().map(ExactSizeIterator::len);
                assert!(lengths().max() <= lengths().min().map(|least| least + 1));
            }
        }
    }
}
