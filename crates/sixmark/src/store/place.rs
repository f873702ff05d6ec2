//! The location of the store's file.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sixmark_sys::command_error::CommandError;

/// The environment variable that is equivalent to `--store`.
pub const VARIABLE: &str = "SIXMARK_STORE";
/// The environment variable with the folder for the user's data.
const DATA_HOME: &str = "XDG_DATA_HOME";
/// The value that means no store.
const NONE: &str = "none";
/// The default file, relative to the folder for the user's data.
const USUAL: &str = "sixmark/results.sqlite";
/// The default folder of what agents keep, relative to the folder for the user's data.
const AGENT: &str = "sixmark/agent";

/// The place where results are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePlace {
    /// No results are kept.
    Nowhere,
    /// The default place; none if there is no folder for the user's data.
    Usual(Option<PathBuf>),
    /// A place that the user named, and what named it: `--store` or `SIXMARK_STORE`.
    Named(PathBuf, &'static str),
}

impl StorePlace {
    /// Returns the place that `--store` names, else that of the environment, else the default.
    /// `var` looks up an environment variable.
    ///
    /// # Errors
    /// Returns an error if the option is empty.
    pub fn choose(
        option: Option<&OsStr>,
        var: impl Fn(&str) -> Option<OsString>,
    ) -> Result<StorePlace, CommandError> {
        if option.is_some_and(OsStr::is_empty) {
            return Err(CommandError::Usage("--store is empty; name a file, or none".to_owned()));
        }
        let said = option.map(|of| (of.to_owned(), "--store"));
        // An empty variable counts as unset, as in shells.
        let set = || Some((var(VARIABLE).filter(|of| !of.is_empty())?, VARIABLE));
        Ok(match said.or_else(set) {
            None => StorePlace::Usual(usual(var)),
            Some((word, _)) if word == NONE => StorePlace::Nowhere,
            Some((path, by)) => StorePlace::Named(path.into(), by),
        })
    }

    /// Returns the store's file, or none if nothing is kept.
    ///
    /// # Errors
    /// Returns an error if the folder for the user's data is unknown.
    pub fn file(&self) -> Result<Option<&Path>, CommandError> {
        match self {
            StorePlace::Nowhere => Ok(None),
            StorePlace::Named(path, _) | StorePlace::Usual(Some(path)) => Ok(Some(path)),
            StorePlace::Usual(None) => Err(CommandError::Usage(
                "neither XDG_DATA_HOME nor HOME is set, so results have no place; use --store"
                    .into(),
            )),
        }
    }

    /// Creates the file if it is missing, readable by this user only: a document contains the
    /// header fields that were sent, which may be secret. Folders are created for the default place
    /// only.
    pub(super) fn make(&self, path: &Path) -> io::Result<()> {
        if let (StorePlace::Usual(_), Some(folder)) = (self, path.parent()) {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map(drop),
        }
    }
}

/// Returns a warning about a folder for the user's data that is set but ignored; none if it is not.
pub fn ignored_data_home(
    place: &StorePlace,
    var: impl Fn(&str) -> Option<OsString>,
) -> Option<String> {
    let StorePlace::Usual(Some(used)) = place else { return None };
    let set = var(DATA_HOME).map(PathBuf::from).filter(|path| !path.is_absolute())?;
    Some(format!(
        "{DATA_HOME} is '{}', not an absolute path, and is ignored: the store is '{}'",
        set.display(),
        used.display()
    ))
}

/// Returns the default file. Relative paths are ignored, as the XDG Base Directory Specification
/// requires.
fn usual(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    data_home(var).map(|data| data.join(USUAL))
}

/// Returns the folder for the user's data.
fn data_home(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(".local/share"));
    absolute(DATA_HOME).or_else(home)
}

/// Returns the default folder of what an agent keeps until a controller has it.
///
/// # Errors
/// The folder for the user's data is unknown.
pub fn agent_folder(var: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, CommandError> {
    data_home(var).map(|data| data.join(AGENT)).ok_or_else(|| {
        let line = "neither XDG_DATA_HOME nor HOME is set, so records have no place; use --spool";
        CommandError::Usage(line.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(option: Option<&str>, environment: &[(&str, &str)]) -> StorePlace {
        let var = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        };
        StorePlace::choose(option.map(OsStr::new), var).unwrap()
    }

    #[test]
    fn prefers_the_option_to_the_variable_and_that_to_the_default_path() {
        let all = [("SIXMARK_STORE", "/b"), ("XDG_DATA_HOME", "/data"), ("HOME", "/home/me")];
        assert_eq!(chosen(Some("/a"), &all), StorePlace::Named("/a".into(), "--store"));
        assert_eq!(chosen(None, &all), StorePlace::Named("/b".into(), "SIXMARK_STORE"));
        let usual = |path: &str| StorePlace::Usual(Some(path.into()));
        assert_eq!(chosen(None, &all[1..]), usual("/data/sixmark/results.sqlite"));
        let home = "/home/me/.local/share/sixmark/results.sqlite";
        assert_eq!(chosen(None, &all[2..]), usual(home));
        assert_eq!(chosen(None, &[("XDG_DATA_HOME", "data"), all[2]]), usual(home));
        assert_eq!(chosen(None, &[("SIXMARK_STORE", ""), all[2]]), usual(home));
    }

    #[test]
    fn names_an_xdg_data_home_that_it_ignores() {
        let said = |value: &'static str, option: Option<&str>| {
            let environment = [("XDG_DATA_HOME", value), ("HOME", "/home/me")];
            let var = |name: &str| {
                let known = environment.iter().find(|(known, _)| *known == name);
                known.map(|(_, value)| value.into())
            };
            ignored_data_home(&StorePlace::choose(option.map(OsStr::new), var).unwrap(), var)
        };
        for wrong in ["", "data", "./data"] {
            let line = said(wrong, None).unwrap();
            assert!(line.contains(&format!("'{wrong}'")) && line.contains("/home/me/"), "{line}");
        }
        assert_eq!(said("/data", None), None);
        assert_eq!(said("data", Some("/a")), None, "another place was named");
    }

    #[test]
    fn none_disables_the_store_and_dot_slash_none_is_a_file() {
        assert_eq!(chosen(Some("none"), &[("SIXMARK_STORE", "/b")]), StorePlace::Nowhere);
        assert_eq!(chosen(None, &[("SIXMARK_STORE", "none")]), StorePlace::Nowhere);
        assert_eq!(chosen(Some("./none"), &[]), StorePlace::Named("./none".into(), "--store"));
    }

    #[test]
    fn suggests_the_store_option_without_a_home_directory() {
        let said = chosen(None, &[]).file().unwrap_err().to_string();
        assert!(said.contains("--store"), "{said}");
        assert!(StorePlace::choose(Some(OsStr::new("")), |_| None).is_err());
    }
}
