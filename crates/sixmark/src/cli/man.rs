//! `sixmark man`: manual pages, made from the help of each command.

use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::help::{self, HelpLength};
use super::out::print;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::{self, Readers};

/// Write manual pages, one for each command: sixmark.1, sixmark-run.1 …
///
/// Read one with `man -l FOLDER/sixmark-run.1`.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The folder, which is made if it is missing
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Writes the pages, and prints how many.
pub(super) fn main(args: &ManArgs) -> Result<u8, CommandError> {
    let cannot = |path: &Path, error: &dyn std::fmt::Display| {
        CommandError::Measure(format!("can't write '{}': {error}", path.display()))
    };
    std::fs::create_dir_all(&args.folder).map_err(|error| cannot(&args.folder, &error))?;
    let pages = manual_pages()
        .map_err(|error| CommandError::Measure(format!("can't make manual pages: {error}")))?;
    for (name, text) in &pages {
        let path = args.folder.join(name);
        output::replace(&path, text, Readers::Umask).map_err(|error| cannot(&path, &error))?;
    }
    print(&format!("{} manual pages in {}\n", pages.len(), args.folder.display()))?;
    Ok(0)
}

/// Returns the pages of all commands that are not hidden: names of files and contents.
fn manual_pages() -> std::io::Result<Vec<(String, String)>> {
    let mut whole = super::whole_command(HelpLength::Whole).disable_help_subcommand(true);
    // Names of subcommands and their usage are known once it is built.
    whole.build();
    let mut pages = Vec::new();
    add_pages(&whole, &[], &mut pages)?;
    Ok(pages)
}

fn add_pages(
    command: &Command,
    path: &[&str],
    pages: &mut Vec<(String, String)>,
) -> std::io::Result<()> {
    let name = [&["sixmark"], path].concat().join("-");
    pages.push((format!("{name}.1"), page_of(command, &name, path)?));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        add_pages(inner, &[path, &[inner.get_name()]].concat(), pages)?;
    }
    Ok(())
}

/// Returns the page of a command with its examples, which are where the help has them first.
fn page_of(command: &Command, name: &str, path: &[&str]) -> std::io::Result<String> {
    let page = Man::new(command.clone().disable_help_flag(true)).title(name);
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    synopsis_of(command).to_writer(&mut text)?;
    page.render_description_section(&mut text)?;
    let examples = help::examples_of(path);
    if !examples.is_empty() {
        let mut section = Roff::new();
        section.control("SH", ["EXAMPLES"]).control("nf", []);
        examples.iter().for_each(|line| {
            section.text([roman(*line)]);
        });
        section.control("fi", []);
        section.to_writer(&mut text)?;
    }
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        page.render_options_section(&mut text)?;
    }
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    if command.get_after_help().is_some() {
        page.render_extra_section(&mut text)?;
    }
    String::from_utf8(text).map_err(std::io::Error::other)
}

/// Returns the usage as the help has it. That of the crate names each option, of which some commands have a hundred.
fn synopsis_of(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut section = Roff::new();
    section.control("SH", ["SYNOPSIS"]);
    for (at, line) in usage.trim_start_matches("Usage:").lines().map(str::trim).enumerate() {
        if at > 0 {
            section.control("br", []);
        }
        match line.strip_prefix(name) {
            Some(rest) => section.text([bold(name), roman(rest)]),
            None => section.text([roman(line)]),
        };
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_examples() {
        let pages = manual_pages().unwrap();
        let of = |name: &str| &pages.iter().find(|(file, _)| file == name).unwrap().1;
        assert!(of("sixmark.1").contains("Exit status"), "{}", of("sixmark.1"));
        let run = of("sixmark-run.1");
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH EXAMPLES", ".SH OPTIONS"] {
            assert!(run.contains(section), "{section}: {run}");
        }
        assert!(run.contains("sixmark run"), "{run}");
        // Each section begins, for roff, with what an apostrophe is.
        let between = |text: &str| {
            let section = text.split(".SH SYNOPSIS\n").nth(1)?.split("\n.SH").next()?;
            section.split("\n.ie ").next().map(str::to_owned)
        };
        let synopsis = |name: &str| between(of(name)).unwrap();
        assert_eq!(synopsis("sixmark-run.1"), "\\fBsixmark run\\fR [OPTIONS] [URL]...");
        for (name, _) in &pages {
            let length = synopsis(name).len();
            assert!(length < 200, "{name}: {}", synopsis(name));
        }
        assert!(of("sixmark-study-import.1").contains(".SH EXAMPLES"));
        assert!(pages.iter().all(|(name, text)| name.ends_with(".1") && text.contains(".TH")));
    }
}
