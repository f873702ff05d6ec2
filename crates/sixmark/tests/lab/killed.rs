//! Labs whose processes are killed: nothing is left of them.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use sixmark_testkit::lab::without;
use sixmark_testkit::{command, signal};
use tempfile::TempDir;

use super::traces::{Machine, Tree, child, entries, until};

/// An emulated link, rules of nft, a server with several processes under another account.
const LAB: &str = r#"
name = "killed"
[hosts]
client = {}
router = { forwards = true, nat44 = { masquerade = ["server"] } }
server = {}
[links]
near = ["client", "router"]
far = { between = ["router", "server"], delay = "2ms", rate = "100Mbit/s", mechanism = "emulator" }
[services.nginx]
host = "server"
command = ["nginx", "-p", "{dir}", "-e", "{dir}/errors", "-c", "{dir}/nginx.conf"]
package = "nginx"
urls = ["http://[{server.ipv6}]", "http://{server.ipv4}"]
[services.nginx.files]
"nginx.conf" = """
daemon off;
pid {dir}/pid;
worker_processes 2;
events { worker_connections 64; }
http {
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    access_log off;
    error_log {dir}/errors;
    server { listen 80; listen [::]:80 ipv6only=on; return 200 "well\n"; }
}
"""
"#;

const STUDY: &str = r#"
name = "killed"
repetitions = 1000
[lab]
file = "lab.toml"
capture = { at = "server", interface = "router" }
[options]
from = "client"
count = 3
concurrency = 1
no-keep-alive = true
[factors]
family = ["ipv6", "ipv4"]
"#;

/// Rounds: of a lab and of a study in one by turns, of which each time another process is killed.
const ROUNDS: usize = 20;

#[test]
fn nothing_is_left_of_a_lab_whichever_of_its_processes_is_killed() {
    if without(&["nginx", "nftables"]) {
        return;
    }
    let before = Machine::now();
    for round in 0..ROUNDS {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("lab.toml"), LAB).unwrap();
        fs::write(dir.path().join("study.toml"), STUDY).unwrap();
        let temporary = dir.path().join("tmp");
        fs::create_dir(&temporary).unwrap();
        let of_study = round % 2 == 1;
        let mut outer = if of_study { study(dir.path()) } else { lab(dir.path(), round) };
        // Three of sixmark's own and nginx's; each host has a network and mounts. nginx may answer
        // before it has begun its last process.
        let mut tree = Tree::of(outer.id());
        until("all of them are there", || {
            tree = Tree::of(outer.id());
            let (processes, namespaces) = tree.size();
            if processes >= 6 && namespaces >= 9 { Vec::new() } else { vec![format!("{tree:?}")] }
        });
        let keeper = child(outer.id());
        let victim = [outer.id(), keeper, child(keeper)][round / 2 % 3];
        signal(victim, "KILL");
        assert!(!outer.wait().unwrap().success());
        tree.is_gone();
        before.has_nothing_new();
        assert_eq!(entries(&temporary), [""; 0], "round {round}");
    }
}

#[test]
fn nothing_is_left_of_a_tested_program_whichever_process_of_sixmark_is_killed() {
    if without(&["tayga", "unbound"]) {
        return;
    }
    let before = Machine::now();
    for victim in 0..3 {
        // In the command's network are a name server, a translator, sixmark's own server, and the client.
        let words = ["only6", "--scenarios", "nat64-to-ipv4", "--patience", "600"];
        let client = ["--client", "sh -c 'setsid sleep 1000 & exec sleep 1000'"];
        let mut command = command(&[&words[..], &client].concat());
        let mut outer = command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut tree = Tree::of(outer.id());
        until("the client is there", || {
            tree = Tree::of(outer.id());
            let (processes, namespaces) = tree.size();
            if processes >= 8 && namespaces >= 9 { Vec::new() } else { vec![format!("{tree:?}")] }
        });
        let keeper = child(outer.id());
        signal([outer.id(), keeper, child(keeper)][victim], "KILL");
        assert!(!outer.wait().unwrap().success());
        tree.is_gone();
        before.has_nothing_new();
    }
}

fn lab(dir: &Path, round: usize) -> Child {
    let file = dir.join("lab.toml").display().to_string();
    let name = format!("killed-{}-{round}", std::process::id());
    let out = dir.join("out");
    let mut command = command(&["lab", "up", "--name", &name, &file]);
    command.env("TMPDIR", dir.join("tmp")).stderr(Stdio::inherit());
    let mut child = command.stdout(fs::File::create(&out).unwrap()).spawn().unwrap();
    wait(&mut child, || {
        fs::read_to_string(&out).is_ok_and(|said| said.contains("Ctrl-C ends it."))
    });
    child
}

/// Under way: a cell is kept, and more follow.
fn study(dir: &Path) -> Child {
    let file = dir.join("study.toml").display().to_string();
    let out = dir.join("kept");
    let words = ["study", "run", &file, "--quiet", "--out", &out.display().to_string()];
    let mut command = command(&words);
    command.env("TMPDIR", dir.join("tmp")).stdout(Stdio::null()).stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    wait(&mut child, || {
        fs::read_dir(out.join("cells")).is_ok_and(|mut cells| cells.next().is_some())
    });
    child
}

fn wait(child: &mut Child, is_up: impl Fn() -> bool) {
    until("it is up", || {
        assert_eq!(child.try_wait().unwrap(), None, "it ended");
        if is_up() { Vec::new() } else { vec![String::new()] }
    });
}
