//! Where the program nats-server is.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::greeting::{OLDEST, is_new_enough};

/// The name of the program.
pub(super) const PROGRAM: &str = "nats-server";
/// The command that builds a version that is new enough.
pub(super) const INSTALL: &str = "go install github.com/nats-io/nats-server/v2@v2.15.2";

/// Where packages put it, from the folder above that of sixmark: Debian's own, which is too old, has a place in PATH.
const PACKAGED: [&str; 2] = ["lib/sixmark", "libexec/sixmark"];

/// Returns the first nats-server that is new enough, from `folder`, where packages put it beside that, or the folders
/// of `path`.
pub(super) fn find_program(folder: Option<&Path>, path: Option<&str>) -> Result<PathBuf, String> {
    find_by(folder, path, run_for_version)
}

/// The same, with what a program says of its version.
fn find_by(
    folder: Option<&Path>,
    path: Option<&str>,
    ask: impl Fn(&Path) -> Result<String, String>,
) -> Result<PathBuf, String> {
    let [major, minor] = OLDEST;
    let all = folder.map(near).into_iter().flatten();
    let all = all.chain(path.into_iter().flat_map(env::split_paths));
    let mut old = None;
    for candidate in all.map(|folder| folder.join(PROGRAM)).filter(|file| file.is_file()) {
        match ask(&candidate).and_then(|text| read_version(&text)) {
            Ok(version) if is_new_enough(&version) => return Ok(candidate),
            Ok(version) => old = old.or(Some((candidate, format!("is version {version}")))),
            Err(why) => old = old.or(Some((candidate, format!("can't be used ({why})")))),
        }
    }
    let what = match old {
        Some((candidate, what)) => format!("{} {what}", candidate.display()),
        None => "there is no nats-server in PATH".to_owned(),
    };
    Err(format!("{what}; sixmark needs {major}.{minor} or later: {INSTALL}"))
}

/// Returns the folder of sixmark and those in which a package puts what belongs to it.
fn near(folder: &Path) -> Vec<PathBuf> {
    let above = folder.parent().into_iter();
    let packaged = above.flat_map(|above| PACKAGED.map(|name| above.join(name)));
    [folder.to_owned()].into_iter().chain(packaged).collect()
}

fn run_for_version(program: &Path) -> Result<String, String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The version in a text such as `nats-server: v2.15.2`.
fn read_version(text: &str) -> Result<String, String> {
    let version = text.trim().rsplit(['v', ' ']).next().unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    if !version.starts_with(|c: char| c.is_ascii_digit()) || !version.chars().all(fits) {
        return Err("it does not say its version".to_owned());
    }
    Ok(version.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder with a program that says this when [`ask`] asks it.
    fn folder(says: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(PROGRAM), says).unwrap();
        folder
    }

    fn ask(program: &Path) -> Result<String, String> {
        fs::read_to_string(program).map_err(|error| error.to_string())
    }

    #[test]
    fn rejects_an_old_or_absent_server_with_install_advice() {
        let (old, strange) = (folder("nats-server: v2.9.10\n"), folder("hello, world\n"));
        for (folder, said) in [
            (Some(old.path()), "nats-server is version 2.9.10; sixmark needs 2.14 or later"),
            (Some(strange.path()), "can't be used (it does not say its version)"),
            (None, "there is no nats-server in PATH; sixmark"),
        ] {
            let line = find_by(folder, None, ask).unwrap_err();
            assert!(
                line.contains(said) && line.ends_with(INSTALL) && !line.contains('\n'),
                "{line}"
            );
        }
        // A file that can't be executed.
        assert!(find_program(Some(old.path()), None).unwrap_err().contains("can't be used"));
    }

    #[test]
    fn prefers_a_server_packaged_with_sixmark_over_those_in_path() {
        for name in PACKAGED {
            let (prefix, other) = (tempfile::tempdir().unwrap(), folder("nats-server: v2.15.0"));
            let packaged = prefix.path().join(name);
            fs::create_dir_all(&packaged).unwrap();
            fs::write(packaged.join(PROGRAM), "nats-server: v2.15.2").unwrap();
            let found = find_by(Some(&prefix.path().join("bin")), other.path().to_str(), ask);
            assert_eq!(found.unwrap(), packaged.join(PROGRAM));
        }
    }

    #[test]
    fn picks_the_first_server_that_is_new_enough() {
        let (old, new) = (folder("nats-server: v2.9.10"), folder("nats-server: v2.14.0"));
        let path = env::join_paths([old.path(), new.path()]).unwrap();
        let found = find_by(Some(old.path()), path.to_str(), ask).unwrap();
        assert_eq!(found, new.path().join(PROGRAM));
    }
}
