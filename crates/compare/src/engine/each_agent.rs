//! The comparison of what each agent of a fleet measured.

use std::collections::BTreeSet;

use super::comparison_run::ComparisonRun;
use crate::by_agent::AgentComparison;
use crate::comparison_result::SideName;
use crate::{BlockPair, Settings, judge};
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

/// Each agent is a comparison of its own, which takes a while to judge.
const MOST_AGENTS: usize = 32;

impl ComparisonRun<'_> {
    /// Compares the median response times of each agent by itself; empty with fewer than two agents
    /// or more than [`MOST_AGENTS`].
    ///
    /// The agents share the probability of a false alarm and that of an interval without the true
    /// value, so that all of them together are wrong as rarely as one comparison.
    pub(super) fn compare_each_agent(
        &self,
        names: (&str, &str),
        settings: &Settings,
    ) -> Vec<AgentComparison> {
        let fleets = self.loads.iter().filter_map(|load| load.fleet.as_ref());
        let agents: BTreeSet<&str> =
            fleets.flat_map(|fleet| &fleet.agents).map(|agent| agent.name.as_str()).collect();
        if !(2..=MOST_AGENTS).contains(&agents.len()) {
            return Vec::new();
        }
        let settings = settings.of_one_of(agents.len());
        agents.into_iter().filter_map(|agent| self.compare_agent(agent, names, &settings)).collect()
    }

    fn compare_agent(
        &self,
        agent: &str,
        names: (&str, &str),
        settings: &Settings,
    ) -> Option<AgentComparison> {
        let whole = self.whole_pairs().into_iter();
        let pairs: Vec<BlockPair> =
            whole.filter_map(|pair| self.pair_of_agent(pair, agent)).collect();
        let found = judge::compare(names, &pairs, 0, settings);
        let median = Metric::Time(TimedPhase::Response, TimePoint::P50);
        let of = found.metrics.iter().find(|of| of.metric == median)?;
        let causes = found.why.as_ref().map_or(Vec::new(), |why| why.causes());
        Some(AgentComparison {
            agent: agent.to_owned(),
            verdict: of.verdict,
            ratio: of.ratio,
            cause: causes.first().map(|of| of.part),
        })
    }

    fn pair_of_agent(&self, pair: u32, agent: &str) -> Option<BlockPair> {
        let of = |side: SideName| {
            let at = self.position_of(side, pair)?;
            let agents = &self.loads[at].fleet.as_ref()?.agents;
            let loaded = &agents.iter().find(|of| of.name == agent)?.loaded;
            Some(self.stretch_of(side, loaded, self.blocks[at].elapsed_s))
        };
        Some(BlockPair { a: of(SideName::A)?, b: of(SideName::B)? })
    }
}
