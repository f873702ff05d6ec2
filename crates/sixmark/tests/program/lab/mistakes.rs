//! What is wrong with labs and with what is asked of them, said in a line.

use std::io::Write as _;

use sixmark_testkit::{complaint, sixmark};
use tempfile::NamedTempFile;

const LAB: &str = "name = \"small\"\n[hosts]\na = {}\nb = {}\n[links]\nl = [\"a\", \"b\"]\n\
                   [variants.offload.off.hosts.a.offloads]\ntso = false\n";

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// What `lab check` says, which `lab up` says as well.
fn said_of(text: &str, more: &[&str]) -> Vec<String> {
    let file = file(text);
    let path = file.path().to_str().unwrap();
    let [check, up] = ["check", "up"].map(|command| {
        let output = sixmark(&[&["lab", command, path], more].concat());
        assert_eq!(output.status.code(), Some(2), "{command}: {output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    });
    assert_eq!(check, up);
    check.lines().map(str::to_owned).collect()
}

#[test]
fn reports_each_mistake_in_a_lab_file_with_its_line_and_key() {
    let text = "name = \"a\"\n[hosts.x]\ncolour = 1\n[hosts.y]\nmtu = 9000\n[links]\n\
                l = { between = [\"x\", \"z\"], delay = \"fast\" }\n";
    let lines = said_of(text, &[]);
    for part in
        [":3: hosts.x.colour: ", ":5: hosts.y.mtu: ", ":7: links.l.between", ":7: links.l.delay: "]
    {
        let told = lines.iter().filter(|line| line.starts_with("sixmark: ") && line.contains(part));
        assert_eq!(told.count(), 1, "{part}: {lines:#?}");
    }
    assert_eq!(said_of("name = \n", &[]).len(), 1);
}

#[test]
fn rejects_an_unknown_variant_or_value_and_lists_the_valid_ones() {
    for (choice, part) in [("offload=on", "off"), ("loaf=off", "offload")] {
        let lines = said_of(LAB, &["--set", choice]);
        assert!(lines.len() == 1 && lines[0].contains(part), "{lines:?}");
    }
    let file = file(LAB);
    let path = file.path().to_str().unwrap();
    assert!(complaint(&sixmark(&["lab", "up", path, "--set", "x"]), 2).contains("VARIANT=VALUE"));
    assert_eq!(sixmark(&["lab", "check", path, "--set", "offload=off"]).status.code(), Some(0));
}

#[test]
fn names_a_missing_lab_file() {
    for command in ["check", "up"] {
        let line = complaint(&sixmark(&["lab", command, "/no/such.toml"]), 2);
        assert!(line.contains("/no/such.toml"), "{line}");
    }
}

#[test]
fn reports_that_a_lab_is_not_up() {
    for words in [
        &["exec", "--lab", "no-such", "a", "true"][..],
        &["status", "no-such"],
        &["down", "no-such"],
    ] {
        let line = complaint(&sixmark(&[&["lab"], words].concat()), 2);
        assert!(line.contains("no lab 'no-such' is up"), "{line}");
    }
    let words = ["run", "--in", "a", "--lab", "no-such", "-n", "1", "http://[::1]/"];
    assert!(complaint(&sixmark(&words), 2).contains("no lab 'no-such' is up"));
}
