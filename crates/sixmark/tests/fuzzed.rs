//! The fuzz targets read the inputs that are kept, on stable and without a fuzzer: the seeds of the repository, and
//! what `make fuzz` has gathered here.

#![allow(clippy::unwrap_used, unreachable_pub)]

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

// Only the targets use it.
use sixmark_http as _;
use sixmark_units::random::Random;
use targets::{TARGETS, Target};

/// How many changes a seed is tried with, of each kind.
const CHANGES: usize = 300;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The files of a target in `folder`; none if it has none there.
fn inputs(folder: &str, target: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(root().join(folder).join(target)).into_iter().flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Whether the target reads the input without a panic, whose message is in the output of the test.
fn holds(target: Target, input: &[u8]) -> bool {
    catch_unwind(|| target(input)).is_ok()
}

#[test]
fn every_fuzz_target_passes_on_seeds_and_corpus() {
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        let seeds = inputs("seeds", name);
        assert!(!seeds.is_empty(), "fuzz/seeds/{name} has no input");
        let all = seeds.into_iter().chain(inputs("corpus", name));
        failed.extend(all.filter(|path| !holds(target, &fs::read(path).unwrap())));
    }
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn every_fuzz_target_passes_on_truncated_and_corrupted_seeds() {
    for (name, target) in TARGETS {
        let mut random = Random::new(1, 2);
        for path in inputs("seeds", name) {
            let seed = fs::read(&path).unwrap();
            for at in (0..seed.len()).step_by(1 + seed.len() / CHANGES) {
                let cut = &seed[..at];
                assert!(holds(target, cut), "{} cut at {at}", path.display());
                let mut wrong = seed.clone();
                wrong[at] = random.below(256) as u8;
                let byte = wrong[at];
                assert!(holds(target, &wrong), "{} with {byte} at {at}", path.display());
            }
        }
    }
}

#[test]
fn tests_run_exactly_the_fuzz_targets_of_the_manifest() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let binaries = manifest["bin"].as_array().unwrap().iter();
    let mut binaries: Vec<&str> = binaries.map(|bin| bin["name"].as_str().unwrap()).collect();
    binaries.sort_unstable();
    let tested = TARGETS.map(|(name, _)| name);
    assert_eq!(binaries, tested);
    for name in tested {
        let path = root().join("fuzz_targets").join(name).with_extension("rs");
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("sixmark_fuzz::{name}::check(input)")), "{text}");
    }
}
