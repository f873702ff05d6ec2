//! A folder that is removed when this process ends, however it ends.

use std::fs;
use std::io::{self, PipeWriter, pipe};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sixmark_sys::process::start_apart;

/// A private temporary folder. It is removed when this value is dropped, or when this process is
/// killed.
///
/// A shell waits for the end of a pipe and then removes the folder. This process holds the pipe's
/// other end, and the programs that use the folder hold copies of it ([`GuardedFolder::hold`]). The
/// kernel closes them when a process ends for whatever reason, so that the shell comes to its last
/// command only once nobody writes to the folder any more. The shell is in a session of its own,
/// which no Ctrl-C and no end of a terminal reaches.
#[derive(Debug)]
pub(super) struct GuardedFolder {
    path: PathBuf,
    guard: Child,
    writer: Option<PipeWriter>,
}

impl GuardedFolder {
    /// Creates a folder below the one for temporary files.
    pub(super) fn create(prefix: &str) -> io::Result<GuardedFolder> {
        GuardedFolder::create_in(&std::env::temp_dir(), prefix)
    }

    /// Creates a folder below this one.
    pub(super) fn create_in(parent: &Path, prefix: &str) -> io::Result<GuardedFolder> {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let folder =
            tempfile::Builder::new().prefix(prefix).permissions(mode).tempdir_in(parent)?;
        let (reader, writer) = pipe()?;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "while read -r line; do :; done; rm -rf -- \"$1\"", "sh"])
            .arg(folder.path())
            .current_dir("/")
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let guard = start_apart(&mut command)?;
        Ok(GuardedFolder { path: folder.keep(), guard, writer: Some(writer) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a program hold the folder for as long as it runs: it gets the end of a pipe as its
    /// standard input, from which it can read nothing.
    pub(super) fn hold(&self, command: &mut Command) -> io::Result<()> {
        if let Some(writer) = &self.writer {
            command.stdin(writer.try_clone()?);
        }
        Ok(())
    }
}

impl Drop for GuardedFolder {
    fn drop(&mut self) {
        drop(self.writer.take());
        // It ends as soon as it has removed the folder. If someone has ended it, this removes it.
        let _ = self.guard.wait();
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creates_a_private_folder_and_removes_it_with_its_contents() {
        let folder = GuardedFolder::create("sixmark-guard-").unwrap();
        let path = folder.path().to_owned();
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o700);
        fs::create_dir(path.join("a")).unwrap();
        fs::write(path.join("a/b"), "c").unwrap();
        drop(folder);
        assert!(!path.exists());
    }
}
