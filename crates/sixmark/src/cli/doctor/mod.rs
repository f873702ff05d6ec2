//! `sixmark doctor`.

mod programs;

use std::path::Path;
use std::time::SystemTime;

use clap::builder::PossibleValuesParser;
use sixmark_doctor::doctor_result::{DoctorResult, Required, SCHEMA, judge_purposes};
use sixmark_doctor::engine::{Wanted, WantedStore, examine};
use sixmark_doctor::judge::{CHECK_NAMES, judge};
use sixmark_doctor::purpose::Purpose;
use sixmark_doctor::sheet::{DoctorDetail, doctor_text};
use sixmark_document::environment::environment;
use sixmark_document::provenance::Tool;
use sixmark_sys::command_error::CommandError;

use crate::store::StorePlace;

use super::files::CommandFiles;
use super::keep::StoreArgs;
use super::out::{OutputPlace, do_all, encoded, print};

/// The exit status if something that is required is missing.
const UNMET: u8 = 1;

/// Show what this machine allows, and the commands that mend what is missing.
///
/// Reads the kernel's settings and tries what can be tried: connections over loopback, io_uring,
/// timestamps, packet capture, a small lab. Sends nothing to other machines, and changes nothing.
/// The exit status is 1 if `run` or `compare` over both families does not work, or what --require
/// names.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// End with status 1 if one of these does not work: uses (run, compare, internet, https, uring,
    /// timestamps, watch, truth, many, lab, browsers, fleet, store) or checks, by the names that are
    /// shown [default: run,compare]
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(names())
    )]
    require: Vec<String>,

    /// Show what each check found and what it means, also of those in order
    #[arg(long, help_heading = "Output")]
    full: bool,

    /// Write the document (sixmark.doctor/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    json: Option<OutputPlace>,

    #[command(flatten)]
    store: StoreArgs,
}

/// Returns what may be required.
fn names() -> impl Iterator<Item = &'static str> {
    // Some purposes have the name of the check that decides them.
    let checks = CHECK_NAMES.into_iter().filter(|name| Purpose::named(name).is_none());
    Purpose::ALL.into_iter().map(Purpose::name).chain(checks)
}

/// Examines the machine, and prints what was found.
pub(super) fn main(args: &DoctorArgs) -> Result<u8, CommandError> {
    CommandFiles::default().document("--json", args.json.as_ref()).store(&args.store).check()?;
    let result = examine_machine(args)?;
    let to_standard = args.json == Some(OutputPlace::Standard);
    let detail = if args.full { DoctorDetail::Full } else { DoctorDetail::Short };
    let printed = if to_standard { Ok(()) } else { print(&doctor_text(&result, detail)) };
    let document = encoded(&result)?;
    let written = args.json.as_ref().map_or(Ok(()), |place| place.write(&document));
    do_all([printed, written])?;
    Ok(if result.unmet.is_empty() { 0 } else { UNMET })
}

fn examine_machine(args: &DoctorArgs) -> Result<DoctorResult, CommandError> {
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let place = args.store.place()?;
    let makes_folders = matches!(place, StorePlace::Usual(_));
    let of = |path: &Path| WantedStore { path: path.to_owned(), makes_folders };
    let store = place.file().map(|path| path.map(of));
    let wanted = Wanted {
        programs: programs::find_programs()?,
        store: store.map_err(|error| error.to_string()),
    };
    let facts = examine(wanted);
    let checks = judge(&facts);
    let purposes = judge_purposes(&checks);
    let required = required(&args.require);
    let unmet = Required::unmet(&required, &purposes, &checks);
    Ok(DoctorResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started,
        environment: environment(Vec::new()),
        container: facts.host.container.clone().ok().flatten(),
        user: facts.host.user.clone().ok(),
        required: required.iter().map(|one| one.name().to_owned()).collect(),
        unmet,
        purposes,
        checks,
    })
}

fn required(names: &[String]) -> Vec<Required> {
    if names.is_empty() {
        return [Purpose::Run, Purpose::Compare].map(Required::Purpose).into();
    }
    let of = |name: &String| match Purpose::named(name) {
        Some(purpose) => Required::Purpose(purpose),
        None => Required::Check(name.clone()),
    };
    names.iter().map(of).collect()
}
