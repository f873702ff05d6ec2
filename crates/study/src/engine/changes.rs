//! Changes of the setup since a study began.

use std::collections::BTreeMap;

use sixmark_design::study_result::{SetupChange, StudyResult};
use sixmark_document::provenance::Environment;

/// The present setup.
pub(super) struct Now<'a> {
    pub(super) environment: &'a Environment,
    pub(super) programs: &'a BTreeMap<String, String>,
    pub(super) sha256: &'a str,
    pub(super) version: &'a str,
    /// Where the agents are; empty without a fleet.
    pub(super) fleet: &'a [String],
    /// The URLs of servers that the study does not start.
    pub(super) targets: &'a BTreeMap<String, Vec<String>>,
}

/// Returns everything that differs from when the document was written.
pub(super) fn changes(before: &StudyResult, now: &Now<'_>) -> Vec<SetupChange> {
    let old = &before.environment;
    let new = now.environment;
    let mut changes = Vec::new();
    let mut compare = |what: &str, before: &str, now: &str| {
        if before != now {
            let [what, before, now] = [what, before, now].map(str::to_owned);
            changes.push(SetupChange { what, before, now });
        }
    };
    compare("the study's file (SHA-256)", &before.file.sha256, now.sha256);
    compare("sixmark", &before.tool.version, now.version);
    let places = |fleet: &[String]| match fleet {
        [] => "this machine".to_owned(),
        places => places.join(","),
    };
    compare("what generates the load", &places(&before.fleet), &places(now.fleet));
    compare("the targets", &write_targets(&before.targets), &write_targets(now.targets));
    compare("kernel", &old.kernel, &new.kernel);
    compare("processor", &old.cpu, &new.cpu);
    compare("processors", &old.cores.to_string(), &new.cores.to_string());
    let both = |a: &BTreeMap<String, String>, b: &BTreeMap<String, String>| -> Vec<[String; 3]> {
        let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).cloned().collect();
        let of = |map: &BTreeMap<String, String>, name: &str| map.get(name).cloned();
        let of = |map, name: &str| of(map, name).unwrap_or_else(|| "absent".to_owned());
        names.into_iter().map(|name| [of(a, &name), of(b, &name), name]).collect()
    };
    for [before, now, name] in both(&old.sysctls, &new.sysctls) {
        compare(&name, &before, &now);
    }
    for [before, now, name] in both(&before.programs, now.programs) {
        compare(&name, &before, &now);
    }
    changes
}

/// Formats the URLs of servers that the study does not start.
fn write_targets(all: &BTreeMap<String, Vec<String>>) -> String {
    let of = |(service, urls): (&String, &Vec<String>)| match service.as_str() {
        "" => urls.join(" "),
        service => format!("{service}={}", urls.join(" ")),
    };
    if all.is_empty() {
        "the study's own".to_owned()
    } else {
        all.iter().map(of).collect::<Vec<_>>().join(", ")
    }
}

/// Formats all changes in one line.
pub(super) fn changes_line(changes: &[SetupChange]) -> String {
    let of =
        |change: &SetupChange| format!("{} was {}, is {}", change.what, change.before, change.now);
    changes.iter().map(of).collect::<Vec<_>>().join("; ")
}
