//! Outputs of studies with imported levels.

use super::*;
use crate::imported_levels::with_imported_levels;
use crate::outputs::claims;
use sixmark_design::study_result::{ClaimAnswer, ImportedFrom};

/// A study that measures this machine, and may be given others.
const SYSTEMS: &str = "imports = 'system'\n[factors]\nsize = [1, 2]\nfamily = ['ipv6', 'ipv4']\n\
    system = [{ name = 'here' }]\n\
    [[tables]]\nname = 't'\nrows = ['size', 'family']\nmeasures = ['goodput']\npublished = 'p'\n\
    [[figures]]\nname = 'f'\nx = 'size'\ny = 'goodput'\nseries = ['system', 'family']\npublished = 'p'\n\
    [[figures]]\nname = 'own'\nx = 'size'\ny = 'goodput'\nseries = ['family']\n\
    [[comparisons]]\nname = 'c'\nmeasure = 'goodput'\nby = ['system']\n\
    [[comparisons]]\nname = 'own'\nmeasure = 'goodput'\n\
    [[claims]]\nid = 'own'\ntext = 'T'\nkind = 'higher'\nmeasure = 'goodput'\n\
    a = { family = 'ipv6' }\nb = { family = 'ipv4' }\n\
    [[claims]]\nid = 'other'\ntext = 'T'\nkind = 'lower'\nmeasure = 'goodput'\n\
    a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nwhere = { system = 'A' }\n\
    not_here = 'no client runs A'\npublished = 'p'\n";

/// Returns the cells that the study measures, and as many of another system, where IPv6 is slower.
fn with_other(study: &Study, system: &str) -> Vec<CellResult> {
    let mut cells = measured(study, some);
    let slower = |family: Family, at: &[At], repetition: u32| {
        let factor = if family == Family::Ipv6 { 0.1 } else { 1.0 };
        Some(some(family, at, repetition)? * factor)
    };
    for mut cell in measured(study, slower) {
        for at in cell.levels.iter_mut().filter(|at| at.factor == "system") {
            at.level = system.to_owned();
        }
        let [file, copy, sha256, tool, at] = ["f", "imports/f", "0", "wget", ""].map(str::to_owned);
        cell.imported = Some(ImportedFrom { file, copy, sha256, tool, version: None, at });
        cells.push(cell);
    }
    cells
}

fn labels(chart: &Chart) -> Vec<&str> {
    chart.series.iter().map(|line| line.label.as_str()).collect()
}

#[test]
fn labels_omit_the_import_factor_before_any_import() {
    let study = study(SYSTEMS);
    let (tables, charts, comparisons) = outputs(&study, &measured(&study, some));
    assert_eq!(tables.len(), 1);
    assert_eq!(
        (tables[0].at.len(), tables[0].beside.as_slice()),
        (0, &["A".into(), "B".into()][..])
    );
    assert_eq!(labels(&charts[0])[..2], ["IPv6", "IPv4"]);
    assert!(labels(&charts[0])[2..].iter().all(|label| label.starts_with("published: ")));
    assert_eq!(comparisons[0].entries.len(), 1);
    assert_eq!(comparisons[0].entries[0].label, "");
    assert!(
        study.differences.iter().any(|said| said.contains("system (A, B) unless it is imported"))
    );
    let all = claims(&study, &measured(&study, some));
    assert_eq!(all[1].measured.why.as_deref(), Some("no client runs A"));
}

#[test]
fn separates_imported_levels_in_tables_charts_and_comparisons() {
    let study = study(SYSTEMS);
    let cells = with_other(&study, "other");
    let study = with_imported_levels(&study, &cells);
    assert_eq!(study.level_names("system"), ["here", "other"]);
    let (tables, charts, comparisons) = outputs(&study, &cells);
    let at: Vec<&str> = tables.iter().map(|table| table.at[0].level.as_str()).collect();
    assert_eq!(at, ["here", "other"]);
    let measured = |table: usize| tables[table].rows[0].values[0].measured.unwrap();
    assert!((measured(1) / measured(0) - 0.1).abs() < 1e-9);
    let published: Vec<&str> = labels(&charts[0]);
    let lines = ["here, IPv6", "here, IPv4", "other, IPv6", "other, IPv4"];
    assert_eq!(published[..4], lines);
    let mut once = published[4..].to_vec();
    once.dedup();
    assert_eq!(once.len(), published.len() - 4, "each published line once: {published:?}");
    let entries: Vec<(&str, f64)> = comparisons[0]
        .entries
        .iter()
        .map(|entry| (entry.label.as_str(), entry.ratio.unwrap().value))
        .collect();
    assert!((entries[0].1 - 1.1).abs() < 1e-9 && (entries[1].1 - 0.11).abs() < 1e-9);
    assert_eq!((entries[0].0, entries[1].0), ("here", "other"));
}

#[test]
fn outputs_that_omit_the_import_factor_cover_this_machine_only() {
    let study = study(SYSTEMS);
    let own = measured(&study, some);
    let cells = with_other(&study, "other");
    let whole = with_imported_levels(&study, &cells);
    let (_, charts, comparisons) = outputs(&whole, &cells);
    let (_, before, compared) = outputs(&study, &own);
    assert_eq!(charts[1], before[1]);
    assert_eq!(comparisons[1].entries, compared[1].entries);
    assert_eq!(claims(&whole, &cells)[0].measured, claims(&study, &own)[0].measured);
}

#[test]
fn tests_a_role_on_any_imported_level_that_matches_its_patterns() {
    let study = study(&SYSTEMS.replace("system = 'A'", "system = ['*windows*', '*A*']"));
    let of = |name: &str| {
        let cells = with_other(&study, name);
        let whole = with_imported_levels(&study, &cells);
        claims(&whole, &cells).swap_remove(1)
    };
    for name in ["Windows 11", "old windows", "a"] {
        let of = of(name);
        assert_eq!(of.measured.answer, ClaimAnswer::Holds, "{name}: {of:?}");
        assert_eq!(of.published.unwrap().blocks, 2, "the published A has this role");
    }
    let of = of("Linux");
    assert_eq!(of.measured.answer, ClaimAnswer::NotTested);
    assert_eq!(of.measured.why.as_deref(), Some("no client runs A"));
}

#[test]
fn names_the_pattern_of_a_role_without_a_matching_level() {
    let text = SYSTEMS
        .replace("system = 'A'", "system = '*bsd*'")
        .replace("not_here = 'no client runs A'\n", "");
    let study = study(&text);
    let of = claims(&study, &measured(&study, some)).swap_remove(1).measured;
    assert_eq!(of.answer, ClaimAnswer::NotTested);
    assert_eq!(of.why.as_deref(), Some("no system is called *bsd*"));
}

#[test]
fn tests_a_claim_about_a_published_system_once_it_is_imported() {
    let study = study(SYSTEMS);
    let cells = with_other(&study, "A");
    let whole = with_imported_levels(&study, &cells);
    let of = &claims(&whole, &cells)[1];
    assert_eq!(of.measured.answer, ClaimAnswer::Holds, "{of:?}");
    let (tables, charts, _) = outputs(&whole, &cells);
    // What was published of A stands beside what was imported of A, without a name.
    assert_eq!(tables[0].beside, ["", "B"].map(str::to_owned));
    let beside =
        |table: usize, at: usize| tables[table].rows[0].values[0].published.get(at).cloned();
    assert!(beside(1, 0).flatten().is_some() || beside(1, 1).flatten().is_some());
    let drawn = labels(&charts[0]);
    assert!(drawn.iter().all(|label| !label.contains("A, here") && !label.contains("B, here")));
}
