//! What is wrong with a study's file, and what it lacks.

use sixmark_testkit::study::{StudyFixture, fine, said};
use sixmark_testkit::{complaint, sixmark};

fn check(text: &str) -> (Option<i32>, String, String) {
    let fixture = StudyFixture::new(text);
    let output = sixmark(&["study", "check", &fixture.file()]);
    let name = fixture.file();
    (output.status.code(), said(&output), name)
}

#[test]
fn reports_each_mistake_in_a_study_file_on_its_own_line() {
    let (status, said, name) =
        check("name = 'X'\norder = 'any'\n[options]\ncuont = 1\n[factors]\nfamily = ['ipx']\n");
    assert_eq!(status, Some(2));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    for (line, number, key) in
        [(0, 1, "name"), (1, 2, "order"), (2, 4, "options.cuont"), (3, 6, "factors.family")]
    {
        assert!(lines[line].starts_with(&format!("sixmark: {name}:{number}: {key}: ")), "{said}");
    }
}

#[test]
fn rejects_bad_options_with_the_messages_of_sixmark_run() {
    for (options, line, part) in [
        ("count = 'many'", 4, "of 1 or more"),
        ("ratio = '0:0'", 4, "0:0"),
        ("threads = true", 4, "--threads"),
        ("rate = '5/s'\nsteps = '5:1s'", 4, "cannot be used with"),
        ("requests = '/no/such/file'", 4, "/no/such/file"),
    ] {
        let (status, said, name) =
            check(&format!("name = 'x'\n\n[options]\n{options}\n[factors]\nheader = ['A: b']\n"));
        assert_eq!(status, Some(2), "{options}");
        assert!(said.contains(part), "{options}: {said}");
        let known = [line, line + 1, line + 2, line + 3].map(|line| format!("{name}:{line}:"));
        assert!(known.iter().any(|start| said.contains(start)), "{options}: {said}");
    }
}

#[test]
fn check_and_show_summarise_a_valid_study() {
    let fixture = StudyFixture::new(super::tiny::TINY);
    let text = fine(&sixmark(&["study", "check", &fixture.file()]));
    assert!(text.contains("4 combinations, 3 times each: 12 cells"), "{text}");
    let text = fine(&sixmark(&["study", "show", &fixture.file()]));
    for part in ["A tiny study", "ipv6, ipv4", "100, 2000", "12 cells"] {
        assert!(text.contains(part), "{text}");
    }
    let output = sixmark(&["study", "run", &fixture.file(), "--quick"]);
    assert!(complaint(&output, 2).contains("[quick]"));
}

#[test]
fn names_missing_studies_and_programs_and_failing_services() {
    let output = sixmark(&["study", "run", "no-such-study"]);
    let line = complaint(&output, 2);
    assert!(
        line.contains("no-such-study") && line.contains("anma, apache, blackhole, dell"),
        "{line}"
    );
    for (text, parts) in [
        (
            "name = 'x'\n[services.a]\ncommand = ['no-such-program']\npackage = 'such'\n",
            ["needs no-such-program", "Debian package such"],
        ),
        (
            "name = 'x'\n[services.a]\ncommand = ['false']\n",
            ["the service a did not start", "status: 1"],
        ),
        (
            "name = 'x'\n[services.a]\ncommand = ['sh', '-c', 'echo so it is; exec sleep 60']\npatience = '1s'\n",
            ["not ready after 1 s: http://[::1]:", "does not answer: so it is"],
        ),
        (
            "name = 'x'\n[services.a]\ncommand = ['{sixmark}', 'origin', '--listen', '[::1]:{port6}', '--listen', '127.0.0.1:{port}']\n\
             ready = { get = '/status/404' }\npatience = '5s'\n",
            ["/status/404 answers 404", "more in"],
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.toml");
        std::fs::write(&file, text).unwrap();
        let out = dir.path().join("out").display().to_string();
        let output = sixmark(&["study", "run", file.to_str().unwrap(), "--out", &out, "--quiet"]);
        let line = complaint(&output, 3);
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
}

#[test]
fn a_client_that_is_missing_is_named_with_its_package() {
    let fixture = StudyFixture::new(
        "name = 'x'\n[options]\ncount = 1\n[factors]\nclient = ['ab']\nfamily = ['ipv6', 'ipv4']\n",
    );
    let (file, out) = (fixture.file(), fixture.out());
    let mut command = sixmark_testkit::command(&["study", "run", &file, "--out", &out]);
    let output = command.env("PATH", "/nonexistent").output().unwrap();
    let line = complaint(&output, 3);
    assert!(line.contains("needs ab") && line.contains("package apache2-utils"), "{line}");
    assert!(!fixture.path("out").exists(), "nothing was begun");
}

#[test]
fn checks_the_quick_section_of_a_study_file() {
    let (status, said, name) = check(
        "name = 'x'\n[options]\ncount = 2\n[quick]\nrepetitions = 1\n[quick.options]\ncount = 'x'\n",
    );
    assert_eq!(status, Some(2));
    assert!(said.contains(&format!("{name}:7: count: ")), "{said}");
    let (status, said, _) = check("name = 'x'\n[quick.factors]\nsize = [1]\n");
    assert_eq!(status, Some(2));
    assert!(said.contains("quick.factors.size"), "{said}");
}

#[test]
fn a_study_ends_when_a_service_exits() {
    let text = "name = 'x'\npath = '/delay/10'\nrepetitions = 1000\n[options]\ncount = 1\nconcurrency = 1\n\
        [services.brief]\ncommand = ['sh', '-c', 'echo brief is up; sleep 1; exit 7']\nready = { line = 'up' }\n";
    let fixture =
        StudyFixture::new(&text.replace("[services.brief]", "server = 'origin'\n[services.brief]"));
    let output = fixture.run(&["--quiet"]);
    let line = complaint(&output, 3);
    assert!(
        line.contains("the service brief ended by itself") && line.contains("--resume"),
        "{line}"
    );
}
