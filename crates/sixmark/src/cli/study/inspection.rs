//! `lazy-eye`, the study of clients, which has no file and no cells.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sixmark_document::provenance::Ended;
use sixmark_lab as lab;
use sixmark_sheet::terminal::{hanging, width, wrapped};
use sixmark_sheet::{markdown, terminal};
use sixmark_study::inspection::clients::{CLIENTS, InspectedClient};
use sixmark_study::inspection::document::InspectionResult;
use sixmark_study::inspection::engine::{
    InspectionEvent, InspectionOptions, chosen_clients, inspect_clients, published_inspection,
};
use sixmark_study::inspection::sheet::{
    inspection_claims_sheet, inspection_markdown, inspection_text, published_inspection_sheet,
};
use sixmark_study::inspection::{
    DESCRIPTION, DIFFERENCES, NAME, QUICK_REPETITIONS, REPETITIONS, TITLE,
};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;

use super::super::files::CommandFiles;
use super::super::keep::Keeper;
use super::super::out::{self, OutputPlace, complain, print};
use super::super::progress::{ProgressForm, repaint};
use super::super::stop_flag;
use super::{ReanalyseArgs, ShowArgs, StudyRunArgs};
use crate::report::documents::Document;
use crate::report::headline::ListHeadline;
use crate::report::html_page;
use crate::report::sheet::Named;

/// The files of its folder.
const FILES: [&str; 2] = ["study.json", "report.html"];

/// Runs the study.
pub(super) fn run(args: &StudyRunArgs) -> Result<u8, CommandError> {
    refuse_options(args)?;
    let folder = folder_of(args);
    check_files(args, &folder)?;
    let progress = args.progress.form(args.quiet)?;
    // This comes first: open files and running threads would otherwise be both inside and outside
    // of the lab.
    let rights = match lab::enclose()? {
        Ok(rights) => rights,
        Err(status) => return Ok(status),
    };
    let mut keeper = Keeper::open(&args.keep)?;
    let stop = stop_flag()?;
    let seed = args.seed.unwrap_or_else(new_seed);
    let options =
        InspectionOptions { rights, quick: args.quick, only: &args.only, seed, stop: &stop };
    let done = inspect_clients(&options, &mut |event| show_event(progress, event));
    if is_line(progress) {
        repaint("");
    }
    let result = done?;
    keep(args, &result, &folder, &mut keeper)?;
    show_outcome(args, &result, &folder)
}

/// Refuses the options that only studies with cells have.
fn refuse_options(args: &StudyRunArgs) -> Result<(), CommandError> {
    let given = [
        ("--full", args.full),
        ("--in-lab", args.in_lab),
        ("--resume", args.resume.is_some()),
        ("--until", args.until.is_some()),
        ("--server", !args.server.is_empty()),
        ("--target", !args.target.is_empty()),
        ("--level", !args.level.is_empty()),
        ("--vitals-from", !args.vitals_from.is_empty()),
        ("--hosts", args.fleet.hosts.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(CommandError::Usage(format!(
            "{NAME} has no {option}: it starts clients in a lab of its own, and has no cells"
        ))),
        None => Ok(()),
    }
}

fn folder_of(args: &StudyRunArgs) -> PathBuf {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let now: String = now.chars().filter(|c| !matches!(c, ':' | 'Z')).collect();
    let form = if args.quick { "-quick" } else { "" };
    let name = format!("{NAME}{form}-{now}");
    args.out.clone().unwrap_or_else(|| PathBuf::from(name))
}

/// Checks that no file to be written is one of the study's folder, and that the folder has no other study.
fn check_files(args: &StudyRunArgs, folder: &Path) -> Result<(), CommandError> {
    let files = CommandFiles::default()
        .document("--markdown", args.markdown.as_ref())
        .document("--html", args.html.as_ref())
        .store(args.keep.store());
    let own = FILES.map(|name| folder.join(name));
    let checked = own
        .iter()
        .fold(files, |files, path| files.needed(Some(path), "it is a file of the study's folder"));
    checked.check()?;
    match own.iter().find(|path| path.exists()) {
        Some(_) => Err(CommandError::Usage(format!(
            "'{}' has a study already; choose another --out",
            folder.display()
        ))),
        None => Ok(()),
    }
}

fn new_seed() -> u64 {
    // Documents have numbers that JSON readers keep exactly.
    const LARGEST: u64 = 1 << 53;
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64 % LARGEST)
}

fn is_line(progress: ProgressForm) -> bool {
    matches!(progress, ProgressForm::Line | ProgressForm::View)
}

fn show_event(progress: ProgressForm, event: &InspectionEvent<'_>) {
    let line = match event {
        _ if progress == ProgressForm::Nothing => return,
        InspectionEvent::LeavesOut(of) => {
            if is_line(progress) {
                repaint("");
            }
            return complain(&format!("{} is omitted: {}", of.label, of.reason));
        }
        InspectionEvent::Prepares(label) => format!("prepares {label}"),
        InspectionEvent::Starts { number, all, label, about } => {
            format!("start {number}/{all}: {label}, {about}")
        }
    };
    if is_line(progress) { repaint(&line) } else { complain(&line) }
}

/// Stores the document, and writes it and the page to the study's folder and to the places asked for.
fn keep(
    args: &StudyRunArgs,
    result: &InspectionResult,
    folder: &Path,
    keeper: &mut Keeper,
) -> Result<(), CommandError> {
    output::make_folder(folder).map_err(|error| {
        CommandError::Measure(format!("can't make the folder '{}': {error}", folder.display()))
    })?;
    let text = out::encoded(result)?;
    let [document, page] = FILES.map(|name| OutputPlace::File(folder.join(name)));
    let written = document.write(&text);
    let kept =
        keeper.finish(&ListHeadline::of_inspection(result), &text, Some(&document), args.quiet);
    let name = folder.display().to_string();
    let shown = Document::Inspection(Box::new(result.clone()));
    let html = html_page(&[Named { name: &name, document: &shown }]);
    let paged = page.write(&html);
    let also = args.html.as_ref().map_or(Ok(()), |place| place.write(&html));
    out::do_all([written, kept, paged, also])
}

/// Prints the report and where the results are.
fn show_outcome(
    args: &StudyRunArgs,
    result: &InspectionResult,
    folder: &Path,
) -> Result<u8, CommandError> {
    let folder = folder.display();
    let standard = [&args.markdown, &args.html].contains(&&Some(OutputPlace::Standard));
    let is_shown = !args.quiet && !standard;
    let printed = if is_shown { print(&inspection_text(result)) } else { Ok(()) };
    let place = args.markdown.as_ref();
    let written = place.map_or(Ok(()), |place| place.write(&inspection_markdown(result)));
    out::do_all([printed, written])?;
    if result.ended != Ended::Complete {
        return Err(CommandError::Interrupted(format!(
            "interrupted: what was seen until then is kept in '{folder}'"
        )));
    }
    if !args.quiet {
        complain(&format!("kept in '{folder}'; its report is '{folder}/report.html'"));
    }
    Ok(0)
}

/// Returns the number of clients and starts as text.
pub(super) fn amount(quick: bool) -> String {
    let clients = chosen_clients(quick, &[]);
    let repetitions = if quick { QUICK_REPETITIONS } else { REPETITIONS };
    let cases: u32 = clients.iter().map(|client| client.cases.len() as u32).sum();
    let starts = cases * repetitions;
    format!(
        "{} clients, {repetitions} times in each of their cases: {starts} starts",
        clients.len()
    )
}

/// Shows what the study does.
pub(super) fn show(args: &ShowArgs) -> Result<u8, CommandError> {
    if args.full || args.in_lab {
        let line = format!("{NAME} has one form besides --quick; it always runs in a lab");
        return Err(CommandError::Usage(line));
    }
    let mut lines = vec![hanging(&format!("{NAME}: {TITLE}"), width()), String::new()];
    lines.push(wrapped(DESCRIPTION, width()));
    lines.push("\nHow it differs from the paper:".to_owned());
    lines.extend(DIFFERENCES.map(|line| hanging(&format!("  {line}"), width())));
    lines.push(String::new());
    let chosen = chosen_clients(args.quick, &[]);
    let names = |all: &mut dyn Iterator<Item = &InspectedClient>| {
        all.map(|client| client.name).collect::<Vec<_>>().join(", ")
    };
    lines.push(hanging(&format!("{:<14}{}", "client", names(&mut chosen.into_iter())), width()));
    let of_paper = names(&mut CLIENTS.iter().filter(|client| client.published.is_some()));
    lines.push(hanging(&format!("{:<14}{of_paper}", "of the paper"), width()));
    lines.push(String::new());
    let order = "cases and clients in random order within each repetition";
    lines.push(hanging(&format!("{}, {order}", amount(args.quick)), width()));
    lines.push(format!("takes about {}", if args.quick { "4 minutes" } else { "18 minutes" }));
    print(&(lines.join("\n") + "\n")).map(|()| 0)
}

/// Prints the published table.
pub(super) fn reanalyse(args: &ReanalyseArgs) -> Result<u8, CommandError> {
    let published = published_inspection();
    if args.json {
        return print(&out::encoded(&published)?).map(|()| 0);
    }
    let sheet = published_inspection_sheet(&published);
    let text = if args.markdown { markdown::section(&sheet) } else { terminal::sheet_text(&sheet) };
    print(&text).map(|()| 0)
}

/// Returns the claims of a finished study of clients.
pub(super) fn claims_text(result: &InspectionResult, is_markdown: bool) -> String {
    let sheet = inspection_claims_sheet(result);
    if is_markdown { markdown::section(&sheet) } else { terminal::sheet_text(&sheet) }
}
