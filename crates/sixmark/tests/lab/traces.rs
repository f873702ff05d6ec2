//! What a tree of processes could leave behind, and waiting until none of it is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use sixmark_testkit::{DEADLINE, skipped};

/// The kinds of namespaces that an enclosure has of its own, and user namespaces.
const KINDS: [&str; 5] = ["net", "mnt", "pid", "ipc", "user"];
/// Where temporary files are, beside the folder that a test gives.
const FOLDERS: [&str; 2] = ["/dev/shm", "/run"];

/// Processes, and the namespaces that are theirs and not this one's.
#[derive(Debug)]
pub(super) struct Tree {
    processes: BTreeSet<(u32, String)>,
    namespaces: BTreeSet<String>,
}

impl Tree {
    /// Of a process and all that descend from it.
    pub(super) fn of(root: u32) -> Tree {
        let all: Vec<(u32, u32, String)> = processes().collect();
        let mut ids = BTreeSet::from([root]);
        while let Some(&(id, ..)) =
            all.iter().find(|(id, parent, _)| ids.contains(parent) && !ids.contains(id))
        {
            ids.insert(id);
        }
        let own: BTreeSet<String> = namespaces(std::process::id()).into_iter().collect();
        let processes = all.into_iter().filter(|(id, ..)| ids.contains(id));
        // Also those that are held open and that no process is in: hosts without a service.
        let namespaces = ids.iter().flat_map(|&id| [namespaces(id), held(id)].concat());
        Tree {
            namespaces: namespaces.filter(|name| !own.contains(name)).collect(),
            processes: processes.map(|(id, _, began)| (id, began)).collect(),
        }
    }

    /// How many processes and namespaces there are.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.processes.len(), self.namespaces.len())
    }

    /// Waits until none of it is there any more.
    pub(super) fn is_gone(&self) {
        until("processes go", || {
            let here: BTreeSet<_> = processes().map(|(id, _, began)| (id, began)).collect();
            self.processes.intersection(&here).map(|(id, _)| id.to_string()).collect()
        });
        until("namespaces go", || {
            let ids = processes().map(|(id, ..)| id);
            let used = ids.flat_map(|id| [namespaces(id), held(id)].concat());
            used.chain(mounted()).filter(|name| self.namespaces.contains(name)).collect()
        });
    }
}

/// The process that has this parent, and is sixmark itself.
pub(super) fn child(parent: u32) -> u32 {
    let mut found = Vec::new();
    until("a child is there", || {
        found = processes().filter(|(id, of, _)| *of == parent && is_sixmark(*id)).collect();
        if found.is_empty() { vec![format!("no child of {parent}")] } else { Vec::new() }
    });
    found[0].0
}

fn is_sixmark(id: u32) -> bool {
    fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.trim() == "sixmark")
}

/// What there is of this machine that nothing of a lab's may show in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Machine {
    interfaces: BTreeSet<String>,
    rules: String,
    mounts: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl Machine {
    /// As it is now.
    pub(super) fn now() -> Machine {
        let list = |folder: &&str| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path().display().to_string()).collect::<Vec<_>>()
        };
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        Machine {
            interfaces: list(&"/sys/class/net").into_iter().collect(),
            rules: rules(),
            mounts: mounts.lines().map(str::to_owned).collect(),
            files: FOLDERS.iter().flat_map(list).collect(),
        }
    }

    /// Waits until nothing is there that was not before. Other tests may have taken something away.
    pub(super) fn has_nothing_new(&self) {
        until("what is new goes", || {
            let now = Machine::now();
            let mut new: Vec<String> = Vec::new();
            new.extend(now.interfaces.difference(&self.interfaces).cloned());
            new.extend(now.mounts.difference(&self.mounts).cloned());
            new.extend(now.files.difference(&self.files).cloned());
            new.extend((now.rules != self.rules).then_some(now.rules));
            new
        });
    }
}

fn rules() -> String {
    if skipped("nftables") {
        return String::new();
    }
    let path = ["/usr/sbin/nft", "/sbin/nft"].into_iter().find(|path| Path::new(path).exists());
    let output = Command::new(path.unwrap_or("nft")).args(["list", "ruleset"]).output();
    String::from_utf8(output.expect("this needs nftables").stdout).unwrap()
}

/// Waits until nothing is left.
pub(super) fn until(what: &str, mut left: impl FnMut() -> Vec<String>) {
    let start = Instant::now();
    loop {
        let left = left();
        if left.is_empty() {
            return;
        }
        assert!(start.elapsed() < DEADLINE, "waited in vain until {what}: {left:?}");
        std::thread::yield_now();
    }
}

/// Every process: its id, its parent, and when it began, since ids are used again. What has ended and
/// was not waited for is none any more.
fn processes() -> impl Iterator<Item = (u32, u32, String)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        (words[0] != "Z").then(|| Some((id, words[1].parse().ok()?, words[19].to_owned())))?
    })
}

/// The namespaces of a process.
fn namespaces(id: u32) -> Vec<String> {
    let read = |kind| fs::read_link(format!("/proc/{id}/ns/{kind}")).ok();
    let found = KINDS.into_iter().filter_map(read);
    found.map(|name| name.display().to_string()).collect()
}

/// The namespaces that a process holds open.
fn held(id: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    let names = files.filter_map(|file| fs::read_link(file.path()).ok());
    let names = names.map(|name| name.display().to_string());
    names.filter(|name| KINDS.iter().any(|kind| name.starts_with(&format!("{kind}:[")))).collect()
}

/// The namespaces that a mount keeps.
fn mounted() -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let roots = mounts.lines().filter_map(|line| line.split(' ').nth(3));
    roots.filter(|root| root.contains(":[")).map(str::to_owned).collect()
}

/// The names in a folder.
pub(super) fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.path().display().to_string()).collect()
}
