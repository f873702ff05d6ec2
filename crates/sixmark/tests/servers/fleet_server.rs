//! Servers of NATS: one that is started for a command, and a standing one.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use sixmark_fleet::engine::nats::address::NatsAddress;
use sixmark_fleet::engine::nats::agent::NatsAgent;
use sixmark_fleet::engine::nats::controller::NatsController;
use sixmark_fleet::engine::nats::credentials::Credentials;
use sixmark_fleet::engine::nats::init::write_fleet;
use sixmark_fleet::engine::nats::roster::{add_agents, revoke_agents};
use sixmark_fleet::engine::transport::{AgentSide as _, ControllerSide as _, TransportError};
use sixmark_fleet::names::AgentName;
use sixmark_testkit::nats::{LOOPBACKS, SKIP, nats_server_folder, start_nats};
use sixmark_testkit::process::Process;
use sixmark_testkit::transport::{agent_name, echo, load_name, record};
use sixmark_testkit::{DEADLINE, signal, skipped};

/// The interval between two checks of a condition that cannot be waited for.
const LOOK: Duration = Duration::from_millis(10);
/// Makes a test hold a server until it is killed.
const HOLD: &str = "SIXMARK_TEST_HOLDS_A_SERVER";

fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !is_true() {
        assert!(Instant::now() < end, "{what}");
        sleep(LOOK);
    }
}

/// The private folder of a server, in which it runs.
fn folder_of(server: u32) -> PathBuf {
    fs::read_link(format!("/proc/{server}/cwd")).unwrap()
}

fn runs(id: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = state.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, None | Some('Z'))
}

#[test]
fn a_server_and_its_folder_are_gone_after_a_drop() {
    if skipped(SKIP) {
        return;
    }
    for loopback in LOOPBACKS {
        let server = start_nats(loopback);
        let (id, folder) = (server.id(), folder_of(server.id()));
        assert!(folder.join("store").exists());
        drop(server);
        assert!(!runs(id) && !folder.exists());
    }
}

/// This test starts itself once more, as the process that is killed.
#[test]
fn a_server_and_its_folder_are_gone_after_a_kill() {
    if skipped(SKIP) {
        return;
    }
    let [loopback, _] = LOOPBACKS;
    if std::env::var_os(HOLD).is_some() {
        let server = start_nats(loopback);
        eprintln!("server {}", server.id());
        // It is killed while it waits.
        let _ = std::io::stdin().read(&mut [0]);
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "fleet_server::a_server_and_its_folder_are_gone_after_a_kill"])
        .arg("--nocapture")
        .env(HOLD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut holder = command.spawn().unwrap();
    let lines = BufReader::new(holder.stderr.take().unwrap()).lines();
    let said =
        lines.map(Result::unwrap).find_map(|line| line.strip_prefix("server ")?.parse().ok());
    let id: u32 = said.expect("it says which server it has");
    let folder = folder_of(id);
    assert!(runs(id) && folder.join("configuration").exists());
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait_until("the server goes on", || !runs(id));
    wait_until("the folder is still there", || !folder.exists());
}

/// A standing server on the files of `write_fleet`, and its port.
fn run_standing(folder: &Path) -> (Process, u16) {
    let mut command = Command::new(nats_server_folder().join("nats-server"));
    command.arg("--config").arg(folder.join("server.conf"));
    command.arg("--ports_file_dir").arg(folder).current_dir("/");
    let mut process = Process::start(&mut command, folder, "nats-server", SKIP);
    let mut port = None;
    let found = process.wait_until(|| {
        port = read_port(folder);
        port.is_some()
    });
    let said = || fs::read_to_string(folder.join("said.0")).unwrap_or_default();
    assert!(found, "the server ended: {}", said());
    (process, port.unwrap())
}

fn read_port(folder: &Path) -> Option<u16> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = { paths }.find(|path| path.extension().is_some_and(|ends| ends == "ports"))?;
    let ports: Value = serde_json::from_slice(&fs::read(file).unwrap()).ok()?;
    ports["nats"][0].as_str()?.rsplit(':').next()?.parse().ok()
}

fn read(folder: &Path, name: &str) -> Credentials {
    Credentials::read(&folder.join(name)).unwrap()
}

#[test]
fn a_standing_server_works_with_the_generated_fleet_files() {
    if skipped(SKIP) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    // With port 0 it listens on one that is free.
    write_fleet(folder, &names, 0, &[agent_name("a")]).unwrap();
    let (_server, port) = run_standing(folder);
    let [for_controller, for_agents] =
        ["controller.creds", "agents/a.creds"].map(|name| read(folder, name));
    // TLS is used under either scheme, since the credentials have a certificate.
    for scheme in ["tls", "nats"] {
        for host in ["[::1]", "127.0.0.1", "localhost"] {
            let address: NatsAddress = format!("{scheme}://{host}:{port}").parse().unwrap();
            let controller = NatsController::connect(&address, &for_controller).unwrap();
            let agent = NatsAgent::connect(&address, &for_agents, &agent_name("a")).unwrap();
            agent.serve(&agent_name("a"), echo("a")).unwrap();
            assert_eq!(controller.ask(&agent_name("a"), b"?", DEADLINE).unwrap(), b"a ?");
            let load = load_name("l");
            agent.publish(&record("l", "a", 0), DEADLINE).unwrap();
            let content = controller.records(&load).unwrap().next(DEADLINE).unwrap();
            assert_eq!(content.unwrap().content, record("l", "a", 0).content);
        }
    }
}

/// Agents come and go without an interruption of the others.
#[test]
fn reloading_the_server_applies_revoked_and_added_agent_keys() {
    if skipped(SKIP) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let [a, b, c] = ["a", "b", "c"].map(agent_name);
    write_fleet(folder, &["::1".to_owned()], 0, &[a.clone(), b.clone()]).unwrap();
    let (server, port) = run_standing(folder);
    let address: NatsAddress = format!("tls://[::1]:{port}").parse().unwrap();
    let controller = NatsController::connect(&address, &read(folder, "controller.creds")).unwrap();
    let connect = |name: &AgentName| {
        let credentials = read(folder, &format!("agents/{name}.creds"));
        let agent = NatsAgent::connect(&address, &credentials, name)?;
        agent.serve(name, echo(name.as_str())).map(|()| agent)
    };
    let revoked = read(folder, "agents/a.creds");
    let (of_a, of_b) = (connect(&a).unwrap(), connect(&b).unwrap());
    revoke_agents(folder, std::slice::from_ref(&a)).unwrap();
    add_agents(folder, std::slice::from_ref(&c)).unwrap();
    signal(server.id(), "HUP");
    wait_until("the revoked agent is told", || !of_a.is_open());
    let again = NatsAgent::connect(&address, &revoked, &a).map(drop);
    let Err(TransportError::Refused(line)) = again else { panic!("{again:?}") };
    assert!(line.contains("refuses these credentials"), "{line}");
    let _of_c = connect(&c).unwrap();
    for name in [&b, &c] {
        let answer = controller.ask(name, b"?", DEADLINE).unwrap();
        assert_eq!(answer, format!("{name} ?").into_bytes());
    }
    assert!(of_b.is_open());
}

#[test]
fn rejects_a_server_certificate_for_another_host_name() {
    if skipped(SKIP) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let names = ["fleet.example", "127.0.0.1"].map(str::to_owned);
    write_fleet(folder, &names, 0, &[agent_name("a")]).unwrap();
    let (_server, port) = run_standing(folder);
    let credentials = read(folder, "agents/a.creds");
    let connect = |host: &str, credentials: &Credentials| {
        let address = format!("tls://{host}:{port}").parse().unwrap();
        NatsAgent::connect(&address, credentials, &agent_name("a")).map(drop)
    };
    connect("127.0.0.1", &credentials).unwrap();
    // Nobody knows the authority but the credentials.
    let text = credentials.to_text();
    let (seed, _) = text.split_once("-----BEGIN CERTIFICATE").unwrap();
    let without = Credentials::parse(seed).unwrap();
    for (host, credentials) in
        [("localhost", &credentials), ("[::1]", &credentials), ("127.0.0.1", &without)]
    {
        let result = connect(host, credentials);
        let Err(TransportError::Refused(line)) = result else { panic!("{host}: {result:?}") };
        assert!(line.contains("certificate") && !line.contains('\n'), "{line}");
    }
}
