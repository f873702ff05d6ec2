//! `sixmark completions`.

use clap_complete::{Shell, generate};

use super::help::HelpLength;
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

/// Prints the completions.
pub(super) fn main(args: &CompletionsArgs) -> Result<u8, CommandError> {
    let mut text = Vec::new();
    generate(args.shell, &mut super::whole_command(HelpLength::Whole), "sixmark", &mut text);
    let text = String::from_utf8(text)
        .map_err(|error| CommandError::Measure(format!("the completions are no text: {error}")))?;
    print_document(&text)?;
    Ok(0)
}

fn shell(text: &str) -> Result<Shell, String> {
    match text {
        "bash" => Ok(Shell::Bash),
        "zsh" => Ok(Shell::Zsh),
        "fish" => Ok(Shell::Fish),
        _ => Err("expected bash, zsh or fish".to_owned()),
    }
}
