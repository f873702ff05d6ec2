//! The published figures beside the measured ones of the built-in studies.

use super::super::*;
use crate::analyse::published_figures;
use sixmark_design::form::Form;
use sixmark_design::spec::cells::cells;
use sixmark_design::spec::{ReadContext, parse_study};
use sixmark_design::study_result::PrintedFigure;
use sixmark_document::provenance::Ended;
use sixmark_tally::family_result::Families;

/// A built-in study that repeats a published one, with its files and its forms besides the full one.
struct PaperStudy {
    study: &'static str,
    published: &'static str,
    lab: &'static str,
    has_lab_form: bool,
}

macro_rules! file {
    ($path:literal) => {
        include_str!(concat!("../../../../../experiments/", $path))
    };
}

const STUDIES: [PaperStudy; 4] = [
    PaperStudy {
        study: file!("anma/study.toml"),
        published: file!("anma/published.toml"),
        lab: file!("anma/lab.toml"),
        has_lab_form: true,
    },
    PaperStudy {
        study: file!("dell/study.toml"),
        published: file!("dell/published.toml"),
        lab: file!("dell/lab.toml"),
        has_lab_form: false,
    },
    PaperStudy {
        study: file!("regensburg/study.toml"),
        published: file!("regensburg/published.toml"),
        lab: file!("regensburg/lab.toml"),
        has_lab_form: true,
    },
    PaperStudy {
        study: file!("towson/study.toml"),
        published: file!("towson/published.toml"),
        lab: file!("towson/lab.toml"),
        has_lab_form: false,
    },
];

/// The options of `sixmark run` that these studies set.
const OPTIONS: [&str; 10] = [
    "body-file",
    "count",
    "duration",
    "insecure",
    "method",
    "no-keep-alive",
    "rate",
    "ratio",
    "threads",
    "timeout",
];

impl PaperStudy {
    /// Returns the study in each of its forms.
    fn forms(&self) -> Vec<Study> {
        let forms = [(false, false), (true, false), (false, true), (true, true)];
        let forms = forms.into_iter().filter(|(_, in_lab)| self.has_lab_form || !in_lab);
        forms.map(|(quick, in_lab)| self.form(quick, in_lab)).collect()
    }

    fn form(&self, quick: bool, in_lab: bool) -> Study {
        let mut open = |name: &str| match name {
            "published.toml" => Ok(self.published.to_owned()),
            _ => Ok(self.lab.to_owned()),
        };
        let has_option = |name: &str| OPTIONS.contains(&name);
        let form = Form { quick, full: false, in_lab };
        let mut context = ReadContext { form, has_option: &has_option, open: &mut open };
        parse_study(self.study, &mut context).unwrap_or_else(|wrongs| panic!("{wrongs:?}"))
    }
}

/// Returns a cell for each combination, in which every measure of the tables and charts is 1.
fn measured(study: &Study) -> Vec<CellResult> {
    let tables = study.outputs.tables.iter().flat_map(|table| &table.measures);
    let charts = study.outputs.charts.iter().map(|chart| &chart.y);
    let all: Vec<String> = tables.chain(charts).map(|of| of.measure.to_string()).collect();
    let figures = || Some(all.iter().map(|name| (name.clone(), 1.0)).collect());
    let of_cell = |cell: sixmark_design::spec::PlannedCell<'_>| {
        let loads = |family: &str| cell.text(FAMILY).is_none_or(|only| only == family);
        CellResult {
            id: format!("c{:03}-r1", cell.number),
            cell: cell.number,
            repetition: 1,
            levels: cell.at(),
            client: "sixmark".into(),
            agents: None,
            command: Vec::new(),
            started: String::new(),
            took_s: 1.0,
            ended: Ended::Complete,
            given: Default::default(),
            families: Families {
                ipv6: figures().filter(|_| loads("ipv6")),
                ipv4: figures().filter(|_| loads("ipv4")),
            },
            accounts: Families::default(),
            traffic: None,
            links: Vec::new(),
            instruments: None,
            imported: None,
            warnings: Vec::new(),
        }
    };
    cells(study).into_iter().map(of_cell).collect()
}

/// Asserts that a figure is one of the published ones at its place, in the unit of its column.
fn check(study: &Study, place: &[At], column: &TableColumn, figure: &PrintedFigure, label: &str) {
    if column.of.is_some() {
        assert!(figure.derived && column.unit == "%", "a share follows from counts: {figure:?}");
        return;
    }
    let scale = column.measure.unit(&column.unit).unwrap().scale;
    let tables = &study.published.as_ref().unwrap().tables;
    let is_there = |at: &At| match study.level_names(&at.factor).is_empty() {
        true => at.level == label,
        // A factor of which the table's group has one level is not in its place.
        false => place.contains(at) || !place.iter().any(|own| own.factor == at.factor),
    };
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    let found = tables.iter().flat_map(published_figures).find(|one| {
        stands_for(study, one.measure, column.measure)
            && one.at.iter().all(is_there)
            && one.range.is_none() == figure.range().is_none()
            // Of several, because a factor of one level is not in the place, it is the one shown.
            && &one.printed == figure
    });
    let found = found.unwrap_or_else(|| panic!("nothing is published at {place:?}: {figure:?}"));
    match (found.value, found.range) {
        (Some(value), None) => assert!(same(figure.value.unwrap() * scale, value), "{figure:?}"),
        (None, Some(ends)) => {
            let shown = figure.range().unwrap().map(|end| end * scale);
            assert!(same(shown[0], ends[0]) && same(shown[1], ends[1]), "{figure:?}");
            assert_eq!(figure.value, None, "a range has no middle");
        }
        both => panic!("{both:?}"),
    }
    assert_eq!(column.unit, found.unit, "{}: shown in the unit of the paper", column.label);
    assert_eq!(figure, &found.printed, "with the digits of the paper");
}

/// Returns true if a published measure is shown beside this one.
fn stands_for(study: &Study, published: Metric, shown: Metric) -> bool {
    let mut all = study.outputs.tables.iter().flat_map(|table| &table.published);
    all.any(|of| of.measure_here(published) == shown)
}

#[test]
fn tables_show_the_published_figures_in_the_same_unit() {
    for study in STUDIES.iter().flat_map(PaperStudy::forms) {
        let (tables, ..) = outputs(&study, &measured(&study));
        for table in &tables {
            let mut count = 0;
            for row in &table.rows {
                let levels = table.factors.iter().zip(&row.levels);
                let levels = levels
                    .map(|(factor, level)| At { factor: factor.clone(), level: level.clone() });
                let place: Vec<At> = table.at.iter().cloned().chain(levels).collect();
                for (value, column) in row.values.iter().zip(&table.columns) {
                    let place = [&place[..], &column.at].concat();
                    for (figure, label) in value.published.iter().zip(&table.beside) {
                        let Some(figure) = figure else { continue };
                        check(&study, &place, column, figure, label);
                        count += 1;
                    }
                }
            }
            let has_delay = |at: &At| at.factor == "delay" && at.level != "0";
            let is_elsewhere = table.at.iter().any(has_delay) || table.published.is_none();
            assert_eq!(count > 0, !is_elsewhere, "{} {}: {:?}", study.name, table.name, table.at);
        }
    }
}

#[test]
fn every_chart_of_every_form_has_the_published_lines() {
    for study in STUDIES.iter().flat_map(PaperStudy::forms) {
        let (_, charts, _) = outputs(&study, &measured(&study));
        for chart in &charts {
            let published = chart.series.iter().filter(|line| line.published);
            let labels: Vec<&str> = published.map(|line| line.label.as_str()).collect();
            let name = format!("{} {} {labels:?}", study.name, chart.name);
            let spec = study.outputs.charts.iter().find(|spec| spec.name == chart.name).unwrap();
            let expected = match &study.name[..] {
                _ if spec.published.is_empty() => 0,
                "regensburg" => 8,
                "dell" if chart.name.starts_with("figure-") => 1,
                _ => 2,
            };
            assert_eq!(labels.len(), expected, "{name}");
            assert!(labels.iter().all(|label| label.starts_with("published: ")), "{name}");
        }
    }
}

#[test]
fn improvements_are_shown_with_the_percentages_of_the_paper() {
    let study = STUDIES[1].form(false, false);
    let (tables, ..) = outputs(&study, &measured(&study));
    let mut printed = Vec::new();
    let own = |table: &&Table| table.name != "unfragmented";
    let of_nbd = |table: &&Table| table.at.iter().any(|at| at.level == "nbd");
    for table in tables.iter().filter(own).filter(of_nbd) {
        for row in &table.improvement.as_ref().unwrap().rows {
            let figures = row.values.iter().flat_map(|value| &value.published).flatten();
            printed.extend(figures.map(|figure| (figure.printed.clone(), figure.derived)));
        }
    }
    assert_eq!(printed.len(), 36, "{printed:?}");
    assert!(printed.iter().all(|(_, derived)| !derived));
    for truncated in ["-0.21", "25.43", "-0.38", "77.90", "1.51", "3.54"] {
        assert!(printed.iter().any(|(text, _)| text == truncated), "{truncated}: {printed:?}");
    }
}

#[test]
fn every_form_says_how_it_differs_from_its_paper() {
    for study in STUDIES.iter().flat_map(PaperStudy::forms) {
        let (name, all) = (&study.name, study.differences.join(" "));
        let machines = if study.lab.is_some() { "namespaces" } else { "loopback" };
        assert!(all.contains(machines), "{name}: {all}");
        assert_eq!(all.contains("The quick form"), study.form.quick, "{name}: {all}");
        let is_less = study.form.in_lab && (study.form.quick || name == "regensburg");
        assert_eq!(all.contains("for a lab"), is_less, "{name}: {all}");
    }
    let differences = |number: usize| STUDIES[number].form(false, true).differences.join(" ");
    assert!(differences(2).contains("has 4 repetitions instead of 10 and omits size 1746684128"));
    assert!(differences(2).contains("Not varied here: system (Windows XP, SuSE 8.2, NetBSD"));
}
