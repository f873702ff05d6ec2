//! The alternating blocks of two sides.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::comparison_result::{
    Block, BlockCpu, BlockSchedule, ComparedSides, SideCost, SideCpu, SideName,
};
use crate::pilot::longer_block;
use crate::schedule::{BlockTurn, turns};
use crate::until::UntilDecided;
use crate::{BlockPair, Comparison, Settings, Stretch, judge};
use sixmark_document::provenance::Ended;
use sixmark_plan::pace::Pace;
use sixmark_plan::plan::Plan;
use sixmark_result::sameness::{self, Answers};
use sixmark_tally::counted;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::tally::{FamilyTally, Slice};
use sixmark_units::family::PerFamily;
use sixmark_vitals::cost::Work;

use super::ComparisonEvent;
use super::dead_side::gives_nothing;
use super::earlier::EarlierPairs;
use super::stored_load::write_load;
use crate::block_begin::{BlockBegin, planned_block_s};
use sixmark_load::Loaded;
use sixmark_run::{self, GeneratedLoad, Generators, run_load_on};
use sixmark_sys::command_error::CommandError;
use sixmark_vitals::engine::{Meter, Metered, VitalsFrom};

/// What a measured block led to.
#[derive(Debug)]
pub(super) enum Measurement {
    /// A warm-up block, or the first of a pair.
    Block,
    /// The second block of a pair.
    Pair,
    /// The last warm-up block, which showed that the blocks to come must be longer.
    Lengthened(Lengthened),
    /// The second block of a pair, after which there is nothing to go on with: a side has given no
    /// usable response so far.
    GivenUp,
}

/// Blocks that are longer than requested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengthened {
    /// The side with the longer responses.
    pub(crate) side: SideName,
    /// How long its responses take on average, in seconds.
    pub(crate) response_s: f64,
    /// The duration requested, in seconds.
    pub(crate) requested_s: f64,
    /// The duration now, in seconds.
    pub(crate) longer_s: f64,
}

/// A series of blocks that is being measured.
#[derive(Debug)]
pub(super) struct ComparisonRun<'a> {
    plans: ComparedSides<Plan>,
    schedule: BlockSchedule,
    turns: Vec<BlockTurn>,
    began: Instant,
    /// How long the blocks of an earlier command took, in seconds.
    before_s: f64,
    pub(super) blocks: Vec<Block>,
    /// The load of each block, in the order of `blocks`.
    pub(super) loads: Vec<GeneratedLoad>,
    server: Option<&'a VitalsFrom>,
    /// The agents that carry out the blocks; `None` if it is this process.
    generators: Option<Arc<dyn Generators>>,
    /// Why the blocks are longer than requested, if they are.
    pub(super) lengthened: Option<Lengthened>,
    /// True if a side gave no usable response, so that no more blocks are measured.
    pub(super) given_up: bool,
    /// No pair begins after so many seconds.
    at_most_s: Option<f64>,
    /// True if the pairs so far decide the comparison.
    decided: bool,
}

impl<'a> ComparisonRun<'a> {
    /// Creates a series of which nothing has been measured.
    pub(super) fn new(
        plans: ComparedSides<&Plan>,
        schedule: &BlockSchedule,
        seed: u64,
    ) -> ComparisonRun<'a> {
        let (turns, began) = (turns(schedule, seed), Instant::now());
        let plans = ComparedSides { a: plans.a.clone(), b: plans.b.clone() };
        ComparisonRun {
            plans,
            schedule: *schedule,
            turns,
            began,
            before_s: 0.0,
            blocks: Vec::new(),
            loads: Vec::new(),
            server: None,
            generators: None,
            lengthened: None,
            given_up: false,
            at_most_s: None,
            decided: false,
        }
    }

    /// Sets when the series ends, if that is not after a number of pairs.
    pub(super) fn until(self, until: Option<&UntilDecided>) -> ComparisonRun<'a> {
        ComparisonRun { at_most_s: until.map(|until| until.at_most_s), ..self }
    }

    /// Goes on from the pairs of an earlier command, after warm-up blocks: nothing is warm any
    /// more.
    pub(super) fn after(mut self, earlier: Option<&EarlierPairs>) -> ComparisonRun<'a> {
        let Some(earlier) = earlier else { return self };
        let turn =
            |(block, _): &(Block, GeneratedLoad)| BlockTurn { side: block.side, pair: block.pair };
        let before: Vec<BlockTurn> = earlier.blocks.iter().map(turn).collect();
        let is_new = |turn: &BlockTurn| !before.contains(turn) || turn.pair.is_none();
        let new: Vec<BlockTurn> = self.turns.iter().copied().filter(is_new).collect();
        self.turns = [before, new].concat();
        (self.blocks, self.loads) = earlier.blocks.iter().cloned().unzip();
        self.before_s = earlier.elapsed_s;
        if let Some([requested_s, longer_s]) = earlier.lengthened_s {
            self.set_block_s(requested_s, longer_s);
        }
        self
    }

    /// Ends the series: the pairs so far decide the comparison.
    pub(super) fn decide(&mut self) {
        self.decided = true;
    }

    /// Returns true if no further pair is to begin: the comparison is decided, or its time is up.
    fn is_over(&self) -> bool {
        let between_pairs = self.blocks.len().is_multiple_of(2);
        let is_up = self.at_most_s.is_some_and(|at_most_s| self.elapsed_s() >= at_most_s);
        self.decided || (between_pairs && is_up)
    }

    /// Returns true if the responses of the sides so far are not the same, with this level of the
    /// test.
    pub(super) fn differs_in_responses(&self, margin: f64, level: f64) -> bool {
        let whole = self.whole_pairs();
        let pairs: Vec<BlockPair> = whole.iter().filter_map(|&pair| self.pair(pair)).collect();
        let given: Vec<_> = pairs.iter().map(|pair| (&pair.a.answers, &pair.b.answers)).collect();
        let found = sameness::look_at(("a", "b"), &given, margin, level);
        found.is_some_and(|found| found.said.is_some())
    }

    /// Sets the source of the server's vitals.
    pub(super) fn looking_at(self, server: Option<&'a VitalsFrom>) -> ComparisonRun<'a> {
        ComparisonRun { server, ..self }
    }

    /// Sets the agents that carry out the blocks.
    pub(super) fn on(self, generators: Option<Arc<dyn Generators>>) -> ComparisonRun<'a> {
        ComparisonRun { generators, ..self }
    }

    /// Returns the next block; none if all are measured, a side was given up, or `stop` is set.
    pub(super) fn next(&self, stop: &AtomicBool) -> Option<BlockTurn> {
        let stopped = self.given_up || self.is_over() || stop.load(Ordering::Relaxed);
        self.turns.get(self.blocks.len()).copied().filter(|_| !stopped)
    }

    /// Returns the event of a block's beginning.
    pub(super) fn begin(&self, turn: BlockTurn, noise: bool) -> ComparisonEvent<'static> {
        let (done, of) = (self.blocks.len(), self.turns.len());
        // After the comparison of A with itself, as many blocks follow.
        let left = of - done + if noise { of } else { 0 };
        let left_s = self.block_takes_s().map(|block_s| block_s * left as f64);
        let of_time = self.at_most_s.map(|at_most_s| (at_most_s - self.elapsed_s()).max(0.0));
        let left_s = left_s.map(|left_s| of_time.map_or(left_s, |most_s| left_s.min(most_s)));
        let (pairs, may_end) = (self.schedule.pairs, self.at_most_s.is_some());
        ComparisonEvent::Begin(BlockBegin { turn, done, of, pairs, noise, left_s, may_end })
    }

    /// Returns how long a block takes, from its beginning to that of the next, in seconds: by the
    /// blocks so far that are compared, else as planned, else by the warm-up blocks.
    fn block_takes_s(&self) -> Option<f64> {
        let compared = self.blocks.iter().filter(|block| block.pair.is_some());
        let taken_s = |from_s: f64, count: usize| {
            (count > 0).then(|| (self.elapsed_s() - from_s) / count as f64)
        };
        let first_s = compared.clone().next().map(|first| first.started_s);
        let by_blocks = first_s.and_then(|first_s| taken_s(first_s, compared.count()));
        by_blocks
            .or_else(|| planned_block_s(&self.plans))
            .or_else(|| taken_s(0.0, self.blocks.len()))
    }

    /// Measures a block. Each block has its own connections and TLS sessions, so that none begins
    /// in a better state than another.
    pub(super) fn measure(
        &mut self,
        turn: BlockTurn,
        stop: &Arc<AtomicBool>,
        watch: impl FnMut(&Slice),
    ) -> Result<Measurement, CommandError> {
        let plan = self.plan(turn.side);
        // Both sides of a pair get the same arrivals, and different pairs get different ones.
        let seed = plan.seed.wrapping_add(turn.pair.map_or(0, |pair| u64::from(pair) + 1));
        let plan = Plan { seed, ..plan.clone() };
        let meter = Meter::start(self.server, plan.load.warmup)?;
        let loaded = run_load_on(self.generators.as_ref(), &plan, stop, watch)?;
        let ended_s = self.elapsed_s();
        let metered = meter.map(Meter::end);
        let mut block = block_of_turn(&plan, turn, ended_s, &loaded);
        if let Some(metered) = metered {
            let work = work(&loaded, &metered);
            let (client, server) = metered.used(&work);
            let seconds = |us: f64| us / 1e6;
            // On a fleet the agents are the clients, not this process.
            let of_agents = self.generators.as_ref().map(|_| loaded.usage.cpu_s());
            let client_s = of_agents.or(client.map(seconds));
            let machine = of_agents.is_none().then(|| metered.client_processors()).flatten();
            block.cpu = BlockCpu {
                client_s,
                server_s: server.map(seconds),
                machine_busy: machine.map(|of| of.busy),
                machine_stolen: machine.map(|of| of.stolen),
            };
        }
        // Only a comparison that ends when it is decided can be continued.
        block.counts = self.at_most_s.and_then(|_| write_load(&loaded));
        self.blocks.push(block);
        self.loads.push(loaded);
        Ok(match self.lengthen_blocks() {
            Some(lengthened) => Measurement::Lengthened(lengthened),
            None if self.completes_pair() && self.gives_up() => Measurement::GivenUp,
            None if self.completes_pair() => Measurement::Pair,
            None => Measurement::Block,
        })
    }

    /// Returns the plan of a side's blocks that are compared.
    pub(super) fn plan(&self, side: SideName) -> &Plan {
        match side {
            SideName::A => &self.plans.a,
            SideName::B => &self.plans.b,
        }
    }

    /// Returns the schedule, with the duration of the blocks that are compared.
    pub(super) fn schedule(&self) -> BlockSchedule {
        self.schedule
    }

    /// Makes the blocks to come longer once the warm-up blocks are over, if those showed that the
    /// responses of a side take too long for them. Returns the side with the longer responses.
    fn lengthen_blocks(&mut self) -> Option<Lengthened> {
        // Blocks that are compared are all of the same length.
        let is_warm_up = self.blocks.iter().all(|block| block.pair.is_none());
        let next = self.turns.get(self.blocks.len());
        let is_over = is_warm_up && next.is_some_and(|next| next.pair.is_some());
        let block_s =
            self.schedule.block_s.filter(|_| is_over && self.schedule.block_requests.is_none())?;
        let of = |side| Some((side, self.mean_response_s(side)?));
        let both = [SideName::A, SideName::B].into_iter().filter_map(of);
        let (side, response_s) = both.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let longer_s = longer_block(block_s, response_s)?;
        let requested_s = self.schedule.requested_block_s.unwrap_or(block_s);
        let lengthened = Lengthened { side, response_s, requested_s, longer_s };
        self.lengthen(lengthened);
        Some(lengthened)
    }

    /// Makes the blocks to come as long as another series had to make them.
    pub(super) fn lengthen(&mut self, to: Lengthened) {
        self.set_block_s(to.requested_s, to.longer_s);
        self.lengthened = Some(to);
    }

    fn set_block_s(&mut self, requested_s: f64, longer_s: f64) {
        self.schedule.requested_block_s = Some(requested_s);
        self.schedule.block_s = Some(longer_s);
        for plan in [&mut self.plans.a, &mut self.plans.b] {
            plan.load.duration = Some(Duration::from_secs_f64(longer_s));
        }
    }

    /// Returns how long a response of a side took on average in the blocks so far, in seconds,
    /// those to exchanges of their warm-ups included. `None` in an open loop, which begins
    /// exchanges whether or not responses arrive.
    fn mean_response_s(&self, side: SideName) -> Option<f64> {
        if !matches!(self.plan(side).load.pace, Pace::Closed) {
            return None;
        }
        let of_side = self.blocks.iter().zip(&self.loads).filter(|(block, _)| block.side == side);
        let families = of_side.flat_map(|(_, load)| load.tally.iter());
        let (time_ns, count) = families.fold((0.0, 0), |(time_ns, count), (_, tally)| {
            let (response, warm_up) = (&tally.phases.response, tally.warm_up);
            let measured_ns = response.mean().unwrap_or(0.0) * response.count() as f64;
            let number = response.count() + warm_up.completed;
            (time_ns + measured_ns + warm_up.answered_ns as f64, count + number)
        });
        (count > 0).then(|| time_ns / count as f64 / 1e9)
    }

    /// Returns the time so far in seconds, without a calibration before it.
    pub(super) fn elapsed_s(&self) -> f64 {
        self.before_s + self.began.elapsed().as_secs_f64()
    }

    /// Reports whether a signal ended it.
    pub(super) fn interrupted(&self) -> bool {
        (self.blocks.len() < self.turns.len() && !self.given_up && !self.is_over())
            || self.blocks.iter().any(|block| block.ended == Ended::Interrupted)
    }

    /// Returns the loads of one side that are compared.
    pub(super) fn compared(&self, side: SideName) -> impl Iterator<Item = &GeneratedLoad> + Clone {
        let pairs = self.whole_pairs();
        let of = move |(block, _): &(&Block, &GeneratedLoad)| {
            block.side == side && block.pair.is_some_and(|pair| pairs.contains(&pair))
        };
        self.blocks.iter().zip(&self.loads).filter(of).map(|(_, load)| load)
    }

    /// Returns the processor time of a side's compared blocks, on this machine and on the server.
    pub(super) fn cpu(&self, side: SideName) -> SideCpu {
        let pairs = self.whole_pairs();
        let is_of = |block: &&Block| {
            block.side == side && block.pair.is_some_and(|pair| pairs.contains(&pair))
        };
        let sum = |cpu: fn(&BlockCpu) -> Option<f64>| {
            let blocks = || self.blocks.iter().filter(is_of);
            let seconds = blocks().map(|block| cpu(&block.cpu)).sum::<Option<f64>>()?;
            let number = |of: fn(&Block) -> u64| blocks().map(of).sum::<u64>();
            let bytes = |block: &Block| block.figures.bytes.received + block.figures.bytes.sent;
            SideCost::new(seconds, number(|block| block.figures.requests.completed), number(bytes))
        };
        SideCpu { client: sum(|cpu| cpu.client_s), server: sum(|cpu| cpu.server_s) }
    }

    /// Compares the blocks measured so far.
    pub(super) fn compare(&self, names: (&str, &str), settings: &Settings) -> Comparison {
        let whole = self.whole_pairs();
        let pairs: Vec<BlockPair> = whole.iter().filter_map(|&pair| self.pair(pair)).collect();
        let begun = self.blocks.iter().filter_map(|block| block.pair).max();
        let left_out = begun.map_or(0, |last| last as usize + 1) - pairs.len();
        judge::compare(names, &pairs, left_out, settings)
    }

    /// Returns the pairs of which both blocks were measured completely.
    pub(super) fn whole_pairs(&self) -> Vec<u32> {
        let whole = self.blocks.iter().filter(|block| block.ended != Ended::Interrupted);
        let mut pairs: Vec<u32> = whole.filter_map(|block| block.pair).collect();
        pairs.sort_unstable();
        pairs.chunk_by(|a, b| a == b).filter(|both| both.len() == 2).map(|both| both[0]).collect()
    }

    fn pair(&self, pair: u32) -> Option<BlockPair> {
        let of = |side| {
            let at = self.position_of(side, pair)?;
            let server_cpu_us = self.blocks[at].cpu.server_s.map(|seconds| seconds * 1e6);
            let stretch = self.stretch_of(side, &self.loads[at], self.blocks[at].elapsed_s);
            Some(Stretch { server_cpu_us, ..stretch })
        };
        Some(BlockPair { a: of(SideName::A)?, b: of(SideName::B)? })
    }

    /// Returns the number of a side's block of a pair.
    pub(super) fn position_of(&self, side: SideName, pair: u32) -> Option<usize> {
        let is = |block: &Block| block.side == side && block.pair == Some(pair);
        self.blocks.iter().position(is)
    }

    /// Returns a stretch of a side that was loaded for `elapsed_s` seconds.
    pub(super) fn stretch_of(&self, side: SideName, loaded: &Loaded, elapsed_s: f64) -> Stretch {
        Stretch { answers: self.answers(side, loaded), ..stretch(loaded, elapsed_s) }
    }

    /// Returns a summary of a side's responses. Requests determine the sizes of contents, so sizes
    /// are included only if both sides send the same requests.
    fn answers(&self, side: SideName, loaded: &Loaded) -> Answers {
        let mut answers = Answers::of(self.plan(side), &loaded.tally.ipv6);
        answers += &Answers::of(self.plan(side), &loaded.tally.ipv4);
        if self.plans.a.requests == self.plans.b.requests {
            answers
        } else {
            answers.without_sizes()
        }
    }

    /// Gives up if a side has not given one usable response in all blocks so far.
    fn gives_up(&mut self) -> bool {
        let of_side = |side| {
            let blocks = self.blocks.iter().zip(&self.loads);
            let of_side = blocks.filter(move |(block, _)| block.side == side);
            of_side.flat_map(|(_, load)| load.tally.iter().map(|(_, tally)| tally))
        };
        let whole = self.blocks.iter().all(|block| block.ended != Ended::Interrupted);
        let dead = [SideName::A, SideName::B].into_iter().any(|side| gives_nothing(of_side(side)));
        self.given_up = whole && dead;
        self.given_up
    }

    /// Returns true if both sides are sent the same requests, each with the same weight.
    pub(super) fn has_same_requests(&self) -> bool {
        let paths = |plan: &Plan| {
            let paths = plan.targets.iter().map(|target| (target.path.clone(), target.weight));
            paths.collect::<BTreeSet<_>>()
        };
        let (a, b) = (&self.plans.a, &self.plans.b);
        a.requests == b.requests && paths(a) == paths(b)
    }

    fn completes_pair(&self) -> bool {
        match self.blocks.as_slice() {
            [.., before, last] => last.pair.is_some() && last.pair == before.pair,
            _ => false,
        }
    }
}

/// Returns the stretch of both families together: a side may load either or both.
fn stretch(loaded: &Loaded, elapsed_s: f64) -> Stretch {
    let mut both: FamilyTally = loaded.tally.ipv6.clone();
    both += &loaded.tally.ipv4;
    Stretch::new(&both, elapsed_s)
}

fn block_of_turn(plan: &Plan, turn: BlockTurn, ended_at_s: f64, loaded: &Loaded) -> Block {
    let elapsed_s = loaded.elapsed_ns as f64 / 1e9;
    let (_, figures) = counted::families_of(plan, &loaded.tally, elapsed_s);
    Block {
        side: turn.side,
        pair: turn.pair,
        started_s: (ended_at_s - elapsed_s).max(0.0),
        elapsed_s,
        ended: loaded.ended,
        // Figures by request need a histogram each, so they are kept only for whole sides, not for
        // blocks.
        figures: FamilyResult { by_request: Vec::new(), ..figures },
        busiest: loaded.busiest,
        saturated: sixmark_run::generator(plan, loaded).saturated,
        cpu: BlockCpu::default(),
        counts: None,
    }
}

/// Returns the work that a block asked of the server.
fn work(loaded: &Loaded, metered: &Metered) -> Work {
    let elapsed_s = loaded.elapsed_ns as f64 / 1e9;
    let from_us = metered.began_us(elapsed_s);
    let of = |number: fn(&FamilyTally) -> u64| PerFamily {
        ipv6: number(&loaded.tally.ipv6),
        ipv4: number(&loaded.tally.ipv4),
    };
    Work {
        from_us,
        to_us: from_us + (elapsed_s * 1e6) as u64,
        requests: of(FamilyTally::completed),
        bytes: of(|tally| tally.bytes.received + tally.bytes.sent),
        seconds: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    //! Tests with synthetic loads, which do not depend on the speed of the machine.

    use crate::Compared;
    use crate::comparison_result::BlockOrder;
    use sixmark_document::provenance::Environment;
    use sixmark_document::verdict::Verdict;
    use sixmark_plan::plan::ratio::PlanRatio;
    use sixmark_plan::plan::tls::PlanTls;
    use sixmark_result::fixture::secure_plan;
    use sixmark_run::{AgentLoad, ClockOffset, FleetLoad, join_loads};
    use sixmark_tally::metric::Metric;
    use sixmark_tally::response_part::PerPart;
    use sixmark_tally::tally::Tally;
    use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
    use sixmark_why::part::WhyPart;

    use sixmark_units::family::Family;

    use super::super::assemble::fleet_of;
    use super::*;

    /// Returns a block of a thousand exchanges of about `us` microseconds. Blocks differ slightly.
    fn made(us: f64, block: usize) -> Loaded {
        let mut of = FamilyTally { sent: 1_000, ..FamilyTally::default() };
        of.status.add(200, 1_000);
        let level = us * (1.0 + 0.01 * (block as f64 * 2.3).sin());
        for at in 0..1_000_u32 {
            let nanos = level * (1.0 + f64::from(at * 37 % 100) / 200.0) * 1e3;
            of.phases.response.record(nanos as u64);
        }
        let tally = Tally { ipv6: of, ..Tally::default() };
        let elapsed_ns = (us * 1e6) as u64;
        Loaded { tally, elapsed_ns, ..sixmark_load::one_after_the_other([].iter()) }
    }

    /// Returns a comparison of sides whose exchanges take about `us` microseconds, A's first.
    fn compared(us: [f64; 2], order: BlockOrder) -> Comparison {
        let plan = secure_plan(PlanTls::default());
        let (block_s, block_requests) = (None, Some(1_000));
        let schedule = BlockSchedule {
            pairs: 12,
            order,
            block_s,
            block_requests,
            requested_block_s: None,
            warm_up_blocks: 1,
        };
        let plans = ComparedSides { a: &plan, b: &plan };
        let mut run = ComparisonRun::new(plans, &schedule, 7);
        while let Some(turn) = run.next(&AtomicBool::new(false)) {
            let us = us[usize::from(turn.side == SideName::B)];
            let loaded = made(us, run.blocks.len());
            run.blocks.push(block_of_turn(&plan, turn, 0.0, &loaded));
            run.loads.push(loaded.into());
        }
        run.compare(("ipv6", "ipv4"), &Settings::usual(1))
    }

    fn of(comparison: &Comparison, name: &str) -> Compared {
        let is = |compared: &&Compared| compared.metric.to_string() == name;
        comparison.metrics.iter().find(is).unwrap().clone()
    }

    #[test]
    fn judges_the_slower_side_worse_in_either_block_order() {
        for order in [BlockOrder::Random, BlockOrder::Abba] {
            for (us, verdict) in [
                ([500.0, 100.0], Verdict::Worse),
                ([100.0, 500.0], Verdict::Better),
                ([110.0, 100.0], Verdict::Worse),
                ([100.0, 100.0], Verdict::Equivalent),
            ] {
                let comparison = compared(us, order);
                assert_eq!(comparison.pairs, 12);
                for name in ["response.p50", "requests_per_s"] {
                    let found = of(&comparison, name);
                    assert_eq!(found.verdict, verdict, "{us:?} {name} {found:?}");
                }
                let p50 = Metric::Time(TimedPhase::Response, TimePoint::P50);
                assert_eq!(comparison.metrics[0].metric, p50);
            }
        }
    }

    #[test]
    fn finds_no_difference_between_equal_sides_in_any_metric() {
        let comparison = compared([100.0, 100.0], BlockOrder::Random);
        let different =
            |found: &&Compared| matches!(found.verdict, Verdict::Better | Verdict::Worse);
        assert!(comparison.metrics.iter().find(different).is_none());
    }

    #[test]
    fn pairs_that_are_added_later_give_the_figures_of_one_series() {
        let plan = secure_plan(PlanTls::default());
        let schedule = BlockSchedule {
            pairs: 9,
            order: BlockOrder::Random,
            block_s: None,
            block_requests: Some(1_000),
            requested_block_s: None,
            warm_up_blocks: 1,
        };
        let until = UntilDecided { metrics: Vec::new(), at_most_s: 60.0 };
        let plans = ComparedSides { a: &plan, b: &plan };
        let settings = Settings { until: Some(until.clone()), ..Settings::usual(1) };
        let new = || ComparisonRun::new(plans.clone(), &schedule, 7).until(Some(&until));
        // What a pair measures depends on its number and side alone.
        let measure = |run: &mut ComparisonRun<'_>, blocks: usize| {
            while let Some(turn) = run.next(&AtomicBool::new(false)) {
                if run.blocks.len() == blocks {
                    break;
                }
                let at = turn.pair.map_or(0, |pair| 2 * pair as usize + 2);
                let loaded = made(100.0, at + usize::from(turn.side == SideName::B));
                let mut block = block_of_turn(&plan, turn, 0.0, &loaded);
                block.counts = write_load(&loaded.clone().into());
                run.blocks.push(block);
                run.loads.push(loaded.into());
            }
        };
        let mut whole = new();
        measure(&mut whole, usize::MAX);
        // It was killed in the second block of its fifth pair, which is measured again.
        let mut killed = new();
        measure(&mut killed, 2 + 2 * 4 + 1);
        let stored: Vec<Block> = killed.blocks.clone();
        let earlier = EarlierPairs::of_blocks(&stored).unwrap();
        assert_eq!(earlier.len(), 2 + 2 * 4);
        let earlier = EarlierPairs {
            blocks: earlier,
            started: String::new(),
            elapsed_s: 5.0,
            lengthened_s: None,
            warnings: Vec::new(),
        };
        let mut run = new().after(Some(&earlier));
        assert_eq!(run.next(&AtomicBool::new(false)).unwrap().pair, None, "it warms up again");
        measure(&mut run, usize::MAX);
        assert!(run.elapsed_s() >= 5.0);
        let names = ("ipv6", "ipv4");
        assert_eq!(run.compare(names, &settings), whole.compare(names, &settings));
        let order = |run: &ComparisonRun<'_>| {
            let paired = run.blocks.iter().filter(|block| block.pair.is_some());
            paired.map(|block| (block.pair, block.side)).collect::<Vec<_>>()
        };
        assert_eq!(order(&run), order(&whole));
    }

    /// Returns after how many blocks the remaining blocks became longer, if the responses of each
    /// block take longer than those of the one before.
    fn lengthened_after(warm_up_blocks: u32) -> Vec<usize> {
        let plan = secure_plan(PlanTls::default());
        let schedule = BlockSchedule {
            pairs: 6,
            order: BlockOrder::Random,
            block_s: Some(0.001),
            block_requests: None,
            requested_block_s: None,
            warm_up_blocks,
        };
        let plans = ComparedSides { a: &plan, b: &plan };
        let (mut run, mut after) = (ComparisonRun::new(plans, &schedule, 7), Vec::new());
        while let Some(turn) = run.next(&AtomicBool::new(false)) {
            let loaded = made(500.0 * (1.0 + run.blocks.len() as f64), 0);
            run.blocks.push(block_of_turn(&plan, turn, 0.0, &loaded));
            run.loads.push(loaded.into());
            after.extend(run.lengthen_blocks().map(|_| run.blocks.len()));
        }
        after
    }

    #[test]
    fn lengthens_blocks_only_once_after_the_warm_up() {
        assert_eq!(lengthened_after(1), [2]);
        assert_eq!(lengthened_after(3), [6]);
        assert_eq!(lengthened_after(0), [0; 0]);
    }

    /// Returns a block of one family of which two agents generated half each, in their own time.
    fn made_by_two(family: Family, number: usize) -> GeneratedLoad {
        let half = |name: &str, elapsed_ns: u64| {
            let mut of = FamilyTally { sent: 500, ..FamilyTally::default() };
            of.status.add(200, 500);
            let mut tally = Tally::default();
            tally[family] = of;
            AgentLoad {
                name: name.to_owned(),
                host: name.to_owned(),
                environment: Environment::default(),
                workers: 1,
                loaded: Loaded {
                    tally,
                    elapsed_ns,
                    ..sixmark_load::one_after_the_other([].iter())
                },
                incomplete_from: None,
                lost_because: None,
                adds_up: true,
                conflicts: 0,
                spool_failed: None,
                clock: ClockOffset::default(),
                late_ns: 0,
                truth: None,
                vitals: None,
            }
        };
        let second = 1_000_000_000 + 10_000_000 * number as u64;
        let agents = vec![half("near", second - 20_000_000), half("far", second)];
        let shares = agents.iter().map(|agent| &agent.loaded);
        let loaded = sixmark_load::at_the_same_time(shares, Vec::new());
        let fleet = Some(Box::new(FleetLoad { agents, ..FleetLoad::default() }));
        GeneratedLoad { loaded, fleet }
    }

    #[test]
    fn the_figures_of_agents_add_up_to_those_of_the_sides() {
        let plan = secure_plan(PlanTls::default());
        let of_only = |family| Plan { ratio: PlanRatio::only(family), ..plan.clone() };
        let (a, b) = (of_only(Family::Ipv6), of_only(Family::Ipv4));
        let schedule = BlockSchedule {
            pairs: 3,
            order: BlockOrder::Random,
            block_s: None,
            block_requests: Some(1_000),
            requested_block_s: None,
            warm_up_blocks: 1,
        };
        let plans = ComparedSides { a: &a, b: &b };
        let mut run = ComparisonRun::new(plans, &schedule, 7);
        while let Some(turn) = run.next(&AtomicBool::new(false)) {
            let family = if turn.side == SideName::A { Family::Ipv6 } else { Family::Ipv4 };
            let loaded = made_by_two(family, run.blocks.len());
            run.blocks.push(block_of_turn(run.plan(turn.side), turn, 0.0, &loaded));
            run.loads.push(loaded);
        }
        let all = join_loads(run.loads.iter());
        let section = fleet_of(&run, &all.fleet.unwrap());
        for (side, family) in [(SideName::A, Family::Ipv6), (SideName::B, Family::Ipv4)] {
            let of_side = join_loads(run.compared(side));
            let agents = || section.agents.iter().filter_map(|agent| agent.families.of(family));
            let (sent, completed) = agents()
                .fold((0, 0), |(sent, completed), of| (sent + of.sent, completed + of.completed));
            assert_eq!((sent, completed), (3_000, 3_000), "{family}: warm-up blocks are left out");
            let rate: f64 = agents().map(|of| of.requests_per_s).sum();
            let expected = 3_000.0 / (of_side.elapsed_ns as f64 / 1e9);
            assert!((rate - expected).abs() < 1e-6, "{family}: {rate} {expected}");
        }
        assert!(section.agents.iter().all(|agent| agent.share == Some(0.5)));
    }

    /// Over IPv6 the path of one agent takes a fifth longer, and that of the other does not.
    #[test]
    fn a_difference_is_that_of_the_agent_that_measured_it() {
        let plan = secure_plan(PlanTls::default());
        let of_only = |family| Plan { ratio: PlanRatio::only(family), ..plan.clone() };
        let (a, b) = (of_only(Family::Ipv6), of_only(Family::Ipv4));
        let schedule = BlockSchedule {
            pairs: 12,
            order: BlockOrder::Random,
            block_s: None,
            block_requests: Some(1_000),
            requested_block_s: None,
            warm_up_blocks: 0,
        };
        let plans = ComparedSides { a: &a, b: &b };
        let mut run = ComparisonRun::new(plans, &schedule, 7);
        while let Some(turn) = run.next(&AtomicBool::new(false)) {
            let family = if turn.side == SideName::A { Family::Ipv6 } else { Family::Ipv4 };
            let number = run.blocks.len();
            let mut loaded = made_by_two(family, number);
            for agent in &mut loaded.fleet.as_mut().unwrap().agents {
                let is_slow = agent.name == "far" && family == Family::Ipv6;
                let level = (if is_slow { 1.2 } else { 1.0 }) * (1.0 + 0.001 * (number % 5) as f64);
                let tally = &mut agent.loaded.tally[family];
                for at in 0..500 {
                    let ns = (10e6 * level) as u64 + at * 1_000;
                    tally.phases.response.record(ns);
                    tally.account.record(&PerPart { wait: ns, ..PerPart::default() }, 0);
                }
            }
            run.blocks.push(block_of_turn(run.plan(turn.side), turn, 0.0, &loaded));
            run.loads.push(loaded);
        }
        let found = run.compare_each_agent(("ipv6", "ipv4"), &Settings::usual(7));
        let said: Vec<_> =
            found.iter().map(|of| (of.agent.as_str(), of.verdict, of.cause)).collect();
        let far = ("far", Verdict::Worse, Some(WhyPart::Server));
        assert_eq!(said, [far, ("near", Verdict::Equivalent, None)]);
    }
}
