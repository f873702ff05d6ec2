//! An interface, while `sixmark run` loads a server over it.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use sixmark_sys::netns::NetNs;
use sixmark_testkit::watch::watched;
use sixmark_testkit::{DEADLINE, command, document, finish, signal, skipped};

/// A network of its own whose loopback is up, and sixmark's own server in it.
struct Place {
    network: NetNs,
    server: Child,
    addresses: Vec<String>,
}

impl Place {
    fn new() -> Place {
        let network = NetNs::create().unwrap();
        let up = || Command::new("ip").args(["link", "set", "lo", "up"]).status();
        assert!(network.within(up).unwrap().success());
        let mut origin =
            command(&["origin", "--json", "--listen", "[::1]:0", "--listen", "127.0.0.1:0"]);
        let mut server = network.within(|| origin.spawn()).unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let addresses = told["addresses"].as_array().unwrap().iter();
        let of = |url: &str| url.split('/').nth(2).unwrap().to_owned();
        let addresses = addresses.map(|address| of(address["url"].as_str().unwrap())).collect();
        Place { network, server, addresses }
    }

    fn ports(&self) -> String {
        let port = |address: &String| address.rsplit(':').next().unwrap().to_owned();
        self.addresses.iter().map(port).collect::<Vec<_>>().join(",")
    }

    fn start(&self, command: &mut Command) -> Child {
        self.network.within(|| command.spawn()).unwrap()
    }

    /// What a run in this network says.
    fn run(&self, path: &str, more: &[&str]) -> Value {
        let urls: Vec<String> =
            self.addresses.iter().map(|address| format!("http://{address}{path}")).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let arguments = [&["run", "-q", "--json", "-"], more, &urls].concat();
        document(&finish(self.start(&mut command(&arguments))))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        signal(self.server.id(), "TERM");
        let _ = self.server.wait();
    }
}

/// A program that has said a word on its standard error.
fn until_it_says(child: &mut Child, word: &str) -> BufReader<ChildStderr> {
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(word) {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended before it said '{word}'");
    }
    lines
}

/// What a family did.
fn counted(document: &Value, family: &str) -> [Value; 6] {
    let figures = &document["families"][family];
    [
        "/requests/completed",
        "/status",
        "/connections/opened",
        "/bytes/body",
        "/bytes/received",
        "/bytes/sent",
    ]
    .map(|path| figures.pointer(path).unwrap().clone())
}

#[test]
fn a_watch_counts_what_the_run_counts() {
    if skipped("netns") {
        return;
    }
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept.pcap");
    for (path, more) in [
        ("/bytes/3000", &["-n", "600", "-c", "6"][..]),
        ("/bytes/10", &["-n", "300", "-c", "3", "--no-keep-alive"]),
        ("/no-such-page", &["-n", "100", "-c", "2"]),
    ] {
        let ports = place.ports();
        let arguments = ["watch", "-i", "lo", "--port", &ports, "--json", "-", "-w"];
        let file = file.to_str().unwrap();
        let mut watch = place.start(&mut command(&[&arguments[..], &[file]].concat()));
        let errors = until_it_says(&mut watch, "watching lo");
        let run = place.run(path, more);
        signal(watch.id(), "INT");
        let seen = document(&finish(watch));
        drop(errors);
        assert_eq!(seen["watched"]["dropped"], 0);
        let (again, _) = watched(Path::new(file), &["--port", &ports]);
        for family in ["ipv6", "ipv4"] {
            let expected = counted(&run, family);
            assert_eq!(counted(&seen, family), expected, "{path}");
            assert_eq!(counted(&again, family), expected, "{path}, from the file");
            let closures = &seen["watched"]["families"][family]["closures"];
            assert_eq!(closures["NORMAL"], expected[2], "{closures}");
        }
    }
}

#[test]
fn a_timed_watch_completes_and_an_early_end_is_marked_interrupted() {
    if skipped("netns") {
        return;
    }
    let place = Place::new();
    let arguments = ["watch", "-d", "1s", "--json", "-", "-q"];
    let mut watch = place.start(&mut command(&arguments));
    // Nothing tells when it has begun: for as long as it lasts there is something to see.
    while watch.try_wait().unwrap().is_none() {
        place.run("/bytes/10", &["-n", "20", "-c", "1"]);
    }
    let seen = document(&finish(watch));
    assert_eq!(
        (&seen["ended"], &seen["watched"]["sources"][0]["name"]),
        (&"complete".into(), &"lo".into())
    );
    let mut watch = place.start(&mut command(&["watch", "-d", "1h", "--json", "-"]));
    let errors = until_it_says(&mut watch, "watching lo");
    place.run("/bytes/10", &["-n", "20", "-c", "1"]);
    signal(watch.id(), "TERM");
    let seen = document(&finish(watch));
    drop(errors);
    assert_eq!(seen["ended"], "interrupted");
    assert_eq!(seen["total"]["requests"]["completed"], 20);
}

#[test]
fn a_full_packet_file_loses_neither_the_table_nor_the_document() {
    if skipped("netns") {
        return;
    }
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("document");
    let to = json.to_str().unwrap();
    let words = ["watch", "-i", "lo", "--port", &place.ports(), "--json", to, "-w", "/dev/full"];
    let mut watch = place.start(&mut command(&words));
    let mut errors = until_it_says(&mut watch, "watching lo");
    place.run("/bytes/3000", &["-n", "600", "-c", "6"]);
    signal(watch.id(), "INT");
    let output = finish(watch);
    let mut said = String::new();
    errors.read_to_string(&mut said).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(said.matches("can't write packets to '/dev/full'").count(), 1, "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("requests sent"), "{said}");
    let document: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    sixmark_testkit::forms::WATCH.check(&document);
    assert_eq!(document["total"]["requests"]["completed"], 600);
}

#[test]
fn a_killed_watch_has_written_every_finished_connection() {
    if skipped("netns") {
        return;
    }
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("connections.csv");
    let to = file.to_str().unwrap();
    let words = ["watch", "-i", "lo", "--port", &place.ports(), "--connections", to];
    let mut watch = place.start(&mut command(&words));
    let _errors = until_it_says(&mut watch, "watching lo");
    place.run("/bytes/10", &["-n", "20", "-c", "2", "--no-keep-alive"]);
    let began = Instant::now();
    let lines = || fs::read_to_string(&file).unwrap().lines().count();
    while lines() < 21 {
        assert!(began.elapsed() < DEADLINE, "{} lines", lines());
        std::thread::yield_now();
    }
    signal(watch.id(), "KILL");
    assert!(!finish(watch).status.success());
    assert_eq!(lines(), 21);
}

#[test]
fn a_capture_by_tcpdump_gives_the_same_counts_as_the_run() {
    if skipped("netns") || skipped("tcpdump") {
        return;
    }
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tcpdump.pcap");
    let mut tcpdump = Command::new("tcpdump");
    tcpdump.args(["-i", "lo", "-n", "-U", "--immediate-mode", "-s", "512", "-w", "-", "tcp"]);
    tcpdump.stdout(Stdio::from(File::create(&file).unwrap())).stderr(Stdio::piped());
    let mut tcpdump = place.start(&mut tcpdump);
    let errors = until_it_says(&mut tcpdump, "listening on");
    let run = place.run("/bytes/700", &["-n", "200", "-c", "2"]);
    let begun = Instant::now();
    let seen = loop {
        assert!(begun.elapsed() < DEADLINE, "not all was written");
        let output =
            sixmark_testkit::sixmark(&["watch", "-q", "--json", "-", "-r", file.to_str().unwrap()]);
        // It may not have begun to write.
        if matches!(output.status.code(), Some(0)) {
            let seen = document(&output);
            let normal = |family: &str| {
                let of = &seen["watched"]["families"][family]["closures"]["NORMAL"];
                of.as_u64().unwrap_or(0)
            };
            if normal("ipv6") + normal("ipv4")
                == run["total"]["connections"]["opened"].as_u64().unwrap()
            {
                break seen;
            }
        }
    };
    signal(tcpdump.id(), "INT");
    tcpdump.wait().unwrap();
    drop(errors);
    for family in ["ipv6", "ipv4"] {
        assert_eq!(counted(&seen, family), counted(&run, family));
    }
    assert!(fs::metadata(&file).unwrap().len() > 0);
}
