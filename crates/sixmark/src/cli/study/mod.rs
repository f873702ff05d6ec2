//! `sixmark study`.

mod import;
mod inspection;
mod placed_fleet;
mod show;
mod study_progress;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::report::documents::Document;
use crate::report::headline::ListHeadline;
use crate::report::html_page;
use crate::report::sheet::Named;
use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use sixmark_analysis::analyse::published;
use sixmark_analysis::outputs::published_claims;
use sixmark_design::form::Form;
use sixmark_design::spec::Study;
use sixmark_design::study_result::{ReanalysedStudy, StudyResult};
use sixmark_document::fields::FileMistake;
use sixmark_document::provenance::Ended;
use sixmark_study::inspection::NAME;
use sixmark_study::inspection::clients::CLIENTS;
use sixmark_study::inspection::document::InspectionResult;
use sixmark_study::inspection::sheet::{inspection_markdown, inspection_text};
use sixmark_study::sheet::{
    describe_omitted, papers_markdown, papers_text, published_markdown, published_text,
    study_markdown, study_text,
};

use super::files::CommandFiles;
use super::fleet::args::FleetArgs;
use super::keep::{self, Keeper};
use super::out::{self, OutputPlace, complain, print};
use super::progress::ProgressArgs;
use super::stop_flag;
use sixmark_lab as lab;
use sixmark_options::times::positive_time;
use sixmark_study::engine as study;
use sixmark_study::engine::{
    ElsewhereOptions, Finished, ForService, GivenProgram, Options, OptionsOfCells, SetUpLevel,
    Source, WrongOption,
};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::enclosure::Rights;
use sixmark_sys::text_file;
use study_progress::LiveStudy;

/// Run an experiment from a file, or a built-in one.
///
/// A study varies factors (family, ratio, server, size, concurrency, protocol, rate, client, any
/// option of `sixmark run`), measures every combination several times, and compares the results
/// with published figures. docs/study.md describes the file.
#[derive(Debug, clap::Args)]
pub(super) struct StudyArgs {
    #[command(subcommand)]
    command: StudyCommand,
}

#[derive(Debug, Subcommand)]
enum StudyCommand {
    /// Run or resume a study
    Run(Box<StudyRunArgs>),
    /// List the built-in studies
    List,
    /// Show a study's factors, number of cells, duration and requirements; given a result's folder
    /// or document, its results
    #[command(alias = "report")]
    Show(ShowArgs),
    /// Add what other tools wrote on other systems to a study that was run
    Import(import::ImportArgs),
    /// Check a study's file: report each mistake with line, key and allowed values
    Check(CheckArgs),
    /// Recompute the published figures of a study, and test the paper's claims on them
    Reanalyse(ReanalyseArgs),
    /// Show the claims of finished studies with their answers
    Claims(ClaimsArgs),
}

#[derive(Debug, clap::Args)]
struct StudyRunArgs {
    /// A study's file, or the name of a built-in one
    #[arg(value_name = "FILE|NAME", required_unless_present = "resume")]
    study: Option<String>,

    /// Short form, about a minute
    #[arg(long, conflicts_with = "resume")]
    quick: bool,

    /// Long form, as the paper's authors did it, if the study has such a form; it may take hours
    #[arg(long, conflicts_with_all = ["resume", "quick"])]
    full: bool,

    /// Run in a lab, with delay or a narrow link, if the study has such a form
    #[arg(long, conflicts_with = "resume")]
    in_lab: bool,

    /// New folder for the results [default: NAME-TIME here]
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    out: Option<PathBuf>,

    /// Resume the study in this folder; completed cells are kept
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,

    /// Resume even if the study's file, the machine or a program has changed
    #[arg(long, requires = "resume")]
    force: bool,

    /// After the repetitions, measure the cells that undecided claims need again, until every claim
    /// that can be tested here has an answer
    #[arg(long, value_name = "decided", value_parser = ["decided"])]
    until: Option<String>,

    /// With --until: begin no repetition that would end after this time
    #[arg(long, value_name = "TIME", value_parser = positive_time, requires = "until",
          default_value = "2h")]
    at_most: Duration,

    /// Seed of the order of cells [default: random]
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    seed: Option<u64>,

    /// Also write the report as Markdown
    #[arg(long, value_name = "FILE|-")]
    markdown: Option<OutputPlace>,

    /// Also write the report as an HTML page to this file; the study's folder always contains it as
    /// report.html
    #[arg(long, value_name = "FILE|-")]
    html: Option<OutputPlace>,

    /// Only these clients of the study lazy-eye [default: all that are here]
    #[arg(
        long,
        value_name = "CLIENT,...",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name))
    )]
    only: Vec<String>,

    /// Run this program for a service of the study (repeatable)
    #[arg(long, value_name = "NAME=PATH")]
    server: Vec<GivenProgram>,

    /// Load this server on another machine instead of starting the service (repeatable)
    #[arg(long, value_name = "[SERVICE=]URL")]
    target: Vec<ForService>,

    /// With --target, a level that a lab would set up and that is set up on the machines (repeatable)
    #[arg(long, value_name = "FACTOR=LEVEL")]
    level: Vec<SetUpLevel>,

    /// Read the CPU time of the server's machine there, as `sixmark run --vitals-from` does
    /// (repeatable)
    #[arg(long, value_name = "[SERVICE=]URL")]
    vitals_from: Vec<ForService>,

    #[command(flatten)]
    fleet: FleetArgs,

    #[command(flatten)]
    keep: keep::KeepArgs,

    /// Print only warnings and errors
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    progress: ProgressArgs,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// A study's file, the name of a built-in one, or the folder or document of a finished one
    #[arg(value_name = "FILE|NAME|FOLDER")]
    study: String,

    /// Show the short form
    #[arg(long)]
    quick: bool,

    /// Show the long form
    #[arg(long, conflicts_with = "quick")]
    full: bool,

    /// Show the form for a lab
    #[arg(long)]
    in_lab: bool,

    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// A study's file, or the name of a built-in one
    #[arg(value_name = "FILE|NAME")]
    study: String,
}

#[derive(Debug, clap::Args)]
struct ReanalyseArgs {
    /// A study's file, or the name of a built-in one
    #[arg(value_name = "FILE|NAME")]
    study: String,

    /// Print JSON: the document's `published`
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

#[derive(Debug, clap::Args)]
struct ClaimsArgs {
    /// The folder or document of a finished study
    #[arg(value_name = "FOLDER|FILE", required = true)]
    studies: Vec<PathBuf>,

    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

/// Runs the given subcommand.
pub(super) fn main(args: StudyArgs) -> Result<u8, CommandError> {
    match args.command {
        StudyCommand::Run(args) => run_study(&args),
        StudyCommand::List => show::list(),
        StudyCommand::Show(args) => show(&args),
        StudyCommand::Import(args) => import::import(&args),
        StudyCommand::Check(args) => check_study(&args),
        StudyCommand::Reanalyse(args) => reanalyse(&args),
        StudyCommand::Claims(args) => show_claims(&args),
    }
}

fn run_study(args: &StudyRunArgs) -> Result<u8, CommandError> {
    if args.study.as_deref() == Some(NAME) {
        return inspection::run(args);
    }
    if !args.only.is_empty() {
        let line = format!("--only names clients of {NAME}; other studies have none");
        return Err(CommandError::Usage(line));
    }
    let (source, form) = wanted(args)?;
    check_files(args, &source)?;
    let progress = args.progress.form(args.quiet)?;
    let (mut study, mut of_cells) = checked_study(&source, form)?;
    study::give_programs(&mut study, &args.server)?;
    let without_target = aim_study(args, &mut study)?;
    let fleet = placed_fleet::fleet_for(&args.fleet, &study)?;
    // This comes first: open files and running threads would otherwise be both inside and outside
    // of the lab.
    let rights = match study.lab.as_ref().map(|_| lab::enclose()).transpose()? {
        Some(Err(status)) => return Ok(status),
        Some(Ok(rights)) => Some(rights),
        None => None,
    };
    if omit_services(args, &mut study, rights, &without_target)? {
        of_cells = read_options_again(&source, &study)?;
    }
    let mut keeper = Keeper::open(&args.keep)?;
    let options = Options {
        rights,
        seed: args.seed,
        out: args.out.clone(),
        resume: args.resume.clone(),
        force: args.force,
        until_decided: args.until.is_some().then_some(args.at_most),
        fleet,
    };
    let stop = stop_flag()?;
    let mut live = LiveStudy::new(progress, &study.name, &stop);
    let done =
        study::run_cells(&source, &study, &options, &of_cells, &stop, &mut |event| live.see(event));
    live.clear();
    let finished = done?;
    keep(args, &finished, &mut keeper)?;
    show_outcome(args, &finished)
}

/// Omits the optional services that can't run here; in a study that is resumed, those that it omitted
/// when it began. Returns true if there are any.
fn omit_services(
    args: &StudyRunArgs,
    study: &mut Study,
    rights: Option<Rights>,
    without_target: &[(String, String)],
) -> Result<bool, CommandError> {
    let omitted: Vec<(String, String)> = match &args.resume {
        Some(folder) => {
            let before = document_in_folder(folder)?.omitted.into_iter();
            before.map(|omitted| (omitted.service, omitted.reason)).collect()
        }
        None if study.is_elsewhere() => without_target.to_vec(),
        None => study::omissions(study, rights, true)?,
    };
    study.omit(&omitted).map_err(CommandError::Measure)?;
    study::check_given(study)?;
    if !args.quiet {
        let omitted = study.omitted.iter();
        omitted.for_each(|one| complain(&describe_omitted(one, &study.labels)));
    }
    // Its cells are others than those of the file.
    let is_aimed = study.is_elsewhere();
    if is_aimed {
        study.check_aim().map_err(CommandError::Usage)?;
    }
    Ok(is_aimed || !omitted.is_empty())
}

/// Has the study load servers on other machines, if any are named. Returns the services that have no
/// URL, with the reason.
fn aim_study(
    args: &StudyRunArgs,
    study: &mut Study,
) -> Result<Vec<(String, String)>, CommandError> {
    let before = args.resume.as_deref().map(document_in_folder).transpose()?;
    let (targets, vitals_from, levels) = (&args.target, &args.vitals_from, &args.level);
    let options = ElsewhereOptions { targets, vitals_from, levels, before: before.as_ref() };
    study::aim_study(study, &options)
}

/// Reads the options of the cells that remain.
fn read_options_again(source: &Source, study: &Study) -> Result<OptionsOfCells, CommandError> {
    study::read_options(study).map_err(|wrongs| {
        let first = wrongs.into_iter().next();
        CommandError::Usage(first.map_or(String::new(), |one| describe_wrong_option(source, one)))
    })
}

/// Checks that no file to be written is the study's file or a file of its folder.
fn check_files(args: &StudyRunArgs, source: &Source) -> Result<(), CommandError> {
    let files = CommandFiles::default()
        .document("--markdown", args.markdown.as_ref())
        .document("--html", args.html.as_ref())
        .store(args.keep.store());
    let own = source.files().into_iter().map(|path| (path, "it is a file of the study"));
    let folder = args.resume.as_deref().or(args.out.as_deref());
    let kept = folder.into_iter().flat_map(study::files_of_folder);
    let all = own.chain(kept.map(|path| (path, "it is a file of the study's folder")));
    all.fold(files, |files, (path, why)| files.needed(Some(&path), why)).check()
}

/// Stores the result, and writes the page to the study's folder and to the place of `--html`.
fn keep(args: &StudyRunArgs, finished: &Finished, keeper: &mut Keeper) -> Result<(), CommandError> {
    let Finished { document, folder, is_new } = finished;
    let text = out::encoded(document)?;
    // The study's folder contains the document in any case.
    let elsewhere = OutputPlace::File(folder.join("study.json"));
    let headline = ListHeadline::of_study(document);
    let kept = if *is_new {
        keeper.finish(&headline, &text, Some(&elsewhere), args.quiet)
    } else {
        Ok(())
    };
    let page = page_of(document, folder);
    let written = OutputPlace::File(folder.join("report.html")).write(&page);
    let also = args.html.as_ref().map_or(Ok(()), |place| place.write(&page));
    out::do_all([kept, written, also])
}

/// Returns the page of a study in a folder.
fn page_of(document: &StudyResult, folder: &Path) -> String {
    let name = folder.display().to_string();
    let document = Document::Study(Box::new(document.clone()));
    html_page(&[Named { name: &name, document: &document }])
}

/// Returns the study to carry out and its form. For a study that is resumed, its folder determines
/// both.
fn wanted(args: &StudyRunArgs) -> Result<(Source, Form), CommandError> {
    let Some(folder) = &args.resume else {
        let name = args.study.as_deref().unwrap_or_default();
        let form = Form { quick: args.quick, full: args.full, in_lab: args.in_lab };
        return Source::find(name).map(|source| (source, form));
    };
    study::check_begun(folder)?;
    let before = document_in_folder(folder)?;
    let form = before.form();
    let name = args.study.clone().unwrap_or(before.file.name);
    // If the file is gone, its copy in the folder serves: it has the same digest.
    let copy = folder.join("study.toml");
    let source = Source::find(&name).or_else(|_| Source::file(&copy));
    source.map(|source| (source, form))
}

/// The document of a finished study.
enum ReadStudy {
    OfLoads(Box<StudyResult>),
    OfClients(Box<InspectionResult>),
}

fn written_document(study: &ReadStudy, markdown: bool) -> String {
    match (study, markdown) {
        (ReadStudy::OfLoads(study), true) => study_markdown(study),
        (ReadStudy::OfLoads(study), false) => study_text(study),
        (ReadStudy::OfClients(study), true) => inspection_markdown(study),
        (ReadStudy::OfClients(study), false) => inspection_text(study),
    }
}

/// Reads the document in the folder of a study with cells.
fn document_in_folder(folder: &Path) -> Result<StudyResult, CommandError> {
    match read_study(folder)? {
        ReadStudy::OfLoads(study) => Ok(*study),
        ReadStudy::OfClients(_) => Err(CommandError::Usage(format!(
            "'{}' is a study of clients, which has no cells to resume or to import",
            folder.display()
        ))),
    }
}

/// Reads the document in a study's folder.
fn read_study(folder: &Path) -> Result<ReadStudy, CommandError> {
    let path = if folder.is_dir() { folder.join("study.json") } else { folder.to_owned() };
    let shown = path.display();
    let text = text_file::read_file(&path)
        .map_err(|error| CommandError::Usage(format!("can't read '{shown}': {error}")))?;
    match Document::parse(&text) {
        Ok(Document::Study(study)) => Ok(ReadStudy::OfLoads(study)),
        Ok(Document::Inspection(study)) => Ok(ReadStudy::OfClients(study)),
        Ok(other) => {
            Err(CommandError::Usage(format!("'{shown}' is a {}, not a study", other.schema())))
        }
        Err(why) => Err(CommandError::Usage(format!("'{shown}' {why}"))),
    }
}

/// Returns the study and the options of its cells if they are valid. Otherwise, prints all error
/// messages but the last, and returns that.
fn checked_study(source: &Source, form: Form) -> Result<(Study, OptionsOfCells), CommandError> {
    let mut lines = Vec::new();
    match source.read(form) {
        Ok(study) => match study::read_options(&study) {
            Ok(of_cells) => return Ok((study, of_cells)),
            Err(wrongs) => {
                lines.extend(wrongs.into_iter().map(|wrong| describe_wrong_option(source, wrong)))
            }
        },
        Err(wrongs) => lines.extend(wrongs.iter().map(|wrong| wrong.of_file(&source.name))),
    }
    Err(describe_mistakes(lines.into_iter()))
}

/// Prints all lines but the last, and returns that as the error.
fn describe_mistakes(lines: impl Iterator<Item = String>) -> CommandError {
    let mut lines: Vec<String> = lines.collect();
    let last = lines.pop().unwrap_or_default();
    lines.iter().for_each(|line| complain(line));
    CommandError::Usage(last)
}

fn describe_wrong_option(source: &Source, (line, key, message): WrongOption) -> String {
    FileMistake { line, key, message, file: None }.of_file(&source.name)
}

/// Prints the report and where the results are, or how to resume a study that was interrupted.
fn show_outcome(args: &StudyRunArgs, finished: &Finished) -> Result<u8, CommandError> {
    let Finished { document, folder, .. } = finished;
    let folder = folder.display();
    let standard = [&args.markdown, &args.html].contains(&&Some(OutputPlace::Standard));
    let shown = !args.quiet && !standard;
    let printed = if shown { print(&study_text(document)) } else { Ok(()) };
    let markdown = || study_markdown(document);
    let written = args.markdown.as_ref().map_or(Ok(()), |place| place.write(&markdown()));
    out::do_all([printed, written])?;
    if document.ended == Some(Ended::Complete) {
        if !args.quiet {
            complain(&format!("kept in '{folder}'; its report is '{folder}/report.html'"));
        }
        return Ok(0);
    }
    let (done, all) = (document.measured().count(), document.cells_planned);
    let hosts = match &args.fleet.hosts {
        Some(_) => format!(" --hosts {}", document.fleet.join(",")),
        None => String::new(),
    };
    let servers: String = args.server.iter().map(|given| format!(" --server {given}")).collect();
    Err(CommandError::Interrupted(format!(
        "interrupted: {done} of {all} cells are kept in '{folder}'; continue with: sixmark study \
         run --resume {folder}{hosts}{servers}"
    )))
}

fn show(args: &ShowArgs) -> Result<u8, CommandError> {
    let path = Path::new(&args.study);
    if path.is_dir() || path.extension().is_some_and(|ending| ending == "json") {
        return print(&written_document(&read_study(path)?, args.markdown)).map(|()| 0);
    }
    if args.study == NAME {
        return inspection::show(args);
    }
    let source = Source::find(&args.study)?;
    let form = Form { quick: args.quick, full: args.full, in_lab: args.in_lab };
    let (study, _) = checked_study(&source, form)?;
    // A probe of a file that somebody wants to look at first is not run.
    let omitted = study::omissions(&study, None, source.is_builtin())?;
    print(&show::describe(&study, &omitted)).map(|()| 0)
}

fn show_claims(args: &ClaimsArgs) -> Result<u8, CommandError> {
    let (mut studies, mut inspections) = (Vec::new(), Vec::new());
    for path in &args.studies {
        match read_study(path)? {
            ReadStudy::OfLoads(study) => studies.push(*study),
            ReadStudy::OfClients(inspection) => inspections.push(inspection),
        }
    }
    let written = if args.markdown { papers_markdown } else { papers_text };
    let mut text = if studies.is_empty() { String::new() } else { written(&studies) };
    for inspection in &inspections {
        text.push_str(&inspection::claims_text(inspection, args.markdown));
    }
    print(&text).map(|()| 0)
}

/// Returns the forms of a study besides the default one.
fn other_forms(study: &Study) -> Vec<Form> {
    let labs: &[bool] = if study.has.in_lab { &[false, true] } else { &[false] };
    let lengths =
        [(true, false, false), (study.has.quick, true, false), (study.has.full, false, true)];
    let there = lengths.into_iter().filter(|(there, ..)| *there);
    let all = there
        .flat_map(|(_, quick, full)| labs.iter().map(move |&in_lab| Form { quick, full, in_lab }));
    all.filter(|form| *form != Form::default()).collect()
}

fn check_study(args: &CheckArgs) -> Result<u8, CommandError> {
    if args.study == NAME {
        return print(&format!("{NAME}: no mistakes found; {}\n", inspection::amount(false)))
            .map(|()| 0);
    }
    let source = Source::find(&args.study)?;
    let (study, _) = checked_study(&source, Form::default())?;
    // The other forms have levels of their own.
    for form in other_forms(&study) {
        checked_study(&source, form)?;
    }
    print(&format!("{}: no mistakes found; {}\n", source.name, show::amount(&study))).map(|()| 0)
}

fn reanalyse(args: &ReanalyseArgs) -> Result<u8, CommandError> {
    if args.study == NAME {
        return inspection::reanalyse(args);
    }
    let source = Source::find(&args.study)?;
    let (study, _) = checked_study(&source, Form::default())?;
    let Some(figures) = &study.published else {
        let line =
            format!("'{}' has no published figures (published = \"published.toml\")", study.name);
        return Err(CommandError::Usage(line));
    };
    let published =
        ReanalysedStudy { published: published(figures), claims: published_claims(&study) };
    if args.json {
        return print(&out::encoded(&published)?).map(|()| 0);
    }
    let written = if args.markdown { published_markdown } else { published_text };
    print(&written(&published)).map(|()| 0)
}
