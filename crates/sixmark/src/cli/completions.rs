//! `sixmark completions`.

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::{Shell, generate};
use sixmark_study::engine::builtin_names;
use sixmark_study::inspection::NAME;
use sixmark_tally::metric::compared::compared_metrics;

use super::help::HelpLength;
use super::lab;
use super::out::print_document;
use sixmark_sys::command_error::CommandError;

/// Print the completions of commands and options for a shell
///
/// bash: `sixmark completions bash > ~/.local/share/bash-completion/completions/sixmark`. zsh: a file
/// `_sixmark` in a folder of `$fpath`. fish: `~/.config/fish/completions/sixmark.fish`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell: bash, zsh or fish
    #[arg(value_name = "SHELL", value_parser = shell)]
    shell: Shell,
}

/// Names that an argument accepts beside files, so that no parser of clap lists them.
struct OfferedNames {
    /// What they name, in the plural.
    what: &'static str,
    /// The commands whose argument it is, below `command`.
    commands: &'static [&'static str],
    command: &'static str,
    argument: &'static str,
    /// What stands for the names until they are written.
    mark: &'static str,
    names: Vec<&'static str>,
}

/// Prints the completions.
pub(super) fn main(args: &CompletionsArgs) -> Result<u8, CommandError> {
    print_document(&completions_for(args.shell)?)?;
    Ok(0)
}

fn completions_for(shell: Shell) -> Result<String, CommandError> {
    let all = offered_names();
    let whole = super::whole_command(HelpLength::Whole);
    let mut command = all.iter().fold(whole, |command, of| offer_names(command, of, shell));
    // It accepts nothing else, but its parser lists the names only in an error.
    // clap keeps names that live as long as the program, which ends after this.
    let metrics = compared_metrics().map(|metric| &*metric.to_string().leak());
    let metrics = PossibleValuesParser::new(metrics.collect::<Vec<&'static str>>());
    command = command
        .mut_subcommand("compare", |of| of.mut_arg("metric", |arg| arg.value_parser(metrics)));
    let mut text = Vec::new();
    generate(shell, &mut command, "sixmark", &mut text);
    let text = String::from_utf8(text)
        .map_err(|error| CommandError::Measure(format!("the completions are no text: {error}")))?;
    Ok(match shell {
        Shell::Zsh => all.iter().fold(text, offer_files_in_zsh),
        Shell::Fish => all.iter().fold(text, offer_names_in_fish),
        _ => text,
    })
}

fn offered_names() -> [OfferedNames; 2] {
    [
        OfferedNames {
            what: "studies",
            commands: &["run", "show", "check", "reanalyse"],
            command: "study",
            argument: "study",
            mark: "@studies@",
            names: builtin_names().into_iter().chain([NAME]).collect(),
        },
        OfferedNames {
            what: "labs",
            commands: &["up", "check", "diagram"],
            command: "lab",
            argument: "file",
            mark: "@labs@",
            names: builtin_names()
                .into_iter()
                .filter(|name| lab::built_in(name).is_some())
                .collect(),
        },
    ]
}

/// Has bash offer the names. Where none fits, it offers files.
fn offer_names(command: Command, of: &OfferedNames, shell: Shell) -> Command {
    let names = match shell {
        Shell::Zsh => vec![of.mark],
        _ => of.names.clone(),
    };
    command.mut_subcommand(of.command, |command| {
        of.commands.iter().fold(command, |command, inner| {
            let names = PossibleValuesParser::new(names.clone());
            command.mut_subcommand(inner, |inner| {
                inner.mut_arg(of.argument, |arg| arg.value_parser(names))
            })
        })
    })
}

/// zsh offers a list of values and nothing else: puts a function that offers files too in place of the marks.
fn offer_files_in_zsh(text: String, of: &OfferedNames) -> String {
    let (what, names) = (of.what, of.names.join(" "));
    let text = text.replace(&format!(":({})' ", of.mark), &format!(":_sixmark_{what}' "));
    let function = format!(
        "(( $+functions[_sixmark_{what}] )) ||\n_sixmark_{what}() {{\n    _alternative 'names:built-in {what}:({names})' \
         'files:file:_files'\n}}\n\n"
    );
    match text.rfind("if [ \"$funcstack[1]\"") {
        Some(end) => format!("{}{function}{}", &text[..end], &text[end..]),
        None => text,
    }
}

/// clap's completions of fish have options only. fish offers files beside what it is given.
fn offer_names_in_fish(text: String, of: &OfferedNames) -> String {
    let OfferedNames { what, command, .. } = of;
    let (commands, names) = (of.commands.join(" "), of.names.join(" "));
    let when = format!(
        "__fish_sixmark_using_subcommand {command}; and __fish_seen_subcommand_from {commands}"
    );
    format!("{text}complete -c sixmark -n \"{when}\" -a \"{names}\" -d 'built-in {what}'\n")
}

fn shell(text: &str) -> Result<Shell, String> {
    match text {
        "bash" => Ok(Shell::Bash),
        "zsh" => Ok(Shell::Zsh),
        "fish" => Ok(Shell::Fish),
        _ => Err("expected bash, zsh or fish".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zsh_and_fish_offer_built_in_names_beside_files() {
        let zsh = completions_for(Shell::Zsh).unwrap();
        for what in ["studies", "labs"] {
            assert!(zsh.contains(&format!(":_sixmark_{what}' ")), "{what}: {zsh}");
            let function =
                format!("\n_sixmark_{what}() {{\n    _alternative 'names:built-in {what}:(anma ");
            assert!(zsh.contains(&function), "{what}: {zsh}");
        }
        let fish = completions_for(Shell::Fish).unwrap();
        let all = [("studies", "towson"), ("labs", "nat64")];
        for (what, name) in all {
            let mut lines =
                fish.lines().filter(|line| line.ends_with(&format!("built-in {what}'")));
            assert!(lines.any(|line| line.contains(name)), "{what}");
        }
        assert!(!zsh.contains("(@"), "a mark is left");
        assert!(zsh.contains("response.p99") && fish.contains("response.p99"));
    }
}
