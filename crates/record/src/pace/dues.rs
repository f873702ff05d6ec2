//! The times at which one worker's arrivals are due.

use std::sync::Arc;

use super::{ArrivalProcess, Curve, OpenLoop, Timetable};
use sixmark_units::random::Random;

/// One worker's arrivals, in order of time.
///
/// Of each row of as many consecutive constant arrivals as there are workers, each worker takes
/// one, so that the arrivals of all workers together are evenly spaced. The entries of a timetable
/// are distributed in the same way. Which worker takes which one depends on the seed: if it were
/// always the same, then of two workers at a ratio of 1:1 each would send to one family only, and a
/// slow worker would look like a slow family.
///
/// Of Poisson arrivals, each worker has an independent process with an equal part of the rate.
/// Together they are a Poisson process of the whole rate.
#[derive(Clone, Debug)]
pub struct Dues {
    curve: Curve,
    piece: usize,
    next: Next,
}

/// Determines the next arrival, by how many exchanges of all workers arrive before it.
#[derive(Clone, Debug)]
enum Next {
    Constant(Rows),
    Listed { rows: Rows, table: Arc<Timetable> },
    Poisson { amount: f64, step: f64, random: Random },
}

/// The numbers that one worker takes: one of each row of `workers` consecutive numbers.
#[derive(Clone, Debug)]
struct Rows {
    seed: u64,
    row: u64,
    worker: u64,
    workers: u64,
}

impl Rows {
    fn next(&mut self) -> u64 {
        let turn = Random::new(self.seed, self.row).bits() % self.workers;
        let first = self.row.saturating_mul(self.workers);
        self.row += 1;
        first.saturating_add((self.worker + turn) % self.workers)
    }
}

/// One arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When it is due, in nanoseconds from the start of the load.
    pub at: u64,
    /// The number among the arrivals of all workers, from 0; `None` for Poisson arrivals.
    pub number: Option<u64>,
    /// The index of the request to send; `None` if there is no timetable.
    pub request: Option<u32>,
}

impl Dues {
    /// Creates the arrivals of worker number `worker` (from 0) of `workers`.
    pub fn new(open: &OpenLoop, curve: Curve, seed: u64, worker: u32, workers: u32) -> Dues {
        let rows = Rows { seed, row: 0, worker: worker.into(), workers: workers.into() };
        let next = match (&open.timetable, open.arrivals) {
            (Some(table), _) => Next::Listed { rows, table: Arc::clone(table) },
            (None, ArrivalProcess::Constant) => Next::Constant(rows),
            (None, ArrivalProcess::Poisson) => {
                let random = Random::new(seed, worker.into());
                Next::Poisson { amount: 0.0, step: workers.into(), random }
            }
        };
        Dues { curve, piece: 0, next }
    }
}

impl Iterator for Dues {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        let (amount, number) = match &mut self.next {
            Next::Constant(rows) => {
                let number = rows.next();
                (number as f64, Some(number))
            }
            Next::Listed { rows, table } => {
                let number = rows.next();
                let (at, request) = table.get(number)?;
                return Some(Due { at, number: Some(number), request: Some(request) });
            }
            Next::Poisson { amount, step, random } => {
                *amount += *step * random.exponential();
                (*amount, None)
            }
        };
        let at = self.curve.time_of(amount, &mut self.piece)?;
        Some(Due { at, number, request: None })
    }
}

/// Returns the number of the first constant arrival that is due at `time` or later. `about` is an
/// estimate of it, from the rate before `time`, where the search starts.
pub fn first_at(curve: &Curve, time: u64, about: f64) -> u64 {
    let due = |number: u64| curve.time_of(number as f64, &mut 0).unwrap_or(u64::MAX);
    let mut number = about as u64;
    while number > 0 && due(number - 1) >= time {
        number -= 1;
    }
    while due(number) < time {
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::mix::FamilyMix;
    use crate::pace::{RateStage, RequestRate};
    use crate::plan::ratio::PlanRatio;
    use sixmark_units::family::Family;

    const SECOND: u64 = 1_000_000_000;

    fn open(per_s: f64, arrivals: ArrivalProcess) -> OpenLoop {
        let stage = RateStage::endless(RequestRate::new(per_s).unwrap());
        OpenLoop { arrivals, ..OpenLoop::new(vec![stage]).unwrap() }
    }

    fn dues(open: &OpenLoop, seed: u64, worker: u32, workers: u32) -> Dues {
        Dues::new(open, Curve::new(open, Duration::ZERO), seed, worker, workers)
    }

    fn until(dues: Dues, end: u64) -> impl Iterator<Item = u64> {
        dues.map(|due| due.at).take_while(move |&at| at < end)
    }

    /// Returns when constant arrival number `number` is due, without computing those before it.
    fn due(per_s: f64, number: u64) -> u64 {
        let open = open(per_s, ArrivalProcess::Constant);
        let mut dues = dues(&open, 0, 0, 1);
        dues.next = Next::Constant(Rows { seed: 0, row: number, worker: 0, workers: 1 });
        let due = dues.next().unwrap();
        assert_eq!(due.number, Some(number));
        due.at
    }

    #[test]
    fn times_do_not_drift() {
        const K: u64 = 1_000_000_000;
        for rate in [1, 3, 7, 200, 999_983, 10_000_000] {
            // In integers: K seconds divided by the rate, rounded.
            let exact = (u128::from(K) * u128::from(SECOND) * 2 + rate) / (2 * rate);
            let error = (due(rate as f64, K) as f64 - exact as f64).abs();
            // The rounding error of 53 bits; at 1/s the time is 31 years.
            assert!(error <= (exact as f64 * 2.3e-16).max(1.0), "{rate}/s: {error} ns");
        }
        assert_eq!(due(10_000_000.0, K), 100 * SECOND);
        assert_eq!(due(0.001, 3), 3_000 * SECOND);
        // A time beyond the range of the clock is never reached; it does not wrap around.
        assert_eq!(due(0.001, K), u64::MAX);
    }

    #[test]
    fn constant_arrivals_of_all_workers_are_evenly_spaced() {
        let open = open(300.0, ArrivalProcess::Constant);
        for workers in [1, 2, 3, 7] {
            let of = |worker| until(dues(&open, 5, worker, workers), 2 * SECOND);
            let mut all: Vec<u64> = (0..workers).flat_map(of).collect();
            all.sort_unstable();
            assert_eq!(all.len(), 600, "{workers} workers");
            for (k, due) in all.iter().enumerate() {
                assert!(due.abs_diff(k as u64 * SECOND / 300) <= 1);
            }
        }
    }

    #[test]
    fn a_time_holds_as_many_arrivals_as_its_rate_says() {
        for per_s in [0.1, 1.0, 3.0, 200.0, 1_000.0, 99_991.0] {
            let open = open(per_s, ArrivalProcess::Constant);
            let count = until(dues(&open, 0, 0, 1), 10 * SECOND).count();
            assert_eq!(count as f64, per_s * 10.0, "{per_s}/s");
        }
    }

    #[test]
    fn every_worker_has_its_part_of_each_family() {
        let open = open(1_000.0, ArrivalProcess::Constant);
        for (v6, v4) in [(1, 1), (3, 1), (1, 4), (1, 7)] {
            let ratio = PlanRatio::new(v6, v4).unwrap();
            for workers in [2, 3, 4, 8] {
                for worker in 0..workers {
                    let numbers = dues(&open, 1, worker, workers).filter_map(|due| due.number);
                    let mut mix = FamilyMix::new(ratio, 1, None);
                    let is_v6 = |&number: &u64| mix.family_at(number) == Family::Ipv6;
                    let found = numbers.take(10_000).filter(is_v6).count() as f64 / 10_000.0;
                    let part = f64::from(v6) / f64::from(v6 + v4);
                    assert!((found - part).abs() < 0.025, "{ratio} {worker} of {workers}: {found}");
                }
            }
        }
    }

    /// Counts in windows of a Poisson process have the same mean and variance.
    #[test]
    fn poisson_arrivals_of_all_workers_are_one_process_of_the_rate() {
        for (seed, workers) in [(1, 1), (2, 2), (3, 7), (u64::MAX, 16)] {
            let open = open(1_000.0, ArrivalProcess::Poisson);
            let (windows, window) = (2_000u64, SECOND / 10);
            let mut counts = vec![0f64; windows as usize];
            for worker in 0..workers {
                let all = dues(&open, seed, worker, workers);
                until(all, windows * window).for_each(|due| counts[(due / window) as usize] += 1.0);
            }
            let mean = counts.iter().sum::<f64>() / windows as f64;
            let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
            let variance = squares / (windows - 1) as f64;
            // Five standard errors: sqrt(100 / 2000), and 100 sqrt(2 / 2000).
            assert!((mean - 100.0).abs() < 1.2, "{seed}: {mean}");
            assert!((variance - 100.0).abs() < 16.0, "{seed}: {variance}");
        }
    }

    #[test]
    fn a_seed_repeats_its_arrivals_and_workers_have_their_own() {
        let open = open(50.0, ArrivalProcess::Poisson);
        let first = |seed, worker| dues(&open, seed, worker, 2).take(20).collect::<Vec<_>>();
        assert_eq!(first(9, 0), first(9, 0));
        assert_ne!(first(9, 0), first(9, 1));
        assert_ne!(first(9, 0), first(10, 0));
    }

    #[test]
    fn constant_and_poisson_arrivals_share_a_ramp() {
        let stage = RateStage {
            from: RequestRate::ZERO,
            to: RequestRate::new(2_000.0).unwrap(),
            duration: Some(Duration::from_secs(100)),
        };
        for arrivals in [ArrivalProcess::Constant, ArrivalProcess::Poisson] {
            let open = OpenLoop { arrivals, ..OpenLoop::new(vec![stage]).unwrap() };
            let all: Vec<u64> = until(dues(&open, 5, 0, 1), u64::MAX).collect();
            assert!(all.is_sorted());
            for (until, expected) in [(25, 6_250.0), (50, 25_000.0), (100, 100_000.0f64)] {
                let found = all.iter().filter(|&&due| due < until * SECOND).count() as f64;
                let error =
                    if arrivals == ArrivalProcess::Constant { 1.0 } else { 5.0 * expected.sqrt() };
                assert!((found - expected).abs() <= error, "{arrivals} {until} s: {found}");
            }
        }
    }

    #[test]
    fn every_entry_of_a_timetable_is_one_worker_s() {
        let entries = (0..1_000u32).map(|k| (u64::from(k) * 7, k % 3)).collect();
        let open = OpenLoop::replay(Timetable::new(entries, 1.0).unwrap());
        for workers in [1, 2, 3, 7] {
            let of = |worker| dues(&open, 5, worker, workers);
            let mut all: Vec<Due> = (0..workers).flat_map(of).collect();
            all.sort_unstable_by_key(|due| due.at);
            let expected = (0..1_000).map(|k| Due {
                at: k * 7,
                number: Some(k),
                request: Some((k % 3) as u32),
            });
            assert_eq!(all, expected.collect::<Vec<_>>(), "{workers} workers");
        }
    }

    #[test]
    fn the_first_after_a_warm_up_is_found() {
        for (per_s, warmup, expected) in
            [(10.0, 3_000, 30), (10.0, 2_950, 30), (0.1, 3_000, 1), (3.0, 333, 1), (5.0, 0, 0)]
        {
            let open = open(per_s, ArrivalProcess::Constant);
            let warmup = Duration::from_millis(warmup);
            let curve = Curve::new(&open, warmup);
            let about = per_s * warmup.as_secs_f64();
            assert_eq!(first_at(&curve, warmup.as_nanos() as u64, about), expected, "{per_s}");
        }
    }
}
