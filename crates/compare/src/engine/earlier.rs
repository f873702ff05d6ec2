//! A stored comparison to which pairs are added.

use serde_json::Value;
use sixmark_plan::plan::Plan;

use super::stored_load::read_load;
use super::{Comparing, Contender};
use crate::comparison_result::{Block, ComparedSide, ComparisonResult};
use sixmark_document::environment;
use sixmark_document::provenance::{Ended, Environment, Warning};
use sixmark_run::GeneratedLoad;

/// The pairs of a stored comparison, and all that goes on from them.
#[derive(Clone, Debug)]
pub(super) struct EarlierPairs {
    /// The blocks up to the last whole pair, in order, with the load of each.
    pub(super) blocks: Vec<(Block, GeneratedLoad)>,
    /// When it began.
    pub(super) started: String,
    /// How long it took, in seconds.
    pub(super) elapsed_s: f64,
    /// How long its blocks were to be and are, if the warm-up showed that they must be longer.
    pub(super) lengthened_s: Option<[f64; 2]>,
    /// The warning about that.
    pub(super) warnings: Vec<Warning>,
}

impl Comparing {
    /// Adds the pairs to those of a stored comparison, which has the same settings, sides and
    /// machine. It ends `at_most_s` later than it would have. Returns it with what differs but does
    /// not matter, in sentences.
    ///
    /// # Errors
    /// They can't be added, for the reason returned.
    pub fn continuing(
        mut self,
        stored: &ComparisonResult,
    ) -> Result<(Comparing, Vec<String>), String> {
        if stored.comparison.settings.until.is_none() {
            return Err(
                "it has a fixed number of pairs; only a comparison that began with --until \
                        decided can be continued"
                    .to_owned(),
            );
        }
        if stored.fleet.is_some() || self.generators().is_some() {
            return Err(
                "agents of a fleet generated its load, whose blocks are not kept".to_owned()
            );
        }
        let here = environment::environment(Vec::new());
        check_machine(&stored.environment, &here)?;
        self.check_settings(stored)?;
        check_side("A", &stored.sides.a, &self.sides.a)?;
        check_side("B", &stored.sides.b, &self.sides.b)?;
        let earlier = EarlierPairs::read(stored)?;
        if let Some(until) = &mut self.settings.until {
            until.at_most_s += earlier.elapsed_s;
        }
        let pairs = (earlier.blocks.iter().filter_map(|(block, _)| block.pair).max())
            .map_or(0, |last| last + 1);
        self.schedule.pairs = self.schedule.pairs.saturating_add(pairs);
        self.earlier = Some(earlier);
        let kernel = (stored.environment.kernel != here.kernel).then(|| {
            format!(
                "the kernel was {} for the pairs before and is {} now",
                stored.environment.kernel, here.kernel
            )
        });
        Ok((self, kernel.into_iter().collect()))
    }

    /// Checks what was chosen before the comparison began.
    fn check_settings(&self, stored: &ComparisonResult) -> Result<(), String> {
        let (before, now) = (&stored.comparison.settings, &self.settings);
        let metrics = |of: &crate::Settings| of.until.as_ref().map(|until| until.metrics.clone());
        let (schedule, asked) = (&stored.schedule, &self.schedule);
        let block_s = schedule.requested_block_s.or(schedule.block_s);
        for (name, same) in [
            ("--until", metrics(before) == metrics(now)),
            ("--seed", before.seed == now.seed),
            ("--margin", before.margin == now.margin),
            ("--false-alarms", before.false_alarms == now.false_alarms),
            ("--metric", before.primary == now.primary),
            ("--block", block_s == asked.block_s),
            ("-n", schedule.block_requests == asked.block_requests),
            ("--warm-up-blocks", schedule.warm_up_blocks == asked.warm_up_blocks),
        ] {
            if !same {
                return Err(format!("{name} is not what it was; repeat the options"));
            }
        }
        Ok(())
    }
}

impl EarlierPairs {
    fn read(stored: &ComparisonResult) -> Result<EarlierPairs, String> {
        let blocks = EarlierPairs::of_blocks(&stored.blocks)?;
        let schedule = &stored.schedule;
        let warnings = stored.warnings.iter().filter(|of| of.code == "blocks_lengthened");
        Ok(EarlierPairs {
            blocks,
            started: stored.started.clone(),
            elapsed_s: stored.elapsed_s,
            lengthened_s: schedule
                .requested_block_s
                .zip(schedule.block_s)
                .map(|(requested_s, block_s)| [requested_s, block_s]),
            warnings: warnings.cloned().collect(),
        })
    }

    /// Reads the loads of the blocks up to the last whole pair.
    pub(super) fn of_blocks(stored: &[Block]) -> Result<Vec<(Block, GeneratedLoad)>, String> {
        let mut blocks = Vec::new();
        for block in stored {
            let Some(counts) = &block.counts else {
                return Err("it does not have the counts of its blocks".to_owned());
            };
            let loaded = read_load(counts)
                .map_err(|error| format!("the counts of a block can't be read: {error}"))?;
            blocks.push((block.clone(), loaded.into()));
        }
        drop_half_pair(&mut blocks);
        Ok(blocks)
    }
}

/// Removes the blocks after the last whole pair: that pair is measured again.
fn drop_half_pair(blocks: &mut Vec<(Block, GeneratedLoad)>) {
    while let Some((last, _)) = blocks.last() {
        let of_pair = blocks.iter().filter(|(block, _)| block.pair == last.pair);
        let whole = of_pair.filter(|(block, _)| block.ended != Ended::Interrupted).count();
        if last.pair.is_none() || whole == 2 {
            return;
        }
        blocks.pop();
    }
}

fn check_machine(before: &Environment, here: &Environment) -> Result<(), String> {
    if (&before.cpu, before.cores) == (&here.cpu, here.cores) {
        return Ok(());
    }
    Err(format!(
        "it was measured on another machine: {} with {} cores, here {} with {}",
        before.cpu, before.cores, here.cpu, here.cores
    ))
}

fn check_side(letter: &str, before: &ComparedSide, now: &Contender) -> Result<(), String> {
    if before.name != now.name {
        return Err(format!("side {letter} was '{}' and is '{}'", before.name, now.name));
    }
    let (before, now) = (comparable_plan(&before.plan)?, comparable_plan(now.runnable.plan())?);
    match first_difference("", &before, &now) {
        None => Ok(()),
        Some(what) => Err(format!("the load of side {letter} is another one: {what}")),
    }
}

/// Returns a plan without what differs between two of the same load: the seed, and the duration of
/// a block that had to be longer.
fn comparable_plan(plan: &Plan) -> Result<Value, String> {
    let mut load = plan.load.clone();
    load.duration = None;
    let plan = Plan { seed: 0, load, ..plan.clone() };
    serde_json::to_value(plan).map_err(|error| error.to_string())
}

/// Returns the first place in which two values differ, and how.
fn first_difference(at: &str, before: &Value, now: &Value) -> Option<String> {
    match (before, now) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            let below =
                |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
            a.iter().find_map(|(name, value)| {
                first_difference(&below(name), value, b.get(name).unwrap_or(&Value::Null))
            })
        }
        (before, now) if before == now => None,
        (before, now) => Some(format!("{at} was {} and is {}", brief(before), brief(now))),
    }
}

/// Returns the value as text that fits into a line.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
