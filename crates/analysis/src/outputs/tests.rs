#![cfg(test)]

mod imported;
mod nothing_arrived;
mod published;

use super::*;
use sixmark_design::form::Form;
use sixmark_design::spec::cells::cells;
use sixmark_design::spec::published::family_name;
use sixmark_design::spec::{ReadContext, parse_study};
use sixmark_design::study_result::{Dot, MissingFigure, RatioFinding};
use sixmark_document::provenance::Ended;
use sixmark_result::sameness::GivenResult;
use sixmark_tally::family_result::Families;

const PUBLISHED: &str = r#"
title = "T"
source = "S"
[[tables]]
name = "p"
factors = ["size"]
columns = [
    { measure = "goodput", unit = "MB/s", family = "ipv6", at = { system = "A" } },
    { measure = "goodput", unit = "MB/s", family = "ipv4", at = { system = "A" } },
    { measure = "goodput", unit = "MB/s", family = "ipv6", at = { system = "B" } },
]
rows = [["1", 10, 20, 30], ["2", 11.0, 21, [31, 33.0]]]
"#;

pub(crate) fn study(more: &str) -> Study {
    study_form(more, false)
}

/// Returns the short form of the study.
pub(crate) fn short_study(more: &str) -> Study {
    study_form(more, true)
}

fn study_form(more: &str, quick: bool) -> Study {
    let text = format!(
        "name = 'x'\ntargets = ['http://[::1]', 'http://127.0.0.1']\nrepetitions = 3\n\
         published = 'published.toml'\n{more}"
    );
    let mut open = |_: &str| Ok(PUBLISHED.to_owned());
    let has_option = |name: &str| ["ratio", "count"].contains(&name);
    let mut context = ReadContext {
        form: Form { quick, ..Form::default() },
        has_option: &has_option,
        open: &mut open,
    };
    parse_study(&text, &mut context).unwrap_or_else(|wrongs| panic!("{wrongs:?}"))
}

/// Returns all cells in all repetitions. `figure` computes their goodput from the family, the
/// levels and the repetition.
pub(crate) fn measured(
    study: &Study,
    figure: impl Fn(Family, &[At], u32) -> Option<f64>,
) -> Vec<CellResult> {
    let mut all = Vec::new();
    for cell in cells(study) {
        for repetition in 1..=study.repetitions.get() {
            let of = |family: Family| {
                let alone = cell.text("family").is_some_and(|name| family_name(family) != name);
                let value = figure(family, &cell.at(), repetition).filter(|_| !alone)?;
                Some([("goodput".to_owned(), value)].into())
            };
            all.push(CellResult {
                id: format!("c{:03}-r{repetition}", cell.number),
                cell: cell.number,
                repetition,
                levels: cell.at(),
                client: "sixmark".into(),
                agents: None,
                command: Vec::new(),
                started: String::new(),
                took_s: 1.0,
                ended: Ended::Complete,
                given: Default::default(),
                families: Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) },
                accounts: Families::default(),
                traffic: None,
                links: Vec::new(),
                instruments: None,
                imported: None,
                warnings: Vec::new(),
            });
        }
    }
    all
}

pub(crate) fn size(at: &[At]) -> f64 {
    at.iter().find(|at| at.factor == "size").map_or(1.0, |at| at.level.parse().unwrap())
}

/// Returns a goodput in bytes/s, 1.1 times as high over IPv6, with some spread over repetitions.
pub(crate) fn some(family: Family, at: &[At], repetition: u32) -> Option<f64> {
    let factor = if family == Family::Ipv6 { 1.1 } else { 1.0 };
    Some(size(at) * 1e6 * factor * (1.0 + f64::from(repetition) / 100.0))
}

pub(crate) const SIZES: &str = "[factors]\nsize = [1, 2]\nfamily = ['ipv6', 'ipv4']\n";

#[test]
fn pairs_the_other_factors_levels_and_averages_repetitions() {
    let study = study(&format!("{SIZES}[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\n"));
    let compared = &comparisons(&study, &measured(&study, some))[0];
    assert_eq!(compared.paired_by, ["size"]);
    let entry = &compared.entries[0];
    assert_eq!((entry.pairs, entry.higher, entry.finding), (2, 2, RatioFinding::Higher));
    assert!((entry.ratio.unwrap().value - 1.1).abs() < 1e-12, "{entry:?}");
}

#[test]
fn without_another_factor_repetitions_are_the_pairs() {
    let text =
        "[factors]\nfamily = ['ipv6', 'ipv4']\n[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\n";
    let study = study(text);
    let compared = &comparisons(&study, &measured(&study, some))[0];
    assert_eq!(
        (&compared.paired_by[..], compared.entries[0].pairs),
        (&["repetition".to_owned()][..], 3)
    );
    // A repetition that is not complete is not a pair.
    let part: Vec<_> = measured(&study, some).into_iter().filter(|c| c.id != "c002-r3").collect();
    assert_eq!(comparisons(&study, &part)[0].entries[0].pairs, 2);
}

#[test]
fn pairs_the_families_within_a_cell_that_measures_both() {
    let text = "[factors]\nratio = ['1:1', '4:1']\n[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\nby = ['ratio']\n\
        [[comparisons]]\nname = 'd'\nfactor = 'ratio'\nmeasure = 'goodput'\nby = ['family']\n\
        [[comparisons]]\nname = 'e'\nfactor = 'ratio'\nmeasure = 'goodput'\n";
    let study = study(text);
    let all = comparisons(&study, &measured(&study, some));
    assert_eq!(all[0].entries.len(), 2);
    assert_eq!((all[0].entries[1].pairs, &all[0].paired_by[0][..]), (3, "repetition"));
    assert!((all[0].entries[1].ratio.unwrap().value - 1.1).abs() < 1e-12);
    // The other way round, levels of the ratio are compared: IPv6 with IPv6.
    assert_eq!(all[1].entries.len(), 2);
    assert!((all[1].entries[0].ratio.unwrap().value - 1.0).abs() < 1e-12, "{:?}", all[1]);
    assert_eq!(
        (&all[2].paired_by.join(" ")[..], all[2].entries[0].pairs),
        ("family repetition", 6)
    );
}

#[test]
fn tables_show_figures_intervals_and_published_figures() {
    let text = format!(
        "{SIZES}[[tables]]\nname = 't'\nrows = ['size']\n\
         measures = [{{ measure = 'goodput', unit = 'MB/s' }}]\n\
         published = {{ table = 'p', at = {{ system = 'A' }} }}\n\
         [[tables]]\nname = 'u'\nmeasures = ['goodput']\nwhere = {{ size = 2 }}\nstatistic = 'median'\n\
         [[tables]]\nname = 'v'\nmeasures = ['goodput']\n"
    );
    let study = study(&text);
    let (tables, ..) = outputs(&study, &measured(&study, some));
    let names: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["t", "u", "v", "v"], "one for each level that a table does not name");
    let value = &tables[0].rows[1].values[0];
    assert!((value.measured.unwrap() - 2.0 * 1.1 * 1.02).abs() < 1e-9, "{value:?}");
    assert!(value.low.unwrap() < value.measured.unwrap());
    let printed = |value: &TableValue| value.published[0].clone().unwrap().printed;
    assert_eq!((value.n, &printed(value)[..]), (3, "11.0"));
    assert_eq!((&printed(&tables[0].rows[0].values[1])[..], &tables[0].beside[0][..]), ("20", "A"));
    assert_eq!(tables[0].columns[0].label, "goodput IPv6");
    assert_eq!(tables[1].rows[0].values[0].low, None, "three values have no such interval");
    assert_eq!(tables[3].at[0].level, "2");
}

#[test]
fn charts_have_a_line_for_each_combination_and_the_published_ones() {
    let text = format!(
        "{SIZES}[[figures]]\nname = 'f'\nx = 'size'\ny = {{ measure = 'goodput', unit = 'kB/s' }}\n\
         published = {{ table = 'p', at = {{ system = 'B' }} }}\n"
    );
    let study = study(&text);
    let only_six = |family, at: &[At], n| some(family, at, n).filter(|_| family == Family::Ipv6);
    let (_, charts, _) = outputs(&study, &measured(&study, only_six));
    let lines: Vec<_> = charts[0].series.iter().map(|s| (s.label.as_str(), s.published)).collect();
    assert_eq!(lines, [("IPv6", false), ("published: B, IPv6", true)]);
    let [first, range] = &charts[0].series[1].points[..] else { panic!("{charts:?}") };
    assert_eq!((first.y, first.printed.as_deref()), (Some(30_000.0), Some("30,000")));
    assert_eq!((range.y, range.printed.as_deref()), (None, Some("31,000 to 33,000")));
    assert_eq!((range.low, range.high), (Some(31_000.0), Some(33_000.0)));
    assert_eq!(charts[0].series[0].points[1].x, 2.0);
}

#[test]
fn outputs_without_measured_cells_are_empty() {
    let text = format!(
        "{SIZES}[[tables]]\nname = 't'\nmeasures = ['goodput']\n[[figures]]\nname = 'f'\nx = 'size'\ny = 'goodput'\n[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\n"
    );
    let study = study(&text);
    let (tables, charts, comparisons) = outputs(&study, &[]);
    assert!(tables.is_empty() && charts[0].series.is_empty() && comparisons[0].entries.is_empty());
}

/// Two factors besides the family. Offload doubles IPv4's goodput and adds a tenth to IPv6's.
const OFFLOAD: &str = "[factors]\noffload = [{ name = 'off' }, { name = 'on' }]\n\
    block = [{ name = 'small' }, { name = 'large' }]\nfamily = ['ipv4', 'ipv6']\n";

fn offloaded(family: Family, at: &[At], repetition: u32) -> Option<f64> {
    let is = |name: &str| at.iter().any(|at| at.level == name);
    let of_family = match family {
        Family::Ipv6 => 2.0 * if is("on") { 1.1 } else { 1.0 },
        Family::Ipv4 => 1.0 * if is("on") { 2.0 } else { 1.0 },
    };
    Some(of_family * if is("large") { 10.0 } else { 1.0 } * (1.0 + 0.1 * f64::from(repetition)))
}

#[test]
fn shows_improvement_in_percent_per_combination_of_other_factors() {
    let text = format!(
        "{OFFLOAD}[[tables]]\nname = 't'\nwhere = {{ offload = 'on' }}\nrows = ['block', 'family']\n\
         measures = ['goodput']\nimprovement = {{ factor = 'family', of = 'ipv6', over = 'ipv4' }}\n"
    );
    let study = study(&text);
    let (tables, ..) = outputs(&study, &measured(&study, offloaded));
    let improvement = tables[0].improvement.as_ref().unwrap();
    let levels: Vec<_> = improvement.rows.iter().map(|row| row.levels.join(" ")).collect();
    assert_eq!(levels, ["small ipv6", "large ipv6"]);
    for row in &improvement.rows {
        let TableValue { measured, low, high, n, .. } = row.values[0].clone();
        // Drift over the repetitions affects both levels alike: the interval is a point.
        for percent in [measured, low, high] {
            assert!((percent.unwrap() - 10.0).abs() < 1e-9, "{row:?}");
        }
        assert_eq!(n, 3);
    }
}

#[test]
fn reports_a_fall_of_a_lower_is_better_measure_as_improvement() {
    let text = format!(
        "{OFFLOAD}[[tables]]\nname = 't'\nwhere = {{ block = 'small' }}\nrows = ['offload', 'family']\n\
         measures = ['cpu_share']\nimprovement = {{ factor = 'offload', of = 'on', over = 'off' }}\n"
    );
    let study = study(&text);
    let mut cells = measured(&study, offloaded);
    for figures in cells.iter_mut().flat_map(|c| [&mut c.families.ipv6, &mut c.families.ipv4]) {
        for figures in figures.iter_mut() {
            let goodput = figures["goodput"];
            figures.insert("cpu_share".into(), 1.0 / goodput);
        }
    }
    let (tables, ..) = outputs(&study, &cells);
    let rows = &tables[0].improvement.as_ref().unwrap().rows;
    let percent = |row: &Row| row.values[0].measured.unwrap();
    assert!((percent(&rows[0]) - 50.0).abs() < 1e-9, "half of it: {rows:?}");
    let row = rows.iter().find(|row| row.levels[1] == "ipv6").unwrap();
    assert!((percent(row) - (1.0 - 1.0 / 1.1) * 100.0).abs() < 1e-9, "{row:?}");
}

#[test]
fn an_interaction_is_the_ratio_of_two_ratios() {
    let of = |by: &str| {
        let text = format!(
            "{OFFLOAD}[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\na = 'ipv6'\nb = 'ipv4'\n\
             interaction = {{ factor = 'offload', of = 'off', over = 'on' }}\n{by}"
        );
        let study = study(&text);
        // Some spread over the figures, so that there is an interval.
        let figure = |family: Family, at: &[At], repetition: u32| {
            let own = f64::from(repetition) + at[1].level.len() as f64;
            let own = if family == Family::Ipv6 { 1.0 + own / 1000.0 } else { 1.0 };
            Some(offloaded(family, at, repetition)? * if at[0].level == "on" { own } else { 1.0 })
        };
        comparisons(&study, &measured(&study, figure))
    };
    for (by, entries, pairs, paired) in
        [("by = ['block']\n", 2, 3, "repetition"), ("", 1, 2, "block")]
    {
        let all = of(by);
        assert_eq!((all[0].entries.len(), &all[0].paired_by.join(" ")[..]), (entries, paired));
        let entry = &all[0].entries[0];
        // Without offload, IPv6 has 2 times IPv4's goodput; with offload, 1.1 times.
        assert!((entry.ratio.unwrap().value - 2.0 / 1.1).abs() < 0.02, "{entry:?}");
        assert_eq!((entry.pairs, entry.finding), (pairs, RatioFinding::Higher));
        assert!(entry.sentence.contains("depends on offload"), "{}", entry.sentence);
        assert_eq!(all[0].interaction.as_ref().unwrap().of, "off");
    }
}

/// Returns cells with 50 complete responses of each family, all with the given status.
pub(crate) fn answering(study: &Study, status: impl Fn(Family, &[At]) -> u16) -> Vec<CellResult> {
    let mut cells = measured(study, some);
    for cell in &mut cells {
        let at = cell.levels.clone();
        let of = |family: Family, loaded: bool| {
            let status = status(family, &at);
            let unaccepted = if status < 400 { 0 } else { 50 };
            let status = [(status, 50)].into();
            loaded.then(|| GivenResult { status, unaccepted, ..GivenResult::default() })
        };
        cell.given.ipv6 = of(Family::Ipv6, cell.families.ipv6.is_some());
        cell.given.ipv4 = of(Family::Ipv4, cell.families.ipv4.is_some());
    }
    cells
}

pub(crate) const SIX_LEVELS: &str =
    "[factors]\nsize = [1, 2, 3, 4, 5, 6]\nfamily = ['ipv6', 'ipv4']\n";

pub(crate) fn sick_at_two(family: Family, at: &[At]) -> u16 {
    if family == Family::Ipv6 && size(at) == 2.0 { 503 } else { 200 }
}

#[test]
fn does_not_compare_a_family_that_answers_errors_at_one_level() {
    let text = format!(
        "{SIX_LEVELS}[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\n\
         [[comparisons]]\nname = 'd'\nmeasure = 'goodput'\nby = ['size']\n\
         [[comparisons]]\nname = 'e'\nmeasure = 'goodput'\na = 'ipv6'\nb = 'ipv4'\n\
         interaction = {{ factor = 'size', of = '2', over = '1' }}\n\
         [[tables]]\nname = 't'\nrows = ['size', 'family']\nmeasures = ['goodput', 'failed']\n\
         improvement = {{ factor = 'family', of = 'ipv6', over = 'ipv4' }}\n"
    );
    let study = study(&text);
    let cells = answering(&study, sick_at_two);
    let all = comparisons(&study, &cells);
    let sick = "not comparable: IPv6 answers 503 to every request; IPv4 200";
    for (entry, at) in [
        (&all[0].entries[0], " (at size 2)"),
        (&all[1].entries[1], ""),
        (&all[2].entries[0], " (at size 2)"),
    ] {
        assert_eq!((entry.finding, entry.ratio), (RatioFinding::NotComparable, None), "{entry:?}");
        assert_eq!(entry.sentence, format!("{sick}{at}"));
    }
    assert_ne!(all[1].entries[0].finding, RatioFinding::NotComparable, "it is well there");
    let (tables, ..) = outputs(&study, &cells);
    let better = tables[0].improvement.as_ref().unwrap();
    assert_eq!(better.unlike.as_deref(), sick.strip_prefix("not comparable: "));
    let levels: Vec<_> = better.rows.iter().map(|row| row.levels[0].as_str()).collect();
    assert_eq!(levels, ["1", "3", "4", "5", "6"]);
    let well = answering(&study, |_, _| 200);
    assert!(comparisons(&study, &well).iter().all(|all| all.entries[0].ratio.is_some()));
}

#[test]
fn speed_charts_mark_points_that_are_not_comparable() {
    let text = format!(
        "{SIX_LEVELS}[[figures]]\nname = 'f'\nx = 'size'\ny = 'goodput'\n\
         [[figures]]\nname = 'g'\nx = 'size'\ny = 'failed'\n"
    );
    let study = study(&text);
    let marked = |cells: &[CellResult], chart: usize| -> Vec<(String, String)> {
        let lines = outputs(&study, cells).1.swap_remove(chart).series.into_iter();
        let dots =
            lines.flat_map(|line| line.points.into_iter().map(move |dot| (dot, line.family)));
        let said = |(dot, family): (Dot, Option<Family>)| {
            Some((format!("{} {}", family?, dot.label), dot.unlike?))
        };
        dots.filter_map(said).collect()
    };
    let errors = "IPv6 returns only errors: 0 of 150 accepted";
    let sick = answering(&study, sick_at_two);
    assert_eq!(marked(&sick, 0), [("IPv6 2".to_owned(), errors.to_owned())]);
    let moved = |family: Family, at: &[At]| {
        if family == Family::Ipv6 && size(at) == 3.0 { 301 } else { 200 }
    };
    let both = marked(&answering(&study, moved), 0);
    let differ = "IPv6 answers 301 to every request; IPv4 200";
    assert_eq!(both, ["IPv6 3", "IPv4 3"].map(|at| (at.to_owned(), differ.to_owned())));
    assert_eq!(marked(&sick, 1), [], "counts of failures are what one wants to see");
    assert_eq!(marked(&answering(&study, |_, _| 200), 0), []);
}

/// Returns cells that sent ten exchanges each. `complete` of these were complete, the others timed
/// out.
pub(crate) fn counted(study: &Study, complete: impl Fn(&[At]) -> u32) -> Vec<CellResult> {
    let mut cells = measured(study, some);
    for cell in &mut cells {
        let complete = f64::from(complete(&cell.levels));
        let both = [&mut cell.families.ipv6, &mut cell.families.ipv4];
        for figures in both.into_iter().flatten() {
            let counts = [
                ("sent", 10.0),
                ("completed", complete),
                ("NORMAL", complete),
                ("TIMEOUT", 10.0 - complete),
            ];
            figures.extend(counts.map(|(name, value)| (name.to_owned(), value)));
            if complete == 0.0 {
                figures.remove("goodput");
            }
        }
    }
    cells
}

#[test]
fn marks_stalled_figures_in_tables_and_charts() {
    let text = format!(
        "{SIZES}[[tables]]\nname = 't'\nrows = ['size']\nmeasures = ['goodput', 'NORMAL']\n\
         [[figures]]\nname = 'f'\nx = 'size'\ny = 'goodput'\n"
    );
    let study = study(&text);
    let cells = counted(&study, |at| if size(at) == 1.0 { 10 } else { 0 });
    let (tables, charts, _) = outputs(&study, &cells);
    let missing: Vec<_> = tables[0].rows[1].values.iter().map(|value| value.missing).collect();
    let stalled = Some(MissingFigure::Stalled);
    assert_eq!(missing, [stalled, stalled, None, None], "counts are figures");
    let line = &charts[0].series[0];
    assert_eq!(line.points.iter().map(|dot| dot.x).collect::<Vec<_>>(), [1.0]);
    assert_eq!((line.missing[0].x, line.missing[0].why), (2.0, MissingFigure::Stalled));
}

#[test]
fn a_column_may_show_a_count_as_its_share_in_another() {
    let column = "{ measure = 'RESET', of = 'sent', label = 'share' }";
    let text = format!("{SIZES}[[tables]]\nname = 't'\nrows = ['size']\nmeasures = [{column}]\n");
    let study = study(&text);
    let mut cells = measured(&study, some);
    for cell in &mut cells {
        let sent = 10.0 * size(&cell.levels);
        let figures = || Some([("sent".to_owned(), sent), ("RESET".to_owned(), 1.0)].into());
        cell.families.ipv6 = cell.families.ipv6.as_ref().and_then(|_| figures());
        cell.families.ipv4 = cell.families.ipv4.as_ref().and_then(|_| figures());
    }
    let (tables, ..) = outputs(&study, &cells);
    let of_row = |row: &Row| row.values[0].measured.unwrap().round();
    assert_eq!(tables[0].columns[0].unit, "%");
    assert_eq!(tables[0].rows.iter().map(of_row).collect::<Vec<_>>(), [10.0, 5.0]);
}
