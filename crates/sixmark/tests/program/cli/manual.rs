//! Completions and manual pages.

use std::process::{Command, Stdio};

use sixmark_testkit::sixmark;

#[test]
fn bash_reads_its_completions_and_finds_an_option() {
    let output = sixmark(&["completions", "bash"]);
    assert!(output.status.success());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sixmark");
    std::fs::write(&file, output.stdout).unwrap();
    for (typed, offered) in [
        ("sixmark run --find-m", "--find-max"),
        ("sixmark study run reg", "regensburg"),
        ("sixmark study show tow", "towson"),
        ("sixmark lab up nat", "nat64"),
        ("sixmark compare --metric response.p99", "response.p99 response.p999"),
        // A file: bash completes it by itself.
        ("sixmark lab up ./mine", ""),
    ] {
        let words: Vec<&str> = typed.split(' ').collect();
        let [.., before, last] = words[..] else { panic!("{typed}") };
        let line = format!(
            "source '{}'; COMP_WORDS=({typed}); COMP_CWORD={}; _sixmark sixmark {last} {before}; \
             echo \"${{COMPREPLY[@]}}\"",
            file.display(),
            words.len() - 1
        );
        let output =
            Command::new("bash").args(["-c", &line]).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.trim_end(), offered, "{typed}: {output:?}");
    }
}

#[test]
fn zsh_and_fish_have_completions_and_other_shells_are_refused() {
    for (shell, begin) in [("zsh", "#compdef sixmark"), ("fish", "# Print an optspec")] {
        let output = sixmark(&["completions", shell]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.starts_with(begin), "{shell}: {text}");
    }
    let output = sixmark(&["completions", "tcsh"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("expected bash, zsh or fish"), "{said}");
}

#[test]
fn manual_pages_are_written_into_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("man");
    let output = sixmark(&["man", to.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    let page = std::fs::read_to_string(to.join("sixmark-compare.1")).unwrap();
    assert!(page.contains(".SH EXAMPLES") && page.contains("sixmark compare"), "{page}");
    let output = sixmark(&["man", "/proc/none"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("can't write '/proc/none'"), "{said}");
    assert_eq!(output.status.code(), Some(3));
}
