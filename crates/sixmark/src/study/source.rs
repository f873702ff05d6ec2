//! Where a study is read from.

use std::path::{Path, PathBuf};

use sixmark_model::fields::FileMistake;
use sixmark_model::study::digest;
use sixmark_model::study::spec::{ReadContext, Study, parse_study};

use super::Commands;
use super::builtin::{BUILTIN, Builtin};
use sixmark_machine::CommandError;

/// The name of the file that has the published figures of a built-in study, and of a copy.
pub(super) const STUDY: &str = "study.toml";
const PUBLISHED: &str = "published.toml";

/// The files of labs that a study may have beside it.
const LABS: [&str; 2] = ["lab.toml", "in-lab.toml"];

/// Which form of a study is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The short one.
    pub quick: bool,
    /// The one for a lab.
    pub in_lab: bool,
}

/// The text of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As it was asked for: a file, or the name of a built-in study.
    pub name: String,
    /// The study.
    pub text: String,
    /// The folder of what it names; none of a built-in one.
    folder: Option<PathBuf>,
    builtin: Option<&'static Builtin>,
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
    pub fn find(name: &str) -> Result<Source, CommandError> {
        match BUILTIN.iter().find(|builtin| builtin.name == name) {
            Some(builtin) => Ok(Source {
                name: name.to_owned(),
                text: builtin.study.to_owned(),
                folder: None,
                builtin: Some(builtin),
            }),
            None => Source::file(Path::new(name)),
        }
    }

    /// The study in a file.
    ///
    /// # Errors
    /// It can't be read.
    pub fn file(path: &Path) -> Result<Source, CommandError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let names = builtin_names().join(", ");
            CommandError::Usage(format!(
                "can't read the study '{name}': {error} (built in: {names})"
            ))
        })?;
        let folder = path.parent().map(Path::to_owned);
        Ok(Source { name, text, folder, builtin: None })
    }

    /// True where it comes with sixmark.
    pub fn is_builtin(&self) -> bool {
        self.folder.is_none()
    }

    /// The lab beside a study that comes with sixmark: its file's name, and what it says.
    pub fn lab(&self) -> Option<(&'static str, &'static str)> {
        let of = |name: &&'static str| Some((*name, self.builtin?.file(name)?));
        LABS.iter().find_map(of)
    }

    /// The study.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn read(&self, form: Form, commands: &Commands<'_>) -> Result<Study, Vec<FileMistake>> {
        let mut open = |name: &str| self.open(name);
        let Form { quick, in_lab } = form;
        let has_option = commands.has_option;
        parse_study(&self.text, &mut ReadContext { quick, in_lab, has_option, open: &mut open })
    }

    /// What tells it from any other: the SHA-256 of its text, of the published figures and of its labs.
    pub fn sha256(&self) -> String {
        let beside = self.beside();
        let texts =
            [self.text.as_str()].into_iter().chain(beside.iter().map(|(_, text)| text.as_str()));
        digest(&texts.collect::<Vec<_>>())
    }

    /// The files to keep beside the cells, by name: the study and what is beside it.
    pub(super) fn copies(&self) -> Vec<(&'static str, String)> {
        [(STUDY, self.text.clone())].into_iter().chain(self.beside()).collect()
    }

    /// What is there of the files that it may name.
    fn beside(&self) -> Vec<(&'static str, String)> {
        let names = [PUBLISHED].into_iter().chain(LABS);
        names.filter_map(|name| Some((name, self.open(name).ok()?))).collect()
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
        if name != PUBLISHED && !LABS.contains(&name) {
            return Err(format!(
                "beside a study are {PUBLISHED} with published figures, and the labs {}",
                LABS.join(" and ")
            ));
        }
        match &self.folder {
            Some(folder) => {
                std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string())
            }
            None => {
                let text = self.builtin.and_then(|builtin| builtin.file(name));
                text.map(str::to_owned).ok_or_else(|| "it has none".to_owned())
            }
        }
    }
}
