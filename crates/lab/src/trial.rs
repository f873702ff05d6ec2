//! A lab that is built only to find out whether this machine allows one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sixmark_sys::enclosure::{self, Attempt, Rights};

use crate::plan::parse_lab;
use crate::plan::tc::KernelShapers;
use crate::{Ground, TEMPORARY, Up, middle, netem};

/// Two hosts of both families with a router between them.
const PLAIN: &str = "name = \"trial\"\n[hosts.client]\n[hosts.router]\nforwards = true\n\
                     [hosts.server]\n[links]\na = [\"client\", \"router\"]\n\
                     b = [\"router\", \"server\"]\n";
/// Three hosts with a link that delays frames and one that limits their rate.
const SHAPED: &str = "name = \"trial\"\n[hosts.client]\n[hosts.router]\nforwards = true\n\
                      [hosts.server]\n[links]\n\
                      a = { between = [\"client\", \"router\"], delay = \"1ms\" }\n\
                      b = { between = [\"router\", \"server\"], rate = \"1Gbit/s\" }\n";

/// The outcome of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// A lab of three hosts was built and removed.
    Built {
        /// The privileges in it.
        rights: Rights,
        /// How long it took.
        took: Duration,
        /// What the kernel has for links that delay frames or limit their rate; sixmark's emulator
        /// does the rest. An error if such links could not be built, in one line.
        shapers: Result<KernelShapers, String>,
    },
    /// The namespaces were made, but the lab could not be built in them; why, in one line.
    Failed(String),
    /// The kernel does not permit the namespaces.
    Refused {
        /// The step that failed: `make namespaces`.
        what: String,
        /// The error of the kernel.
        errno: Option<i32>,
    },
}

/// Builds a lab in a child process, and removes it; then one whose links impair frames. This process
/// must have one thread.
///
/// # Errors
/// Returns one line if the trial itself could not be made.
pub fn try_out() -> Result<TrialOutcome, String> {
    match enclosure::attempt(build_both).map_err(|error| error.to_string())? {
        Attempt::Entered(rights, Ok(said)) => parse_report(rights, &said),
        Attempt::Entered(_, Err(why)) => Ok(TrialOutcome::Failed(why)),
        Attempt::Refused(refused) => Ok(TrialOutcome::Refused {
            what: refused.what.into_owned(),
            errno: refused.error.raw_os_error(),
        }),
    }
}

/// Builds both labs, in the enclosure. Returns the time that the first took in microseconds, and on
/// a second line what impairs frames in the second, or its error.
fn build_both(rights: Rights) -> Result<String, String> {
    let began = Instant::now();
    build(PLAIN, rights)?;
    let took = began.elapsed().as_micros();
    let shaped = || {
        let shapers = KernelShapers { netem: netem::is_there()?, limits: middle::can_limit()? };
        build(SHAPED, rights)?;
        Ok(words_of(shapers))
    };
    Ok(format!("{took}\n{}", shaped().unwrap_or_else(|why: String| why)))
}

/// Returns the words for what impairs frames, in the report of the process inside.
fn words_of(KernelShapers { netem, limits }: KernelShapers) -> String {
    format!("netem: {netem}, limits: {limits}")
}

/// All that a kernel may have.
const SHAPERS: [KernelShapers; 4] = [
    KernelShapers { netem: false, limits: false },
    KernelShapers { netem: false, limits: true },
    KernelShapers { netem: true, limits: false },
    KernelShapers { netem: true, limits: true },
];

fn build(text: &str, rights: Rights) -> Result<(), String> {
    let mistake = |_| "the lab of the trial has a mistake".to_owned();
    let plan = parse_lab(text, None, &BTreeMap::new()).map_err(mistake)?;
    let (folder, stop) = (Path::new(TEMPORARY), AtomicBool::new(false));
    let ground = Ground { rights, logs: folder, www: folder, stop: &stop };
    Up::build(plan, &ground).map(drop).map_err(|error| error.to_string())
}

fn parse_report(rights: Rights, said: &str) -> Result<TrialOutcome, String> {
    let (took, shaped) = said.split_once('\n').unwrap_or((said, ""));
    let took = took.parse().map_err(|_| format!("the trial reported '{took}'"))?;
    let known = SHAPERS.into_iter().find(|&shapers| words_of(shapers) == shaped);
    let shapers = known.ok_or_else(|| shaped.to_owned());
    Ok(TrialOutcome::Built { rights, took: Duration::from_micros(took), shapers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trial_labs_parse_without_errors() {
        for text in [PLAIN, SHAPED] {
            assert!(parse_lab(text, None, &BTreeMap::new()).is_ok(), "{text}");
        }
    }

    #[test]
    fn parses_the_report_of_a_trial() {
        let of = |said: &str| parse_report(Rights::User, said);
        let built = |shapers| TrialOutcome::Built {
            rights: Rights::User,
            took: Duration::from_micros(80_000),
            shapers,
        };
        for shapers in SHAPERS {
            assert_eq!(of(&format!("80000\n{}", words_of(shapers))), Ok(built(Ok(shapers))));
        }
        assert_eq!(of("80000\nno tc"), Ok(built(Err("no tc".to_owned()))));
        assert!(of("").is_err());
    }
}
