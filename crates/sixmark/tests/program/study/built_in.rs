//! The studies that come with sixmark.

use serde_json::Value;
use sixmark_testkit::sixmark;
use sixmark_testkit::study::fine;

fn reanalysis(name: &str) -> Value {
    let output = sixmark(&["study", "reanalyse", name, "--json"]);
    serde_json::from_str(&fine(&output)).unwrap()
}

/// A ratio, its interval, in how many of how many pairs IPv6's figure was the higher one, and what
/// that shows.
type Expected = (&'static str, f64, [f64; 2], u64, u64, &'static str);

/// From the table of 2003 as it was printed.
const REGENSBURG: [Expected; 4] = [
    ("Windows XP", 1.129, [1.071, 1.191], 14, 16, "higher"),
    ("SuSE 8.2", 0.994, [0.981, 1.006], 7, 16, "unshown"),
    ("NetBSD", 1.110, [1.099, 1.122], 16, 16, "higher"),
    ("Linux 2.6", 0.979, [0.971, 0.986], 0, 16, "lower"),
];

#[test]
fn reanalysis_of_regensburg_contradicts_its_conclusion_for_linux() {
    let published = reanalysis("regensburg");
    let analysis = &published["analyses"][0];
    for (at, (label, ratio, [low, high], higher, pairs, finding)) in
        REGENSBURG.into_iter().enumerate()
    {
        let entry = &analysis["ratios"][at];
        assert_eq!(entry["label"], label);
        for (name, expected) in [("value", ratio), ("low", low), ("high", high)] {
            let found = entry["ratio"][name].as_f64().unwrap();
            assert!((found - expected).abs() <= 0.000_5, "{label} {name}: {found}");
        }
        assert_eq!((&entry["higher"], &entry["pairs"]), (&higher.into(), &pairs.into()));
        assert_eq!(entry["finding"], finding, "{label}");
    }
    let conclusion = analysis["conclusion"].as_str().unwrap();
    assert!(conclusion.starts_with("IPv6 is higher for Windows XP, NetBSD"), "{conclusion}");
    assert!(conclusion.contains("lower for Linux 2.6"), "{conclusion}");
    let text = fine(&sixmark(&["study", "reanalyse", "regensburg"]));
    assert!(text.contains("0 of 16  0.979  0.971 to 0.986"), "{text}");
}

#[test]
fn reanalysis_of_anma_finds_no_difference_in_reset_shares() {
    let published = reanalysis("anma");
    let shares = published["analyses"][0]["shares"].as_array().unwrap();
    for (share, (points, half)) in shares.iter().zip([(0.02, 1.14), (-0.71, 0.82)]) {
        let of = |name: &str| share["difference"][name].as_f64().unwrap() * 100.0;
        assert!((of("value") - points).abs() < 0.005, "{share}");
        assert!(((of("high") - of("low")) / 2.0 - half).abs() < 0.005, "{share}");
        assert_eq!(share["differs"], false);
    }
    let text = fine(&sixmark(&["study", "reanalyse", "anma"]));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("The shares do not differ") && text.contains("too short for a handshake")
    );
    assert!(text.contains("8,269"), "the error of the source is told: {text}");
}

#[test]
fn reanalysis_of_apache_says_that_its_numbers_are_lost() {
    let text = fine(&sixmark(&["study", "reanalyse", "apache"]));
    assert!(text.contains("are lost"), "{text}");
}

/// Answers of the published figures, as `answer agrees`: decided by hand from the papers' tables.
const ANSWERS: [(&str, &str, &str); 14] = [
    ("anma", "sent-at-ratio", "holds true"),
    ("anma", "reset-share", "holds true"),
    ("anma", "continuation-ipv6-longer", "holds true"),
    ("anma", "establishment-ipv6-independent-of-ratio", "undecided false"),
    ("towson", "apache-uncongested-equal", "undecided true"),
    ("towson", "bare-uncongested-ipv6-longer", "undecided true"),
    ("regensburg", "windows-ipv6-faster", "holds true"),
    ("regensburg", "suse-ipv6-faster", "no_difference false"),
    ("regensburg", "netbsd-ipv6-faster", "holds true"),
    ("regensburg", "linux-2-6-ipv6-faster", "no_difference false"),
    ("regensburg", "windows-falls-then-rises", "holds true"),
    ("regensburg", "windows-rises-with-size", "undecided false"),
    ("dell", "reads-256k-ipv6-more-iops", "undecided true"),
    ("dell", "writes-equal-iops", "undecided true"),
];

#[test]
fn reanalysis_tests_claims_against_the_published_figures() {
    for study in ["anma", "towson", "regensburg", "apache", "dell"] {
        let all = reanalysis(study);
        let claims = all["claims"].as_array().unwrap();
        assert!(claims.len() > 5, "{study}");
        for (_, id, expected) in ANSWERS.iter().filter(|(of, ..)| *of == study) {
            let claim = claims.iter().find(|claim| claim["id"] == *id).unwrap_or(&Value::Null);
            let of = &claim["published"];
            let found = format!("{} {}", of["answer"].as_str().unwrap_or("none"), of["agrees"]);
            assert_eq!(found, *expected, "{study} {id}: {claim:#}");
        }
    }
    let text = fine(&sixmark(&["study", "reanalyse", "regensburg"]));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parted = "The published figures contradict \"The IPv6 stack of Linux 2.6 is faster than its IPv4 stack\"";
    assert!(text.contains(parted), "{text}");
}

#[test]
fn every_built_in_study_is_valid_and_listed_and_shown() {
    let list = fine(&sixmark(&["study", "list"]));
    for name in
        ["anma", "apache", "blackhole", "dell", "ipv6-only", "nat64", "regensburg", "towson"]
    {
        assert!(list.contains(name));
        fine(&sixmark(&["study", "check", name]));
        let text = fine(&sixmark(&["study", "show", name, "--quick"]));
        assert!(text.contains("takes about"), "{text}");
    }
}
