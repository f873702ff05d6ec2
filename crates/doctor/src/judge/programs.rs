//! Other programs that commands and studies start.

use crate::facts::{Facts, ProgramFact};
use crate::finding::{CheckState, Finding, Mend, MendPlace};
use crate::purpose::Purpose;

use super::listed;

/// Judges the programs.
pub(super) fn judge_programs(facts: &Facts) -> Vec<Finding> {
    let programs = &facts.programs;
    let groups = [
        Finding::of_group(facts, "clients", &programs.clients).map(|finding| {
            finding.meaning("Studies can measure with these instead of sixmark's own client.")
        }),
        Finding::of_group(facts, "browsers", &programs.browsers).map(|finding| {
            let means = "Studies load pages with them; one of the two is enough for a study of \
                         your own.";
            finding.meaning(means).used_by(&[Purpose::Browsers])
        }),
        Finding::of_group(facts, "study-programs", &programs.studies)
            .map(|finding| finding.meaning(describe_studies(&programs.studies))),
    ];
    groups.into_iter().flatten().chain(judge_ssh(facts)).chain(judge_nats(facts)).collect()
}

impl Finding {
    /// Creates a finding about programs that serve the same end; `None` if there are none.
    fn of_group(facts: &Facts, name: &str, programs: &[ProgramFact]) -> Option<Finding> {
        let (found, missing): (Vec<_>, Vec<_>) =
            programs.iter().partition(|program| program.path.is_some());
        let names = |all: &[&ProgramFact]| {
            listed(&all.iter().map(|program| program.name.as_str()).collect::<Vec<_>>())
        };
        let (state, said) = match (found.is_empty(), missing.is_empty()) {
            (true, true) => return None,
            (_, true) => (CheckState::Ok, format!("{} are installed", names(&found))),
            (true, _) => (CheckState::Missing, format!("{} are not installed", names(&missing))),
            (false, false) => (
                CheckState::Limited,
                format!("not installed: {}; installed: {}", names(&missing), names(&found)),
            ),
        };
        let mut packages: Vec<&str> =
            missing.iter().filter_map(|program| program.package.as_deref()).collect();
        packages.sort_unstable();
        packages.dedup();
        let mend = (!packages.is_empty()).then(|| facts.host.install(&packages));
        Some(Finding::new(name, state, said, "-").mended(mend))
    }

    /// Replaces what it means.
    fn meaning(self, means: impl Into<String>) -> Finding {
        Finding { means: means.into(), ..self }
    }
}

/// Returns which built-in studies lack a program.
fn describe_studies(programs: &[ProgramFact]) -> String {
    let missing = programs.iter().filter(|program| program.path.is_none());
    let lacks = missing.map(|program| {
        let studies: Vec<&str> = program.studies.iter().map(String::as_str).collect();
        format!("{} ({})", program.name, studies.join(", "))
    });
    let lacks: Vec<String> = lacks.collect();
    if lacks.is_empty() {
        "The built-in studies and their labs have their programs.".to_owned()
    } else {
        format!(
            "Built-in studies omit what needs {}, or refuse to begin.",
            listed(&lacks.iter().map(String::as_str).collect::<Vec<_>>())
        )
    }
}

fn judge_ssh(facts: &Facts) -> Option<Finding> {
    let ssh = facts.programs.ssh.as_ref()?;
    let finding = match &ssh.path {
        Some(path) => Finding::new(
            "ssh",
            CheckState::Ok,
            path.display().to_string(),
            "`run --hosts` reaches other machines.",
        ),
        None => Finding::new(
            "ssh",
            CheckState::Missing,
            format!("{} is not installed", ssh.name),
            "`run --hosts` can't reach other machines.",
        )
        .mended(ssh.package.as_ref().map(|package| facts.host.install(&[package]))),
    };
    Some(finding.used_by(&[Purpose::Fleet]))
}

fn judge_nats(facts: &Facts) -> Option<Finding> {
    let finding = match facts.programs.nats_server.as_ref()? {
        Ok(path) => Finding::new(
            "nats-server",
            CheckState::Ok,
            path.display().to_string(),
            "`run --hosts` can start it; it carries orders to agents and records from them.",
        ),
        Err(why) => {
            let why = why.split("; sixmark needs").next().unwrap_or(why);
            Finding::new(
                "nats-server",
                CheckState::Missing,
                why,
                "`run --hosts` does not work; `run --fleet` does, with a server elsewhere.",
            )
            .mended([Mend::command(
                MendPlace::Here,
                &facts.programs.install_nats_server,
            )
            .saying("needs Go; put the program into a folder of PATH, or beside sixmark")])
        }
    };
    Some(finding.used_by(&[Purpose::Fleet]))
}
