//! Groups of cells, and the long form.

use super::super::cells::cells;
use super::{Form, Study, read_form};
use sixmark_document::fields::FileMistake;

const STUDY: &str = r#"
name = "x"
targets = ["http://[::1]", "http://127.0.0.1"]
options = { count = 1 }
repetitions = 2

[factors]
ratio = ["1:1", "4:1"]
size = [1, 2, 3]
concurrency = [10, 20]

[groups.paper]
ratio = "all"

[groups.load]
size = ["1", "3"]
concurrency = "all"

[quick]
factors = { size = [1, 2] }

[full]
repetitions = 10
factors = { size = [1, 2, 3, 4] }
groups = { long = { size = "4" } }

[[tables]]
name = "usual"
rows = ["ratio"]
measures = ["NORMAL"]

[[tables]]
name = "other"
group = "load"
rows = ["size", "concurrency"]
measures = ["NORMAL"]

[[tables]]
name = "longest"
group = "long"
rows = ["size"]
measures = ["NORMAL"]
"#;

fn said(wrongs: &[FileMistake]) -> String {
    wrongs.iter().map(|wrong| wrong.of_file("study.toml")).collect::<Vec<_>>().join("\n")
}

fn form(quick: bool, full: bool) -> Form {
    Form { quick, full, in_lab: false }
}

fn read(form: Form) -> Study {
    read_form(STUDY, form).unwrap_or_else(|wrongs| panic!("{}", said(&wrongs)))
}

/// Returns the level names of each cell.
fn levels(study: &Study) -> Vec<String> {
    let names = |cell: &crate::spec::PlannedCell<'_>| {
        cell.at().into_iter().map(|at| at.level).collect::<Vec<_>>().join(" ")
    };
    cells(study).iter().map(names).collect()
}

#[test]
fn cells_are_the_union_of_the_groups_without_duplicates() {
    let study = read(form(false, false));
    let all = levels(&study);
    assert_eq!(all, ["1:1 1 10", "4:1 1 10", "1:1 1 20", "1:1 3 10", "1:1 3 20"]);
}

#[test]
fn quick_form_omits_levels_from_groups() {
    assert_eq!(levels(&read(form(true, false))), ["1:1 1 10", "4:1 1 10", "1:1 1 20"]);
}

#[test]
fn full_form_has_its_own_levels_groups_and_repetitions() {
    let study = read(form(false, true));
    assert_eq!(study.repetitions.get(), 10);
    assert!(levels(&study).contains(&"1:1 4 10".to_owned()), "{:?}", levels(&study));
    assert!(!read(form(false, false)).groups.iter().any(|g| g.name == "long" && g.has_cells()));
}

#[test]
fn outputs_are_computed_from_the_first_group_unless_they_name_another() {
    let study = read(form(false, false));
    let of = |at: usize| study.outputs.tables[at].group.clone().unwrap_or_default();
    assert_eq!([of(0), of(1), of(2)], ["paper", "load", "long"]);
}

#[test]
fn mistakes_in_groups_are_reported() {
    for (wrong, right) in [
        ("ratio = \"all\"", "groups.paper.ratio"),
        ("size = [\"1\", \"3\"]", "groups.load.size"),
        ("group = \"load\"", "tables.group"),
    ] {
        let key = wrong.split(' ').next().unwrap_or_default();
        let text = STUDY.replace(wrong, &format!("{key} = \"none\""));
        let wrongs = read_form(&text, Form::default()).expect_err(wrong);
        assert!(said(&wrongs).contains(right), "{}", said(&wrongs));
    }
    let text = STUDY.replace("ratio = \"all\"", "server = \"all\"");
    let wrongs = read_form(&text, Form::default()).expect_err("server");
    assert!(said(&wrongs).contains("is not a factor"), "{}", said(&wrongs));
}
