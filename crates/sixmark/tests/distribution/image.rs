//! The container image: built without a network, run as nobody, and honest about what the container refuses.

use std::path::Path;

use sixmark_testkit::skipped;

use crate::files::{find_file, run_command};
use crate::nats_server::found_in;

/// Runs podman with a storage of its own. This host may not let the container raise limits, and runc works
/// with control groups of both versions.
fn podman(storage: &Path, arguments: &[&str]) -> String {
    let [root, run] = ["root", "run"].map(|name| storage.join(name).to_str().unwrap().to_owned());
    let options =
        ["--root", &root, "--runroot", &run, "--storage-driver", "vfs", "--runtime", "runc"];
    run_command("podman", &[&options[..], arguments].concat())
}

const RUN: [&str; 7] = [
    "run",
    "--rm",
    "--network=none",
    "--read-only",
    "--cap-drop=all",
    "--ulimit=nofile=1024:1024",
    "--ulimit=nproc=1024:1024",
];

#[test]
fn builds_without_a_network_and_reports_the_cost_without_io_uring() {
    if skipped("distribution") || skipped("podman") {
        return;
    }
    let storage = tempfile::tempdir().unwrap();
    let context = find_file("image");
    let build =
        ["build", "--quiet", "--network=none", "--tag", "sixmark", context.to_str().unwrap()];
    podman(storage.path(), &build);

    let user = ["image", "inspect", "--format", "{{.User}} {{len .RootFS.Layers}}", "sixmark"];
    assert!(podman(storage.path(), &user).starts_with("65534:65534 "));

    // podman's own profile of seccomp refuses io_uring.
    let refused = podman(storage.path(), &[&RUN[..], &["sixmark", "demo"]].concat());
    assert_eq!(refused.matches("io_uring can't be used here").count(), 1, "{refused}");
    assert!(refused.contains("no request failed") && refused.contains("epoll"), "{refused}");
    let words: Vec<&str> = refused.split_whitespace().collect();
    assert!(words.join(" ").contains("up to 15 % more CPU time"), "{refused}");

    let unconfined = ["--security-opt", "seccomp=unconfined", "sixmark", "demo"];
    let allowed = podman(storage.path(), &[&RUN[..], &unconfined].concat());
    assert!(!allowed.contains("can't be used here") && allowed.contains("uring"), "{allowed}");
}

#[test]
fn the_saved_image_is_loaded_and_run() {
    if skipped("distribution") || skipped("podman") {
        return;
    }
    let storage = tempfile::tempdir().unwrap();
    let archive = format!("oci-archive:{}", find_file("-image.tar").display());
    let id = podman(storage.path(), &["pull", "--quiet", &archive]);
    let text = podman(storage.path(), &[&RUN[..], &[id.trim(), "--version"]].concat());
    assert!(text.starts_with("sixmark "), "{text}");
    let doctor = ["--tmpfs=/tmp", id.trim(), "doctor", "--require", "nats-server", "--json", "-"];
    let text = podman(storage.path(), &[&RUN[..], &doctor].concat());
    assert_eq!(found_in(&text).as_deref(), Some("/usr/lib/sixmark/nats-server"), "{text}");
}
