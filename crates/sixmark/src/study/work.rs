//! The folder for what lasts no longer than the study runs.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sixmark_sys::join;

use super::folder::Folder;
use crate::output;
use sixmark_machine::CommandError;

/// The file of a study's folder that names it, so that one which a killed process left is found.
const NOTE: &str = "work";

/// The file in it that names the study's folder, so that a note that was changed, or copied, takes
/// nothing away but what this study made.
const OWNER: &str = ".study";

/// What its name begins with.
const PREFIX: &str = "sixmark-study-";

/// A folder under that of temporary files, readable for services that give up root's rights. It goes
/// when dropped.
#[derive(Debug)]
pub(super) struct Work {
    path: PathBuf,
    note: PathBuf,
    owner: String,
}

impl Work {
    /// A new one under `base`; the one that a killed process left is taken away.
    pub(super) fn new(folder: &Folder, base: &Path) -> Result<Work, CommandError> {
        let note = folder.path().join(NOTE);
        let path = base.join(format!("{PREFIX}{}", output::unguessable()));
        let cannot = |error: std::io::Error| {
            CommandError::Measure(format!("can't make the folder '{}': {error}", path.display()))
        };
        let owner = identity(folder.path()).map_err(cannot)?;
        if let Ok(left) = fs::read_to_string(&note) {
            remove(Path::new(left.trim()), &owner);
        }
        folder.write(NOTE, &format!("{}\n", path.display()))?;
        fs::create_dir(&path).map_err(cannot)?;
        let work = Work { path: path.clone(), note, owner };
        readable(&work.path).map_err(cannot)?;
        fs::write(work.path.join(OWNER), &work.owner).map_err(cannot)?;
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
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, CommandError> {
        let path = self.path.join(name);
        let made = fs::create_dir_all(&path).and_then(|()| readable(&path));
        let path_shown = path.display().to_string();
        made.map(|()| path).map_err(|error| {
            CommandError::Measure(format!("can't make the folder '{path_shown}': {error}"))
        })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        remove(&self.path, &self.owner);
        let _ = fs::remove_file(&self.note);
    }
}

/// Whatever a strict umask says: a service that is another user must get in.
fn readable(path: &Path) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// A folder by what no copy of it shares.
fn identity(folder: &Path) -> std::io::Result<String> {
    let found = fs::metadata(folder)?;
    Ok(format!("{}:{}\n", found.dev(), found.ino()))
}

/// Takes away a folder that this study made, and none other, whatever a note says.
fn remove(path: &Path, owner: &str) {
    let is_named_so = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(PREFIX));
    let temporary = [std::env::temp_dir(), PathBuf::from(sixmark_lab::TEMPORARY)];
    let is_there = temporary.iter().any(|base| path.parent() == Some(base));
    // No link, and nobody else's: who made the folder alone could write who it belongs to.
    let is_own = fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.uid() == join::account());
    let is_ours = || fs::read_to_string(path.join(OWNER)).is_ok_and(|named| named == owner);
    if is_named_so && is_there && is_own && is_ours() {
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(path: &Path) -> Folder {
        Folder::create(path).unwrap()
    }

    #[test]
    fn what_a_killed_study_left_is_taken_away_by_itself_alone() {
        let dir = tempfile::tempdir().unwrap();
        let base = std::env::temp_dir();
        let folder = study(&dir.path().join("one"));
        let left = Work::new(&folder, &base).unwrap();
        let path = left.path().to_owned();
        // As a kill leaves it.
        std::mem::forget(left);

        let other = study(&dir.path().join("other"));
        other.write(NOTE, &format!("{}\n", path.display())).unwrap();
        drop(Work::new(&other, &base).unwrap());
        assert!(path.is_dir(), "another study's note named it");

        let next = Work::new(&folder, &base).unwrap();
        assert!(!path.exists() && next.path().join("www").is_dir());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_no_study_made_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = study(&dir.path().join("one"));
        let named = std::env::temp_dir().join(format!("{PREFIX}{}", output::unguessable()));
        fs::create_dir(&named).unwrap();
        folder.write(NOTE, &format!("{}\n", named.display())).unwrap();
        drop(Work::new(&folder, &std::env::temp_dir()).unwrap());
        let stayed = named.is_dir();
        fs::remove_dir(&named).unwrap();
        assert!(stayed);
    }
}
