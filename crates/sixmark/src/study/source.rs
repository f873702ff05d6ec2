//! Where a study is read from.

use std::path::{Path, PathBuf};

use sixmark_core::plan::fields::Wrong;
use sixmark_core::plan::study::{Context, Study, parse};
use sixmark_core::study::digest;

use super::Commands;
use super::builtin::BUILTIN;
use crate::Error;

/// The name of the file that has the published figures of a built-in study, and of a copy.
pub(super) const STUDY: &str = "study.toml";
const PUBLISHED: &str = "published.toml";

/// The text of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As it was asked for: a file, or the name of a built-in study.
    pub name: String,
    /// The study.
    pub text: String,
    /// The folder of what it names; none of a built-in one.
    folder: Option<PathBuf>,
    published: Option<&'static str>,
}

/// The names of the studies that come with sixmark.
pub fn builtin_names() -> Vec<&'static str> {
    BUILTIN.iter().map(|builtin| builtin.name).collect()
}

impl Source {
    /// The file or the built-in study of this name.
    ///
    /// # Errors
    /// There is none, or it can't be read.
    pub fn find(name: &str) -> Result<Source, Error> {
        match BUILTIN.iter().find(|builtin| builtin.name == name) {
            Some(builtin) => Ok(Source {
                name: name.to_owned(),
                text: builtin.study.to_owned(),
                folder: None,
                published: Some(builtin.published),
            }),
            None => Source::file(Path::new(name)),
        }
    }

    /// The study in a file.
    ///
    /// # Errors
    /// It can't be read.
    pub fn file(path: &Path) -> Result<Source, Error> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let names = builtin_names().join(", ");
            Error::Usage(format!("can't read the study '{name}': {error} (built in: {names})"))
        })?;
        let folder = path.parent().map(Path::to_owned);
        Ok(Source { name, text, folder, published: None })
    }

    /// True where it comes with sixmark.
    pub fn is_builtin(&self) -> bool {
        self.folder.is_none()
    }

    /// The study.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn read(&self, quick: bool, commands: &Commands<'_>) -> Result<Study, Vec<Wrong>> {
        let mut open = |name: &str| self.open(name);
        parse(&self.text, &mut Context { quick, has_option: commands.has_option, open: &mut open })
    }

    /// What tells it from any other: the SHA-256 of its text and of the published figures.
    pub fn sha256(&self) -> String {
        let published = self.open(PUBLISHED).unwrap_or_default();
        digest(&[&self.text, &published])
    }

    /// The files to keep beside the cells, by name: the study and its published figures.
    pub(super) fn copies(&self) -> Vec<(&'static str, String)> {
        let published = self.open(PUBLISHED).ok().map(|text| (PUBLISHED, text));
        [(STUDY, self.text.clone())].into_iter().chain(published).collect()
    }

    /// The folder that names in its options are relative to.
    pub(super) fn here(&self) -> PathBuf {
        let folder = self.folder.clone().unwrap_or_default();
        let absolute = std::path::absolute(if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &folder
        });
        absolute.unwrap_or(folder)
    }

    fn open(&self, name: &str) -> Result<String, String> {
        if name != PUBLISHED {
            return Err(format!("published figures are in {PUBLISHED}, beside the study"));
        }
        match (&self.folder, self.published) {
            (Some(folder), _) => {
                std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string())
            }
            (None, published) => Ok(published.unwrap_or_default().to_owned()),
        }
    }
}
