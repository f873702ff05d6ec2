//! Control groups, version 2 (cgroups(7)).

use std::path::{Path, PathBuf};

use crate::group::Group;
use crate::parse;

use super::file::{KeptFile, text_of_file};
use sixmark_sys::command_error::CommandError;

/// The files of a control group.
#[derive(Debug)]
pub(super) struct Cgroup {
    name: String,
    cpu: Option<KeptFile>,
    memory: Option<KeptFile>,
    io: Option<KeptFile>,
    pids: Option<KeptFile>,
}

impl Cgroup {
    /// Opens a control group by its path in the file system, or relative to the mount point of
    /// version 2.
    ///
    /// # Errors
    /// Returns an error if there is no such control group.
    pub(super) fn open(name: &str) -> Result<Cgroup, CommandError> {
        let folder = folder(name).ok_or_else(|| {
            CommandError::Usage(format!(
                "--cgroup {name}: there is no control group of version 2 at that path; \
                 /proc/PID/cgroup names a process's own"
            ))
        })?;
        let of = |file: &str| KeptFile::maybe(folder.join(file));
        Ok(Cgroup {
            name: name.to_owned(),
            cpu: of("cpu.stat"),
            memory: of("memory.current"),
            io: of("io.stat"),
            pids: of("pids.current"),
        })
    }

    pub(super) fn read(&mut self) -> Group {
        let (cpu, memory) =
            (text_of_file(&mut self.cpu).to_owned(), text_of_file(&mut self.memory).to_owned());
        let io = text_of_file(&mut self.io).to_owned();
        parse::cgroup(&self.name, &cpu, &memory, &io, text_of_file(&mut self.pids))
    }
}

fn folder(name: &str) -> Option<PathBuf> {
    let is_one = |path: &PathBuf| path.join("cpu.stat").is_file();
    let below = |root: PathBuf| root.join(name.trim_start_matches('/'));
    let given = PathBuf::from(name);
    [Some(given).filter(|path| path.is_absolute()), mount().map(below)]
        .into_iter()
        .flatten()
        .find(is_one)
}

/// Returns the mount point of version 2.
fn mount() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let place = words.nth(1)?;
        (words.next()? == "cgroup2").then(|| Path::new(place).to_owned())
    })
}
