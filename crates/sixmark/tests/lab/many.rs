//! Very many connections at once.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use sixmark_result::result::RunResult;
use sixmark_sys::limit::raise_open_files;
use sixmark_testkit::figures::{assert_normal, of, take_turn};
use sixmark_testkit::{check, command, document, finish, script, skipped};
use sixmark_units::family::Family;
use socket2::{Domain, Socket, Type};

/// How many connections of each family are open at once.
const EACH: usize = 5_000;

/// A server that answers no request before so many connections of each family are open, and it has been
/// let.
struct Crowd {
    addresses: [SocketAddr; 2],
    /// Told once by each family, when they are open.
    full: Receiver<()>,
    let_go: Arc<Barrier>,
}

impl Crowd {
    fn start() -> Crowd {
        let (sender, full) = channel();
        let let_go = Arc::new(Barrier::new(3));
        let own = [IpAddr::from(Ipv6Addr::LOCALHOST), IpAddr::from(Ipv4Addr::LOCALHOST)];
        let addresses = own.map(|own| {
            let listener = listen(SocketAddr::new(own, 0));
            let address = listener.local_addr().unwrap();
            let (full, let_go) = (Sender::clone(&sender), Arc::clone(&let_go));
            std::thread::spawn(move || serve(&listener, &full, &let_go));
            address
        });
        Crowd { addresses, full, let_go }
    }

    /// Waits until all are open. False if the run has ended before.
    fn is_full(&self, run: &JoinHandle<std::process::Output>) -> bool {
        let mut left = Family::BOTH.len();
        while left > 0 {
            match self.full.recv_timeout(Duration::from_millis(100)) {
                Ok(()) => left -= 1,
                Err(RecvTimeoutError::Timeout) if !run.is_finished() => {}
                Err(_) => return false,
            }
        }
        true
    }
}

fn listen(own: SocketAddr) -> TcpListener {
    let socket = Socket::new(Domain::for_address(own), Type::STREAM, None).unwrap();
    socket.bind(&own.into()).unwrap();
    socket.listen(4_096).unwrap();
    socket.into()
}

fn serve(listener: &TcpListener, full: &Sender<()>, let_go: &Barrier) {
    let mut streams = listener.incoming().flatten();
    let first: Vec<TcpStream> = streams.by_ref().take(EACH).collect();
    let _ = full.send(());
    let_go.wait();
    first.into_iter().chain(streams).for_each(answer);
}

fn answer(mut stream: TcpStream) {
    let (mut head, mut piece) = (Vec::new(), [0; 1_024]);
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(count @ 1..) => head.extend_from_slice(&piece[..count]),
            _ => return,
        }
    }
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

/// The bytes of a process's memory that are its own, not those of files: how much of the program itself
/// is resident depends on what else the machine has in its cache.
fn own_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn ten_thousand_connections_at_once_fit_in_64_mib() {
    if skipped("nofile") {
        return;
    }
    let _turn = take_turn();
    raise_open_files(2 * EACH as u64 + 100).expect("SIXMARK_SKIP=nofile leaves this test out");
    let crowd = Crowd::start();
    let urls = crowd.addresses.map(|address| format!("http://{address}/"));
    let load =
        ["run", "-q", "--json", "-", "-c", "10000", "-n", "20000", "-t", "1", "--no-keep-alive"];
    // What started the run has more memory than it may have: that must not count as its own.
    let ballast = std::hint::black_box(vec![1u8; 256 << 20]);
    let more = ["--timeout", "1h", &urls[0], &urls[1]];
    let child = command(&[&load[..], &more].concat()).spawn().unwrap();
    drop(ballast);
    let pid = child.id();
    // Reads what the run says meanwhile, for its document is larger than a pipe.
    let run = std::thread::spawn(move || finish(child));
    let at_once = crowd.is_full(&run).then(|| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
        let memory = own_memory(pid);
        crowd.let_go.wait();
        (files, memory)
    });
    let output = run.join().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}; SIXMARK_SKIP=nofile leaves this test out");
    let result: RunResult = serde_json::from_value(document(&output)).unwrap();
    let (files, memory) = at_once.unwrap();
    let peak = result.generator.peak_rss_bytes;
    println!("{files} open files, {memory} bytes of its own, {peak} resident at most");
    for family in Family::BOTH {
        assert_normal(of(&result, family), 10_000);
        assert!(of(&result, family).connections.opened >= EACH as u64);
    }
    assert!(files >= 10_000, "only {files} files were open at once");
    assert!(memory < 64 << 20, "{memory} bytes");
    assert!((memory..256 << 20).contains(&peak), "{peak} bytes, of which {memory} at once");
}

/// In a network of its own, whose sockets can be counted: a limit of 200 open files on either side,
/// 1,500 connections over 8 threads.
const BEYOND: &str = "
    ulimit -n 200 && ip link set lo up && ip -6 route add local fd00:6::/64 dev lo || exit 99
    \"$1\" origin --turbo -t 16 --listen '[::1]:80' --listen 127.0.0.1:80 >\"$2/up\" &
    server=$!; until [ -s \"$2/up\" ]; do kill -0 $server || exit 98; done
    \"$1\" run -q --json - --driver uring --preopen -c 1500 -t 8 -d 250s --rate 2000/s --timeout 1h \\
        --source fd00:6::/112 --source 127.6.0.0/16 'http://[::1]/' http://127.0.0.1/ >\"$2/json\" &
    run=$!; most=0
    while [ \"$(cut -d ' ' -f 3 /proc/$run/stat)\" != Z ] && [ $most -lt 3000 ]; do
        now=$(awk '/^TCP6?:/ { n += $3 } END { print n }' /proc/net/sockstat /proc/net/sockstat6)
        [ $now -le $most ] || most=$now
    done
    kill -TERM $run; wait $run; status=$?
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
