//! The published figures of the five studies beside a list that was typed a second time, from the papers' texts
//! and by someone who had not seen the files that the program reads.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sixmark_testkit::sixmark;
use sixmark_testkit::study::fine;

/// A figure in each line: study, table, measure, family, levels, what is printed, and where. There `-` is a figure
/// that is not printed, `84..103` a range, `=99` one that only follows from others.
const TYPED: &str = include_str!("../../data/published-figures.tsv");

const STUDIES: [&str; 5] = ["anma", "apache", "dell", "regensburg", "towson"];

/// Levels that name a published figure, in alphabetical order.
type Levels = BTreeSet<(String, String)>;

/// Study, table, measure, family and levels of a figure.
type Place = (String, String, String, String, Levels);

fn typed() -> BTreeMap<Place, String> {
    let mut all = BTreeMap::new();
    for line in TYPED.lines().filter(|line| !line.starts_with('#')) {
        let [study, table, measure, family, levels, printed, _place] =
            line.split('\t').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap();
        let level = |level: &str| {
            let (factor, level) = level.split_once('=').unwrap();
            (factor.to_owned(), level.to_owned())
        };
        let levels = levels.split(", ").map(level).collect();
        let before = all.insert((study, table, measure, family, levels), printed);
        assert_eq!(before, None, "twice: {line}");
    }
    all
}

/// The figures that the program has.
fn known() -> BTreeMap<Place, String> {
    let mut all = BTreeMap::new();
    for study in STUDIES {
        let output = sixmark(&["study", "reanalyse", study, "--json"]);
        let published: Value = serde_json::from_str(&fine(&output)).unwrap();
        for table in published["tables"].as_array().unwrap() {
            for row in table["rows"].as_array().unwrap() {
                let figures = row["values"].as_array().unwrap();
                for (column, figure) in table["columns"].as_array().unwrap().iter().zip(figures) {
                    let (family, levels) = levels(table, row, column);
                    let [name, measure] = [&table["name"], &column["measure"]]
                        .map(|text| text.as_str().unwrap().to_owned());
                    let place = (study.to_owned(), name, measure, family, levels);
                    let before = all.insert(place, as_typed(figure));
                    assert_eq!(before, None, "{study}: two figures at one place: {row} {column}");
                }
            }
        }
    }
    all
}

/// The family and the other levels of a figure, as the list names them. What an improvement compares is there
/// `of` and `over`; `at` is the offload where the families are compared.
fn levels(table: &Value, row: &Value, column: &Value) -> (String, Levels) {
    let factors = table["factors"].as_array().unwrap().iter();
    let own = factors.zip(row["levels"].as_array().unwrap());
    let at = column["at"].as_array().unwrap().iter().map(|at| (&at["factor"], &at["level"]));
    let text = |text: &Value| text.as_str().unwrap().to_owned();
    let mut all: Levels =
        own.chain(at).map(|(factor, level)| (text(factor), text(level))).collect();
    // No factor of the source's, but of the study that repeats it.
    all.retain(|(factor, _)| factor != "pmtu");
    let compared = all.iter().find(|(_, level)| level.contains(" over ")).cloned();
    if let Some((factor, both)) = compared {
        let (of, over) = both.split_once(" over ").unwrap();
        all.extend([("of".to_owned(), of.to_owned()), ("over".to_owned(), over.to_owned())]);
        all.remove(&(factor.clone(), both.clone()));
        let offload = all.iter().find(|(name, _)| factor == "family" && name == "offload").cloned();
        if let Some(offload) = offload {
            all.remove(&offload);
            all.insert(("at".to_owned(), offload.1));
        }
    }
    let family = all.iter().find(|(factor, _)| factor == "family").map(|(_, level)| level.clone());
    all.retain(|(factor, _)| factor != "family");
    (family.unwrap_or_else(|| "-".to_owned()), all)
}

fn as_typed(figure: &Value) -> String {
    if figure.is_null() {
        return "-".to_owned();
    }
    let printed = figure["printed"].as_str().unwrap();
    let derived = if figure["derived"] == true { "=" } else { "" };
    match printed.split_once(" to ") {
        Some((low, high)) => {
            let ends = [low, high].map(|end| end.parse::<f64>().unwrap());
            assert_eq!(ends.map(Value::from), [&figure["low"], &figure["high"]].map(Value::clone));
            assert!(figure["value"].is_null(), "a range has no middle: {figure}");
            format!("{derived}{low}..{high}")
        }
        None => {
            assert_eq!(printed.parse::<f64>().unwrap(), figure["value"].as_f64().unwrap());
            format!("{derived}{printed}")
        }
    }
}

#[test]
fn every_published_figure_matches_the_transcription_of_its_paper() {
    let (typed, known) = (typed(), known());
    let mut differences = Vec::new();
    for (place, printed) in &typed {
        match known.get(place) {
            Some(found) if found == printed => {}
            found => {
                differences.push(format!("{place:?}: typed {printed}, the program has {found:?}"))
            }
        }
    }
    let more = known.iter().filter(|(place, _)| !typed.contains_key(*place));
    differences.extend(more.map(|(place, found)| format!("{place:?}: {found}, not typed")));
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(known.len(), 30 + 20 + 128 + 48 + 36 + 28 + 24);
}

#[test]
fn shows_published_figures_with_their_printed_digits_and_ranges() {
    let text = |study: &str| fine(&sixmark(&["study", "reanalyse", study]));
    let [anma, dell, towson] = ["anma", "dell", "towson"].map(text);
    for digits in ["2.7113", "1.9640", "10.0", "7,522"] {
        assert!(anma.contains(digits), "{digits}: {anma}");
    }
    for digits in ["8,752.1", "6,346.60", "-0.21"] {
        assert!(dell.contains(digits), "{digits}: {dell}");
    }
    for words in ["84 to 103", "105 to 116", "26.6 (derived)", "3.4 to 4.8"] {
        assert!(towson.contains(words), "{words}: {towson}");
    }
    assert!(!towson.contains("93.5"), "no middle of a range: {towson}");
}
