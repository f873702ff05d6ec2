//! The command that ssh(1) runs on a host.
//!
//! It is passed to the login shell there, which may not be a POSIX shell: hence it is `sh -c` with
//! one word in single quotes that contains nothing which csh or fish would change there: no single
//! quote, backslash, exclamation mark or line break.

use std::env::consts::ARCH;

/// What a line on standard error begins with that is for the controller alone.
pub(super) const MARK: &str = "sixmark-placement: ";

/// The exit status where there is no such program, also that of a shell.
pub(super) const ABSENT: i32 = 127;
/// The exit status where another version is installed.
pub(super) const OTHER_VERSION: i32 = 76;
/// The exit status where the copy could not be stored.
pub(super) const NOT_STORED: i32 = 77;
/// The exit status where the copy does not run.
pub(super) const UNUSABLE: i32 = 78;

/// What `sixmark --version` prints.
pub(super) const VERSION: &str = concat!("sixmark ", env!("CARGO_PKG_VERSION"));

/// Returns the command that starts an installed program of this version. A shell that ssh starts
/// has no folder of the user's own in its PATH on many hosts.
pub(super) fn start_installed(words: &[String]) -> Result<String, String> {
    let (program, _) = split(words)?;
    let all = quote(words)?;
    wrap(&format!(
        "PATH=\"$PATH:$HOME/.local/bin:$HOME/.cargo/bin\"; export PATH; \
         command -v {program} >/dev/null 2>&1 || exit {ABSENT}; \
         v=$({program} --version 2>&1 </dev/null); \
         [ \"$v\" = \"{VERSION}\" ] || {{ echo \"{MARK}$v\" >&2; exit {OTHER_VERSION}; }}; \
         exec {all}"
    ))
}

/// Returns the command that reads a program of `size` bytes from its input and starts it.
///
/// The program is executed through an open descriptor after its folder was removed. So nothing can
/// be left behind, however the process and its connection end later.
pub(super) fn start_copied(words: &[String], size: u64) -> Result<String, String> {
    let (_, arguments) = split(words)?;
    let arguments = quote(arguments)?;
    wrap(&format!(
        "umask 077; m=$(uname -sm); {} \
         d=$(mktemp -d \"${{TMPDIR:-/tmp}}/sixmark.XXXXXXXXXX\") || exit {NOT_STORED}; \
         r() {{ rm -rf \"$d\"; }}; trap r EXIT; trap \"exit 1\" HUP INT TERM PIPE; f=\"$d/sixmark\"; \
         head -c {size} >\"$f\" || exit {NOT_STORED}; \
         [ \"$(wc -c <\"$f\")\" -eq {size} ] || exit {NOT_STORED}; \
         chmod 700 \"$f\" || exit {NOT_STORED}; \
         v=$(\"$f\" --version 2>&1 </dev/null); \
         [ \"$v\" = \"{VERSION}\" ] || {{ echo \"{MARK}$v\" >&2; exit {UNUSABLE}; }}; \
         exec 9<\"$f\" && r && trap - EXIT && exec /proc/self/fd/9 {arguments}",
        check_machine()
    ))
}

/// Some shells take a program for another processor for a script.
fn check_machine() -> String {
    match ARCH {
        // Those that the kernel calls as Rust does.
        "x86_64" | "aarch64" | "riscv64" | "s390x" => format!(
            "[ \"$m\" = \"Linux {ARCH}\" ] || \
             {{ echo \"{MARK}it is for Linux {ARCH}, the host is $m\" >&2; exit {UNUSABLE}; }};"
        ),
        _ => String::new(),
    }
}

/// Returns what the host reported for the controller, its last line.
pub(super) fn marked(text: &str) -> Option<&str> {
    text.lines().filter_map(|line| line.strip_prefix(MARK)).map(str::trim).next_back()
}

fn split(words: &[String]) -> Result<(String, &[String]), String> {
    let (program, arguments) = words.split_first().ok_or("no program to start")?;
    Ok((quote(std::slice::from_ref(program))?, arguments))
}

fn quote(words: &[String]) -> Result<String, String> {
    shlex::try_join(words.iter().map(String::as_str)).map_err(|error| error.to_string())
}

fn wrap(script: &str) -> Result<String, String> {
    let quoted = shlex::try_quote(script).map_err(|error| error.to_string())?;
    Ok(format!("sh -c {quoted}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Output, Stdio};

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn any_login_shell_passes_the_command_on_unchanged() {
        let agent = words("sixmark agent --stdio");
        for command in [start_installed(&agent), start_copied(&agent, 1 << 40)] {
            let command = command.unwrap();
            let script = command.strip_prefix("sh -c '").unwrap().strip_suffix('\'').unwrap();
            assert!(!script.contains(['\'', '\\', '!', '\n']), "{script}");
            assert_eq!(shlex::split(&command).unwrap(), ["sh", "-c", script]);
        }
    }

    /// Runs a command as a login shell does, with this input, where `sixmark` is such a script.
    fn run(command: &str, sixmark: Option<&str>, input: &[u8]) -> Output {
        let folder = std::env::temp_dir().join(format!(
            "sixmark-remote-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::create_dir_all(folder.join("tmp")).unwrap();
        if let Some(text) = sixmark {
            let path = folder.join("sixmark");
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&path, mode).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", path).env("HOME", &folder);
        shell.env("TMPDIR", folder.join("tmp")).stdin(Stdio::piped());
        let mut child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        assert_eq!(std::fs::read_dir(folder.join("tmp")).unwrap().count(), 0, "left behind");
        std::fs::remove_dir_all(folder).unwrap();
        output
    }

    fn said(output: &Output) -> (Option<i32>, String, String) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// A program that shows its version, its arguments and its input.
    fn program(version: &str) -> String {
        format!("[ \"$1\" = --version ] && {{ echo {version}; exit; }}\necho \"$@\"; cat")
    }

    #[test]
    fn an_installed_program_of_this_version_gets_arguments_and_input() {
        let command = start_installed(&words("sixmark agent --stdio a$b")).unwrap();
        let output = run(&command, Some(&program(VERSION)), b"input");
        assert_eq!(said(&output), (Some(0), "agent --stdio a$b\ninput".into(), String::new()));
    }

    #[test]
    fn an_absent_program_and_another_version_are_reported() {
        let command = start_installed(&words("sixmark agent")).unwrap();
        assert_eq!(said(&run(&command, None, b"")).0, Some(ABSENT));
        let output = said(&run(&command, Some(&program("sixmark 9.9.9")), b"input"));
        assert_eq!((output.0, output.1), (Some(OTHER_VERSION), String::new()));
        assert_eq!(marked(&output.2), Some("sixmark 9.9.9"));
    }

    #[test]
    fn starts_a_program_copied_from_the_input_and_leaves_no_file() {
        let file = format!("#!/bin/sh\n{}; exit\n# {}", program(VERSION), "x".repeat(1 << 20));
        let size = file.len() as u64;
        let command = start_copied(&words("sixmark agent --stdio"), size).unwrap();
        let output = run(&command, None, &[file.as_bytes(), b"input"].concat());
        assert_eq!(said(&output), (Some(0), "agent --stdio\ninput".into(), String::new()));
        let cut = run(&command, None, &file.as_bytes()[..1000]);
        assert_eq!(said(&cut), (Some(NOT_STORED), String::new(), String::new()));
    }

    #[test]
    fn a_copy_that_does_not_run_is_reported() {
        let file = b"#!/no/such/interpreter\n";
        let command = start_copied(&words("sixmark agent"), file.len() as u64).unwrap();
        let output = said(&run(&command, None, file));
        assert_eq!((output.0, output.1), (Some(UNUSABLE), String::new()));
        assert!(marked(&output.2).is_some(), "{}", output.2);
    }
}
