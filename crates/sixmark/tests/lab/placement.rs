//! Agents that are placed on hosts through real OpenSSH, and in a lab. A stand-in for the agent
//! speaks its end of the tunnel.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sixmark_fleet::engine::placement::tunnel::GreetedTunnel;
use sixmark_fleet::engine::placement::{AgentProgram, Placed, PlacementTerms, end_all, place_all};
use sixmark_sys::command_error::CommandError;
use sixmark_testkit::DEADLINE;
use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::signal;
use sixmark_testkit::ssh::{SshSite, without_openssh, write_script};
use tempfile::TempDir;

use super::traces::until;

/// Whether this process is a stand-in, and for which side.
const STAND_IN: &str = "SIXMARK_TEST_STAND_IN";
/// The command, the server and the program to copy of a stand-in for the controller.
const GIVEN: &str = "SIXMARK_TEST_GIVEN";

/// What an agent's script does with its version.
const VERSION: &str =
    concat!("[ \"$1\" = --version ] && { echo sixmark ", env!("CARGO_PKG_VERSION"), "; exit; }");

/// Not a test: what the tests start, on hosts too.
#[test]
#[ignore = "the tests of this file start it"]
fn stand_in() {
    match std::env::var(STAND_IN).as_deref() {
        Ok("agent") => stand_in_for_an_agent(),
        Ok("controller") => stand_in_for_a_controller(),
        _ => {}
    }
}

/// Sends `hello` through the tunnel, which must come back, and stays until the tunnel ends.
fn stand_in_for_an_agent() {
    let (greeted, hello) =
        GreetedTunnel::greet(io::stdin(), io::stdout()).unwrap_or_else(|error| {
            eprintln!("sixmark: {error}");
            std::process::exit(3)
        });
    let (sender, end) = channel();
    let answer = std::process::id().to_string();
    let tunnel =
        greeted.open(answer.as_bytes(), move |reason| sender.send(reason.to_owned()).unwrap());
    let tunnel = tunnel.unwrap();
    let mut socket = TcpStream::connect(tunnel.address()).unwrap();
    socket.write_all(&hello).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut echo = Vec::new();
    socket.read_to_end(&mut echo).unwrap();
    eprintln!("echo: {}", String::from_utf8_lossy(&echo));
    let _ = end.recv();
    std::process::exit(0);
}

/// Places agents on three hosts, writes their process ids and waits to be killed.
fn stand_in_for_a_controller() {
    let given = std::env::var(GIVEN).unwrap();
    let [ssh, server, executable] = given.split('\n').collect::<Vec<_>>()[..] else { panic!() };
    let mut terms = terms(ssh, server.parse().unwrap());
    terms.program.copied = true;
    terms.program.executable = executable.into();
    let placed = place("h0,h1,h2", &terms).unwrap();
    placed.iter().for_each(|one| eprintln!("placed {} {}", pid(one), one.id()));
    loop {
        std::thread::park();
    }
}

/// The script that starts a stand-in for the agent.
fn agent_script() -> String {
    format!("{VERSION}\nexec {}", stand_in_command("agent"))
}

fn stand_in_command(side: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let name = "placement::stand_in --ignored --exact --nocapture --test-threads=1";
    format!("env {STAND_IN}={side} {} {name}", this.display())
}

fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let echo = |socket: TcpStream| {
        let _ = io::copy(&mut &socket, &mut &socket);
        let _ = socket.shutdown(Shutdown::Write);
    };
    std::thread::spawn(move || {
        listener
            .incoming()
            .for_each(|socket| drop(std::thread::spawn(move || echo(socket.unwrap()))));
    });
    address
}

fn site() -> SshSite {
    let (v6, v4) = (Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into());
    SshSite::start(&[v6, v4, v6])
}

fn terms(ssh: &str, server: SocketAddr) -> PlacementTerms<'static> {
    PlacementTerms {
        program: AgentProgram::this_one(false),
        ssh: ssh.parse().unwrap(),
        server,
        own_lab: None,
        patience: DEADLINE,
        lines: Arc::new(|_, _| {}),
    }
}

fn place(hosts: &str, terms: &PlacementTerms<'_>) -> Result<Vec<Placed>, CommandError> {
    let hello = |name: &_| format!("hello {name}").into_bytes();
    place_all(&hosts.parse().unwrap(), hello, terms, &AtomicBool::new(false))
}

/// The process id of the stand-in on the host.
fn pid(placed: &Placed) -> u32 {
    std::str::from_utf8(placed.answer()).unwrap().parse().unwrap()
}

fn is_gone(what: &str, pid: u32) {
    until(what, || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z ") { Vec::new() } else { vec![stat] }
    });
}

fn is_empty(folder: &Path) {
    until("nothing is left", || {
        let entries = fs::read_dir(folder).unwrap().flatten();
        entries.map(|entry| entry.path().display().to_string()).collect()
    });
}

/// The closest ancestor of a process that has this name.
fn ancestor(mut pid: u32, name: &str) -> u32 {
    loop {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let field = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim().to_owned()
        };
        if field("Name:") == name {
            return pid;
        }
        pid = field("PPid:").parse().unwrap();
    }
}

#[test]
fn agents_on_three_hosts_reach_the_server_and_end_with_their_controller() {
    if without_openssh() {
        return;
    }
    let site = site();
    (0..3).for_each(|host| site.install(host, "sixmark", &agent_script()));
    let mut terms = terms(&site.ssh(), echo_server());
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let its = Arc::clone(&lines);
    terms.lines = Arc::new(move |name, line| its.lock().unwrap().push(format!("{name}: {line}")));
    let mut placed = place("h0,h1,h2", &terms).unwrap();
    assert!(placed.iter_mut().all(|one| one.is_alive() && one.loss().is_none()));
    until("every agent has its echo", || {
        let all = lines.lock().unwrap();
        let wanted = ["h0", "h1", "h2"].map(|name| format!("{name}: echo: hello {name}"));
        wanted.into_iter().filter(|line| !all.contains(line)).collect()
    });
    let ids: Vec<u32> = placed.iter().map(pid).collect();
    end_all(placed, DEADLINE);
    ids.into_iter().for_each(|id| is_gone("agents end", id));
}

#[test]
fn runs_a_copy_on_hosts_without_sixmark_and_leaves_nothing_behind() {
    if without_openssh() {
        return;
    }
    let (site, dir) = (site(), TempDir::new().unwrap());
    let mut terms = terms(&site.ssh(), echo_server());
    terms.program.copied = true;
    terms.program.executable = large_program(dir.path());
    let placed = place("h0,h1,h2", &terms).unwrap();
    (0..3).for_each(|host| is_empty(&site.temporary(host)));
    let ids: Vec<u32> = placed.iter().map(pid).collect();
    drop(placed);
    ids.into_iter().for_each(|id| is_gone("agents end", id));
}

/// A stand-in for the agent as large as a program.
fn large_program(dir: &Path) -> PathBuf {
    let path = dir.join("program");
    write_script(&path, &format!("{}\n# {}", agent_script(), "x".repeat(32 << 20)));
    path
}

#[test]
fn names_the_host_and_why_it_cannot_run_an_agent() {
    if without_openssh() {
        return;
    }
    let site = site();
    site.install(1, "sixmark", "echo sixmark 0.0.7");
    site.install(2, "sixmark", &agent_script());
    let terms = terms(&site.ssh(), echo_server());
    for (hosts, start, end) in [
        ("h2,h0", "sixmark is not installed on h0: ", "or add --copy-sixmark"),
        ("h1", "h1 has 'sixmark 0.0.7', this is sixmark ", "or add --copy-sixmark"),
        ("closed", "can't reach closed: ssh: connect to host ::1 port ", "Connection refused"),
        ("stranger", "can't reach stranger: Host key verification failed.", ""),
        ("h0,h2,h1", "sixmark is not installed on h0: ", "(and no agent could be placed on h1)"),
    ] {
        let error = place(hosts, &terms).unwrap_err();
        let CommandError::Measure(line) = &error else { panic!("{error:?}") };
        assert!(line.starts_with(start) && line.ends_with(end), "{hosts}: {line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}

#[test]
fn reports_a_copy_or_an_ssh_program_that_cannot_run() {
    if without_openssh() {
        return;
    }
    let (site, dir) = (site(), TempDir::new().unwrap());
    let mut terms = terms(&site.ssh(), echo_server());
    terms.program.copied = true;
    terms.program.executable = dir.path().join("program");
    fs::write(&terms.program.executable, "#!/lib/ld-of-another-libc\n").unwrap();
    let line = place("h1", &terms).unwrap_err().to_string();
    assert!(line.starts_with("the copy of sixmark does not run on h1: "), "{line}");
    is_empty(&site.temporary(1));
    terms.ssh = "no-such-ssh".parse().unwrap();
    let line = place("h1", &terms).unwrap_err().to_string();
    assert!(line.contains("'no-such-ssh' is not installed here"), "{line}");
}

#[test]
fn an_agent_ends_when_its_connection_is_lost() {
    if without_openssh() {
        return;
    }
    let site = site();
    (0..3).for_each(|host| site.install(host, "sixmark", &agent_script()));
    let terms = terms(&site.ssh(), echo_server());
    let mut placed = place("h0,h1,h2", &terms).unwrap();
    let ids: Vec<u32> = placed.iter().map(pid).collect();
    signal(placed[0].id(), "KILL");
    signal(ancestor(ids[1], "sshd"), "KILL");
    for index in [0, 1] {
        is_gone("the agent ends", ids[index]);
        until("it is noticed", || {
            if placed[index].is_alive() { vec![index.to_string()] } else { Vec::new() }
        });
        let line = placed[index].loss().unwrap();
        assert!(line.starts_with(&format!("the agent on h{index} is gone")), "{line}");
    }
    assert!(placed[2].is_alive());
    end_all(placed, DEADLINE);
    is_gone("the last agent ends", ids[2]);
}

#[test]
fn killing_the_controller_leaves_no_agents_or_files_behind() {
    if without_openssh() {
        return;
    }
    let (site, dir) = (site(), TempDir::new().unwrap());
    let given =
        [site.ssh(), echo_server().to_string(), large_program(dir.path()).display().to_string()];
    let mut controller = Command::new("sh")
        .args(["-c", &format!("exec {}", stand_in_command("controller"))])
        .env(GIVEN, given.join("\n"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(controller.stderr.take().unwrap()).lines();
    let mut ids = Vec::new();
    for line in said.map(Result::unwrap).filter(|line| line.starts_with("placed ")).take(3) {
        ids.extend(line.split(' ').skip(1).map(|id| id.parse::<u32>().unwrap()));
    }
    assert_eq!(ids.len(), 6);
    signal(controller.id(), "KILL");
    controller.wait().unwrap();
    ids.into_iter().for_each(|id| is_gone("ssh and agents end", id));
    (0..3).for_each(|host| is_empty(&site.temporary(host)));
}

#[test]
fn a_host_without_loopback_is_reported() {
    if without(&[]) {
        return;
    }
    let dir = TempDir::new().unwrap();
    let ssh = dir.path().join("ssh");
    let script = "for last; do :; done\nexport PATH=$(dirname \"$0\"):$PATH\nexec unshare -n sh -c \"$last\"";
    write_script(&ssh, script);
    write_script(&dir.path().join("sixmark"), &agent_script());
    let terms = terms(&ssh.display().to_string(), echo_server());
    let line = place("bare", &terms).unwrap_err().to_string();
    let start = "the agent on bare ended with status 3: the tunnel failed: neither 127.0.0.1 nor";
    assert!(line.starts_with(start), "{line}");
}

#[test]
fn an_agent_is_placed_in_a_host_of_a_lab() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up(
        "placement",
        "name = \"placement\"\n[hosts]\na = {}\nb = {}\n[links]\nl = [\"a\", \"b\"]\n",
        &[],
    );
    let dir = TempDir::new().unwrap();
    let enter = dir.path().join("enter");
    // As the agent does: --in HOST --lab LAB.
    let sixmark = env!("CARGO_BIN_EXE_sixmark");
    write_script(
        &enter,
        &format!("exec {sixmark} lab exec --lab \"$6\" \"$4\" {}", stand_in_command("agent")),
    );
    let mut terms = terms("no-ssh", echo_server());
    terms.program.executable = enter;
    let hosts = format!("lab:{}/a,lab:{}/b", lab.name(), lab.name());
    let mut placed = place(&hosts, &terms).unwrap();
    assert!(placed.iter_mut().all(Placed::is_alive));
    until("every agent has its echo", || {
        let silent = placed.iter().filter(|one| !one.last_words().contains("echo: hello "));
        silent.map(|one| one.name().to_string()).collect()
    });
    let ids: Vec<u32> = placed.iter().map(Placed::id).collect();
    end_all(placed, DEADLINE);
    ids.into_iter().for_each(|id| is_gone("agents end", id));
    let line = place(&format!("lab:{}/nobody", lab.name()), &terms).unwrap_err().to_string();
    assert!(line.starts_with("can't place an agent on lab:") && line.contains("nobody"), "{line}");
}

#[test]
fn a_signal_ends_the_wait_for_hosts() {
    let terms = PlacementTerms {
        patience: Duration::MAX,
        ..terms("sh -c 'exec sleep 1000'", SocketAddr::from((Ipv6Addr::LOCALHOST, 1)))
    };
    let stop = AtomicBool::new(true);
    let hosts = "a,b".parse().unwrap();
    let error = place_all(&hosts, |_| Vec::new(), &terms, &stop).unwrap_err();
    assert!(matches!(error, CommandError::Interrupted(_)), "{error:?}");
}
