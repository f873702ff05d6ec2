//! The temporary folder of a running study.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sixmark_sys::join;

use super::folder::Folder;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;

/// The file in a study's folder that names its temporary folder, so that one left by a killed
/// process can be found.
const NOTE: &str = "work";

/// The file in the temporary folder that identifies the study's folder. It ensures that only
/// folders of this study are removed, even if the file `work` was changed or copied.
const OWNER: &str = ".study";

/// The beginning of its name.
const PREFIX: &str = "sixmark-study-";

/// A folder below the one for temporary files, readable by services that drop root's rights. It is
/// removed when it is dropped.
#[derive(Debug)]
pub(super) struct Work {
    path: PathBuf,
    note: PathBuf,
    owner: String,
}

impl Work {
    /// Creates a new folder below `base`, and removes the one that a killed process left.
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

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of generated files.
    pub(super) fn www(&self) -> PathBuf {
        self.path.join("www")
    }

    /// Returns the path of a file in it, for the output of a client.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Creates a folder in it.
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

/// Makes a folder accessible to services that run as another user, whatever the umask.
fn readable(path: &Path) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// Returns an identity of a folder that no copy of it shares.
fn identity(folder: &Path) -> std::io::Result<String> {
    let found = fs::metadata(folder)?;
    Ok(format!("{}:{}\n", found.dev(), found.ino()))
}

/// Removes a folder if this study created it. Other folders stay, whatever the file `work` names.
fn remove(path: &Path, owner: &str) {
    let is_named_so = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(PREFIX));
    let temporary = [std::env::temp_dir(), PathBuf::from(sixmark_lab::TEMPORARY)];
    let is_there = temporary.iter().any(|base| path.parent() == Some(base));
    // It must not be a link, nor another user's: only its creator could have written which study it
    // belongs to.
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
    fn a_study_removes_only_its_own_leftovers_of_a_killed_run() {
        let dir = tempfile::tempdir().unwrap();
        let base = std::env::temp_dir();
        let folder = study(&dir.path().join("one"));
        let left = Work::new(&folder, &base).unwrap();
        let path = left.path().to_owned();
        // A killed process would leave it like this.
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
