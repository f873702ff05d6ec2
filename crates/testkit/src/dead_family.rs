//! Comparisons of which a family is down: the way is named once, the comparison ends early, and its
//! exit status says that it could not measure.

use serde_json::Value;

use crate::sixmark;

/// The blocks of each side that a comparison measures if it ends early: a warm-up block, and the first
/// pair.
const EARLY: usize = 4;
/// How many comparisons run at once: most of their time they wait.
const AT_ONCE: usize = 4;

/// A comparison with at least one family that is down.
#[derive(Debug)]
pub struct DeadFamily {
    /// The URLs, IPv6 first.
    urls: [String; 2],
    options: Vec<String>,
    /// What the headline says.
    says: String,
}

/// Describes a comparison of these URLs, IPv6 first, and what its headline has to say.
pub fn dead(urls: [&str; 2], options: &[&str], says: &str) -> DeadFamily {
    let options = options.iter().map(|&option| option.to_owned()).collect();
    DeadFamily { urls: urls.map(str::to_owned), options, says: says.to_owned() }
}

/// Returns the text without its line breaks.
pub fn in_one_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl DeadFamily {
    fn check(&self) {
        let [v6, v4] = &self.urls;
        let file = tempfile::NamedTempFile::new().unwrap();
        let json = file.path().to_str().unwrap();
        let load = ["compare", "--block", "100ms", "--store", "none", "--progress", "plain"];
        let more: Vec<&str> = self.options.iter().map(String::as_str).collect();
        let output = sixmark(&[&load[..], &["--json", json], &more, &[v6, v4]].concat());
        let (report, said) = (in_one_line(&output.stdout), in_one_line(&output.stderr));
        let context = format!("{v6} {v4} {:?}: {report}\n{said}", self.options);
        assert_eq!(output.status.code(), Some(3), "{context}");
        assert!(report.contains("NOT COMPARABLE: "), "{context}");
        let times = [&report, &said].map(|text| text.matches(&self.says).count());
        assert_eq!(times, [1, 0], "'{}' is said once: {context}", self.says);
        let document: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
        assert_eq!(document["ended"], "hopeless", "{context}");
        assert_eq!(document["blocks"].as_array().unwrap().len(), EARLY, "{context}");
    }
}

/// Checks all of these comparisons, some at a time.
pub fn check_all(all: &[DeadFamily]) {
    for some in all.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            some.iter().for_each(|one| drop(scope.spawn(|| one.check())));
        });
    }
}
