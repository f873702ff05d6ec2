//! Forms of a study for a lab.

use super::super::cells::cells;
use super::{Study, read_as};

/// A study with a form for a lab, which has a short form and outputs of its own.
const IN_LAB: &str = r#"
name = "x"
[services.web]
urls = ["http://[::1]:80", "http://127.0.0.1:80"]
[factors]
size = [1, 2]
family = ["ipv6", "ipv4"]
[quick]
repetitions = 2
[quick.factors]
size = [1]
[in-lab]
file = "lab.toml"
[in-lab.options]
from = "client"
[in-lab.factors]
delay = [{ name = "none", lab-delay = "" }, { name = "long", lab-delay = "long" }]
[in-lab.quick]
repetitions = 3
[in-lab.quick.factors]
delay = [{ name = "long", lab-delay = "long" }]
[[in-lab.comparisons]]
name = "c"
measure = "goodput"
by = ["delay"]
[[in-lab.tables]]
name = "t"
rows = ["delay"]
measures = ["goodput"]
[[comparisons]]
name = "c"
measure = "goodput"
"#;

#[test]
fn lab_form_has_its_own_quick_form_and_outputs() {
    let of = |quick, in_lab| read_as(IN_LAB, quick, in_lab).unwrap();
    let cells_of = |study: &Study| cells(study).len() as u32 * study.repetitions.get();
    let forms = [(false, false), (true, false), (false, true), (true, true)];
    let counts = forms.map(|(quick, in_lab)| cells_of(&of(quick, in_lab)));
    assert_eq!(counts, [4, 4, 8, 12]);
    let by = |in_lab| of(false, in_lab).outputs.comparisons.remove(0).by;
    assert_eq!((by(false), by(true)), (vec![], vec!["delay".to_owned()]));
    let tables = |in_lab| of(false, in_lab).outputs.tables.len();
    assert_eq!((tables(false), tables(true)), (0, 1));
}

#[test]
fn lab_form_without_its_own_quick_form_uses_that_of_the_study() {
    let text = IN_LAB.split("[in-lab.quick]").next().unwrap();
    let study = read_as(text, true, true).unwrap();
    assert_eq!((study.repetitions.get(), cells(&study).len()), (2, 4));
}

#[test]
fn reports_unknown_keys_of_the_lab_form_with_and_without_a_lab() {
    let text = format!("{IN_LAB}[in-lab.nope]\n");
    for in_lab in [false, true] {
        let wrongs = read_as(&text, false, in_lab).unwrap_err();
        assert!(wrongs[0].to_string().contains("in-lab.nope: unknown key"), "{wrongs:?}");
    }
}

/// A study whose cells another client loads.
const BY_AB: &str = r#"
name = "x"
[lab]
file = "lab.toml"
[options]
client = "ab"
count = 1
[factors]
initiators = [{ name = "1", from = "client" }, { name = "2", from = ["client", "server"] }]
family = ["ipv6", "ipv4"]
"#;

#[test]
fn an_external_client_may_load_from_several_hosts() {
    let study = read_as(BY_AB, false, false).unwrap();
    let cells = cells(&study);
    let from: Vec<Vec<&str>> = cells.iter().map(|cell| cell.from()).collect();
    assert_eq!(from[1..3], [vec!["client"], vec!["client", "server"]]);
}

#[test]
fn rejects_an_invalid_list_of_load_hosts_in_one_line() {
    for (what, instead, said) in [
        ("\"server\"] }", "\"nobody\"] }", "'nobody' is not one of: client, server"),
        ("\"server\"] }", "\"client\"] }", "'client' occurs twice"),
        ("[\"client\", \"server\"]", "[]", "names no host: client, server"),
        ("client = \"ab\"", "", "--hosts lab:client,lab:server"),
        ("client = \"ab\"", "client = \"firefox\"", "firefox loads from one host"),
    ] {
        let wrongs = read_as(&BY_AB.replace(what, instead), false, false).unwrap_err();
        let line = wrongs[0].to_string();
        assert!(line.contains(said) && line.contains("from"), "{said}: {wrongs:?}");
        assert_eq!((wrongs.len(), line.lines().count()), (1, 1), "{wrongs:?}");
    }
}
