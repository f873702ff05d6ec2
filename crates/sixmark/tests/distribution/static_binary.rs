//! The binary: static, alone in its root, small, and the same as the one that is tested.

use std::fs;
use std::process::Command;

use sixmark_testkit::{lookups, skipped};

use crate::files::{run_command, static_binary};

/// The most bytes of a released binary: 20 MiB.
const MOST_BYTES: u64 = 20 << 20;
/// Program headers that name an interpreter, and entries of the dynamic section that name a library.
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NEEDED: u64 = 1;

/// Returns the program headers of an ELF file of 64 bits, little-endian: type, offset and size in the file.
fn program_headers(file: &[u8]) -> Vec<(u32, u64, u64)> {
    assert_eq!(&file[..6], b"\x7fELF\x02\x01");
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let half = |at: usize| usize::from(u16::from_le_bytes(file[at..at + 2].try_into().unwrap()));
    let (start, size, count) = (word(32) as usize, half(54), half(56));
    let header = |i: usize| {
        let at = start + i * size;
        (u32::from_le_bytes(file[at..at + 4].try_into().unwrap()), word(at + 8), word(at + 32))
    };
    (0..count).map(header).collect()
}

#[test]
fn it_needs_no_loader_and_no_library() {
    if skipped("distribution") {
        return;
    }
    let file = fs::read(static_binary()).unwrap();
    let headers = program_headers(&file);
    assert!(headers.iter().all(|(kind, ..)| *kind != PT_INTERP), "{headers:?}");
    let dynamic = headers.iter().filter(|(kind, ..)| *kind == PT_DYNAMIC);
    for (_, offset, size) in dynamic {
        let section = &file[*offset as usize..(offset + size) as usize];
        let (entries, _) = section.as_chunks::<16>();
        let tags = entries.iter().map(|entry| u64::from_le_bytes(entry[..8].try_into().unwrap()));
        assert!(!tags.into_iter().any(|tag| tag == DT_NEEDED));
    }
}

#[test]
fn a_release_is_small_and_contains_no_build_paths() {
    if skipped("distribution") {
        return;
    }
    let file = fs::read(static_binary()).unwrap();
    // Tests of the packages are run with an unoptimised one as well.
    if std::env::var_os("SIXMARK_DIST").is_some() {
        assert!(file.len() as u64 <= MOST_BYTES, "{} bytes", file.len());
    }
    let root = fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    let home = std::env::var("CARGO_HOME").or(std::env::var("HOME").map(|home| home + "/.cargo"));
    for folder in [root.to_str().unwrap().to_owned(), home.unwrap()] {
        let found =
            file.windows(folder.len() + 1).any(|bytes| bytes == format!("{folder}/").as_bytes());
        assert!(!found, "the binary has the text {folder}/");
    }
}

#[test]
fn it_runs_on_an_empty_root() {
    if skipped("distribution") || skipped("netns") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    fs::copy(static_binary(), root.path().join("sixmark")).unwrap();
    let script = "ip link set lo up && exec chroot \"$1\" /sixmark demo";
    let path = root.path().to_str().unwrap();
    let text = run_command("unshare", &["--net", "sh", "-c", script, "sh", path]);
    assert!(text.contains("IPv6") && text.contains("no request failed"), "{text}");
    let left: Vec<_> = fs::read_dir(root.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["sixmark"], "the demo keeps nothing");
}

#[test]
fn prints_the_same_help_as_the_tested_binary() {
    if skipped("distribution") {
        return;
    }
    let tested = sixmark_testkit::command(&["compare", "--help"]).output().unwrap();
    let handed = Command::new(static_binary()).args(["compare", "--help"]).output().unwrap();
    assert_eq!(String::from_utf8(handed.stdout), String::from_utf8(tested.stdout));
}

/// musl's resolver is another one than that of glibc.
#[test]
fn resolves_each_family_separately() {
    if skipped("distribution") || skipped("netns") {
        return;
    }
    lookups::check_each_answer(&static_binary());
    lookups::check_resolver_files(&static_binary());
}
