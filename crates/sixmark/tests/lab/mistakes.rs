//! What is wrong with what is asked of a lab that is up, said in a line.

use std::io::Write as _;

use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::{complaint, sixmark};
use tempfile::NamedTempFile;

const LAB: &str = "name = \"small\"\n[hosts]\na = {}\nb = {}\n[links]\nl = [\"a\", \"b\"]\n";

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn reports_a_taken_lab_name_an_unknown_host_and_a_missing_program() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("mistakes", LAB, &[]);
    let file = file(LAB);
    let path = file.path().to_str().unwrap();
    for more in [&[][..], &["--detach"]] {
        let words = [&["lab", "up", "--name", lab.name(), path], more].concat();
        let line = complaint(&sixmark(&words), 2);
        assert!(line.contains("is up: take it down with"), "{line}");
    }
    let line = complaint(&lab.exec("c", &["true"]), 2);
    assert!(line.contains("no host 'c'; it has: a, b"), "{line}");
    let line = complaint(&lab.exec("a", &["no-such-program"]), 3);
    assert!(line.contains("can't run 'no-such-program'"), "{line}");
    assert_eq!(lab.exec("a", &["sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(lab.exec("a", &["sh", "-c", "kill -9 $$"]).status.code(), Some(137));
}
