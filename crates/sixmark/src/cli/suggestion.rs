//! What was probably meant by a word that is no command.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue};

/// Returns the message about the first word that is not a command, with what was probably meant: the
/// command whose name is one typing error away or two, or `sixmark run` if the word is a target.
/// `None` if there is none: clap's own suggestion, which may be farther away, remains.
pub(super) fn suggest_command(
    error: &clap::Error,
    arguments: &[OsString],
    command: &Command,
) -> Option<String> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let path = named_commands(arguments, command);
    let of = path.last().copied().unwrap_or(command);
    let words: String = path.iter().map(|of| format!("{} ", of.get_name())).collect();
    let meant = match most_similar(wrong, of.get_subcommands().map(Command::get_name)) {
        Some(name) => format!("did you mean `sixmark {words}{name}`?"),
        None if path.is_empty() && is_target(wrong) => {
            format!("to load it use `sixmark run {wrong}`")
        }
        None => return None,
    };
    Some(format!("'{wrong}' is not a command; {meant}"))
}

/// Returns the commands that the first words name, outermost first.
fn named_commands<'a>(arguments: &[OsString], command: &'a Command) -> Vec<&'a Command> {
    let (mut path, mut of) = (Vec::new(), command);
    let words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    for word in words {
        match of.find_subcommand(word) {
            Some(inner) => {
                path.push(inner);
                of = inner;
            }
            None => break,
        }
    }
    path
}

/// Returns the name with the fewest typing errors (letters inserted, omitted, replaced, or swapped
/// with their neighbours): at most one in a word of up to four letters, two in a longer one.
fn most_similar<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = if word.chars().count() <= 4 { 1 } else { 2 };
    names
        .map(|name| (strsim::osa_distance(word, name), name))
        .filter(|(errors, _)| *errors <= most)
        .min()
        .map(|(_, name)| name)
}

/// Reports whether a word may be a URL, a host or an address.
fn is_target(word: &str) -> bool {
    word.contains(['.', ':', '/']) || word == "localhost"
}

#[cfg(test)]
mod tests {
    use super::super::{HelpLength, whole_command};
    use super::*;

    #[test]
    fn suggests_a_command_for_a_mistyped_one() {
        let command = whole_command(HelpLength::Whole);
        for (line, suggestion) in [
            ("rn", Some("'rn' is not a command; did you mean `sixmark run`?")),
            ("nur", None),
            ("rnu", Some("'rnu' is not a command; did you mean `sixmark run`?")),
            ("hsitory", Some("'hsitory' is not a command; did you mean `sixmark history`?")),
            ("study rn", Some("'rn' is not a command; did you mean `sixmark study run`?")),
            (
                "example.net",
                Some("'example.net' is not a command; to load it use `sixmark run example.net`"),
            ),
            (
                "[::1]:80",
                Some("'[::1]:80' is not a command; to load it use `sixmark run [::1]:80`"),
            ),
            ("xyzzy", None),
        ] {
            let words: Vec<OsString> =
                std::iter::once("sixmark").chain(line.split(' ')).map(Into::into).collect();
            let error = command.clone().try_get_matches_from(&words).unwrap_err();
            let own = suggest_command(&error, &words, &command);
            assert_eq!(own.as_deref(), suggestion, "{line}");
        }
    }
}
