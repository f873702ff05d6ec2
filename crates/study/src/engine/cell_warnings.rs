//! Warnings about a study's figures.

use std::collections::BTreeSet;

use sixmark_clients::client::{Answer, Client};
use sixmark_design::levels::label_levels;
use sixmark_design::spec::Study;
use sixmark_design::spec::cells::cells;
use sixmark_design::study_result::{CellOrder, CellResult, Resumed, UncontrolledSetting};
use sixmark_document::provenance::Warning;
use sixmark_lab::link_report::LinkReport as Link;
use sixmark_result::no_answer::{LoadKind, LoadedSide, describe_no_answers};
use sixmark_result::result::RunResult;
use sixmark_result::warnings::family::fell_away;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_units::family::Family;
use sixmark_units::quantity::counted;

/// The number of repetitions below which there is no useful interval.
const FEWEST: u32 = 3;

pub(super) fn doubt(code: &str, message: String) -> Warning {
    Warning { code: code.to_owned(), message }
}

/// Returns the warnings about the study as a whole. `by_fleet`: whether a fleet generates the load of
/// the cells that sixmark itself loads.
pub(super) fn of_study(study: &Study, resumed: &[Resumed], by_fleet: bool) -> Vec<Warning> {
    let mut doubts = Vec::new();
    let repetitions = study.repetitions.get();
    if repetitions < FEWEST {
        let times = if repetitions == 1 { "once" } else { "twice" };
        // Comparisons over several cells have intervals all the same.
        let cure =
            if study.form.quick { "run without --quick" } else { "set repetitions to 3 or more" };
        doubts.push(doubt(
            "few_repetitions",
            format!(
                "each cell is measured only {times}, too few for intervals of single cells; {cure}"
            ),
        ));
    }
    if study.order == CellOrder::Written && !study.factors.is_empty() {
        doubts.push(doubt(
            "written_order",
            "cells are measured in the file's order: any drift looks like an effect".to_owned(),
        ));
    }
    let others = others(study);
    if by_fleet && !others.is_empty() {
        doubts.push(doubt(
            "fleet_partly",
            format!(
                "the fleet loads the cells of sixmark alone; those of {} are loaded by one machine: \
                 don't compare these clients",
                others.join(", ")
            ),
        ));
    }
    if resumed.iter().any(|resumed| !resumed.changes.is_empty()) {
        doubts.push(doubt(
            "environment_changed",
            "the study was resumed although something had changed (resumed.changes)".to_owned(),
        ));
    }
    doubts
}

/// The code of the warning that cells were imported.
const IMPORTED: &str = "imported_cells";

/// Replaces the warning about imported cells.
pub(super) fn put_imported(warnings: &mut Vec<Warning>, cells: &[CellResult]) {
    warnings.retain(|warning| warning.code != IMPORTED);
    let number = cells.iter().filter(|cell| cell.is_imported()).count();
    if number > 0 {
        let cells = if number == 1 { "1 cell was" } else { &format!("{number} cells were") };
        warnings.push(doubt(
            IMPORTED,
            format!(
                "{cells} imported: other machines measured them with other software, so that a \
                 difference between the levels is not that of one thing alone"
            ),
        ));
    }
}

/// Returns a warning for each setting that was found otherwise than the study's lab would have set it.
pub(super) fn of_uncontrolled(all: &[UncontrolledSetting]) -> Vec<Warning> {
    let otherwise = all.iter().filter(|setting| setting.is_otherwise());
    let warning = |setting: &UncontrolledSetting| {
        let UncontrolledSetting { place, name, wanted, levels, found } = setting;
        let found = found.as_deref().unwrap_or_default();
        let levels = if levels.is_empty() { "the study".to_owned() } else { label_levels(levels) };
        let line = format!("{}: {name} is {found}, and {levels} says {wanted}", place.word());
        doubt("not_as_the_level_says", line)
    };
    otherwise.map(warning).collect()
}

/// Returns a warning for a cell that was measured again because its client did not end in its time.
/// `stuck` are the errors of the attempts before.
pub(super) fn of_stuck(stuck: &[String]) -> Option<Warning> {
    let last = stuck.last()?;
    let times = counted(stuck.len() as u64, "attempt", "attempts");
    let line = format!(
        "{times} before this one did not end ({last}); the figures cover the one that ended"
    );
    Some(doubt("client_stuck", line))
}

/// Returns the names of the other clients, which no fleet runs.
fn others(study: &Study) -> Vec<&'static str> {
    let others = cells(study).into_iter().map(|cell| cell.client());
    let others = others.filter(|client| *client != Client::Sixmark).map(Client::name);
    others.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the warnings of a run of sixmark, and of families without a response. What says of such a
/// family that it gave none, without a reason, is left out.
pub(super) fn of_run(result: &RunResult) -> Vec<Warning> {
    let silent = || result.families.iter().filter(|(_, figures)| figures.requests.completed == 0);
    let none = silent()
        .map(|(family, figures)| doubt("no_response", no_response(result, family, figures)));
    let unlike = result.not_same().map(|said| doubt("not_comparable", said.to_owned()));
    let of_silent: Vec<Warning> =
        silent().filter_map(|(family, figures)| fell_away(family, figures)).collect();
    let is_told =
        |of: &&Warning| of_silent.contains(of) || (of.code == "hopeless" && !of_silent.is_empty());
    let others = result.warnings.iter().filter(|of| !is_told(of)).cloned();
    none.chain(unlike).chain(others).collect()
}

/// Returns why a family gave no complete response, and what to do about it.
fn no_response(result: &RunResult, family: Family, figures: &FamilyResult) -> String {
    let (name, plan, ended, kind) = (family.word(), &result.plan, result.ended, LoadKind::Run);
    describe_no_answers(&[LoadedSide { name, plan, figures, ended, kind }])
        .unwrap_or_else(|| format!("no complete response over {family}"))
}

/// Returns the warnings about another client's figures.
pub(super) fn of_answer(client: Client, answer: &Answer) -> Vec<Warning> {
    let mut doubts = Vec::new();
    let completed = answer.figures.get(&Metric::Quantity(Quantity::Completed).to_string());
    if completed.is_none_or(|&completed| completed == 0.0) {
        doubts.push(doubt("no_response", format!("no complete response to {}", client.name())));
    }
    if answer.refused > 0 {
        let line = format!("{} responses to {} had an error status", answer.refused, client.name());
        doubts.push(doubt("client_statuses", line));
    }
    doubts
}

/// Returns the warnings about a lab's links, from their counters before and after a cell.
pub(super) fn of_links(before: &[Link], after: &[Link]) -> Vec<Warning> {
    after
        .iter()
        .flat_map(|link| of_link(before.iter().find(|b| b.name == link.name), link))
        .collect()
}

fn of_link(before: Option<&Link>, after: &Link) -> Vec<Warning> {
    let name = &after.name;
    let more = |count: fn(&Link) -> u64| count(after).saturating_sub(before.map_or(0, count));
    let mut doubts = Vec::new();
    if let Some(why) = &after.ended {
        doubts
            .push(doubt("link_ended", format!("the emulator of the link {name} has ended: {why}")));
    }
    let overflowed = more(Link::overflowed);
    if overflowed > 0 {
        let line = format!(
            "the emulator of the link {name} had no memory for {overflowed} frames: the link lost \
             more than requested"
        );
        doubts.push(doubt("link_overflow", line));
    }
    let unread = more(Link::unread);
    if unread > 0 {
        let line = format!(
            "the link {name} lost {unread} more frames than requested: the emulator read too late"
        );
        doubts.push(doubt("link_unread", line));
    }
    doubts
}

#[cfg(test)]
mod tests {
    use sixmark_lab::link_report::{FrameCounts, LinkDirection, ReportedMechanism};

    use super::*;

    fn link(overflowed: u64, unread: u64) -> Link {
        let mut link = Link::of_kernel("far", [Some(ReportedMechanism::Emulator); 2]);
        let ipv6 = FrameCounts { overflowed, ..FrameCounts::default() };
        link.b_to_a.frames = Some(LinkDirection { ipv6, ..LinkDirection::default() });
        link.a_to_b.unread = Some(unread);
        link
    }

    #[test]
    fn warns_of_link_losses_in_the_cell_in_which_they_happened() {
        let codes = |before: &[Link], after: Link| -> Vec<String> {
            of_links(before, &[after]).into_iter().map(|doubt| doubt.code).collect()
        };
        assert_eq!(codes(&[], link(3, 2)), ["link_overflow", "link_unread"]);
        assert_eq!(codes(&[link(1, 2)], link(3, 2)), ["link_overflow"]);
        assert!(codes(&[link(3, 2)], link(3, 2)).is_empty());
        let ended = Link { ended: Some("gone".into()), ..link(0, 0) };
        assert_eq!(codes(&[], ended), ["link_ended"]);
    }
}
