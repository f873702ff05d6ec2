//! `sixmark fleet collect`.

use sixmark_fleet::engine::controller::collect_kept;
use sixmark_report::text as shown;
use sixmark_report::text::Detail;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::Readers;

use super::CollectArgs;
use crate::cli::keep::Keeper;
use crate::cli::out::{self, OutputPlace, encoded, print, warn};
use crate::cli::stop_flag;
use crate::report::headline::ListHeadline;

/// Makes the result of a load whose records are kept, shows it and stores it.
pub(super) fn collect_load(args: &CollectArgs) -> Result<u8, CommandError> {
    let stop = stop_flag()?;
    let side = args.server.connect()?;
    let mut keeper = Keeper::open(&args.keep)?;
    let kept_load = collect_kept(std::sync::Arc::new(side), &args.load, &stop)?;
    let result = &kept_load.result;
    let shown = !args.quiet && args.json != Some(OutputPlace::Standard);
    let printed = if shown { print(&shown::run_text(result, Detail::Answer)) } else { Ok(()) };
    warn(result.warnings.iter());
    let text = encoded(result)?;
    let written = args.json.as_ref().map_or(Ok(()), |place| place.write_for(Readers::Owner, &text));
    let elsewhere = args.json.as_ref().filter(|_| written.is_ok());
    let kept = keeper.finish(&ListHeadline::of_run(result), &text, elsewhere, args.quiet);
    out::do_all([printed, written, kept])?;
    kept_load.confirm();
    Ok(0)
}
