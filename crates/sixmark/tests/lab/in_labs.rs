//! The small studies that come with sixmark and are carried out in labs, cut down.

use serde_json::Value;
use sixmark_testkit::forms::STUDY;
use sixmark_testkit::study::{assert_complete, fine, read};
use sixmark_testkit::{sixmark, skipped};

/// The text of a file of a study.
macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../../experiments/", $name))
    };
}

/// A study's short form, cut down by putting texts in the place of others, to its end: the document.
/// The first file is the study; `more` is what it is run with beside.
fn cut(files: &[(&str, &str)], others: &[(&str, &str)], more: &[&str]) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for (name, text) in files {
        std::fs::write(path(name), text).unwrap();
    }
    let mut text = files[0].1.to_owned();
    for (long, short) in others {
        assert!(text.contains(long), "the study has no '{long}' any more");
        text = text.replace(long, short);
    }
    std::fs::write(path(files[0].0), text).unwrap();
    let (name, out) = (path("study.toml"), path("out"));
    let words = ["study", "run", name.to_str().unwrap(), "--quick", "--out", out.to_str().unwrap()];
    fine(&sixmark(&[&words[..], more].concat()));
    let document = read(&out.join("study.json"));
    STUDY.check(&document);
    assert_complete(&document);
    document
}

/// True where one of these is left out: namespaces, and what else a study needs.
fn without(needed: &[&str]) -> bool {
    skipped("netns") || needed.iter().any(|name| skipped(name))
}

/// The cells at these levels.
fn at<'a>(document: &'a Value, levels: &[(&str, &str)]) -> Vec<&'a Value> {
    let has = |cell: &Value, (factor, level): &(&str, &str)| {
        let of = |at: &Value| at["factor"] == *factor && at["level"] == *level;
        cell["levels"].as_array().unwrap().iter().any(of)
    };
    let cells = document["cells"].as_array().unwrap().iter();
    let found: Vec<&Value> =
        cells.filter(|cell| levels.iter().all(|level| has(cell, level))).collect();
    assert!(!found.is_empty(), "no cell at {levels:?}");
    found
}

/// A figure of a cell of one family.
fn figure(cell: &Value, measure: &str) -> Option<f64> {
    let families = cell["families"].as_object().unwrap();
    let figures: Vec<&Value> = families.values().filter(|figures| !figures.is_null()).collect();
    assert_eq!(figures.len(), 1, "one family: {cell}");
    figures[0][measure].as_f64()
}

/// Labels of a comparison's entries.
fn labels(document: &Value, comparison: &str) -> Vec<String> {
    let all = document["comparisons"].as_array().unwrap();
    let of = all.iter().find(|one| one["name"] == comparison).unwrap();
    let entries = of["entries"].as_array().unwrap().iter();
    entries.map(|entry| entry["label"].as_str().unwrap().to_owned()).collect()
}

fn table<'a>(document: &'a Value, name: &str) -> &'a Value {
    let all = document["tables"].as_array().unwrap();
    all.iter().find(|table| table["name"] == name).unwrap()
}

/// The files of the study `anma`.
const ANMA: [(&str, &str); 3] = [
    ("study.toml", file!("anma/study.toml")),
    ("lab.toml", file!("anma/lab.toml")),
    ("published.toml", file!("anma/published.toml")),
];

#[test]
fn anma_study_shows_each_delay_beside_the_published_figures() {
    if without(&["nginx", "apache", "php-fpm"]) {
        return;
    }
    let others = [
        ("repetitions = 3", "repetitions = 1"),
        ("count = 2000", "count = 40"),
        ("concurrency = [200, 1000, 2000]", "concurrency = [4, 8]"),
        ("concurrency = \"2000\"", "concurrency = \"8\""),
        ("concurrency = [\"200\", \"1000\"]", "concurrency = \"all\""),
    ];
    let document = cut(&ANMA, &others, &["--in-lab"]);
    assert_eq!(document["in_lab"], true);
    let expected: Vec<String> = ["nginx", "Apache"]
        .into_iter()
        .flat_map(|server| ["0", "5", "20"].map(|ms| format!("{server}, round trip {ms} ms")))
        .collect();
    for comparison in ["continuation", "establishment"] {
        assert_eq!(labels(&document, comparison), expected);
    }
    for name in ["closures", "times", "rates", "load", "monitoring", "wishes"] {
        assert!(!table(&document, name)["rows"].as_array().unwrap().is_empty(), "{name}");
    }
    let sent = &table(&document, "closures")["rows"][0]["values"][0];
    assert_eq!(
        (&sent["measured"], &sent["published"][0]["printed"]),
        (&20.0.into(), &"5000".into())
    );
    for family in ["ipv6", "ipv4"] {
        // No frame is early, so that a round trip is the least that connecting takes.
        for (delay, least_us) in [("5", 5_000.0), ("20", 20_000.0)] {
            for cell in at(&document, &[("delay", delay)]) {
                let figures = &cell["families"][family];
                assert_eq!(figures["NORMAL"], figures["sent"], "{cell}");
                assert!(figures["connect.mean"].as_f64().unwrap() >= least_us, "{cell}");
                assert_eq!(cell["links"].as_array().unwrap().len(), 1, "who delays is told");
            }
        }
    }
    // The ratio is that of the entries of a list of addresses.
    for cell in at(&document, &[("ratio", "4:1 by list")]) {
        let sent = ["ipv6", "ipv4"].map(|family| cell["families"][family]["sent"].as_f64());
        assert_eq!(sent, [Some(32.0), Some(8.0)], "{cell}");
    }
    let wishes = table(&document, "wishes")["rows"].as_array().unwrap();
    assert_eq!(wishes.len(), 12, "each wish with each server");
    for cell in wishes {
        let failed = cell["values"].as_array().unwrap().iter().rev().take(2);
        assert!(failed.into_iter().all(|value| value["measured"] == 0.0), "{cell}");
    }
}

#[test]
fn anma_study_with_backlog_128_resets_connections_at_every_ratio() {
    if without(&["nginx", "apache"]) {
        return;
    }
    let others = [
        ("repetitions = 3", "repetitions = 2"),
        ("count = 2000", "count = 10000"),
        (
            "[in-lab.groups.times]\nserver = [\"nginx\", \"apache\"]\nratio = \"all\"",
            "[in-lab.groups.times]",
        ),
        ("delay = [\"0\", \"5\", \"20\"]", ""),
        (
            "[in-lab.groups.monitoring]\nserver = [\"nginx\", \"apache\"]",
            "[in-lab.groups.monitoring]",
        ),
        ("[\"4096\", \"128\"]", "\"4096\""),
        ("wish = \"all\"", "wish = \"as published\""),
    ];
    let document = cut(&ANMA, &others, &["--in-lab"]);
    let sum = |levels: &[(&str, &str)], family: &str, measure: &str| -> f64 {
        let cells = at(&document, levels).into_iter();
        cells.filter_map(|cell| cell["families"][family][measure].as_f64()).sum()
    };
    // How many it is depends on the machine: with a round trip of 1 ms and 2,000 connections at once a
    // queue of 128 has reset from 5 to 15 %.
    for ratio in ["1:1", "4:1", "1:4", "1:0", "0:1"] {
        let levels = [("backlog", "128"), ("concurrency", "2000"), ("ratio", ratio)];
        let both = |measure| -> f64 {
            ["ipv6", "ipv4"].into_iter().map(|family| sum(&levels, family, measure)).sum()
        };
        let share = both("RESET") / both("sent");
        assert!((0.02..0.3).contains(&share), "{ratio}: {share}");
        println!("{ratio}: {share:.3} reset");
    }
    for family in ["ipv6", "ipv4"] {
        let levels = [("backlog", "4096"), ("overflow", "reset")];
        assert!(sum(&levels, family, "sent") > 0.0, "{family}");
        assert_eq!(sum(&levels, family, "RESET"), 0.0, "{family}: a long queue");
    }
}

#[test]
fn regensburg_study_goodput_stays_within_100_mbit_ethernet() {
    if without(&["apache", "curl", "wget", "vsftpd"]) {
        return;
    }
    let others = [
        ("repetitions = 3", "repetitions = 1"),
        ("size = [5879824, 14269432, 20399831, 29793828]", "size = [5879824, 14269432]"),
    ];
    let files = [
        ("study.toml", file!("regensburg/study.toml")),
        ("lab.toml", file!("regensburg/lab.toml")),
        ("published.toml", file!("regensburg/published.toml")),
    ];
    let document = cut(&files, &others, &["--in-lab"]);
    assert_eq!(labels(&document, "families"), ["sixmark", "curl", "wget"]);
    let values = table(&document, "throughput")["rows"][0]["values"].as_array().unwrap();
    assert!(values.iter().all(|value| value["published"][3]["value"].is_number()), "{values:?}");
    // What Ethernet leaves of 100 Mbit/s; wget begins to count when something has come, and rounds.
    for (family, most) in [("ipv6", 11.606e6), ("ipv4", 11.769e6)] {
        for cell in at(&document, &[("family", family)]) {
            let goodput = figure(cell, "goodput").unwrap();
            assert!(goodput > 0.0 && goodput < most * 1.05, "{cell}");
        }
    }
}

#[test]
fn nat64_study_measures_nat64_beside_both_native_families() {
    if without(&["tayga", "unbound"]) {
        return;
    }
    let others = [
        ("repetitions = 8", "repetitions = 2"),
        ("count = 3000", "count = 100"),
        ("count = 20000", "count = 100"),
        ("/bytes/50000000", "/bytes/2000000"),
    ];
    let files = [("study.toml", file!("nat64/study.toml")), ("lab.toml", file!("nat64/lab.toml"))];
    let document = cut(&files, &others, &[]);
    let ways = [("native", "ipv6"), ("native", "ipv4"), ("NAT64", "ipv6")];
    for (path, family) in ways {
        let cells = at(&document, &[("path", path), ("family", family)]);
        assert_eq!(cells.len(), 6, "three loads, twice");
        assert!(cells.iter().all(|cell| figure(cell, "failed") == Some(0.0)), "{cells:?}");
    }
    for name in ["times", "requests", "large"] {
        let rows = table(&document, name)["rows"].as_array().unwrap();
        let levels: Vec<[&str; 2]> =
            rows.iter().map(|row| [0, 1].map(|at| row["levels"][at].as_str().unwrap())).collect();
        assert_eq!(levels, ways.map(|(path, family)| [path, family]), "{name}");
    }
    for comparison in ["families", "translation"] {
        assert_eq!(labels(&document, comparison), ["connections", "requests", "large file"]);
    }
}

/// Each way of the study `ipv6-only`, with the family that its client uses, and whether its packets are translated.
const WAYS: [(&str, &str, bool); 7] = [
    ("IPv6-only", "ipv6", false),
    ("IPv4-only", "ipv4", false),
    ("dual stack", "ipv6", false),
    ("dual stack", "ipv4", false),
    ("NAT64", "ipv6", true),
    ("464XLAT", "ipv4", true),
    ("SIIT-DC", "ipv4", true),
];

#[test]
fn ipv6_only_study_measures_each_way_to_a_service() {
    if without(&["tayga", "unbound"]) {
        return;
    }
    let others = [
        ("repetitions = 8", "repetitions = 1"),
        ("count = 6000", "count = 100"),
        ("count = 400,", "count = 20,"),
    ];
    let files =
        [("study.toml", file!("ipv6-only/study.toml")), ("lab.toml", file!("ipv6-only/lab.toml"))];
    let document = cut(&files, &others, &[]);
    for (way, family, translated) in WAYS {
        let cells = at(&document, &[("way", way), ("family", family)]);
        assert!(cells.iter().all(|cell| figure(cell, "failed") == Some(0.0)), "{cells:?}");
        let large = at(&document, &[("way", way), ("family", family), ("load", "large file")]);
        for cell in large {
            // Clocks of processes tick a hundred times a second. Translating 80 MB takes many ticks; what is left of the
            // cell before takes one at most.
            let spent_s = figure(cell, "translator_cpu").unwrap();
            assert_eq!(spent_s > 0.015, translated, "{cell}");
            assert!(figure(cell, "client_cpu_per_request").unwrap() > 0.0, "{cell}");
        }
    }
    // No segment carries more than fits, and over IPv6 20 bytes less do, also if only a part of its way is IPv6.
    for (way, family, translated) in WAYS {
        let levels = [("way", way), ("family", family), ("load", "large file")];
        let levels = [&levels[..], &[("protocol", "http/1.1")]].concat();
        let segments = figure(at(&document, &levels)[0], "segments_in_per_mib").unwrap();
        let least = if family == "ipv6" || translated { 734.0 } else { 724.0 };
        assert!(segments > least, "{way}, {family}: {segments}");
    }
}

#[test]
fn blackhole_study_large_responses_time_out_only_without_a_remedy() {
    if without(&["nftables"]) {
        return;
    }
    // Whatever helps has a minute, so that only a broken remedy is given up.
    let quick = r#"[quick.factors]
filter = [
    { name = "IPv6 Packet Too Big dropped", lab-hole = "ipv6" },
    { name = "IPv4 Fragmentation Needed dropped", lab-hole = "ipv4" },
]
remedy = [
    { name = "none", lab-remedy = "", timeout = "5s" },
    { name = "probing after a stall", lab-remedy = "stalled", timeout = "60s" },
    { name = "MSS clamping", lab-remedy = "clamp", timeout = "60s" },
    { name = "MTU 1280 at the server", lab-remedy = "mtu", timeout = "60s" },
]
"#;
    let others =
        [("[quick]\nrepetitions = 3", "[quick]\nrepetitions = 1"), ("[quick.factors]\n", quick)];
    let files =
        [("study.toml", file!("blackhole/study.toml")), ("lab.toml", file!("blackhole/lab.toml"))];
    let document = cut(&files, &others, &[]);
    let remedies = ["none", "probing after a stall", "MSS clamping", "MTU 1280 at the server"];
    let ways =
        [("IPv6 Packet Too Big dropped", "ipv6"), ("IPv4 Fragmentation Needed dropped", "ipv4")];
    for (filter, holed) in ways {
        for (_, family) in ways {
            for remedy in remedies {
                let became = |file| {
                    let levels = [
                        ("filter", filter),
                        ("family", family),
                        ("remedy", remedy),
                        ("file", file),
                    ];
                    let cell = at(&document, &levels)[0];
                    ["NORMAL", "TIMEOUT"].map(|end| figure(cell, end).unwrap())
                };
                assert_eq!(became("small"), [10.0, 0.0], "{filter}, {family}, {remedy}");
                let falls = family == holed && remedy == "none";
                let expected = if falls { [0.0, 1.0] } else { [1.0, 0.0] };
                assert_eq!(became("large"), expected, "{filter}, {family}, {remedy}");
            }
        }
    }
    let rows = table(&document, "answers")["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8, "each filter with each remedy");
}

#[test]
fn towson_study_delay_grows_with_congestion_most_on_the_bare_server() {
    if without(&["apache", "mgen"]) {
        return;
    }
    let others = [
        ("threads = 1 }, \"firefox\"]", "threads = 1 }]"),
        (
            "    { name = \"C2B\", traffic = \"c2b\" },\n    { name = \"C3B\", traffic = \"c3b\" },\n    { name = \"C5B\", traffic = \"c5b\" },\n]\n\n[[tables]]",
            "    { name = \"C5B\", traffic = \"c5b\" },\n]\n\n[[tables]]",
        ),
        ("count = 3", "count = 6"),
    ];
    let files = [
        ("study.toml", file!("towson/study.toml")),
        ("lab.toml", file!("towson/lab.toml")),
        ("published.toml", file!("towson/published.toml")),
    ];
    let document = cut(&files, &others, &[]);
    assert_eq!(document["lab"]["name"], "towson");
    for server in ["apache", "bare"] {
        for family in ["ipv6", "ipv4"] {
            let [free, congested] = ["none", "C1B"].map(|level| {
                let levels = [("server", server), ("family", family), ("level", level)];
                let cells = at(&document, &levels).into_iter();
                cells.map(|cell| figure(cell, "delay.mean").unwrap()).collect::<Vec<_>>()
            });
            grow(&free, &congested, &format!("{server} {family}"));
        }
    }
    congested(&document);
    bare_is_slower(&document);
    for (name, rows) in [("rate", 8), ("udp", 4), ("generator", 8), ("stack", 18)] {
        assert_eq!(table(&document, name)["rows"].as_array().unwrap().len(), rows, "{name}");
    }
    let claims = document["claims"].as_array().unwrap();
    let more = claims.iter().find(|claim| claim["id"] == "delay-depends-on-rate").unwrap();
    assert_eq!(more["measured"]["answer"], "not_tested", "{more}");
    let why = more["measured"]["why"].as_str().unwrap();
    assert!(why.starts_with("--quick omits ") && why.contains("level C4B, C6B"), "{why}");
    // Two families, lines of the published ranges among them.
    let figure = &document["figures"][0];
    let published = figure["series"].as_array().unwrap().iter().filter(|s| s["published"] == true);
    let ranges = published.flat_map(|s| s["points"].as_array().unwrap());
    let is_range = |dot: &Value| !dot["low"].is_null() && dot["y"].is_null();
    assert!(ranges.into_iter().any(is_range));
}

/// Delays without traffic and with it, microseconds: all possible, and not all without longer.
fn grow(free: &[f64], congested: &[f64], of: &str) {
    // What 320 KB take at 100 Mbit/s with their headers, and the way there and back.
    let least = 27_000.0 + 4_800.0;
    let all = free.iter().chain(congested);
    assert!(all.copied().all(|delay| delay > least), "{of}: {free:?} {congested:?}");
    // A busy machine may hold up any of the few there are, so that no mean is compared; and nothing
    // where it held up all of those without traffic.
    let calm = free.iter().any(|delay| *delay < 2.0 * least);
    let more = |delay: &f64| free.iter().any(|without| delay > without);
    assert!(congested.iter().any(more) || !calm, "{of}: {free:?} {congested:?}");
}

/// The mechanism of the paper: without recovery, a loss costs the bare server a timeout and everything again.
fn bare_is_slower(document: &Value) {
    let of = |server: &str, family: &str, measure: &str| -> f64 {
        let levels =
            [("server", server), ("family", family), ("level", "C5B"), ("rate", "payload")];
        let cells = at(document, &levels).into_iter();
        let own = cells.filter(|cell| cell["traffic"]["generator"] == "sixmark");
        let all: Vec<f64> = own.map(|cell| figure(cell, measure).unwrap()).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    for family in ["ipv6", "ipv4"] {
        assert!(of("bare", family, "retransmitted") > 0.0, "{family}: nothing was lost");
        let delays = ["bare", "apache"].map(|server| of(server, family, "delay.mean"));
        println!("{family}: {:.0} ms against {:.0} ms", delays[0] / 1e3, delays[1] / 1e3);
        assert!(delays[0] > 1.5 * delays[1], "{family}: {delays:?}");
    }
}

/// What is around the cells with traffic, and not around the others.
fn congested(document: &Value) {
    for (rate, generator, mix, offered) in [
        // The headers are 3 to 6 % of a segment.
        ("payload", "sixmark", "c1b", 79.4e6),
        ("wire", "sixmark", "c1b-wire", 75e6),
        ("payload", "mgen", "c1b-mgen", 79.4e6),
    ] {
        let levels = [("level", "C1B"), ("rate", rate), ("generator", generator), ("udp", "with")];
        for cell in at(document, &levels) {
            let traffic = &cell["traffic"];
            let of = |key: &str| traffic[key].as_f64().unwrap();
            assert_eq!((&traffic["mix"], &traffic["flows"]), (&mix.into(), &10.into()));
            assert_eq!(traffic["generator"], generator);
            assert!((of("offered_bits_per_s") / offered - 1.0).abs() < 0.05, "{traffic}");
            assert!(of("received_bits_per_s") > 0.0, "{traffic}");
            assert_eq!(cell["links"].as_array().unwrap().len(), 11, "each has a rate");
            assert!(figure(cell, "throughput").unwrap() > 0.0);
        }
    }
    assert!(at(document, &[("level", "none")]).iter().all(|cell| cell["traffic"].is_null()));
}
