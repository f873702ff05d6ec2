//! The studies that come with sixmark.

/// A study, and what was published of it.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) study: &'static str,
    pub(super) published: &'static str,
}

/// Every one of them.
pub(super) const BUILTIN: [Builtin; 3] = [
    Builtin {
        name: "anma",
        study: include_str!("../../../../experiments/anma/study.toml"),
        published: include_str!("../../../../experiments/anma/published.toml"),
    },
    Builtin {
        name: "apache",
        study: include_str!("../../../../experiments/apache/study.toml"),
        published: include_str!("../../../../experiments/apache/published.toml"),
    },
    Builtin {
        name: "regensburg",
        study: include_str!("../../../../experiments/regensburg/study.toml"),
        published: include_str!("../../../../experiments/regensburg/published.toml"),
    },
];
