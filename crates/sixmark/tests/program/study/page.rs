//! docs/study.md says what is so.

use sixmark_testkit::sixmark;
use sixmark_testkit::study::{StudyFixture, fine, said};

const PAGE: &str = include_str!("../../../../../docs/study.md");

/// The blocks of TOML on the page.
fn examples() -> Vec<&'static str> {
    let blocks = PAGE.split("```toml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

#[test]
fn the_complete_documentation_example_runs() {
    let whole: Vec<_> = examples().into_iter().filter(|e| e.starts_with("name = ")).collect();
    assert_eq!(whole.len(), 1, "one example is complete");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("study.toml");
    std::fs::write(&file, whole[0]).unwrap();
    let published = examples().into_iter().find(|e| e.starts_with("title = ")).unwrap();
    std::fs::write(dir.path().join("published.toml"), published).unwrap();
    let out = dir.path().join("out").display().to_string();
    let name = file.to_str().unwrap();
    fine(&sixmark(&["study", "check", name]));
    let text = fine(&sixmark(&["study", "run", name, "--quick", "--out", &out]));
    assert!(text.contains("published"), "{text}");
}

#[test]
fn every_measure_and_key_is_on_the_page() {
    let fixture = StudyFixture::new(
        "name = 'x'\nnope = 1\n[options]\nnope = 1\n[[tables]]\nname = 't'\nmeasures = ['nope']\nnope = 1\n[quick]\nnope = 1\n[hooks]\nnope = 1\n[[figures]]\nname = 'f'\nx = 'family'\ny = 'goodput'\nnope = 1\n[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\nnope = 1\n",
    );
    let output = sixmark(&["study", "check", &fixture.file()]);
    let said = said(&output);
    let lists = said.lines().filter_map(|line| line.split_once("allowed: ")).map(|(_, list)| list);
    let names: Vec<&str> = lists.flat_map(|list| list.split(", ")).collect();
    assert!(names.len() > 40, "{said}");
    for name in names {
        assert!(PAGE.contains(&format!("`{name}`")), "docs/study.md has no `{name}`");
    }
}
