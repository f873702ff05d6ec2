//! A lab that is built only to find out whether this machine allows one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sixmark_sys::enclosure::{self, Attempt, Rights};

use crate::plan::parse_lab;
use crate::{Ground, TEMPORARY, Up, netem};

/// Two hosts of both families with a router between them.
const PLAIN: &str = "name = \"trial\"\n[hosts.client]\n[hosts.router]\nforwards = true\n\
                     [hosts.server]\n[links]\na = [\"client\", \"router\"]\n\
                     b = [\"router\", \"server\"]\n";
/// Two hosts with a link that delays frames.
const DELAYED: &str = "name = \"trial\"\n[hosts.client]\n[hosts.server]\n[links]\n\
                       a = { between = [\"client\", \"server\"], delay = \"1ms\" }\n";

/// The outcome of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// A lab of three hosts was built and removed.
    Built {
        /// The privileges in it.
        rights: Rights,
        /// How long it took.
        took: Duration,
        /// What delays frames on links.
        delayed: Result<DelayedBy, String>,
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

/// What delays frames on the links of labs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedBy {
    /// The kernel's netem.
    Netem,
    /// sixmark's emulator.
    Emulator,
}

/// Builds a lab in a child process, and removes it; then one whose link delays frames. This process
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
/// a second line what delays frames in the second, or its error.
fn build_both(rights: Rights) -> Result<String, String> {
    let began = Instant::now();
    build(PLAIN, rights)?;
    let took = began.elapsed().as_micros();
    let delayed = netem::is_there().and_then(|has_netem| {
        build(DELAYED, rights)?;
        Ok(if has_netem { NETEM } else { EMULATOR })
    });
    Ok(format!("{took}\n{}", delayed.map_or_else(|why| why, str::to_owned)))
}

/// The words for what delays frames, in the report of the process inside.
const NETEM: &str = "netem";
const EMULATOR: &str = "emulator";

fn build(text: &str, rights: Rights) -> Result<(), String> {
    let mistake = |_| "the lab of the trial has a mistake".to_owned();
    let plan = parse_lab(text, None, &BTreeMap::new()).map_err(mistake)?;
    let (folder, stop) = (Path::new(TEMPORARY), AtomicBool::new(false));
    let ground = Ground { rights, logs: folder, www: folder, stop: &stop };
    Up::build(plan, &ground).map(drop).map_err(|error| error.to_string())
}

fn parse_report(rights: Rights, said: &str) -> Result<TrialOutcome, String> {
    let (took, delayed) = said.split_once('\n').unwrap_or((said, ""));
    let took = took.parse().map_err(|_| format!("the trial reported '{took}'"))?;
    let delayed = match delayed {
        NETEM => Ok(DelayedBy::Netem),
        EMULATOR => Ok(DelayedBy::Emulator),
        why => Err(why.to_owned()),
    };
    Ok(TrialOutcome::Built { rights, took: Duration::from_micros(took), delayed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labs_have_no_mistake() {
        for text in [PLAIN, DELAYED] {
            assert!(parse_lab(text, None, &BTreeMap::new()).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_report_is_read() {
        let of = |said| parse_report(Rights::User, said);
        let built = |delayed| TrialOutcome::Built {
            rights: Rights::User,
            took: Duration::from_micros(80_000),
            delayed,
        };
        assert_eq!(of("80000\nnetem"), Ok(built(Ok(DelayedBy::Netem))));
        assert_eq!(of("80000\nno tc"), Ok(built(Err("no tc".to_owned()))));
        assert!(of("").is_err());
    }
}
