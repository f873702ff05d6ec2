//! docs/lab.md says what is so, and labs are drawn.

use std::io::Write as _;

use sixmark_testkit::sixmark;
use tempfile::NamedTempFile;

const PAGE: &str = include_str!("../../../../../docs/lab.md");

/// A lab with a mistake in every table that has keys of its own.
const NOPE: &str = r#"
name = "x"
nope = 1
[hosts.a]
nope = 1
offloads.nope = 1
bgp.nope = 1
nat44 = { nope = 1, forward = [{ nope = 1 }] }
nat64.nope = 1
dns64.nope = 1
routes = [{ nope = 1 }]
[hosts.b]
[bridges.s]
nope = 1
[links.l]
between = ["a", "b"]
nope = 1
at.a.nope = 1
ipv6.nope = 1
toward.b.nope = 1
[services.w]
nope = 1
"#;

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// What a command says of a lab, on both streams, and whether it went well.
fn says(command: &[&str], text: &str) -> (String, bool) {
    let file = file(text);
    let output = sixmark(&[&["lab"], command, &[file.path().to_str().unwrap()]].concat());
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8(said).unwrap(), output.status.success())
}

/// The example that is a whole file.
fn example() -> &'static str {
    let blocks = PAGE.split("```toml\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap());
    let whole: Vec<&str> = blocks.filter(|block| block.starts_with("name = ")).collect();
    assert_eq!(whole.len(), 1, "one example is complete");
    whole[0]
}

#[test]
fn the_documented_lab_is_valid_with_and_without_a_variant() {
    let (said, well) = says(&["check"], example());
    assert!(well && said.contains("no mistakes found"), "{said}");
    let (said, well) = says(&["check", "--set", "access=slow"], example());
    assert!(well, "{said}");
}

#[test]
fn every_key_is_on_the_page() {
    let (said, _) = says(&["check"], NOPE);
    let lists = said.lines().filter_map(|line| line.split_once("allowed: ")).map(|(_, list)| list);
    let names: Vec<&str> = lists.flat_map(|list| list.split(", ")).collect();
    assert!(names.len() > 60, "{said}");
    for name in names {
        assert!(PAGE.contains(&format!("`{name}`")), "docs/lab.md has no `{name}`");
    }
}

#[test]
fn draws_a_lab_as_text_and_as_svg() {
    let (text, _) = says(&["diagram"], example());
    for name in ["client", "home", "isp", "server"] {
        assert!(text.contains(name), "{text}");
    }
    let (picture, _) = says(&["diagram", "--svg", "-"], example());
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"), "{picture}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.svg");
    let (said, well) = says(&["diagram", "--svg", path.to_str().unwrap()], example());
    assert!(well && said.is_empty(), "{said}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), picture);
}

#[test]
fn finds_the_lab_of_a_built_in_study_by_its_name() {
    for name in ["anma", "apache", "blackhole", "ipv6-only", "nat64", "regensburg"] {
        let output = sixmark(&["lab", "diagram", name]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.starts_with(name), "{text}");
    }
    let output = sixmark(&["lab", "check", "tomcat"]);
    assert_eq!(output.status.code(), Some(2), "no study has this name, and there is no such file");
}
