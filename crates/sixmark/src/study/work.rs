//! The folder for what lasts no longer than the study runs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::folder::Folder;
use crate::Error;

/// The file of a study's folder that names it, so that one which a killed process left is found.
const NOTE: &str = "work";

/// What its name begins with.
const PREFIX: &str = "sixmark-study-";

/// A folder under that of temporary files, readable for services that give up root's rights. It goes
/// when dropped.
#[derive(Debug)]
pub(super) struct Work {
    path: PathBuf,
    note: PathBuf,
}

impl Work {
    /// A new one under `base`; the one that a killed process left is taken away.
    pub(super) fn new(folder: &Folder, base: &Path) -> Result<Work, Error> {
        let note = folder.path().join(NOTE);
        if let Ok(left) = fs::read_to_string(&note) {
            remove(Path::new(left.trim()));
        }
        let path = unused(base);
        folder.write(NOTE, &format!("{}\n", path.display()))?;
        let work = Work { path, note };
        let cannot = |error: std::io::Error| {
            Error::Measure(format!("can't make the folder '{}': {error}", work.path.display()))
        };
        fs::create_dir(&work.path).map_err(cannot)?;
        readable(&work.path).map_err(cannot)?;
        work.folder("www")?;
        Ok(work)
    }

    /// Itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of generated files.
    pub(super) fn www(&self) -> PathBuf {
        self.path.join("www")
    }

    /// A file for what a client says.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A folder in it.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        let made = fs::create_dir_all(&path).and_then(|()| readable(&path));
        let path_shown = path.display().to_string();
        made.map(|()| path).map_err(|error| {
            Error::Measure(format!("can't make the folder '{path_shown}': {error}"))
        })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        remove(&self.path);
        let _ = fs::remove_file(&self.note);
    }
}

/// Whatever a strict umask says: a service that is another user must get in.
fn readable(path: &Path) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// The process id alone may come again.
fn unused(base: &Path) -> PathBuf {
    let name = |number: u32| base.join(format!("{PREFIX}{}-{number}", std::process::id()));
    (0..).map(name).find(|path| !path.exists()).unwrap_or_else(|| base.join(PREFIX))
}

/// Takes away a folder of ours, and none other, whatever a note says.
fn remove(path: &Path) {
    let ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    let temporary = [std::env::temp_dir(), PathBuf::from(crate::lab::TEMPORARY)];
    if ours && temporary.iter().any(|base| path.parent() == Some(base)) {
        let _ = fs::remove_dir_all(path);
    }
}
