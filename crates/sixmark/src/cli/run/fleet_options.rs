//! Options that a load from a fleet can't have.

use super::args::{RunArgs, SessionArgs};
use sixmark_options::args::WorkloadArgs;
use sixmark_sys::command_error::CommandError;

/// Checks the options of a run.
///
/// # Errors
/// An option is about this machine, which generates no load.
pub(super) fn check_options(args: &RunArgs) -> Result<(), CommandError> {
    check_session(&args.session, std::iter::once(&args.workload))
}

/// Checks the options that all commands which load have. `workloads` are those of all sides.
///
/// # Errors
/// An option is about this machine, which generates no load.
pub(in crate::cli) fn check_session<'a>(
    session: &SessionArgs,
    mut workloads: impl Iterator<Item = &'a WorkloadArgs>,
) -> Result<(), CommandError> {
    if !session.fleet.is_given() {
        return Ok(());
    }
    let named = session.measure.vitals_from.as_deref().unwrap_or_default();
    let line = match () {
        () if session.measure.calibrate => {
            "--calibrate measures this machine, which generates no load with --hosts or --fleet; \
             omit it"
        }
        () if named.starts_with("lab:") => {
            "--vitals-from lab:HOST can't be read by agents; give the URL of `sixmark vitals \
             --prometheus` there"
        }
        () if workloads.any(|workload| !workload.target.source.is_empty()) => {
            "--source names addresses of this machine, which generates no load with --hosts or \
             --fleet; omit it"
        }
        () => return Ok(()),
    };
    Err(CommandError::Usage(line.to_owned()))
}
