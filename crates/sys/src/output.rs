//! Files for results.
//!
//! A new file is readable by whom the umask lets read it, as files of other programs are, or by its
//! owner only where its contents may include credentials ([`Readers`]). An existing file keeps its
//! mode and its owner, and a symbolic link of the user's own stays a link. A draft has an
//! unpredictable name and is never an existing file.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
};
use std::path::{Path, PathBuf};

/// The mode of a file that only its owner may read and write.
const PRIVATE: u32 = 0o600;
/// The mode of which the kernel removes what the umask forbids.
const USUAL: u32 = 0o666;
/// The most symbolic links that are followed in a chain, the kernel's limit (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner only: it may include credentials, or contents of others' traffic.
    Owner,
    /// Whom the umask lets read it.
    Umask,
}

impl Readers {
    fn mode(self) -> u32 {
        match self {
            Readers::Owner => PRIVATE,
            Readers::Umask => USUAL,
        }
    }
}

/// Opens a file for writing and truncates it. A new one is its owner's only.
///
/// # Errors
/// Returns the error of open(2).
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(PRIVATE).open(path)
}

/// Checks that `path` can be written, by creating and removing a draft beside it.
///
/// # Errors
/// Returns an error if the draft can't be created.
pub fn check_writable(path: &Path) -> io::Result<()> {
    if is_stream(path) {
        // Opening it twice would end the stream for its reader before the document is written.
        return Ok(());
    }
    let draft = draft_of(&followed(path)?);
    create_new(&draft, Readers::Owner)?;
    // A draft that stays behind does no harm.
    let _ = fs::remove_file(&draft);
    Ok(())
}

/// Writes a draft beside the file and renames it, so that no reader sees half a document and a
/// power failure leaves none. A device or a pipe is written to directly.
///
/// # Errors
/// Returns an error if the file can't be written. Its previous contents are then unchanged.
pub fn replace(path: &Path, text: &str, readers: Readers) -> io::Result<()> {
    if is_stream(path) {
        return fs::write(path, text);
    }
    let path = followed(path)?;
    let draft = draft_of(&path);
    let written = write_draft(&draft, fs::metadata(&path).ok().as_ref(), text, readers)
        .and_then(|()| fs::rename(&draft, &path))
        .and_then(|()| File::open(folder_of(&path))?.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Writes a document that can't be written under its name to the folder for temporary files, or
/// where that is impossible to another one, and describes in a clause what became of it.
pub fn keep_aside(path: &Path, text: &str) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("sixmark-{}-{name}", unguessable());
    let here = std::env::current_dir().ok();
    let folders = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()].into_iter().chain(here);
    let saved = folders.map(|folder| folder.join(&name)).find(|kept| {
        let written = write_draft(kept, None, text, Readers::Owner);
        if written.is_err() {
            let _ = fs::remove_file(kept);
        }
        written.is_ok()
    });
    match saved {
        Some(kept) => format!("it was saved as '{}'", kept.display()),
        None => "it could not be saved elsewhere either".to_owned(),
    }
}

/// Creates a folder and its missing parents, each accessible to its owner only.
///
/// # Errors
/// Returns the error of mkdir(2).
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Reports whether two names refer to the same file, by device and inode, or where it does not exist
/// yet by folder and name. A device or a pipe takes several documents and is never the same.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let path = followed(path).ok()?;
        Some(folder_of(&path).canonicalize().ok()?.join(path.file_name()?))
    };
    let both = [one, other];
    let (inodes, places) = (both.map(|path| identity(path).ok()), both.map(place));
    let are_one = inodes[0].is_some() && inodes[0] == inodes[1]
        || places[0].is_some() && places[0] == places[1];
    are_one && !both.into_iter().any(is_stream)
}

/// Returns what identifies a file whatever its names are: its device and its inode.
///
/// # Errors
/// Returns an error if there is no such file.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|of| (of.dev(), of.ino()))
}

/// Reports whether `path` is a device or a pipe, which is written to and not replaced.
fn is_stream(path: &Path) -> bool {
    path.exists() && !path.is_file()
}

/// Returns the file that a name refers to, following symbolic links that the user or root owns.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Some(link) = fs::symlink_metadata(&path).ok().filter(Metadata::is_symlink) else {
            return Ok(path);
        };
        if ![0, crate::join::account()].contains(&link.uid()) {
            let why = format!("'{}' is a link that another user made", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        path = folder_of(&path).join(fs::read_link(&path)?);
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.draft", unguessable()));
    path.with_file_name(name)
}

/// Returns an unpredictable part of a file name: 16 hexadecimal digits.
pub fn unguessable() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

fn create_new(path: &Path, readers: Readers) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(readers.mode()).open(path)
}

fn write_draft(
    path: &Path,
    before: Option<&Metadata>,
    text: &str,
    readers: Readers,
) -> io::Result<()> {
    // A file that replaces a private one is private from the beginning.
    let mut file = create_new(path, if before.is_some() { Readers::Owner } else { readers })?;
    if let Some(before) = before {
        // Only root can give a file away. For anyone else the file belongs to the writer.
        let _ = fchown(&file, Some(before.uid()), Some(before.gid()));
        file.set_permissions(fs::Permissions::from_mode(before.mode() & 0o777))?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn new_files_get_the_requested_mode_and_existing_ones_keep_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new");
        replace(&file, "a", Readers::Owner).unwrap();
        assert_eq!(mode(&file), 0o600);
        let [shared, usual] = ["shared", "usual"].map(|name| folder.path().join(name));
        replace(&shared, "a", Readers::Umask).unwrap();
        fs::write(&usual, "a").unwrap();
        assert_eq!(mode(&shared), mode(&usual), "the umask decides");
        [shared, usual].iter().for_each(|file| fs::remove_file(file).unwrap());
        for kept in [0o640, 0o600, 0o644] {
            fs::set_permissions(&file, fs::Permissions::from_mode(kept)).unwrap();
            replace(&file, "b", Readers::Umask).unwrap();
            drop(create(&file).unwrap());
            assert_eq!(mode(&file), kept);
        }
        let stream = folder.path().join("stream");
        drop(create(&stream).unwrap());
        assert_eq!(mode(&stream), 0o600);
        let inner = folder.path().join("a/b");
        make_folder(&inner).unwrap();
        assert_eq!(mode(&inner), 0o700);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no draft is left");
    }

    #[test]
    fn writes_through_symbolic_links_and_keeps_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("there")).unwrap();
        symlink("second", at("link")).unwrap();
        symlink("there/file", at("second")).unwrap();
        for text in ["new", "replaced"] {
            check_writable(&at("link")).unwrap();
            replace(&at("link"), text, Readers::Owner).unwrap();
            assert!(at("link").is_symlink() && at("second").is_symlink());
            assert_eq!(fs::read_to_string(at("there/file")).unwrap(), text);
        }
        symlink("loop", at("loop")).unwrap();
        assert_eq!(
            replace(&at("loop"), "", Readers::Owner).unwrap_err().raw_os_error(),
            Some(libc::ELOOP)
        );
    }

    #[test]
    fn files_kept_aside_are_private_and_have_distinct_names() {
        let said = [(); 2].map(|()| keep_aside(Path::new("/no/such/result.json"), "text"));
        let paths = said.each_ref().map(|said| said.split('\'').nth(1).unwrap());
        assert_ne!(paths[0], paths[1]);
        for path in paths.map(Path::new) {
            assert_eq!((mode(path), fs::read_to_string(path).unwrap().as_str()), (0o600, "text"));
            fs::remove_file(path).unwrap();
        }
    }
}
