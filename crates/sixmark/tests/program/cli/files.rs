//! No output of a command takes the place of what it reads, of its store or of another output.

use std::fs;
use std::path::Path;
use std::process::Output;

use sixmark_testkit::{command, complaint, finish, sixmark};

use crate::store::{RUN, open};

/// Files of every kind in a folder, each with its text.
const FILES: [(&str, &str); 10] = [
    ("targets", "http://[::1]:9/\n"),
    ("body", "text"),
    ("data.csv", "a\nb\n"),
    ("mix", "[[request]]\npath = \"/{{line data.csv 1}}\"\n[[request]]\nbody_file = \"body\"\n"),
    ("har", "{\"log\": {\"entries\": []}}"),
    ("cert", "PEM"),
    ("result.json", RUN),
    ("study.toml", "name = \"x\"\n"),
    ("published.toml", "\n"),
    ("lab.toml", "\n"),
];

/// The folder with these files.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::hard_link(folder.path().join("targets"), folder.path().join("hard")).unwrap();
    std::os::unix::fs::symlink("targets", folder.path().join("soft")).unwrap();
    folder
}

fn run_in(folder: &Path, words: &str) -> Output {
    let words: Vec<&str> = words.split(' ').collect();
    finish(command(&words).current_dir(folder).spawn().unwrap())
}

#[test]
fn no_output_takes_the_place_of_an_input() {
    let folder = folder();
    let load = "run -n 1 http://[::1]:9/";
    for (line, why) in [
        (
            format!("{load} --targets targets --json targets"),
            "--json can't be written to 'targets': --targets reads it",
        ),
        (
            format!("{load} --targets targets --csv soft"),
            "--csv can't be written to 'soft': --targets reads it",
        ),
        (
            format!("{load} --targets soft --html hard"),
            "--html can't be written to 'hard': --targets reads it",
        ),
        (format!("{load} --targets ./targets --junit soft"), "--junit can't be written to 'soft'"),
        (format!("{load} --body-file body --json body"), "--body-file reads it"),
        (format!("{load} --requests har --json har"), "--requests reads it"),
        (format!("{load} --requests mix --json data.csv"), "--requests reads it"),
        (format!("{load} --requests mix --csv body"), "--requests reads it"),
        (format!("{load} --cacert cert --json cert"), "--cacert reads it"),
        (format!("{load} --vitals-from har --json har"), "--vitals-from reads it"),
        ("compare --targets targets --html targets".into(), "--targets reads it"),
        ("compare --b=--body-file=body http://[::1]:9/ --json body".into(), "--body-file reads it"),
        ("report result.json --html result.json".into(), "it is a document to report"),
        ("watch -r har --connections ./har".into(), "--read reads it"),
        ("watch -r har --json har".into(), "--read reads it"),
        ("watch -w x.pcap --csv x.pcap".into(), "two documents can't both be written to"),
        ("vitals -d 50ms --jsonl body --csv body".into(), "two documents can't both be written to"),
        ("traffic mix --json mix".into(), "it is the script"),
        ("study run study.toml --html study.toml".into(), "it is a file of the study"),
        ("study run study.toml --markdown published.toml".into(), "it is a file of the study"),
        ("lab diagram lab.toml --svg lab.toml".into(), "it is the lab's file"),
    ] {
        let said = complaint(&run_in(folder.path(), &line), 2);
        assert!(said.contains(why), "{line}: {said}");
    }
    for (name, text) in FILES {
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), text, "{name}");
    }
    let all = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(all, FILES.len() + 2, "nothing was made");
}

#[test]
fn refuses_to_overwrite_an_input_through_standard_streams() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let mut load = command(&["run", "-n", "1", "--targets", "-", "--json", "targets"]);
    load.current_dir(&folder).stdin(fs::File::open(at("targets")).unwrap());
    let said = complaint(&finish(load.spawn().unwrap()), 2);
    assert!(said.contains("--targets reads it"), "{said}");
    let mut load = command(&["run", "-n", "1", "--targets", "targets", "--json", "-"]);
    let append = fs::OpenOptions::new().append(true).open(at("targets")).unwrap();
    let said = complaint(&finish(load.current_dir(&folder).stdout(append).spawn().unwrap()), 2);
    assert!(said.contains("--json can't be written to '-'"), "{said}");
    assert_eq!(fs::read_to_string(at("targets")).unwrap(), FILES[0].1);
}

/// Whether it is there already or not.
#[test]
fn no_output_takes_the_place_of_the_store() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let store = at("st.sq");
    std::os::unix::fs::symlink("st.sq", at("link")).unwrap();
    for has_store in [false, true] {
        if has_store {
            assert!(
                sixmark(&["history", "import", "--store", &store, &at("result.json")])
                    .status
                    .success()
            );
        }
        for (line, why) in [
            ("run -n 1 http://[::1]:9/ --store st.sq --json st.sq", "it is the store"),
            ("run -n 1 http://[::1]:9/ --store link --csv st.sq", "it is the store"),
            ("run -n 1 http://[::1]:9/ --store st.sq --html link", "it is the store"),
            (
                "run -n 1 http://[::1]:9/ --store st.sq --junit st.sq-wal",
                "it is a part of the store",
            ),
            (
                "run -n 1 http://[::1]:9/ --store st.sq --json st.sq-shm",
                "it is a part of the store",
            ),
            ("compare http://[::1]:9/ --store st.sq --json st.sq", "it is the store"),
            ("report result.json --store st.sq --html st.sq", "it is the store"),
            ("watch --store st.sq --exchanges st.sq", "it is the store"),
            ("study run study.toml --store st.sq --markdown st.sq", "it is the store"),
        ] {
            let said = complaint(&run_in(folder.path(), line), 2);
            assert!(said.contains(why), "{line}: {said}");
            assert_eq!(Path::new(&store).exists(), has_store, "{line}");
        }
    }
    let said = complaint(&run_in(folder.path(), "history export 1 --store link --out st.sq"), 2);
    assert!(said.contains("it is the store"), "{said}");
    assert_eq!(open(Path::new(&store)).document("1".parse().unwrap()).unwrap(), RUN);
}
