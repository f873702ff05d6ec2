//! Which endpoint a worker's next exchange goes to, and whether there is a next one.

use std::num::NonZeroU64;

use sixmark_record::mix::{Deal, FamilyMix, share_of_worker};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::random::Random;

use super::debts::Debts;
use crate::prepare::PreparedLoad;

/// Tell the schedules apart that come of one seed: those of the warm-up, and of workers that share no
/// numbers.
const WARM_UP: u64 = 0x7761_726d_0000_0000;
const LONE: u64 = 0x6c6f_6e65_0000_0000;

/// Exchanges that may be owed to a family on a worker: one in so many of those drawn for it, so that
/// short and slow runs too have their ratio to within a hundredth or two; but at least one for each
/// permit, all of which may end at once, at least so many (servers answer several requests of one
/// connection before they turn to the next), and at most so many. A family that has less
/// than half of all has less of the least, too, so that a rare one's turn is not put off for ever.
const ONE_IN: u64 = 64;
const LEAST_OWED: u64 = 16;
pub(crate) const MOST_OWED: u64 = 1_024;
/// Exchanges that begin before another connection is given to the other family, in what may be owed:
/// equal families fall behind by turns, and their connections should not go to and fro for it.
const SHIFT_AFTER: u64 = 4;

/// One worker's part of the run's schedule.
#[derive(Debug)]
pub(crate) struct Schedule {
    mix: FamilyMix,
    deals: PerFamily<Deal>,
    /// Exchanges still to be drawn; no end where absent.
    left: Option<u64>,
    /// Those drawn, those of them that have not begun, and how many of these may be owed however few
    /// were drawn.
    drawn: PerFamily<u64>,
    owed: PerFamily<u64>,
    least: PerFamily<u64>,
    debts: Debts,
    /// The most that may be owed to a family for another reason: the end is near.
    ceiling: u64,
    /// How many had begun when last a connection was given to others than those it had been for.
    shifted_at: u64,
}

/// What may be done about the exchange whose turn it is: it begins, at this endpoint, in this way; or
/// there is no way, first of all to this endpoint.
pub(crate) type NextExchange<W> = Result<(usize, W), usize>;

impl Schedule {
    /// The measured part of worker number `worker`.
    pub(crate) fn measured(prepared: &PreparedLoad, worker: u32) -> Schedule {
        let load = &prepared.plan.load;
        let Some(total) = load.requests.map(NonZeroU64::get) else {
            // Nobody knows how far each worker will come: each has a schedule of its own.
            return Schedule::alone(prepared, worker, LONE);
        };
        let (position, count) = share_of_worker(total, load.threads.get().into(), worker.into());
        let mix = FamilyMix::new(prepared.plan.ratio, prepared.plan.seed, Some(total));
        Schedule::of(prepared, worker, mix.starting_at(position), Some(count))
    }

    /// The warm-up's, which never ends by itself.
    pub(crate) fn warm_up(prepared: &PreparedLoad, worker: u32) -> Schedule {
        Schedule::alone(prepared, worker, WARM_UP)
    }

    fn alone(prepared: &PreparedLoad, worker: u32, stream: u64) -> Schedule {
        let seed = Random::new(prepared.plan.seed, stream + u64::from(worker)).bits();
        Schedule::of(prepared, worker, FamilyMix::new(prepared.plan.ratio, seed, None), None)
    }

    fn of(prepared: &PreparedLoad, worker: u32, mix: FamilyMix, left: Option<u64>) -> Schedule {
        let plan = &prepared.plan;
        let deal = |family: Family| {
            let weights: Vec<f64> = prepared.of_family[family].iter().map(|&(_, w)| w).collect();
            let shift = f64::from(worker) / f64::from(plan.load.threads.get());
            Deal::new(&weights, plan.seed, family as u64, shift)
        };
        let deals = PerFamily::from_fn(deal);
        let debts = Debts::new(prepared.endpoints.len());
        let permits = plan.in_flight() / u64::from(plan.load.threads.get());
        let (v6, all) = plan.ratio.lowest();
        let part = |family| if family == Family::Ipv6 { v6 } else { all - v6 };
        let least = |family| {
            let of_all = (2 * part(family)).min(all);
            (LEAST_OWED.max(permits) * of_all).div_ceil(all)
        };
        let (drawn, owed, ceiling) = (PerFamily::default(), PerFamily::default(), u64::MAX);
        let least = PerFamily::from_fn(least);
        Schedule { mix, deals, left, drawn, owed, least, debts, ceiling, shifted_at: 0 }
    }

    /// True where nothing is left to begin.
    pub(crate) fn is_over(&self) -> bool {
        self.left == Some(0) && self.debts.total() == 0
    }

    /// The next exchange for which `way` knows a way to its endpoint: the first one drawn, but for
    /// those of other endpoints for which there is none. These are owed, and no more are drawn when
    /// too many are: no family, and no address, ever gets further ahead of the ratio than that.
    ///
    /// So a connection that gets free goes on with what its own endpoint is sent, instead of standing
    /// idle until the order wants it, and those of a server that answers one family later than the
    /// other do too. Not to be called when the schedule is over.
    ///
    /// Those that are `held` aren't paid as long as anything is drawn, and every endpoint must have a way
    /// where any is.
    pub(crate) fn next<W>(
        &mut self,
        prepared: &PreparedLoad,
        held: impl Fn(usize) -> bool,
        mut way: impl FnMut(usize) -> Option<W>,
    ) -> NextExchange<W> {
        let drawn = self.is_drawn();
        let held = |endpoint| !drawn && held(endpoint);
        if self.debts.total() > 0
            && let Some(paid) = self.debts.pay(&held, &mut way)
        {
            self.owed[prepared.endpoints[paid.0].family] -= 1;
            return Ok(paid);
        }
        loop {
            // Mostly nothing is owed.
            let behind = match self.debts.total() {
                0 => None,
                _ => Family::BOTH.into_iter().find(|&f| self.is_behind(f)),
            };
            let family_of = |endpoint: usize| prepared.endpoints[endpoint].family;
            let payable = |family| {
                self.debts.oldest(|endpoint| family == family_of(endpoint) && !held(endpoint))
            };
            let behind = behind.filter(|&family| payable(family).is_some());
            if behind.is_some() || self.is_drawn() {
                let of_family = |endpoint| behind.is_none_or(|f| f == family_of(endpoint));
                return Err(self.debts.oldest(of_family).unwrap_or(0));
            }
            let family = self.leave_out();
            let endpoint = self.endpoint(prepared, family);
            if let Some(way) = way(endpoint) {
                return Ok((endpoint, way));
            }
            self.debts.add(endpoint);
            self.owed[family] += 1;
        }
    }

    /// Nothing is drawn any more, and a connection that has no exchange and is owed none gets none.
    pub(crate) fn is_drawn(&self) -> bool {
        self.left == Some(0)
    }

    /// From now on no family is owed more than this. Those who have more are paid before more is drawn,
    /// with none at all in the drawn order.
    pub(crate) fn owe_at_most(&mut self, ceiling: u64) {
        self.ceiling = ceiling;
    }

    /// True where a connection may be given to those that are behind though they have one: not before
    /// it is known what the last time changed. Responses come in batches, and giving all that are idle
    /// at once would put the others behind.
    pub(crate) fn may_shift(&mut self) -> bool {
        let begun = self.drawn.ipv6 + self.drawn.ipv4 - self.debts.total() as u64;
        let enough = Family::BOTH.map(|family| self.most_owed(family)).into_iter().max();
        let may = begun >= self.shifted_at + SHIFT_AFTER * enough.unwrap_or(0);
        self.shifted_at = if may { begun } else { self.shifted_at };
        may
    }

    fn is_behind(&self, family: Family) -> bool {
        // Nothing is ever owed to a family that the ratio does not use.
        self.owed[family] > 0 && self.owed[family] >= self.most_owed(family).min(self.ceiling)
    }

    fn most_owed(&self, family: Family) -> u64 {
        self.least[family].max((self.drawn[family] / ONE_IN).min(MOST_OWED))
    }

    /// The number of the endpoint of the next exchange; not to be called when the schedule is over.
    pub(crate) fn draw(&mut self, prepared: &PreparedLoad) -> usize {
        let family = self.leave_out();
        self.endpoint(prepared, family)
    }

    /// The number of the next endpoint of a family that was not drawn here.
    pub(crate) fn endpoint(&mut self, prepared: &PreparedLoad, family: Family) -> usize {
        prepared.of_family[family][self.deals[family].draw()].0
    }

    /// The family of the next exchange, which is not to be.
    pub(crate) fn leave_out(&mut self) -> Family {
        self.left = self.left.map(|left| left.saturating_sub(1));
        let family = self.mix.draw();
        self.drawn[family] += 1;
        family
    }
}
