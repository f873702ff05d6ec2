//! The packages that are made of the archive: RPM and Arch.

use std::fs;
use std::path::{Path, PathBuf};

use sixmark_testkit::skipped;

use crate::files::{find_file, run_command};
use crate::nats_server::{ask_doctor, found_in};

/// An account that no list has: makepkg refuses to be root.
const ACCOUNT: &str = "64648";

/// Files that each package has, below `usr`.
const FILES: [&str; 5] = [
    "share/man/man1/sixmark-run.1.gz",
    "share/bash-completion/completions/sixmark",
    "share/zsh/site-functions/_sixmark",
    "share/fish/vendor_completions.d/sixmark.fish",
    "lib/systemd/system/sixmark-agent.service",
];

fn packaging(name: &str) -> String {
    format!("{}/../../packaging/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The only file below a folder whose name ends like this.
fn find_below(folder: &Path, end: &str) -> PathBuf {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().is_some_and(|path| path.ends_with(end)) {
                found.push(path);
            }
        }
    }
    assert_eq!(found.len(), 1, "*{end}: {found:?}");
    found.remove(0)
}

/// Unpacks a package, and checks that its program finds its nats-server.
fn check_package(package: &Path, to: &Path, server: &str) {
    fs::create_dir(to).unwrap();
    run_command("bsdtar", &["-xf", package.to_str().unwrap(), "-C", to.to_str().unwrap()]);
    for name in FILES {
        assert!(to.join("usr").join(name).is_file(), "{} has no {name}", package.display());
    }
    let said = ask_doctor(&to.join("usr/bin"));
    assert_eq!(found_in(&said).as_deref(), to.join(server).to_str(), "{said}");
}

#[test]
fn an_rpm_is_made_of_the_archive_and_finds_its_nats_server() {
    if skipped("distribution") || skipped("rpm") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let archive = find_file("-linux.tar.xz");
    let defined = [
        format!("_sourcedir {}", archive.parent().unwrap().display()),
        format!("_topdir {}", folder.path().display()),
        // The tests look at the files, not at how small they are.
        "_binary_payload w1.gzdio".to_owned(),
    ];
    let mut words = vec!["-bb", "--quiet"];
    words.extend(defined.iter().flat_map(|text| ["--define", text]));
    let spec = packaging("rpm/sixmark.spec");
    words.push(&spec);
    run_command("rpmbuild", &words);
    let package = find_below(&folder.path().join("RPMS"), ".rpm");
    let version = run_command("rpm", &["-qp", "--qf", "%{VERSION}", package.to_str().unwrap()]);
    assert_eq!(version, env!("CARGO_PKG_VERSION").replace('-', "~"));
    let needed = run_command("rpm", &["-qp", "--requires", package.to_str().unwrap()]);
    let needed: Vec<&str> = needed.lines().filter(|line| !line.starts_with("rpmlib(")).collect();
    // Its own files of settings, nothing else.
    assert!(needed.iter().all(|line| line.starts_with("config(sixmark)")), "{needed:?}");
    check_package(&package, &folder.path().join("root"), "usr/libexec/sixmark/nats-server");
}

#[test]
fn an_arch_package_is_made_of_the_archive_and_finds_its_nats_server() {
    if skipped("distribution") || skipped("makepkg") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let archive = find_file("-linux.tar.xz");
    fs::copy(&archive, folder.path().join(archive.file_name().unwrap())).unwrap();
    fs::copy(packaging("arch/PKGBUILD"), folder.path().join("PKGBUILD")).unwrap();
    let path = folder.path().to_str().unwrap();
    run_command("chown", &["-R", &format!("{ACCOUNT}:{ACCOUNT}"), path]);
    let make = "cd \"$1\" && export HOME=\"$1\" PKGEXT=.pkg.tar && exec makepkg --nodeps --nocolor";
    let account = [format!("--reuid={ACCOUNT}"), format!("--regid={ACCOUNT}")];
    let words = [&account[0], &account[1], "--clear-groups", "bash", "-c", make, "bash", path];
    run_command("setpriv", &words);
    let package = find_below(folder.path(), ".pkg.tar");
    let version = env!("CARGO_PKG_VERSION").replace('-', "_");
    assert!(package.to_str().unwrap().contains(&format!("sixmark-{version}-1-")), "{package:?}");
    check_package(&package, &folder.path().join("root"), "usr/lib/sixmark/nats-server");
}
