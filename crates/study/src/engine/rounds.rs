//! Rounds of repetitions after those that a study plans, until its claims are decided.

use std::collections::BTreeSet;

use sixmark_document::provenance::{Ended, warning};
use sixmark_sys::command_error::CommandError;
use sixmark_units::quantity::{counted, write_about};
use sixmark_units::random::Random;

use super::cell::CellEnvironment;
use super::conduct::{StudyEvent, StudyRun, finish};
use super::machine_noise::MachineNoise;
use super::stage::Stage;
use sixmark_analysis::claims::{CellTimes, MOST_TIMES, cells_of_claim, forecast_claims};
use sixmark_design::spec::cells::shuffle;
use sixmark_design::study_result::{ClaimAnswer, ClaimEvidence, ClaimKind, ClaimScale};

/// The code of the warning about claims that the time left can't decide.
const OUT_OF_REACH: &str = "out_of_reach";
/// After so many of the planned repetitions it is said which claims are out of reach. The scatter
/// of fewer is not known well enough: that of six is wrong by a third.
const FIRST_FORECAST: u32 = 6;
/// A claim whose forecast is this many times the time that is left is measured no more.
const FAR_OUT_OF_REACH: f64 = 2.0;

/// The undecided claims of a study: what they need, and which of them the time left can't decide.
#[derive(Default)]
struct OpenClaims {
    /// The cells that are worth measuring again.
    needed: BTreeSet<usize>,
    decided: usize,
    open: usize,
    out_of_reach: Vec<FarClaim>,
}

/// A claim that the time left can't decide.
struct FarClaim {
    id: String,
    /// What it needs, in seconds.
    needs_s: f64,
    /// Whether it needs even more.
    at_least: bool,
    /// Its figures, in words.
    figures: String,
}

impl FarClaim {
    fn describe(&self) -> String {
        let more = if self.at_least { "over" } else { "about" };
        format!("{more} {} more", write_about(self.needs_s))
    }
}

impl OpenClaims {
    /// Says where the study stands, in a line.
    fn describe(&self, repetitions: u32) -> String {
        let OpenClaims { decided, open, needed, out_of_reach } = self;
        let decided = counted(*decided as u64, "claim is decided", "claims are decided");
        let out = match out_of_reach.len() {
            0 => String::new(),
            n => format!(", {n} of them out of reach in the time left"),
        };
        let next = match needed.len() {
            0 => String::new(),
            n => format!("; {} measured again", counted(n as u64, "cell is", "cells are")),
        };
        let after = counted(repetitions.into(), "repetition", "repetitions");
        format!("after {after} {decided}, {open} undecided{out}{next}")
    }

    /// Says which claims are out of reach, and why; `None` if there are none.
    fn describe_reach(&self, noise: Option<MachineNoise>) -> Option<String> {
        let mut all: Vec<&FarClaim> = self.out_of_reach.iter().collect();
        all.sort_by(|a, b| a.needs_s.total_cmp(&b.needs_s));
        let noise = noise.map_or(String::new(), |noise| format!("; {noise}"));
        let said = match all.as_slice() {
            [] => return None,
            [only] => {
                let FarClaim { id, figures, .. } = only;
                format!("claim {id} is beyond the time left: it needs {}{figures}", only.describe())
            }
            [first, .., last] => format!(
                "{} claims are beyond the time left: {} needs {}, {} {}",
                all.len(),
                first.id,
                first.describe(),
                last.id,
                last.describe()
            ),
        };
        Some(said + &noise)
    }
}

impl StudyRun<'_> {
    /// Measures the planned repetitions that are left. Of a study that goes on until it is decided
    /// it is said as soon as that is known which claims can't be.
    pub(super) fn measure_planned(
        &mut self,
        left: &[(usize, u32)],
        cells: &CellEnvironment<'_>,
        stage: &mut Stage<'_>,
        tell: &mut dyn FnMut(&StudyEvent<'_>),
    ) -> Result<Ended, CommandError> {
        let early = left.iter().take_while(|(_, repetition)| *repetition <= FIRST_FORECAST).count();
        if self.document.until.is_none() || early == 0 || early == left.len() {
            return self.all(left, cells, stage, tell);
        }
        if self.all(&left[..early], cells, stage, tell)? != Ended::Complete {
            return Ok(Ended::Interrupted);
        }
        let claims = forecast_claims(self.study, &self.document.cells, FIRST_FORECAST);
        let open = self.find_open(claims.iter());
        self.warn(&open);
        if let Some(said) = self.document.warnings.iter().find(|of| of.code == OUT_OF_REACH) {
            tell(&StudyEvent::Claims { said: &said.message });
        }
        self.all(&left[early..], cells, stage, tell)
    }

    /// Goes on until every claim that can be tested has an answer, none of the others can get one
    /// in the time that is left, or the time is up. Each round measures only the cells that
    /// undecided claims need, in random order.
    pub(super) fn decide_claims(
        &mut self,
        cells: &CellEnvironment<'_>,
        stage: &mut Stage<'_>,
        tell: &mut dyn FnMut(&StudyEvent<'_>),
    ) -> Result<Ended, CommandError> {
        let planned = self.study.repetitions.get();
        let Some(until) = &self.document.until else { return Ok(Ended::Complete) };
        let mut repetition = planned.max(until.looks.last().copied().unwrap_or(0));
        loop {
            let open = self.look_at_claims(repetition, tell);
            if open.needed.is_empty() {
                return Ok(Ended::Complete);
            }
            let next = self.document.until.as_ref().map_or(0, |until| until.next_look(planned));
            while repetition < next {
                if self.seconds_of(&open.needed) > self.seconds_left() {
                    self.look_at_claims(repetition, tell);
                    return Ok(Ended::Complete);
                }
                repetition += 1;
                if self.round(&open.needed, repetition, cells, stage, tell)? != Ended::Complete {
                    return Ok(Ended::Interrupted);
                }
            }
        }
    }

    /// Tests the claims after so many repetitions, if they were not yet.
    fn look_at_claims(
        &mut self,
        repetitions: u32,
        tell: &mut dyn FnMut(&StudyEvent<'_>),
    ) -> OpenClaims {
        if let Some(until) = &mut self.document.until
            && until.looks.last().is_none_or(|last| *last < repetitions)
        {
            until.looks.push(repetitions);
        }
        finish(self.study, self.document, None);
        let open = self.find_open(self.document.claims.iter().map(|claim| &claim.measured));
        tell(&StudyEvent::Claims { said: &open.describe(repetitions) });
        self.warn(&open);
        open
    }

    /// Measures one repetition of the needed cells, except those that an earlier command measured.
    fn round(
        &mut self,
        needed: &BTreeSet<usize>,
        repetition: u32,
        cells: &CellEnvironment<'_>,
        stage: &mut Stage<'_>,
        tell: &mut dyn FnMut(&StudyEvent<'_>),
    ) -> Result<Ended, CommandError> {
        let mut order: Vec<usize> = needed.iter().copied().collect();
        shuffle(&mut order, &mut Random::new(self.document.seed, u64::from(repetition)));
        let of_round = self.document.measured().filter(|kept| kept.repetition == repetition);
        let done: BTreeSet<u32> = of_round.map(|kept| kept.cell).collect();
        order.retain(|&at| !done.contains(&self.cells[at].number));
        let left: Vec<(usize, u32)> = order.into_iter().map(|at| (at, repetition)).collect();
        let measured = self.document.measured().count() as u32;
        self.document.cells_planned = measured + left.len() as u32;
        self.all(&left, cells, stage, tell)
    }

    /// Returns what the undecided claims of the study need, in the order of its file.
    fn find_open<'a>(&self, claims: impl Iterator<Item = &'a ClaimEvidence>) -> OpenClaims {
        let left_s = self.seconds_left();
        let mut all = OpenClaims::default();
        for (spec, claim) in self.study.outputs.claims.iter().zip(claims) {
            all.decided += usize::from(claim.answer.is_decided());
            if claim.answer != ClaimAnswer::Undecided {
                continue;
            }
            all.open += 1;
            // It has the answer of the claim from which it follows.
            if spec.derived_from.is_some() {
                continue;
            }
            let cells = cells_of_claim(self.study, spec, self.cells);
            // There is no forecast for shares, none without a test, and none to rely on after a few
            // repetitions.
            let has_none = claim.p.is_none() || spec.kind == ClaimKind::Share;
            let needs_s = match claim.more_blocks {
                _ if has_none || claim.blocks < FIRST_FORECAST => 0.0,
                Some(more) => f64::from(more) * self.seconds_of(&cells),
                None => f64::from(claim.blocks) * MOST_TIMES * self.seconds_of(&cells),
            };
            if needs_s > left_s {
                let (id, at_least) = (spec.id.clone(), claim.more_blocks.is_none());
                let figures = describe_scatter(claim);
                all.out_of_reach.push(FarClaim { id, needs_s, at_least, figures });
            }
            if needs_s <= FAR_OUT_OF_REACH * left_s {
                all.needed.extend(cells);
            }
        }
        all
    }

    /// Replaces the warning about claims that are out of reach.
    fn warn(&mut self, open: &OpenClaims) {
        self.document.warnings.retain(|of| of.code != OUT_OF_REACH);
        let said = open.describe_reach(MachineNoise::since(self.machine_before.as_ref()));
        self.document.warnings.extend(said.map(|said| warning(OUT_OF_REACH, said)));
    }

    fn seconds_left(&self) -> f64 {
        let at_most_s = self.document.until.as_ref().map_or(0.0, |until| until.at_most_s);
        (at_most_s - self.began.elapsed().as_secs_f64()).max(0.0)
    }

    /// Returns how long a repetition of these cells takes, in seconds, by those that were measured.
    fn seconds_of<'a>(&self, cells: impl IntoIterator<Item = &'a usize>) -> f64 {
        let times = CellTimes::of(self.document.measured());
        times.of_repetition(self.cells, cells) * self.overhead()
    }
}

/// Describes the estimate of a claim with its interval:
/// `: after 10 repetitions it is 0.952 (0.876 to 1.035)`; empty if it has none, or is a difference
/// in the measure's base unit, which says little.
fn describe_scatter(claim: &ClaimEvidence) -> String {
    let estimate = claim.estimate.filter(|of| of.of != ClaimScale::Difference);
    let Some((value, low, high)) = estimate.and_then(|of| Some((of.value, of.low?, of.high?)))
    else {
        return String::new();
    };
    let after = counted(claim.blocks.into(), "repetition", "repetitions");
    format!(": after {after} it is {value:.3} ({low:.3} to {high:.3})")
}
