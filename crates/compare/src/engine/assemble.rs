//! Assembly of the result of a comparison.

use crate::comparison_result::{ComparedSide, ComparedSides, ComparisonResult, SCHEMA, SideName};
use crate::{Comparison, Settings, judge};
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};
use sixmark_plan::plan::Plan;
use sixmark_result::fleet::FleetSection;
use sixmark_result::result::RunResult;
use sixmark_units::family::{Family, PerFamily};
use sixmark_why::differs_with::{client_cpu_apart, facts_apart};

use super::comparison_run::ComparisonRun;
use super::{Comparing, Contender, without_repeats};
use crate::warnings::{cut_short, of_comparison, warn_of_delays};
use sixmark_document::environment;
use sixmark_run::{self, AgentLoad, Circumstances, FleetLoad, Measured, fleet_section, join_loads};

/// The mean size in bytes from which contents fill most packets.
const LONG: u64 = 65_536;

/// Assembles the document from the blocks measured so far.
pub(super) fn assemble_comparison(
    comparing: &Comparing,
    run: &ComparisonRun<'_>,
    settings: &Settings,
    noise: Option<&Comparison>,
    started: String,
) -> ComparisonResult {
    let ComparedSides { a, b } = &comparing.sides;
    let mut comparison = run.compare((&a.name, &b.name), settings);
    if let Some(noise) = noise {
        comparison = judge::with_noise(comparison, noise);
    }
    if let Some(expected) = full_link(comparing, run) {
        comparison = judge::header_corrected(comparison, expected);
    }
    let known = Circumstances { started, environment: machine(comparing), ..Default::default() };
    let of_side = |side| of_side(run, side, known.clone());
    let results = ComparedSides { a: of_side(SideName::A), b: of_side(SideName::B) };
    comparison = judge::with_own_delays(comparison, [&results.a.total, &results.b.total]);
    comparison.by_agent = run.compare_each_agent((&a.name, &b.name), settings);
    if let Some(why) = &mut comparison.why {
        why.differs_with = facts_apart([&results.a.total, &results.b.total]);
        let cpu = [&results.a, &results.b].map(client_cpu_us);
        why.differs_with.extend(client_cpu_apart(cpu));
    }
    if let Some(sizes) = other_sizes(run, &results) {
        comparison = judge::with_other_contents(comparison, sizes);
    }
    comparison.why = comparison.divided_difference().cloned();
    let all = join_loads(run.loads.iter());
    let side = |of: &Contender, result: RunResult, name: SideName| {
        assemble_side(of, result, run, name).with_compared_figures(&comparison, name)
    };
    ComparisonResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started: known.started,
        elapsed_s: run.elapsed_s(),
        ended: end_of_comparison(run, &results),
        seed: settings.seed,
        schedule: run.schedule(),
        blocks: run.blocks.clone(),
        noise: noise.filter(|_| !run.given_up).cloned(),
        gates: Vec::new(),
        dns: [a, b].iter().flat_map(|side| side.runnable.dns.clone()).collect(),
        environment: known.environment,
        warnings: warnings(comparing, run, &results, &comparison),
        generator: sixmark_run::generator(run.plan(SideName::A), &all),
        fleet: all.fleet.as_deref().map(|fleet| fleet_of(run, fleet)),
        sides: ComparedSides {
            a: side(a, results.a, SideName::A),
            b: side(b, results.b, SideName::B),
        },
        comparison,
    }
}

/// Returns the ratio of goodputs that IPv6's larger header alone causes. It applies only if side A
/// loads IPv6 and side B IPv4, with contents long enough to fill packets.
fn full_link(comparing: &Comparing, run: &ComparisonRun<'_>) -> Option<f64> {
    let ComparedSides { a, b } = comparing.plans();
    let only = |plan: &Plan, family| plan.families().eq([family]);
    if !only(a, Family::Ipv6) || !only(b, Family::Ipv4) {
        return None;
    }
    let figures = run.blocks.iter().map(|block| &block.figures);
    let (body, responses) = figures.fold((0, 0), |(body, responses), figures| {
        (body + figures.bytes.body, responses + figures.requests.completed)
    });
    let sides = [&comparing.sides.a, &comparing.sides.b].into_iter();
    let mtu = sides.flat_map(|side| &side.runnable.routes).filter_map(|route| route.mtu).min();
    (responses > 0 && body / responses >= LONG).then_some(mtu?).and_then(judge::header_ratio)
}

/// Returns the section of the agents. Their figures are those of the blocks that were compared, as
/// the figures of the sides are; what became of an agent, its clock and its cost are of all blocks.
pub(super) fn fleet_of(run: &ComparisonRun<'_>, all: &FleetLoad) -> FleetSection {
    let sides = [SideName::A, SideName::B];
    let compared = join_loads(sides.into_iter().flat_map(|of| run.compared(of)));
    let counted = |agent: &AgentLoad| {
        let mut agents = compared.fleet.iter().flat_map(|fleet| &fleet.agents);
        agents.find(|of| of.name == agent.name).map(|of| of.loaded.tally.clone())
    };
    let mut fleet = all.clone();
    for agent in &mut fleet.agents {
        agent.loaded.tally = counted(agent).unwrap_or_default();
    }
    let elapsed_s = PerFamily::from_fn(|family| {
        let loading = sides.into_iter().filter(|of| run.plan(*of).ratio.uses(family));
        let blocks = loading.flat_map(|of| run.compared(of));
        blocks.map(|block| block.elapsed_ns as f64 / 1e9).sum()
    });
    fleet_section(run.plan(SideName::A), &fleet, elapsed_s)
}

/// Returns the client's processor time of a complete exchange, in microseconds.
fn client_cpu_us(of: &RunResult) -> f64 {
    let spent_s = of.generator.cpu_user_s + of.generator.cpu_sys_s;
    spent_s * 1e6 / of.total.requests.completed.max(1) as f64
}

/// Returns the mean sizes of the contents of sides that were sent different requests. `None` if the
/// requests are the same, whose contents are compared with everything else that they return.
fn other_sizes(run: &ComparisonRun<'_>, results: &ComparedSides<RunResult>) -> Option<[f64; 2]> {
    let mean = |of: &RunResult| Some(of.total.sizes?.mean);
    let sizes = || Some([mean(&results.a)?, mean(&results.b)?]);
    (!run.has_same_requests()).then(sizes)?
}

/// Returns the result of a side's compared blocks, as if they were one run.
fn of_side(run: &ComparisonRun<'_>, side: SideName, known: Circumstances) -> RunResult {
    let loaded = join_loads(run.compared(side));
    sixmark_run::assemble(known, Measured::of(run.plan(side).clone(), loaded))
}

fn assemble_side(
    of: &Contender,
    result: RunResult,
    run: &ComparisonRun<'_>,
    side: SideName,
) -> ComparedSide {
    ComparedSide {
        name: of.name.clone(),
        options: of.options.clone(),
        plan: run.plan(side).clone(),
        elapsed_s: result.elapsed_s,
        figures: result.total,
        cpu: run.cpu(side),
    }
}

fn end_of_comparison(run: &ComparisonRun<'_>, results: &ComparedSides<RunResult>) -> Ended {
    match (run.interrupted(), results.a.ended, results.b.ended) {
        (true, ..) => Ended::Interrupted,
        _ if run.given_up => Ended::Hopeless,
        (_, Ended::Hopeless, Ended::Hopeless) => Ended::Hopeless,
        _ => Ended::Complete,
    }
}

fn machine(comparing: &Comparing) -> Environment {
    let mut routes = Vec::new();
    for side in [&comparing.sides.a, &comparing.sides.b] {
        for route in &side.runnable.routes {
            if !routes
                .iter()
                .any(|known: &sixmark_document::provenance::RouteTaken| known.to == route.to)
            {
                routes.push(route.clone());
            }
        }
    }
    environment::environment(routes)
}

/// Returns the warnings from before the measurement, those about the figures of either side, and
/// those about the comparison itself.
fn warnings(
    comparing: &Comparing,
    run: &ComparisonRun<'_>,
    results: &ComparedSides<RunResult>,
    comparison: &Comparison,
) -> Vec<Warning> {
    let ComparedSides { a, b } = &comparing.sides;
    let before = [a, b].into_iter().flat_map(|side| side.runnable.warnings.clone());
    // These warnings are expected here: the other side loads the missing family and its targets.
    let before = before
        .filter(|warning| warning.code != "left_out" && warning.code != "single_family")
        .collect();
    let of = |side: &Contender, result: &RunResult| {
        // The headline says why a side gave nothing.
        let told = |said: &&Warning| ["hopeless", "family_fell_away"].contains(&said.code.as_str());
        let said = result.warnings.iter().filter(|said| !told(said)).cloned();
        said.map(|said| Warning { message: format!("{}: {}", side.name, said.message), ..said })
            .collect::<Vec<_>>()
    };
    let both = [of(a, &results.a), of(b, &results.b)].concat();
    let cut_short =
        run.interrupted().then(|| cut_short(comparison.pairs, comparing.schedule.pairs));
    let lengthened = run.lengthened.map(|by| comparing.warn_of(by)).into_iter().collect();
    let doubts = comparing.doubts();
    let is_known = |code: &str| doubts.iter().any(|doubt| doubt.code == code);
    // With a side that gives nothing, more pairs would decide nothing.
    let mut compared = if run.given_up { Vec::new() } else { of_comparison(comparison) };
    compared.retain(|warning| !is_known(&warning.code));
    let totals = [(a.name.as_str(), &results.a.total), (b.name.as_str(), &results.b.total)];
    compared.extend(warn_of_delays(totals, comparison.settings.margin));
    let cut_short = cut_short.into_iter().collect();
    without_repeats([doubts, lengthened, before, cut_short, both, compared].concat())
}
