//! Poisson arrivals of one worker.

use std::num::NonZeroU64;

use sixmark_units::family::{Family, PerFamily};
use sixmark_units::random::Random;

use super::poisson_variate::draw_poisson;
use crate::mix::share_of_worker;
use crate::pace::OpenLoop;
use crate::plan::Plan;
use crate::plan::ratio::PlanRatio;

/// Separate these random numbers from others with the same seed.
const FAMILIES: u64 = 0x706f_6973_0000_0001;
const PARTS: u64 = 0x706f_6973_0000_0002;
const COUNTS: u64 = 0x706f_6973_0000_0003;

/// The arrivals of one worker, each given by the *amount* of the load at its time: how many
/// arrivals the rate predicts up to then, over all workers.
#[derive(Clone, Debug)]
pub(super) struct Poisson {
    amount: f64,
    /// The mean of the amount between two arrivals of the worker.
    step: f64,
    /// The amount at the start of the measurement.
    measured_from: f64,
    times: Random,
    families: Random,
    ratio: PlanRatio,
    /// True if the plan gives the number of arrivals.
    asked: bool,
    /// `None` if the load has no end.
    counted: Option<Counted>,
}

/// What is left of a given number of arrivals, all of them before a given amount.
#[derive(Clone, Debug)]
struct Counted {
    left: PerFamily<u64>,
    /// The amount up to its end.
    rest: f64,
    end: f64,
}

impl Poisson {
    pub(super) fn new(plan: &Plan, open: &OpenLoop, worker: u32) -> Poisson {
        // As the curve computes it, so that the measurement begins at exactly this amount.
        let measured_from = open.first_rate().per_s() * plan.load.warmup.as_secs_f64();
        let asked = plan.load.requests;
        let left = match asked {
            Some(total) => Some((counts_of_worker(plan, total, worker), total.get() as f64)),
            None => expected(plan, open).map(|amount| (drawn_counts(plan, amount, worker), amount)),
        };
        let counted = left.map(|(left, rest)| Counted { left, rest, end: measured_from + rest });
        Poisson {
            amount: 0.0,
            step: plan.load.threads.get().into(),
            measured_from,
            times: Random::new(plan.seed, worker.into()),
            families: Random::new(plan.seed ^ FAMILIES, worker.into()),
            ratio: plan.ratio,
            asked: asked.is_some(),
            counted,
        }
    }

    pub(super) fn is_spent(&self) -> bool {
        let began = self.amount >= self.measured_from;
        self.asked
            && began
            && self.counted.as_ref().is_some_and(|counted| counted.left == PerFamily::default())
    }

    /// Returns the amount at the next arrival, its family, and whether it is measured.
    pub(super) fn next(&mut self) -> Option<(f64, Family, bool)> {
        if self.amount < self.measured_from || self.counted.is_none() {
            self.amount += self.step * self.times.exponential();
            if self.amount < self.measured_from || self.counted.is_none() {
                let is_v6 = self.families.below(self.ratio.sum()) < self.ratio.v6();
                let family = if is_v6 { Family::Ipv6 } else { Family::Ipv4 };
                return Some((self.amount, family, self.amount >= self.measured_from));
            }
            self.amount = self.measured_from;
        }
        let counted = self.counted.as_mut()?;
        let amount = self.amount + counted.next_step(&mut self.times)?;
        // Rounding must not move the last one to the end, which is no part of the load any more.
        self.amount = amount.min(counted.end.next_down());
        Some((self.amount, counted.next_family(&mut self.families), true))
    }
}

impl Counted {
    /// Returns the amount before the next arrival: the least of as many uniform variates as arrivals
    /// are left (David and Nagaraja, Order Statistics, 2003, section 2.5). `None` if none is left.
    fn next_step(&mut self, random: &mut Random) -> Option<f64> {
        let left = self.left.ipv6 + self.left.ipv4;
        if left == 0 {
            return None;
        }
        // The share of the rest before the least of them: 1 - u^(1/left). Steps are added up, since
        // the rest of a long load has no digits for a short step.
        let step = -(-random.exponential() / left as f64).exp_m1() * self.rest;
        self.rest -= step;
        Some(step)
    }

    /// Returns the family of the next arrival, so that every order of those that are left is
    /// equally likely.
    fn next_family(&mut self, random: &mut Random) -> Family {
        let is_v6 = random.below(self.left.ipv6 + self.left.ipv4) < self.left.ipv6;
        let family = if is_v6 { Family::Ipv6 } else { Family::Ipv4 };
        self.left[family] -= 1;
        family
    }
}

/// Returns how many of `total` measured Poisson arrivals of all workers worker number `worker` has
/// over each family. The sum over all workers has the ratio rounded to the nearest, half up, and any
/// consecutive workers have their part of it to within one.
pub fn counts_of_worker(plan: &Plan, total: NonZeroU64, worker: u32) -> PerFamily<u64> {
    let total = total.get();
    let (position, count) = share_of_worker(total, plan.load.threads.get().into(), worker.into());
    let (part, sum) = plan.ratio.lowest();
    let [all, part, sum] = [total, part, sum].map(u128::from);
    let of_v6 = (all * part * 2 + sum) / (sum * 2);
    // A line through all workers with a random offset, so that no worker is always rounded up.
    let offset = u128::from(Random::new(plan.seed ^ PARTS, 0).below(total));
    let line = |position: u64| (u128::from(position) * of_v6 + offset) / all;
    let ipv6 = (line(position + count) - line(position)) as u64;
    PerFamily { ipv6, ipv4: count - ipv6 }
}

/// Returns how many measured arrivals the rate predicts. `None` if the load has no end.
fn expected(plan: &Plan, open: &OpenLoop) -> Option<f64> {
    let lasts = open.duration().or(plan.load.duration)?;
    Some(open.mean_per_s() * lasts.as_secs_f64())
}

/// Returns how many arrivals worker number `worker` has over each family where the rate predicts
/// `amount` of all families and workers.
///
/// The counts of the families are independent Poisson variates, so that each family's arrivals are a
/// Poisson process (Kingman, section 2.4). Workers divide them evenly. That takes nothing from the
/// process of the whole, and on each worker only the count of the whole load varies less. But it
/// keeps an agent of a fleet that is further away from having more of one family by chance.
fn drawn_counts(plan: &Plan, amount: f64, worker: u32) -> PerFamily<u64> {
    // A family that is alone has the same count whichever it is, as both sides of a comparison must.
    let mut random = Random::new(plan.seed ^ COUNTS, 0);
    let [workers, worker] = [plan.load.threads.get(), worker].map(u128::from);
    let mut count = |part: u64| {
        let mean = amount * part as f64 / plan.ratio.sum() as f64;
        let all = u128::from(draw_poisson(&mut random, mean));
        // The same workers are rounded up for both families.
        let line = |position: u128| (position * all).div_ceil(workers);
        (line(worker + 1) - line(worker)) as u64
    };
    PerFamily { ipv6: count(plan.ratio.v6()), ipv4: count(plan.ratio.v4()) }
}
