#![cfg(test)]

mod claims;
mod groups;
mod in_lab;
mod traffic;

use super::cells::{cells, schedule};
use super::*;
use crate::spec::command_line::{CellTarget, words};
use crate::study_result::PrintedFigure;
use sixmark_clients::client::Client;
use sixmark_clients::setting::SettingValue;
use sixmark_document::fields::FileMistake;

/// Some of the options of `sixmark run`.
const OPTIONS: [&str; 9] = [
    "count",
    "duration",
    "rate",
    "ratio",
    "threads",
    "timeout",
    "no-keep-alive",
    "header",
    "http1.0",
];

const PUBLISHED: &str = "title = 'T'\nsource = 'S'\n[[tables]]\nname = 'p'\nfactors = ['size']\n\
    columns = [{ measure = 'goodput', unit = 'MB/s', family = 'ipv6' }]\nrows = [['1', 2.5]]\n";

fn read(text: &str, quick: bool) -> Result<Study, Vec<FileMistake>> {
    read_as(text, quick, false)
}

fn read_as(text: &str, quick: bool, in_lab: bool) -> Result<Study, Vec<FileMistake>> {
    read_form(text, Form { quick, full: false, in_lab })
}

fn read_form(text: &str, form: Form) -> Result<Study, Vec<FileMistake>> {
    let mut open = |name: &str| match name {
        "published.toml" => Ok(PUBLISHED.to_owned()),
        "lab.toml" => Ok(LAB.to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let has_option = |name: &str| OPTIONS.contains(&name);
    parse_study(text, &mut ReadContext { form, has_option: &has_option, open: &mut open })
}

const LAB: &str = r#"
name = "two"
[hosts.client]
[hosts.server]
[links]
net = { between = ["client", "server"] }
[variants.delay.long.links]
net.delay = "10ms"
[services.web]
host = "server"
urls = ["http://[fd00:0:0:1::2]:80", "http://10.0.1.2:80"]
"#;

/// Returns the text of a minimal study, followed by `more`.
fn with(more: &str) -> String {
    format!("name = 'x'\ntargets = ['http://[::1]:80', 'http://127.0.0.1:80']\n{more}")
}

fn good(text: &str) -> Study {
    read(text, false).unwrap_or_else(|wrongs| panic!("{wrongs:?}"))
}

const WHOLE: &str = r#"
name = "whole"
title = "All that there is"
description = "Of everything a little."
path = "/{size}?q={word}"
repetitions = 3
order = "written"
takes = "2m"
published = "published.toml"
exclude = [{ client = "curl", kept = "no" }]

[options]
count = 100
header = ["A: {size}", "B: c"]

[factors]
size = [1, 2_000]
word = ["a"]
client = [{ name = "own", client = "sixmark", threads = 2 }, "curl"]
kept = [{ name = "yes" }, { name = "no", no-keep-alive = true }]
family = ["ipv6", "ipv4"]

[quick]
repetitions = 1

[quick.options]
count = 5

[quick.factors]
size = [1]

[[files]]
path = "{size}"
size = "{size}"
random = true

[hooks]
before_study = ["sync"]
before_cell = [["echo", "{size}"], ["true"]]

[services.web]
command = ["web", "-c", "{dir}/conf"]
package = "web"
urls = ["http://[::1]:{port6}/", "http://127.0.0.1:{port}"]
ready = { line = "ready" }
patience = "3s"

[services.web.files]
conf = "server { listen {port}; root {www}; }"

[[tables]]
name = "t"
rows = ["size"]
measures = ["goodput", { measure = "connect.mean", unit = "ms", label = "connect" }]
statistic = "median"
where = { kept = "yes" }
published = "p"

[[figures]]
name = "f"
x = "size"
y = { measure = "goodput", unit = "MB/s" }
series = ["client"]
log_x = true

[[comparisons]]
name = "c"
measure = "goodput"
by = ["client"]
"#;

#[test]
fn reads_a_complete_study_file() {
    let study = good(WHOLE);
    assert_eq!(
        (study.name.as_str(), study.repetitions.get(), study.order),
        ("whole", 3, CellOrder::Written)
    );
    let names: Vec<_> = study.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["size", "word", "client", "kept", "family"], "in the order of the file");
    assert_eq!(study.level_names("size"), ["1", "2000"]);
    let service = &study.services[0];
    assert_eq!(service.ready, ReadyCheck::Line("ready".into()));
    assert_eq!(study.hooks.before_cell.len(), 2);
    let table = &study.outputs.tables[0];
    assert_eq!(table.columns, [FAMILY], "figures are always of one family");
    // 2 sizes, 1 word, 4 combinations of client and kept except one, 2 families.
    assert_eq!(cells(&study).len(), 12);
    let quick = read(WHOLE, true).unwrap();
    assert_eq!((cells(&quick).len(), quick.repetitions.get()), (6, 1));
    assert!(quick.options.iter().any(|option| option.value == SettingValue::Text("5".into())));
}

#[test]
fn turns_a_cell_into_the_arguments_of_a_run() {
    let study = good(WHOLE);
    let all = cells(&study);
    let urls = |_: &str| Some(vec!["http://[::1]:6/".to_owned(), "http://127.0.0.1:4".to_owned()]);
    let of = |number: usize| {
        let place = CellTarget::new(&study, &all[number], urls).unwrap();
        words(&study, &all[number], &place, None, |_| None)
    };
    assert_eq!(all[0].client(), Client::Sixmark);
    assert_eq!(
        of(0),
        [
            "--ipv6",
            "--count=100",
            "--header=A: 1",
            "--header=B: c",
            "--threads=2",
            "http://[::1]:6/1?q=a"
        ]
    );
    let last = of(3);
    assert_eq!(last.first().unwrap(), "--ipv4");
    assert!(last.contains(&"--no-keep-alive".to_owned()));
    assert_eq!(last.last().unwrap(), "http://127.0.0.1:4/1?q=a");
}

#[test]
fn omits_urls_of_a_family_with_ratio_zero() {
    let study = good(&with("[factors]\nratio = ['1:1', '1:0', '0:1']"));
    let numbers: Vec<usize> = cells(&study)
        .iter()
        .map(|cell| CellTarget::new(&study, cell, |_| None).unwrap().urls.len())
        .collect();
    assert_eq!(numbers, [2, 1, 1]);
}

#[test]
fn schedules_each_repetition_as_a_block_in_a_seeded_order() {
    let text = with("repetitions = 4\n[factors]\nsize = [1, 2, 3, 4, 5, 6, 7]\npath = ['/{size}']");
    let study = good(&text);
    let order = |seed| schedule(&study, 7, seed);
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    for (block, repetition) in order(1).chunks(7).zip(1..) {
        let mut cells: Vec<usize> = block.iter().map(|(cell, _)| *cell).collect();
        assert!(block.iter().all(|(_, of)| *of == repetition));
        cells.sort_unstable();
        assert_eq!(cells, [0, 1, 2, 3, 4, 5, 6]);
    }
    // Over 500 seeds, each of the seven cells is about equally often the first of the first block.
    let mut first = [0_u32; 7];
    (0..500).for_each(|seed| first[order(seed)[0].0] += 1);
    assert!(first.iter().all(|&times| (40..110).contains(&times)), "{first:?}");
}

/// Mistakes: the text with the mistake, its line, and parts of the message.
const WRONG: &[(&str, usize, &[&str])] = &[
    ("nam = 1", 3, &["nam", "unknown key", "title"]),
    ("order = 'any'", 3, &["order", "'any'", "random, written"]),
    ("order = 3", 3, &["order", "a text in quotes, found a number"]),
    ("repetitions = 0", 3, &["repetitions", "from 1 to"]),
    ("repetitions = 1.5", 3, &["repetitions", "whole"]),
    ("takes = '5'", 3, &["takes", "10s, 500ms or 2m"]),
    ("path = 'x'", 3, &["path", "begins with /"]),
    ("path = '/a b'", 3, &["path", "no blanks"]),
    ("path = '/{size}'", 3, &["path", "{size}", "has no value here"]),
    ("[options]\ncuont = 3", 4, &["options.cuont", "family, server, client", "sixmark run"]),
    ("[options]\njson = 'x'", 4, &["options.json", "kept as a document"]),
    ("[options]\nipv6 = true", 4, &["options.ipv6", "family = \"ipv6\""]),
    ("[options]\nfamily = 'ipx'", 4, &["options.family", "'ipx'", "ipv6, ipv4, both"]),
    (
        "[options]\nclient = 'siege'",
        4,
        &["'siege'", "sixmark, curl, wget, ab, wrk, h2load, fio, chromium, firefox"],
    ),
    ("[options]\nprotocol = 'http/9'", 4, &["protocol", "http/1.0, http/1.1, http/2, h2c"]),
    ("[options]\nserver = 'web'", 4, &["server", "there are none"]),
    ("[options]\nconcurrency = 0", 4, &["concurrency", "of 1 or more"]),
    ("[options]\ncount = { a = 1 }", 4, &["options.count", "found a table"]),
    ("[factors]\nfamily = ['ipv5']", 4, &["factors.family", "ipv6, ipv4"]),
    ("[factors]\nfamily = [{ name = 'a' }]", 4, &["factors.family", "\"ipv6\" and \"ipv4\""]),
    ("[factors]\ncount = []", 4, &["factors.count", "no levels"]),
    ("[factors]\ncount = 3", 4, &["factors.count", "a list in brackets"]),
    ("[factors]\ncount = [1, 1]", 4, &["'1' occurs twice"]),
    ("[factors]\nCount = [1]", 4, &["not a valid name of a factor"]),
    ("[factors]\nkind = ['a']", 4, &["factors.kind", "is not a setting"]),
    ("[factors]\nkind = [\n  { name = 'a' },\n  { cuont = 1 }]", 6, &["name is missing"]),
    (
        "[factors]\nkind = [\n  { name = 'a', cuont = 1 }]",
        5,
        &["factors.kind.cuont", "is not a setting"],
    ),
    ("[factors]\nfamily = ['ipv6']\n[options]\nfamily = 'ipv6'", 6, &["a factor already"]),
    (
        "[factors]\na = [{ name = 'x', count = 1 }]\nb = [{ name = 'y', count = 2 }]",
        5,
        &["factors.b", "another factor sets"],
    ),
    ("[factors]\nratio = ['1:1']\nfamily = ['ipv6']", 5, &["ratio and one family"]),
    ("[factors]\nclient = ['curl']", 4, &["make family a factor"]),
    ("[factors]\nfamily = ['ipv4']", 4, &["no URL of the family"]),
    ("quick = 1", 3, &["quick", "expected a table"]),
    ("[quick]\nreps = 1", 4, &["quick.reps", "repetitions, takes, options, factors"]),
    ("published = 'no.toml'", 3, &["published", "no such file"]),
    ("exclude = [{ size = 1 }]", 3, &["exclude.size", "is not a factor"]),
    ("labels = { size = 'file' }", 3, &["labels.size", "is not a factor"]),
    (
        "factors = { size = [1] }\nlabels = { size = { levels = { 2 = 'two' } } }",
        4,
        &["labels.size.levels.2", "is not a level of size; levels: 1"],
    ),
    ("[[files]]\npath = '../x'\nsize = 1", 4, &["files.path", "inside {www}"]),
    ("[[files]]\npath = 'x'\nsize = -1", 5, &["files.size", "whole number"]),
    ("[[files]]\npath = 'x'", 3, &["size is missing"]),
    ("[hooks]\nbefore_cell = []", 4, &["hooks.before_cell", "a program and its arguments"]),
    ("[hooks]\nbefore_sell = ['x']", 4, &["before_study, after_study, before_cell, after_cell"]),
    ("[hooks]\nafter_study = ['{size}']", 4, &["{size}", "{www}, {sixmark}"]),
    ("[[tables]]\nmeasures = ['goodput']", 3, &["tables", "name is missing"]),
    ("[[tables]]\nname = 't'", 3, &["measures is missing"]),
    ("[[tables]]\nname = 'T'\nmeasures = []", 4, &["'T' is not a valid name"]),
    (
        "[[tables]]\nname = 't'\nmeasures = ['speed']",
        5,
        &["tables.measures", "'speed'", "goodput", "connect.mean"],
    ),
    (
        "[[tables]]\nname = 't'\nmeasures = [{ measure = 'goodput', unit = 'ms' }]",
        5,
        &["'ms' is not a unit of goodput", "'MB/s'"],
    ),
    (
        "[[tables]]\nname = 't'\nrows = ['size']\nmeasures = []",
        5,
        &["tables.rows", "'size' is not a factor", "family"],
    ),
    (
        "[[tables]]\nname = 't'\nmeasures = []\nwhere = { family = 'x' }",
        6,
        &["'x' is not a level of family; levels: ipv6, ipv4"],
    ),
    (
        "[[tables]]\nname = 't'\nmeasures = []\npublished = 'p'",
        6,
        &["no published table", "there are none"],
    ),
    ("[[tables]]\nname = 't'\nmeasures = []\nstatistic = 'mode'", 6, &["mean, median"]),
    ("[[figures]]\nname = 'f'\nx = 'family'", 3, &["y is missing"]),
    ("[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\na = 'x'", 6, &["not a level of family"]),
    ("[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\na = 'ipv4'", 3, &["two levels of family"]),
    (
        "[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\nby = ['family']",
        3,
        &["family is compared"],
    ),
    (
        "instruments = ['packets', 'kernl']",
        3,
        &["instruments", "'kernl' is none of: packets, kernel"],
    ),
    ("instruments = ['kernel', 'packets', 'kernel']", 3, &["named twice"]),
    ("instruments = 'packets'", 3, &["instruments", "a list in brackets"]),
    ("[x", 3, &["]"]),
    ("a = 1\na = 2", 4, &["duplicate"]),
];

#[test]
fn errors_name_the_line_the_key_and_the_allowed_values() {
    let at = "name = 'x'\ntargets = ['http://[::1]:80']\n";
    for &(more, line, parts) in WRONG {
        let wrongs = read(&format!("{at}{more}"), false).expect_err(more);
        let said: Vec<String> = wrongs.iter().map(|wrong| wrong.of_file("f.toml")).collect();
        let fits = |text: &String| {
            text.starts_with(&format!("f.toml:{line}:"))
                && parts.iter().all(|part| text.contains(part))
        };
        assert!(said.iter().any(fits), "{more}: {said:#?}");
        assert!(said.iter().all(|text| !text.contains('\n')), "{said:?}");
    }
}

#[test]
fn reports_mistakes_in_services() {
    for (service, parts) in [
        ("command = ['{prot}']", &["{prot} has no value here", "{port}, {port6}, {dir}"][..]),
        ("urls = ['http://[::1]:{port}']", &["without braces"]),
        ("command = ['a']\nready = 'soon'", &["'soon'", "connect"]),
        ("command = ['a']\nready = { get = 'x' }", &["begin with /"]),
        ("command = ['a']\nready = { git = '/x' }", &["get, line"]),
        ("command = ['a']\nurls = ['https://[::1]:{port6}']\nready = { get = '/' }", &["http://"]),
        ("urls = ['http://[::1]:1']\nready = { line = 'x' }", &["no output"]),
        ("command = ['a']\n[services.s.files]\n'/etc/x' = ''", &["inside the service's folder"]),
        ("comand = ['a']", &["services.s.comand", "command, package, version, urls"]),
    ] {
        let wrongs = read(&format!("name = 'x'\n[services.s]\n{service}"), false).unwrap_err();
        let all: String = wrongs.iter().map(|wrong| wrong.of_file("f") + "\n").collect();
        assert!(parts.iter().all(|part| all.contains(part)), "{service}: {all}");
    }
    let nothing = read("name = 'x'", false).unwrap_err();
    assert!(nothing[0].message.contains("[services.NAME]"));
    let both = read(&with("[services.s]\ncommand = ['a']"), false).unwrap_err();
    assert!(both.iter().any(|wrong| wrong.message.contains("say what to load")));
    let two = "name = 'x'\n[services.a]\ncommand = ['a']\n[services.b]\ncommand = ['b']\n";
    let which = read(two, false).unwrap_err();
    assert!(which[0].message.contains("does not name a server: a, b"), "{which:?}");
}

#[test]
fn rejects_options_that_a_client_does_not_support() {
    for (client, options, part) in [
        ("curl", "concurrency = 2", "one at a time"),
        ("curl", "duration = '1s'", "count = N"),
        ("curl", "rate = '5/s'", "options of sixmark run"),
        ("wget", "protocol = 'http/1.0'", "does not speak http/1.0: say http/1.1"),
        ("ab", "timeout = '1s'", "needs a number of requests"),
        ("ab", "count = 1\nconcurrency = 2", "more connections than requests"),
        ("ab", "count = 1\nprotocol = 'http/1.1'", "does not speak http/1.1"),
        ("wrk", "count = 1", "duration = \"10s\""),
        ("h2load", "count = 1\nno-keep-alive = true", "keeps its connections"),
    ] {
        let text = with(&format!(
            "[options]\n{options}\n[factors]\nfamily = ['ipv6']\nclient = ['{client}']"
        ));
        let wrongs = read(&text, false).expect_err(options);
        assert!(
            wrongs[0].message.contains(part) || part.starts_with("options") && wrongs[0].line > 0,
            "{client} {options}: {wrongs:?}"
        );
    }
}

#[test]
fn rejects_malformed_published_figures() {
    let table = "title = 'T'\nsource = 'S'\n[[tables]]\nname = 'p'\nfactors = ['a']\n\
        columns = [{ measure = 'goodput' }]\n";
    for (more, line, part) in [
        ("rows = [['x']]", 7, "1 entries where factors and columns make 2"),
        ("rows = [['x', 'y']]", 7, "expected a number"),
        ("rows = [['x', [2, 1]]]", 7, "the lower one first"),
        ("rows = [['x', { derived = '-' }]]", 7, "expected a number"),
        ("rows = [['x', { guessed = 1 }]]", 7, "derived is missing"),
        ("rows = [['x', 1]]\nremarks = { y = 'z' }", 8, "no row begins"),
        (
            "rows = []\n[[analyses]]\ntitle = 'A'\nkind = 'ratio'\ntable = 'q'\nmeasure = 'goodput'",
            11,
            "'q'",
        ),
        ("rows = []\n[[analyses]]\ntitle = 'A'\nkind = 'other'\ntable = 'p'", 10, "ratio, shares"),
        (
            "rows = []\n[[analyses]]\ntitle = 'A'\nkind = 'shares'\ntable = 'p'\npart = 'goodput'\nwhole = 'sent'",
            12,
            "not a count",
        ),
    ] {
        let wrongs =
            super::published::parse_published(&format!("{table}{more}"), "p.toml").expect_err(more);
        let said: Vec<String> = wrongs.iter().map(|wrong| wrong.of_file("f.toml")).collect();
        let found =
            said.iter().any(|s| s.starts_with(&format!("p.toml:{line}:")) && s.contains(part));
        assert!(found, "{more}: {said:?}");
    }
}

#[test]
fn published_figures_keep_their_digits_and_ranges_get_no_midpoint() {
    let text = "title = 'T'\nsource = 'S'\n[[tables]]\nname = 'p'\nfactors = ['a']\n\
        columns = [{ measure = 'delay.mean', unit = 'ms' }]\n\
        rows = [['w', 1.9640], ['x', 7522], ['y', [84, 103.0]], ['z', { derived = 26.60 }], ['-', '-']]\n";
    let figures = super::published::parse_published(text, "p.toml").unwrap();
    let values = figures.tables[0].rows.iter().map(|row| row.values[0].clone());
    let [digits, count, range, derived, nothing] = &values.collect::<Vec<_>>()[..] else {
        panic!("{figures:?}")
    };
    let shown = |figure: &Option<PrintedFigure>| figure.as_ref().map(PrintedFigure::shown);
    assert_eq!(shown(digits).as_deref(), Some("1.9640"));
    assert_eq!(shown(count).as_deref(), Some("7,522"));
    assert_eq!(shown(range).as_deref(), Some("84 to 103.0"));
    assert_eq!(shown(derived).as_deref(), Some("26.60 (derived)"));
    assert_eq!((shown(nothing), range.as_ref().unwrap().value), (None, None));
}

#[test]
fn too_many_cells_are_refused_before_they_are_made() {
    let levels: Vec<String> = (1..=400).map(|n| n.to_string()).collect();
    let levels = levels.join(",");
    let text = with(&format!(
        "[factors]\ncount = [{levels}]\nthreads = [{levels}]\nconcurrency = [{levels}]"
    ));
    let wrongs = read(&text, false).unwrap_err();
    assert!(wrongs[0].message.contains("64000000 combinations"), "{wrongs:?}");
}

#[test]
fn levels_override_options_and_settings_override_levels() {
    let text = with(
        "[factors]\nclient = ['sixmark', 'curl']\nhow = [{ name = 'a', count = 1 }, { name = 'b' }]\n\
         family = ['ipv6']\n[options]\ncount = 5\n\
         [[settings]]\nwhere = { client = 'curl', how = 'a' }\ncount = 7\n",
    );
    let study = good(&text);
    let cells = cells::cells(&study);
    let counts: Vec<_> = cells.iter().map(|cell| cell.text("count").unwrap()).collect();
    assert_eq!(counts, ["1", "5", "7", "5"], "before what each of them says");
}

#[test]
fn quick_form_may_omit_levels_that_outputs_name() {
    let text = with(
        "[factors]\nclient = ['sixmark', 'curl']\nfamily = ['ipv6']\n[options]\ncount = 5\n\
         [quick.factors]\nclient = ['sixmark']\n\
         [[settings]]\nwhere = { client = 'curl' }\ncount = 7\n\
         [[tables]]\nname = 't'\nmeasures = ['sent']\nwhere = { client = 'curl' }\n",
    );
    assert_eq!(cells::cells(&read(&text, true).unwrap()).len(), 1);
    let wrongs = read(&text.replace("'curl' }\nmeasures", "'x' }\nmeasures"), true);
    assert!(wrongs.is_ok());
    let wrongs = read(&text.replace("where = { client = 'curl' }\ncount", "count"), false);
    assert!(wrongs.unwrap_err()[0].message.contains("for which levels"));
}

#[test]
fn rejects_improvements_and_interactions_of_unsuitable_factors() {
    let head = "[factors]\nclient = ['sixmark', 'curl']\nfamily = ['ipv6', 'ipv4']\n[options]\ncount = 5\n";
    let levels = "{ factor = 'family', of = 'ipv6', over = 'ipv4' }";
    for (more, part) in [
        (
            format!(
                "[[tables]]\nname = 't'\nrows = ['client']\nmeasures = ['sent']\nimprovement = {levels}"
            ),
            "a factor of the rows",
        ),
        (
            format!(
                "[[tables]]\nname = 't'\nrows = ['family']\nmeasures = ['sent']\nstatistic = 'median'\nimprovement = {levels}"
            ),
            "compares means",
        ),
        (
            format!("[[comparisons]]\nname = 'c'\nmeasure = 'sent'\ninteraction = {levels}"),
            "needs another factor",
        ),
        (
            "[[comparisons]]\nname = 'c'\nmeasure = 'sent'\n\
             interaction = { factor = 'client', of = 'curl', over = 'curl' }"
                .to_owned(),
            "two levels",
        ),
    ] {
        let wrongs = read(&with(&format!("{head}{more}")), false).expect_err(&more);
        assert!(wrongs.iter().any(|wrong| wrong.message.contains(part)), "{more}: {wrongs:?}");
    }
}

#[test]
fn rejects_an_invalid_claim_in_one_line() {
    let head = "[factors]\nsize = [1, 2, 3]\n[[claims]]\nid = 'c'\ntext = 'T'\n";
    let claim = |more: &str| with(&format!("{head}{more}\n"));
    let two = "measure = 'goodput'\nkind = 'higher'\na = { size = 1 }\nb = { size = 2 }";
    let all = "measure = 'NORMAL'\nkind = 'all'\na = { size = 1 }";
    let along = "measure = 'goodput'\na = {}\nover = 'size'";
    let contrast = "contrast = { factor = 'family', of = 'ipv6', over = 'ipv4' }";
    let figures = "'{a} {b} {difference} {ratio} {percent}'";
    good(&claim(&format!("{two}\nconfirmed = {figures}")));
    good(&claim(&format!("{all}\nconfirmed = '{{count}} of {{sent}}'")));
    good(&claim(&format!("{along}\nkind = 'rises'")));
    for (more, part) in [
        (
            format!("{two}\nconfirmed = '{{c}} apart'"),
            "{c} is not a figure of this claim; figures: {a}, {b}",
        ),
        (format!("{two}\nrefuted = '{{sent}} apart'"), "{sent} is not a figure"),
        (format!("{two}\n{contrast}\nrefuted = '{{difference}}'"), "{a}, {b}, {ratio}, {percent}"),
        (format!("{two}\ndifference = true"), "difference belongs to a contrast"),
        (format!("{two}\nconfirmed = '{{ a }}'"), "braces are for figures alone"),
        (format!("{two}\nconfirmed = '.'"), "a sentence is not empty"),
        (format!("{two}\nsource = 'S'"), "the study has no published figures"),
        (format!("{two}\nmain = true"), "only a claim of the published study"),
        (format!("{two}\nmain = 1"), "main"),
        (format!("{two}\nmargin = 0"), "margin is a percentage"),
        (two.replace("size = 2", "size = 4"), "'4' is not a level of size; levels: 1, 2, 3"),
        (two.replace("b = { size", "b = { sizes"), "'sizes' is not a factor"),
        (two.replace("b = { size = 2 }", "b = { size = 1 }"), "a and b are the same cells"),
        (format!("{two}\n[[claims]]\nid = 'c'\ntext = 'T'\n{two}"), "another claim has this id"),
        (two.replace("higher", "ratio"), "give at_least, at_most, or both"),
        (format!("{}\nat_least = 2\nat_most = 1", two.replace("higher", "ratio")), "below at_most"),
        (format!("{along}\nkind = 'u-shaped'\nturn = 2"), "needs 5 to 200 levels"),
        (format!("{along}\nkind = 'rises'\nlevels = [1]"), "needs 2 to 200 levels"),
        (format!("{along}\nkind = 'highest'\nat = [1, 2, 3]"), "some of these levels"),
        (format!("{all}\nconfirmed = '{{ratio}}'"), "figures: {count}, {sent}"),
        (format!("{all}\nb = {{ size = 2 }}"), "b"),
        (format!("{all}\n{contrast}"), "contrast"),
        (all.replace("NORMAL", "goodput"), "goodput does not count exchanges"),
        (all.replace("'all'", "'none'").replace("NORMAL", "goodput"), "goodput is not a count"),
        (all.replace("'all'", "'most'"), "higher, lower, equal, ratio"),
    ] {
        let wrongs = read(&claim(&more), false).unwrap_err();
        assert_eq!(wrongs.len(), 1, "{more}: {wrongs:?}");
        assert!(wrongs[0].to_string().contains(part), "{more}: {}", wrongs[0]);
    }
}

#[test]
fn quick_form_states_what_it_reduces_and_omits() {
    let less =
        "The quick form has 1 repetition instead of 3, count 5 instead of 100 and omits size 2000.";
    assert_eq!(good(WHOLE).differences, Vec::<String>::new());
    let short = read(WHOLE, true).unwrap();
    assert_eq!(
        (&short.description[..], &short.differences[..]),
        ("Of everything a little.", &[less.to_owned()][..])
    );
    let alone = "name = 'x'\ndescription = 'D.'\ntargets = ['http://[::1]']\nrepetitions = 3\n\
        [options]\ncount = 5\n[factors]\nfamily = ['ipv6']\n[quick]\nrepetitions = 2\n";
    let study = read(alone, true).unwrap();
    assert_eq!(study.description, "D.\nThe quick form has 2 repetitions instead of 3.");
    assert!(study.differences.is_empty(), "there is no paper");
}

#[test]
fn each_form_lists_its_own_differences_from_the_paper() {
    let text = WHOLE.replace(
        "[options]\ncount = 100",
        "[differences]\nserver = 'Another server.'\nnetwork = 'Loopback.'\n[options]\ncount = 100",
    );
    let text = text.replace(
        "[quick.options]",
        "[quick.differences]\nserver = 'A small server.'\nnetwork = ''\npage = 'A page.'\n[quick.options]",
    );
    assert_eq!(good(&text).differences, ["Another server.", "Loopback."]);
    let short = read(&text, true).unwrap().differences;
    assert_eq!(short[..2], ["A small server.", "A page."]);
    assert!(short[2].starts_with("The quick form has"), "{short:?}");
    let without = "name = 'x'\ntargets = ['http://[::1]']\n[differences]\na = 'A.'\n";
    let wrongs = read(without, false).unwrap_err();
    assert!(wrongs[0].message.contains("no published study"), "{wrongs:?}");
}

#[test]
fn accepts_labels_for_factors_of_another_form() {
    let text = "[factors]\nsize = [1]\n[labels]\ndelay = { label = 'round trip', unit = 'ms' }\n\
                size = { levels = { 1 = 'one', 2 = 'two' } }\n";
    let in_lab = format!("{text}[in-lab]\nfile = 'lab.toml'\n[in-lab.options]\nfrom = 'client'\n");
    let labels = good(&with(&in_lab)).labels;
    assert_eq!((labels.factor("delay"), labels.unit("delay")), ("round trip", "ms"));
    assert_eq!(labels.of("size").unwrap().levels[0], ("1".into(), "one".into()));
    let wrongs = read(&with(text), false).unwrap_err();
    let said: Vec<String> = wrongs.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("labels.delay: is not a factor"), "{said:?}");
    assert!(said[1].contains("labels.size.levels.2: is not a level"), "{said:?}");
}

#[test]
fn quick_groups_may_name_levels_that_the_full_form_replaces() {
    let text = "[factors]\nsize = [1, 2]\n[groups.a]\nsize = 'all'\n[quick]\n\
                [quick.groups.b]\nsize = ['2']\n[full.factors]\nsize = [3]\n";
    let study = read_form(&with(text), Form { full: true, ..Form::default() });
    let study = study.unwrap_or_else(|wrongs| panic!("{wrongs:?}"));
    assert_eq!(study.level_names("size"), ["3"]);
}
