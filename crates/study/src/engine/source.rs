//! The sources from which studies are read.

use std::path::{Path, PathBuf};

use crate::digest;
use sixmark_design::form::Form;
use sixmark_design::spec::{ReadContext, Study, parse_study};
use sixmark_document::fields::FileMistake;

use super::builtin::{BUILTIN, Builtin};
use sixmark_options::cell::CellArgs;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::text_file;

/// The names of a copy of the study, and of the file with its published figures.
pub(super) const STUDY: &str = "study.toml";
const PUBLISHED: &str = "published.toml";

/// The files of labs that may lie beside a study.
const LABS: [&str; 2] = ["lab.toml", "in-lab.toml"];

/// The text of a study and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name as the user gave it: a file, or a built-in study.
    pub name: String,
    /// The text of the study.
    pub text: String,
    /// The folder of the files that it names; `None` for a built-in study.
    folder: Option<PathBuf>,
    builtin: Option<&'static Builtin>,
}

/// Returns the names of the built-in studies.
pub fn builtin_names() -> Vec<&'static str> {
    BUILTIN.iter().map(|builtin| builtin.name).collect()
}

impl Source {
    /// Returns the built-in study of this name, or reads the file.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or can't be read.
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

    /// Reads the study in a file.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn file(path: &Path) -> Result<Source, CommandError> {
        let name = path.display().to_string();
        let text = text_file::read_file(path).map_err(|error| {
            let names = builtin_names().join(", ");
            CommandError::Usage(format!(
                "can't read the study '{name}': {error} (built in: {names})"
            ))
        })?;
        let folder = path.parent().map(Path::to_owned);
        Ok(Source { name, text, folder, builtin: None })
    }

    /// Returns true for a study that comes with sixmark.
    pub fn is_builtin(&self) -> bool {
        self.builtin.is_some()
    }

    /// Returns the lab of a built-in study: the name of its file, and its text.
    pub fn lab(&self) -> Option<(&'static str, &'static str)> {
        let of = |name: &&'static str| Some((*name, self.builtin?.file(name)?));
        LABS.iter().find_map(of)
    }

    /// Parses the study.
    ///
    /// # Errors
    /// Returns all mistakes in it.
    pub fn read(&self, form: Form) -> Result<Study, Vec<FileMistake>> {
        let mut open = |name: &str| self.open(name);
        let options = CellArgs::long_options();
        let has_option = |name: &str| options.iter().any(|option| option == name);
        parse_study(&self.text, &mut ReadContext { form, has_option: &has_option, open: &mut open })
    }

    /// Returns the identity of the study: the SHA-256 of its text, of the published figures and of
    /// its labs.
    pub fn sha256(&self) -> String {
        let beside = self.beside();
        let texts =
            [self.text.as_str()].into_iter().chain(beside.iter().map(|(_, text)| text.as_str()));
        digest(&texts.collect::<Vec<_>>())
    }

    /// Returns the files to keep beside the cells, with their names: the study and the files beside
    /// it.
    pub(super) fn copies(&self) -> Vec<(&'static str, String)> {
        [(STUDY, self.text.clone())].into_iter().chain(self.beside()).collect()
    }

    /// Returns those files beside the study that exist.
    fn beside(&self) -> Vec<(&'static str, String)> {
        let names = [PUBLISHED].into_iter().chain(LABS);
        names.filter_map(|name| Some((name, self.open(name).ok()?))).collect()
    }

    /// Returns the files that it is read from; empty for a built-in study.
    pub fn files(&self) -> Vec<PathBuf> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let beside = [PUBLISHED].into_iter().chain(LABS).map(|name| folder.join(name));
        [PathBuf::from(&self.name)].into_iter().chain(beside).collect()
    }

    /// Returns the folder that file names in its options are relative to.
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
                "a study may refer only to {PUBLISHED}, with published figures, and to the labs {}",
                LABS.join(" and ")
            ));
        }
        match &self.folder {
            Some(folder) => {
                text_file::read_file(&folder.join(name)).map_err(|error| error.to_string())
            }
            None => {
                let text = self.builtin.and_then(|builtin| builtin.file(name));
                text.map(str::to_owned).ok_or_else(|| "the study has no such file".to_owned())
            }
        }
    }
}
