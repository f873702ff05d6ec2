//! The store of results.

mod documents;
mod entries;
mod kill;
mod lost;
mod page;

use std::path::Path;

use serde_json::{Value, json as value};
use sixmark::report::documents::Document;
use sixmark::report::headline::ListHeadline;
use sixmark::store::{Id, ListFilter, Listed, Store, StorePlace};

/// What `sixmark run` wrote once: 20 requests in a closed loop.
pub(crate) const RUN: &str = include_str!("data/result-1/closed.json");

/// The store in a file, as somebody asks for it.
pub(crate) fn open(path: &Path) -> Store {
    Store::open(&StorePlace::Named(path.into(), "--store")).unwrap().unwrap()
}

/// What `sixmark compare` would write of that run's figures, IPv6 being called worse.
pub(crate) fn comparison() -> String {
    let run: Value = serde_json::from_str(RUN).unwrap();
    let side = |name: &str| {
        value!({"name": name, "options": "", "plan": run["plan"], "elapsed_s": 1.0,
            "figures": run["families"][name]})
    };
    let metric = value!({"metric": "response.p50", "a": 2.0, "b": 1.0, "method": "blocks",
        "effects": [0.7], "verdict": "worse"});
    let settings = value!({"margin": 0.05, "confidence": 0.95, "primary": "response.p50",
        "seed": 1, "resamples": 4000});
    let compared = value!({"kind": "isolated", "a": "ipv6", "b": "ipv4", "settings": settings,
        "pairs": 1, "left_out": 0, "metrics": [metric]});
    let schedule = value!({"pairs": 1, "order": "abba", "warm_up_blocks": 0});
    let mut document = value!({"schema": "sixmark.comparison/1", "seed": 1, "blocks": [],
        "started": "2026-07-31T00:00:00.500Z", "elapsed_s": 2.0, "ended": "interrupted",
        "gates": [], "schedule": schedule, "comparison": compared,
        "sides": {"a": side("ipv6"), "b": side("ipv4")}});
    for same in ["tool", "dns", "environment", "warnings", "generator"] {
        document[same] = run[same].clone();
    }
    document.to_string()
}

/// A document's headline as if it had begun at another time.
fn headline(document: &str, started: &str) -> ListHeadline {
    let headline = ListHeadline::of(&Document::parse(document).unwrap()).unwrap();
    ListHeadline { started: started.to_owned(), ..headline }
}

/// The numbers of what fits, the newest first.
fn ids(store: &Store, filter: &ListFilter) -> Vec<Id> {
    store.list(filter).unwrap().entries.iter().map(|entry: &Listed| entry.id).collect()
}
