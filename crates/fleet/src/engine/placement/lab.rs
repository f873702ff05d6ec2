//! Placement in a host of a lab: this program itself. It enters the host if the lab is one that another
//! process has built.

use std::path::Path;
use std::process::Command;

use super::last_words::last_line;
use crate::hosts::HostName;

/// Returns the command that is the agent, a program with these words. `executable` takes the place of
/// the first word.
pub(super) fn start_here(executable: &Path, words: &[String]) -> Command {
    let mut command = Command::new(executable);
    command.args(words.iter().skip(1));
    command
}

/// Returns the same command, which enters a host of a running lab first.
pub(super) fn start_in_lab(
    executable: &Path,
    words: &[String],
    lab: Option<&str>,
    host: &str,
) -> Command {
    let mut command = start_here(executable, words);
    command.args(["--in", host]);
    command.args(lab.iter().flat_map(|lab| ["--lab", lab]));
    command
}

/// Returns the line for a process that ended before it was an agent.
pub(super) fn explain_end(host: &HostName, status: Option<i32>, words: &str) -> String {
    let last = last_line(words);
    match status {
        _ if !last.is_empty() => format!("can't place an agent on {host}: {last}"),
        Some(status) => format!("can't place an agent on {host}: it ended with status {status}"),
        None => format!("can't place an agent on {host}: it was ended by a signal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_this_program_with_arguments_to_enter_the_host() {
        let words = ["sixmark", "agent", "--stdio"].map(str::to_owned);
        let shown = |lab| {
            let command = start_in_lab(Path::new("/x/sixmark"), &words, lab, "client");
            format!("{command:?}").replace('"', "")
        };
        let here = format!("{:?}", start_here(Path::new("/x/sixmark"), &words));
        assert_eq!(here.replace('"', ""), "/x/sixmark agent --stdio");
        assert_eq!(shown(None), "/x/sixmark agent --stdio --in client");
        assert_eq!(shown(Some("l")), "/x/sixmark agent --stdio --in client --lab l");
    }

    #[test]
    fn reports_the_error_line_of_the_agent_as_the_reason() {
        let host: HostName = "lab:x".parse().unwrap();
        let line = explain_end(&host, Some(2), "sixmark: no lab is running\n");
        assert_eq!(line, "can't place an agent on lab:x: no lab is running");
        let line = explain_end(&host, Some(2), "");
        assert_eq!(line, "can't place an agent on lab:x: it ended with status 2");
    }
}
