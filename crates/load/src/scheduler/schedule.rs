//! The endpoint of a worker's next exchange, and whether there is a next one.

use std::num::NonZeroU64;

use sixmark_plan::mix::{FamilyMix, share_of_worker};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::random::Random;

use super::endpoint_order::EndpointOrder;
use super::fairness_deficits::FairnessDeficits;
use crate::prepare::PreparedLoad;

/// Distinguish the schedules that are derived from one seed: those of the warm-up, and those of
/// workers that do not share a fixed number of requests.
const WARM_UP: u64 = 0x7761_726d_0000_0000;
const LONE: u64 = 0x6c6f_6e65_0000_0000;

/// Limits of a family's deficit on a worker: the exchanges by which it is behind. It is 1/`ONE_IN`
/// of those drawn for the family, so that short and slow runs too have their ratio to within one or
/// two hundredths, and at most `MOST_DEFICIT`. It is at least the number of concurrency slots, all
/// of which may end at once, and at least `LEAST_DEFICIT`, because servers process several requests
/// of one connection before they turn to the next. These minimums are smaller for a family with
/// less than half of all exchanges, so that a rare family is not postponed forever.
const ONE_IN: u64 = 64;
const LEAST_DEFICIT: u64 = 16;
pub(crate) const MOST_DEFICIT: u64 = 1_024;
/// Number of exchanges that start before another connection is given to the other family, as a
/// multiple of the largest deficit. Equal families fall behind alternately, and connections should
/// not go back and forth because of that.
const SHIFT_AFTER: u64 = 4;

/// A worker's part of the schedule of a closed loop, or the order in which connections are opened.
#[derive(Debug)]
pub(crate) struct Schedule {
    mix: FamilyMix,
    endpoints: EndpointOrder,
    /// The number of exchanges still to be drawn. `None` if there is no limit.
    left: Option<u64>,
    /// By family: the number drawn, the deficit, and the deficit that is allowed however few were
    /// drawn.
    drawn: PerFamily<u64>,
    deficit: PerFamily<u64>,
    least: PerFamily<u64>,
    fairness_deficits: FairnessDeficits,
    /// A further limit of the deficit of a family: the end is near.
    ceiling: u64,
    /// The number of exchanges that had started when a connection was last given to another family.
    shifted_at: u64,
}

/// What is next: an exchange starts at this endpoint in this way, or there is no way to any
/// endpoint that is due, the first of which is returned.
pub(crate) type NextExchange<W> = Result<(usize, W), usize>;

impl Schedule {
    /// Creates the measured part of worker number `worker`.
    pub(crate) fn measured(prepared: &PreparedLoad, worker: u32) -> Schedule {
        let load = &prepared.plan.load;
        let Some(total) = load.requests.map(NonZeroU64::get) else {
            // How many exchanges each worker will reach is unknown, so each has a schedule of its
            // own.
            return Schedule::alone(prepared, worker, LONE);
        };
        let (position, count) = share_of_worker(total, load.threads.get().into(), worker.into());
        let mix = FamilyMix::new(prepared.plan.ratio, prepared.plan.seed, Some(total));
        Schedule::of(prepared, worker, mix.starting_at(position), Some(count))
    }

    /// Creates the schedule of the warm-up, which has no end.
    pub(crate) fn warm_up(prepared: &PreparedLoad, worker: u32) -> Schedule {
        Schedule::alone(prepared, worker, WARM_UP)
    }

    fn alone(prepared: &PreparedLoad, worker: u32, stream: u64) -> Schedule {
        let seed = Random::new(prepared.plan.seed, stream + u64::from(worker)).bits();
        Schedule::of(prepared, worker, FamilyMix::new(prepared.plan.ratio, seed, None), None)
    }

    fn of(prepared: &PreparedLoad, worker: u32, mix: FamilyMix, left: Option<u64>) -> Schedule {
        let plan = &prepared.plan;
        // A closed loop deals them, whichever part of the load it is.
        let endpoints = EndpointOrder::new(prepared, worker, false);
        let fairness_deficits = FairnessDeficits::new(prepared.endpoints.len());
        let concurrency_slots = plan.in_flight() / u64::from(plan.load.threads.get());
        let (v6, all) = plan.ratio.lowest();
        let part = |family| if family == Family::Ipv6 { v6 } else { all - v6 };
        let least = |family| {
            let of_all = (2 * part(family)).min(all);
            (LEAST_DEFICIT.max(concurrency_slots) * of_all).div_ceil(all)
        };
        let (drawn, deficit, ceiling) = (PerFamily::default(), PerFamily::default(), u64::MAX);
        let least = PerFamily::from_fn(least);
        Schedule {
            mix,
            endpoints,
            left,
            drawn,
            deficit,
            least,
            fairness_deficits,
            ceiling,
            shifted_at: 0,
        }
    }

    /// Returns true if no exchange is left to start.
    pub(crate) fn is_over(&self) -> bool {
        self.left == Some(0) && self.fairness_deficits.total() == 0
    }

    /// Returns the next exchange for which `way` finds a way to its endpoint: the first in the
    /// drawn order, except that exchanges without a way are passed over. Those are the deficits of
    /// their endpoints. If a deficit is too large, no more are drawn, so no family and no address
    /// ever gets further ahead of the ratio than that.
    ///
    /// So a connection that becomes free continues with an exchange of its own endpoint instead of
    /// idling until the order reaches it, even if the server answers one family later than the
    /// other. Must not be called when the schedule is over.
    ///
    /// Deficits of endpoints that are `held` are not sent as long as others are drawn. If any
    /// endpoint is held, every endpoint must have a way.
    pub(crate) fn next<W>(
        &mut self,
        prepared: &PreparedLoad,
        held: impl Fn(usize) -> bool,
        mut way: impl FnMut(usize) -> Option<W>,
    ) -> NextExchange<W> {
        let drawn = self.is_drawn();
        let held = |endpoint| !drawn && held(endpoint);
        if self.fairness_deficits.total() > 0
            && let Some(settled) = self.fairness_deficits.settle(&held, &mut way)
        {
            self.deficit[prepared.endpoints[settled.0].family] -= 1;
            return Ok(settled);
        }
        loop {
            // Usually, there is no deficit.
            let behind = match self.fairness_deficits.total() {
                0 => None,
                _ => Family::BOTH.into_iter().find(|&f| self.is_behind(f)),
            };
            let family_of = |endpoint: usize| prepared.endpoints[endpoint].family;
            let may_settle = |family| {
                self.fairness_deficits
                    .oldest(|endpoint| family == family_of(endpoint) && !held(endpoint))
            };
            let behind = behind.filter(|&family| may_settle(family).is_some());
            if behind.is_some() || self.is_drawn() {
                let of_family = |endpoint| behind.is_none_or(|f| f == family_of(endpoint));
                return Err(self.fairness_deficits.oldest(of_family).unwrap_or(0));
            }
            let family = self.draw_family();
            let endpoint = self.endpoints.next(prepared, family);
            if let Some(way) = way(endpoint) {
                return Ok((endpoint, way));
            }
            self.fairness_deficits.add(endpoint);
            self.deficit[family] += 1;
        }
    }

    /// Returns true if nothing more is drawn. A connection without an exchange and without a
    /// deficit then gets no more.
    pub(crate) fn is_drawn(&self) -> bool {
        self.left == Some(0)
    }

    /// Limits the deficit of a family from now on. Larger deficits are reduced first; nothing is
    /// drawn before that.
    pub(crate) fn limit_deficit(&mut self, ceiling: u64) {
        self.ceiling = ceiling;
    }

    /// Returns true if a connection may be given to a family that is behind although it has one.
    /// The effect of the previous change must be visible first: responses come in batches, and
    /// giving away all idle connections at once would put the other family behind.
    pub(crate) fn may_shift(&mut self) -> bool {
        let begun = self.drawn.ipv6 + self.drawn.ipv4 - self.fairness_deficits.total() as u64;
        let enough = Family::BOTH.map(|family| self.largest_deficit(family)).into_iter().max();
        let may = begun >= self.shifted_at + SHIFT_AFTER * enough.unwrap_or(0);
        self.shifted_at = if may { begun } else { self.shifted_at };
        may
    }

    fn is_behind(&self, family: Family) -> bool {
        // A family that the ratio does not use has no deficit.
        self.deficit[family] > 0
            && self.deficit[family] >= self.largest_deficit(family).min(self.ceiling)
    }

    fn largest_deficit(&self, family: Family) -> u64 {
        self.least[family].max((self.drawn[family] / ONE_IN).min(MOST_DEFICIT))
    }

    /// Draws the next exchange and returns the number of its endpoint. Must not be called when the
    /// schedule is over.
    pub(crate) fn draw(&mut self, prepared: &PreparedLoad) -> usize {
        let family = self.draw_family();
        self.endpoints.next(prepared, family)
    }

    /// Draws the family of the next exchange without choosing an endpoint.
    fn draw_family(&mut self) -> Family {
        self.left = self.left.map(|left| left.saturating_sub(1));
        let family = self.mix.draw();
        self.drawn[family] += 1;
        family
    }
}
