//! The workload that both sides share, and how a side's own options change it.

use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};

use super::lacks;
use sixmark_options::args::WorkloadArgs;

/// The workload of both sides, and which of its options were given on the command line.
#[derive(Clone, Debug)]
pub(in crate::cli) struct SharedWorkload {
    pub(super) workload: WorkloadArgs,
    given: Vec<Id>,
}

impl SharedWorkload {
    /// Returns the workload of both sides, without their own options.
    pub(super) fn workload(&self) -> &WorkloadArgs {
        &self.workload
    }

    /// Returns a side's workload: the shared one, with its values replaced by those of the side's
    /// own options. Values of repeatable options are added to the shared ones; URLs and target
    /// lists replace them.
    ///
    /// The options are wrong or conflict with shared ones. The message is one line.
    pub(super) fn overlaid(&self, words: &[String]) -> Result<WorkloadArgs, String> {
        let mut command = shared_command();
        let mut own = command
            .try_get_matches_from_mut(words)
            .map_err(|error| lacks::of_side(&error).unwrap_or_else(|| one_line(&error)))?;
        let given = given(&own);
        self.go_together(&command, &given)?;
        forget_defaults(&mut own);
        let mut side = self.workload.clone();
        let lists = Lists::take(&mut side);
        side.update_from_arg_matches_mut(&mut own).map_err(|error| one_line(&error))?;
        lists.put_before(&mut side);
        let has = |id: &str| given.iter().any(|own| own == id);
        match (has("urls"), has("targets")) {
            (true, false) => side.target.targets = None,
            (false, true) => side.target.urls.clear(),
            _ => {}
        }
        Ok(side)
    }

    /// Returns an error if an option of the side conflicts with a shared one.
    fn go_together(&self, command: &Command, own: &[Id]) -> Result<(), String> {
        for one in command.get_arguments() {
            for other in command.get_arg_conflicts_with(one) {
                for (mine, common) in [(one, other), (other, one)] {
                    if own.contains(mine.get_id()) && self.given.contains(common.get_id()) {
                        return Err(format!(
                            "the argument '{mine}' cannot be used with '{common}', which both sides have"
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Creates the parser of a side's own options. A URL is not required, since the shared one may
/// serve; of an option given twice, the last counts.
fn shared_command() -> Command {
    WorkloadArgs::augment_args_for_update(Command::new("side"))
        .no_binary_name(true)
        .disable_help_flag(true)
        .args_override_self(true)
        .mut_arg("urls", |urls| urls.required_unless_present(Resettable::<Id>::Reset))
}

/// Returns the options that were given on the command line.
fn given(matches: &ArgMatches) -> Vec<Id> {
    let written = |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    matches.ids().filter(written).cloned().collect()
}

/// Removes default values, which would otherwise override shared options.
fn forget_defaults(matches: &mut ArgMatches) {
    let given = given(matches);
    let defaults: Vec<Id> = matches.ids().filter(|id| !given.contains(id)).cloned().collect();
    for id in defaults {
        // The id is known: it comes from these matches.
        let _ = matches.try_clear_id(id.as_str());
    }
}

/// The values of options that may be repeated.
struct Lists(WorkloadArgs);

impl Lists {
    /// Moves them out of the shared workload.
    fn take(of: &mut WorkloadArgs) -> Lists {
        let taken = Lists(of.clone());
        of.target.resolve.clear();
        of.target.source.clear();
        of.request.header.clear();
        of.request.expect.clear();
        taken
    }

    /// Inserts them before the side's own values.
    fn put_before(self, side: &mut WorkloadArgs) {
        let Lists(WorkloadArgs { target, request, .. }) = self;
        side.target.resolve.splice(..0, target.resolve);
        side.target.source.splice(..0, target.source);
        side.request.header.splice(..0, request.header);
        side.request.expect.splice(..0, request.expect);
    }
}

fn one_line(error: &clap::Error) -> String {
    sixmark_options::one_line(&error.render().to_string(), "sixmark compare --help")
}

impl FromArgMatches for SharedWorkload {
    fn from_arg_matches(matches: &ArgMatches) -> Result<SharedWorkload, clap::Error> {
        Self::from_arg_matches_mut(&mut matches.clone())
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<SharedWorkload, clap::Error> {
        let given = given(matches);
        let workload = WorkloadArgs::from_arg_matches_mut(matches)?;
        Ok(SharedWorkload { workload, given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for SharedWorkload {
    fn augment_args(command: Command) -> Command {
        WorkloadArgs::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        WorkloadArgs::augment_args_for_update(command)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shared(words: &[&str]) -> SharedWorkload {
        let command = SharedWorkload::augment_args(Command::new("both")).no_binary_name(true);
        SharedWorkload::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap()
    }

    fn side(both: &[&str], own: &[&str]) -> Result<WorkloadArgs, String> {
        let own: Vec<String> = own.iter().map(|&word| word.to_owned()).collect();
        shared(both).overlaid(&own)
    }

    #[test]
    fn a_side_inherits_the_shared_options_it_does_not_set() {
        let both = ["--timeout", "7s", "-c", "3", "--no-keep-alive", "http://[::1]/"];
        let found = side(&both, &["-c", "5", "-6"]).unwrap();
        assert_eq!(found.load.timeout, Duration::from_secs(7));
        assert_eq!(found.load.connections.map(u32::from), Some(5));
        assert!(found.connection.no_keep_alive && found.target.ipv6 && !found.target.ipv4);
        assert_eq!(found.target.urls, ["http://[::1]/"]);
    }

    #[test]
    fn a_side_appends_repeatable_options_and_replaces_the_targets() {
        let both = ["-H", "A: 1", "--expect", "status=200", "--targets", "list", "http://a/"];
        let found = side(&both, &["-H", "B: 2", "http://b/"]).unwrap();
        let names: Vec<&str> = found.request.header.iter().map(|(name, _)| &**name).collect();
        assert_eq!((names, found.request.expect.len()), (vec!["A", "B"], 1));
        assert_eq!((found.target.urls, found.target.targets), (vec!["http://b/".to_owned()], None));
        let found = side(&["http://a/"], &["--targets", "own"]).unwrap();
        assert!(found.target.urls.is_empty() && found.target.targets.is_some());
    }

    #[test]
    fn rejects_a_side_option_that_conflicts_with_a_shared_option() {
        for (both, own) in [
            (["--ratio", "1:1", "http://a/"], "-6"),
            (["--requests-per-connection", "2", "http://a/"], "--no-keep-alive"),
            (["--body", "x", "http://a/"], "--requests=f.toml"),
        ] {
            let said = side(&both, &[own]).unwrap_err();
            assert!(said.contains("cannot be used with"), "{said}");
        }
    }

    #[test]
    fn names_the_option_that_a_side_cannot_have() {
        for (own, part) in [
            ("--json=x", "--json applies to the whole comparison"),
            ("-q", "-q applies to the whole comparison"),
            ("--store=x", "--store, --label or --keep-secrets applies to the whole"),
            ("-d=3s", "-d is for `sixmark run`; --block sets"),
            ("--steps=1:1s", "--steps is for `sixmark run`: all blocks"),
            ("--blocks=3", "unexpected argument '--blocks'"),
        ] {
            let said = side(&["http://a/"], &[own]).unwrap_err();
            assert!(said.contains(part) && said.lines().count() == 1, "{own}: {said}");
        }
    }
}
