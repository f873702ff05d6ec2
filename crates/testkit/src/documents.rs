//! Sample documents for reports: of a real run, and of a constructed comparison and study.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};
use sixmark_compare::comparison_result::{Block, ComparisonResult};
use sixmark_compare::comparison_result::{
    BlockOrder, BlockSchedule, ComparedSide, ComparedSides, SideName,
};
use sixmark_compare::judge::compare;
use sixmark_compare::{BlockPair, Settings, Stretch};
use sixmark_document::provenance::{Ended, Warning};
use sixmark_result::gate_result::GateResult;
use sixmark_result::result::RunResult;
use sixmark_tally::counted::planned_result;
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::tally::FamilyTally;

use crate::{Origin, json as run};

/// The number of block pairs in the comparison.
pub const PAIRS: u32 = 12;

/// Returns the result of a real run over both families that lasts three seconds. It is made once.
pub fn real_run() -> &'static Value {
    static RUN: OnceLock<Value> = OnceLock::new();
    RUN.get_or_init(|| {
        let origin = Origin::start();
        let [v6, v4] = origin.urls("/bytes/4096");
        run(&["-d", "3s", "-c", "4", "--no-keep-alive", "--calibrate", &v6, &v4])
    })
}

/// Returns a document of `sixmark vitals`, recorded on a machine with traffic on loopback.
pub fn vitals() -> Value {
    recorded(include_str!("../../sixmark/tests/data/vitals.json"))
}

/// Returns a document of `sixmark traffic`, recorded with ten flows over loopback.
pub fn traffic() -> Value {
    recorded(include_str!("../../sixmark/tests/data/traffic.json"))
}

/// Returns the result of a search for the highest rate of a server with a known service time.
pub fn search() -> Value {
    recorded(include_str!("../../sixmark/tests/data/find-max.json"))
}

fn recorded(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns the result of a run with an open loop over TLS and HTTP/2.
pub fn open_run() -> Value {
    let origin = Origin::secure();
    let [v6, v4] = origin.urls("/bytes/100");
    let how = ["--http2", "--cacert", origin.authority(), "--rate", "300/s", "-d", "2s"];
    run(&[&how[..], &[&v6, &v4]].concat())
}

/// Returns a comparison in which IPv6 takes 10 % longer, judged like a real one.
pub fn comparison() -> Value {
    let run: RunResult = serde_json::from_value(real_run().clone()).unwrap();
    let tallies = |slower| (0..=PAIRS).map(|pair| tally(pair, slower)).collect::<Vec<_>>();
    let (a, b) = (tallies(1.1), tallies(1.0));
    let stretch = |tally: &FamilyTally| Stretch::new(tally, 1.0);
    let pairs: Vec<BlockPair> =
        a.iter().zip(&b).skip(1).map(|(a, b)| BlockPair { a: stretch(a), b: stretch(b) }).collect();
    let settings = Settings::usual(1);
    let comparison = compare(("ipv6", "ipv4"), &pairs, 0, &settings);
    let noise = compare(("ipv6", "ipv6"), &same(&pairs), 0, &settings);
    let side = |name: &str, all: &[FamilyTally]| ComparedSide {
        name: name.into(),
        options: String::new(),
        plan: run.plan.clone(),
        elapsed_s: f64::from(PAIRS),
        figures: figures(&run, &sum(&all[1..]), f64::from(PAIRS)),
        cpu: Default::default(),
    };
    let (side_a, side_b) = (side("ipv6", &a), side("ipv4", &b));
    let document = ComparisonResult {
        schema: sixmark_compare::comparison_result::SCHEMA.into(),
        tool: run.tool.clone(),
        started: run.started.clone(),
        elapsed_s: 27.5,
        ended: Ended::Complete,
        seed: 1,
        schedule: schedule(),
        sides: ComparedSides {
            a: side_a.with_compared_figures(&comparison, SideName::A),
            b: side_b.with_compared_figures(&comparison, SideName::B),
        },
        blocks: blocks(&run, &a, &b),
        comparison,
        noise: Some(noise),
        gates: gates(),
        dns: run.dns.clone(),
        environment: run.environment.clone(),
        warnings: vec![Warning { code: "few_samples".into(), message: "made by hand".into() }],
        generator: run.generator.clone(),
        fleet: None,
    };
    serde_json::to_value(document).unwrap()
}

fn schedule() -> BlockSchedule {
    let (block_s, block_requests) = (Some(1.0), None);
    BlockSchedule {
        pairs: PAIRS,
        order: BlockOrder::Abba,
        block_s,
        requested_block_s: None,
        block_requests,
        warm_up_blocks: 1,
    }
}

/// Returns the tally of a side in a block: 400 exchanges whose durations vary slightly.
fn tally(pair: u32, slower: f64) -> FamilyTally {
    let mut tally = FamilyTally { sent: 402, ..FamilyTally::default() };
    tally.status.add(200, 400);
    tally.failures.add(Failure::new(Outcome::Reset, FailurePhase::Wait), 2);
    tally.bytes.body = 400 * 4096;
    let drift = 1.0 + 0.01 * (f64::from(pair) * 2.3 + slower * 7.0).sin();
    for at in 0..400_u32 {
        let tail = if at % 50 == 0 { 8.0 } else { 1.0 };
        let us = 200.0 * slower * drift * tail * (1.0 + f64::from(at * 37 % 100) / 200.0);
        let nanos = (us * 1e3) as u64;
        tally.phases.connect.record(nanos / 5);
        tally.phases.wait.record(nanos * 3 / 4);
        tally.phases.transfer.record(nanos / 20);
        tally.phases.response.record(nanos);
        tally.phases.lifetime.record(nanos + 1_000);
    }
    tally
}

/// Returns pairs that compare side A with itself: the A of each pair with the A of the next pair.
fn same(pairs: &[BlockPair]) -> Vec<BlockPair> {
    let beside = pairs.iter().zip(pairs.iter().cycle().skip(1));
    beside.map(|(one, other)| BlockPair { a: one.a.clone(), b: other.a.clone() }).collect()
}

fn figures(
    run: &RunResult,
    tally: &FamilyTally,
    elapsed_s: f64,
) -> sixmark_tally::family_result::FamilyResult {
    planned_result(&run.plan, tally, Vec::new(), elapsed_s, false)
}

fn sum(all: &[FamilyTally]) -> FamilyTally {
    let mut sum = FamilyTally::default();
    all.iter().for_each(|tally| sum += tally);
    sum
}

/// Returns the blocks, with alternating order in the pairs. The first pair is the warm-up.
fn blocks(run: &RunResult, a: &[FamilyTally], b: &[FamilyTally]) -> Vec<Block> {
    let pairs = a.iter().zip(b).enumerate();
    let both = pairs.flat_map(|(pair, (a, b))| {
        let both = [(pair, SideName::A, a), (pair, SideName::B, b)];
        if pair % 2 == 0 { both } else { [both[1], both[0]] }
    });
    both.enumerate()
        .map(|(at, (pair, side, tally))| Block {
            side,
            pair: u32::try_from(pair).unwrap().checked_sub(1),
            started_s: at as f64 * 1.05,
            elapsed_s: 1.0,
            ended: Ended::Complete,
            figures: figures(run, tally, 1.0),
            busiest: 0.4,
            saturated: false,
            counts: None,
            cpu: Default::default(),
        })
        .collect()
}

fn gates() -> Vec<GateResult> {
    let gate = |fail_if: &str, failed| GateResult {
        fail_if: fail_if.into(),
        failed,
        because: "made by hand".into(),
    };
    vec![gate("ipv6.failures > 0.02", false), gate("verdict(response.p50) == worse", true)]
}

/// Returns a study of two clients and three sizes, with published figures.
pub fn study() -> Value {
    let run = real_run();
    let at = |client: &str| json!([{"factor": "client", "level": client}]);
    let entry = |label: &str, value: f64| {
        json!({"label": label, "pairs": 3, "higher": 1, "finding": "lower",
            "ratio": {"value": value, "low": value - 0.01, "high": value + 0.01},
            "sentence": format!("With {label}, IPv6 carries less than IPv4.")})
    };
    let column = |family: &str| json!({"label": family, "measure": "goodput", "unit": "MB/s", "family": family, "at": []});
    let value = |y: f64| {
        json!({"measured": y, "low": y - 0.1, "high": y + 0.1, "n": 3,
        "published": [{"printed": format!("{:.2}", y + 1.0), "value": y + 1.0}]})
    };
    json!({
        "schema": "sixmark.study/1", "tool": run["tool"], "name": "sizes",
        "title": "Throughput over size", "description": "Two clients.",
        "file": {"name": "sizes.toml", "sha256": "00"}, "quick": true, "seed": 1,
        "order": "random", "repetitions": 3, "started": run["started"],
        "updated": run["started"], "ended": "complete",
        "factors": [{"name": "client", "levels": ["sixmark", "curl"]}], "cells_planned": 2,
        "cells": [{"id": "c001-r1", "cell": 1, "repetition": 1, "levels": at("sixmark"),
            "client": "sixmark", "command": ["-n", "9"], "started": run["started"],
            "took_s": 1.5, "ended": "complete", "warnings": [],
            "families": {"ipv6": {"sent": 9.0, "goodput": 5e6}, "ipv4": {"sent": 9.0}}}],
        "tables": [{"name": "t", "title": "Goodput by client", "at": [], "factors": ["client"],
            "columns": [column("ipv6"), column("ipv4")], "statistic": "mean",
            "rows": [{"levels": ["sixmark"], "values": [value(12.34), value(13.0)]}],
            "published": "Somebody, 2007", "beside": [""], "remarks": ["By hand."]}],
        "figures": [{"name": "f", "title": "Throughput over size",
            "x": {"label": "size", "unit": "bytes", "logarithmic": true},
            "y": {"label": "goodput", "unit": "MB/s", "logarithmic": false},
            "series": [line("sixmark", "ipv6", 2.0), line("sixmark", "ipv4", 2.1),
                line("curl", "ipv6", 1.5), line("curl", "ipv4", 1.6)]}],
        "comparisons": [{"name": "c", "title": "IPv6 to IPv4", "measure": "goodput",
            "factor": "family", "a": "ipv6", "b": "ipv4", "paired_by": ["size"],
            "entries": [entry("sixmark", 0.979), entry("curl", 0.9)],
            "published": [entry("wget", 1.129)]}],
        "published": null, "environment": run["environment"], "programs": {"curl": "curl 8"},
        "resumed": [], "warnings": []
    })
}

/// Returns the line of a client's throughput over the size of a file.
fn line(client: &str, family: &str, factor: f64) -> Value {
    let points = [(1e3_f64, "1k"), (1e4, "10k"), (1e5, "100k")].map(|(x, label)| {
        let y = factor * x.log10();
        json!({"x": x, "label": label, "y": y, "low": y * 0.95, "high": y * 1.05})
    });
    json!({"label": format!("{client}, {family}"), "family": family,
        "at": [{"factor": "client", "level": client}], "published": false, "points": points})
}

/// Writes a document to a file of this name in a folder. Returns its path.
pub fn kept(folder: &Path, name: &str, document: &Value) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, document.to_string()).unwrap();
    path
}
