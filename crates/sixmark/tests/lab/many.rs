//! Very many connections at once.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use sixmark_model::result::RunResult;
use sixmark_testkit::figures::{assert_normal, of, take_turn};
use sixmark_testkit::{check, command, document, finish, script, signal, skipped};
use sixmark_units::family::Family;

/// The origin as a program, so that its memory is not the load generator's.
struct Origin {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Origin {
    fn start() -> Origin {
        let mut child = command(&["origin", "--json"]).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Origin { child, out }
    }

    /// The URLs of `path`.
    fn urls(&mut self, path: &str) -> Vec<String> {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let addresses = told["addresses"].as_array().unwrap().iter();
        addresses.map(|address| address["url"].as_str().unwrap().to_owned() + path).collect()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        signal(self.child.id(), "TERM");
        let _ = self.child.wait();
    }
}

/// The most descriptors that a process was seen to have, until it ended.
fn most_open_files(pid: u32) -> usize {
    let mut most = 0;
    // The folder of a process that has ended but was not waited for is there and can't be read.
    while let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) {
        let count = files.filter(Result::is_ok).count();
        if count == 0 {
            break;
        }
        most = most.max(count);
        sleep(Duration::from_millis(20));
    }
    most
}

#[test]
fn ten_thousand_connections_at_once_fit_in_64_mib() {
    if skipped("nofile") {
        return;
    }
    let _turn = take_turn();
    let mut origin = Origin::start();
    let urls = origin.urls("delay/6000");
    let load =
        ["run", "-q", "--json", "-", "-c", "10000", "-n", "20000", "-t", "1", "--no-keep-alive"];
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    // What started the run has more memory than it may have: that must not count as its own.
    let ballast = std::hint::black_box(vec![1u8; 128 << 20]);
    let child = command(&[&load[..], &["--timeout", "60s"], &urls].concat()).spawn().unwrap();
    drop(ballast);
    let pid = child.id();
    // Reads what the run says meanwhile, for its document is larger than a pipe.
    let run = std::thread::spawn(move || finish(child));
    let files = most_open_files(pid);
    let output = run.join().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}; SIXMARK_SKIP=nofile leaves this test out");
    let result: RunResult = serde_json::from_value(document(&output)).unwrap();
    let memory = result.generator.peak_rss_bytes;
    println!("{files} open files, {:.1} MiB, {:.3} s", memory as f64 / 1048576.0, result.elapsed_s);
    for family in Family::BOTH {
        assert_normal(of(&result, family), 10_000);
        assert!(of(&result, family).connections.opened >= 5_000);
    }
    assert!(files >= 10_000, "only {files} files were open at once");
    assert!(memory < 64 << 20, "{memory} bytes");
}

/// In a network of its own, whose sockets can be counted: a limit of 200 open files on either side,
/// 1,500 connections over 8 threads.
const BEYOND: &str = "
    ulimit -n 200 && ip link set lo up && ip -6 route add local fd00:6::/64 dev lo || exit 99
    \"$1\" origin --turbo -t 16 --listen '[::1]:80' --listen 127.0.0.1:80 >\"$2/up\" &
    server=$!; until [ -s \"$2/up\" ]; do kill -0 $server || exit 98; done
    \"$1\" run -q --json - --driver uring --preopen -c 1500 -t 8 -d 30s --rate 2000/s \\
        --source fd00:6::/112 --source 127.6.0.0/16 'http://[::1]/' http://127.0.0.1/ >\"$2/json\" &
    run=$!; most=0
    while [ \"$(cut -d ' ' -f 3 /proc/$run/stat)\" != Z ] && [ $most -lt 3000 ]; do
        now=$(awk '/^TCP6?:/ { n += $3 } END { print n }' /proc/net/sockstat /proc/net/sockstat6)
        [ $now -le $most ] || most=$now
    done
    kill -INT $run; wait $run; status=$?
    [ $status = 130 ] && status=0
    kill $server; cat \"$2/json\"; echo \"most $most\" >&2; exit $status";

#[test]
fn over_io_uring_connections_go_beyond_the_limit_on_open_files() {
    if skipped("netns") {
        return;
    }
    let _turn = take_turn();
    let output = script(&["unshare", "-n", "sh"], BEYOND);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    check(&result);
    let result: RunResult = serde_json::from_value(result).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let opened = Family::BOTH.map(|family| {
        let connections = of(&result, family).connections;
        assert_eq!(connections.unopened, 0, "{family}: {said}");
        connections.opened
    });
    // Half of the threads have an odd number, and whose the last one is is drawn.
    assert!(opened[0].abs_diff(750) <= 4, "{opened:?}: {said}");
    assert_eq!(opened[0] + opened[1], 1_500, "{said}");
    // Both ends of each are in this network.
    let most = said.lines().find_map(|line| line.strip_prefix("most ")).unwrap();
    assert!(most.parse::<u64>().unwrap() >= 3_000, "{said}");
}
