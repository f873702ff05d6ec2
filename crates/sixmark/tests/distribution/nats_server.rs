//! The nats-server in each package: static, the one that the lists name, and found by the packaged program.

use std::fs;
use std::path::Path;
use std::process::Command;

use sixmark_testkit::skipped;

use crate::files::{find_file, run_command};

/// Returns where a document of `sixmark doctor`, which may stand among other lines, says that nats-server is.
pub(crate) fn found_in(text: &str) -> Option<String> {
    let line = |name: &str| format!("\"name\": \"{name}\"");
    let of_check = text.split(&line("nats-server")).nth(1)?;
    let of_check = of_check.split("\"name\": ").next()?;
    let found = of_check.split("\"found\": \"").nth(1)?;
    found.split('"').next().map(str::to_owned)
}

/// What `sixmark doctor` finds, of a program in this folder.
pub(crate) fn ask_doctor(folder: &Path) -> String {
    let mut doctor = Command::new(folder.join("sixmark"));
    doctor.args(["doctor", "--require", "nats-server", "--json", "-"]).env("PATH", "");
    let output = doctor.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_program_finds_the_nats_server_of_its_archive() {
    if skipped("distribution") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let archive = find_file("-linux.tar.xz");
    let to = folder.path().to_str().unwrap();
    run_command("tar", &["-xf", archive.to_str().unwrap(), "-C", to]);
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let unpacked: Vec<_> = entries.collect();
    let [inside] = &unpacked[..] else { panic!("one folder: {unpacked:?}") };
    let server = inside.join("nats-server");
    let said = ask_doctor(inside);
    assert_eq!(found_in(&said).as_deref(), server.to_str(), "{said}");
    // As docs/install.md has it installed.
    let installed = folder.path().join("local");
    for (from, to) in [(inside.join("sixmark"), "bin/sixmark"), (server, "lib/sixmark/nats-server")]
    {
        let to = installed.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
    let said = ask_doctor(&installed.join("bin"));
    let expected = installed.join("lib/sixmark/nats-server");
    assert_eq!(found_in(&said).as_deref(), expected.to_str(), "{said}");
}

#[test]
fn nats_server_is_static_and_the_licences_list_its_modules() {
    if skipped("distribution") {
        return;
    }
    let server = find_file("image").join("nats-server");
    let headers = run_command("readelf", &["--program-headers", server.to_str().unwrap()]);
    assert!(!headers.contains("INTERP"), "{headers}");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/third-party");
    run_command(script, &["check-server", server.to_str().unwrap()]);
    let licences = find_file("image").join("licenses/THIRD-PARTY-LICENSES");
    let licences = fs::read_to_string(licences).unwrap();
    let modules = fs::read(&server).unwrap();
    let modules = String::from_utf8_lossy(&modules);
    let mut count = 0;
    for line in
        modules.lines().filter(|line| line.starts_with("mod\t") || line.starts_with("dep\t"))
    {
        let words: Vec<&str> = line.split('\t').collect();
        if let [_, path, version, _] = words[..] {
            assert!(licences.contains(&format!("\n{path} {version} ")), "{path} {version}");
            count += 1;
        }
    }
    assert!(count >= 5, "only {count} modules");
}
