//! Loads from agents that are programs of their own, over a real NATS server: what is killed or
//! stopped in the middle, and what is counted all the same.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use sixmark_fleet::engine::controller::list_agents;
use sixmark_fleet::engine::nats::controller::NatsController;
use sixmark_fleet::engine::nats::server::NatsServer;
use sixmark_fleet::engine::transport::ControllerSide as _;
use sixmark_fleet::records::{AgentRecord, RecordContent};
use sixmark_tally::tally::Tally;
use sixmark_testkit::fleet_loads;
use sixmark_testkit::nats::{LOOPBACKS, SKIP, connect_agent, start_nats};
use sixmark_testkit::{DEADLINE, Origin, command, finish, signal, skipped};
use sixmark_units::family::Family;
use tempfile::TempDir;

/// A server, and agents that are programs.
struct Standing {
    server: NatsServer,
    folder: TempDir,
    agents: Vec<Child>,
}

impl Standing {
    /// Starts a server and agents called `a0`, `a1` and so on, and waits until all have answered.
    fn start(loopback: IpAddr, agents: usize) -> Standing {
        let server = start_nats(loopback);
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&path, private).unwrap();
        };
        for number in 0..agents {
            let name = format!("a{number}");
            let credentials = server.agent_credentials(&name.parse().unwrap()).unwrap();
            write(&format!("{name}.creds"), credentials.to_text());
        }
        write("controller.creds", server.controller_credentials().to_text());
        let mut standing = Standing { server, folder, agents: Vec::new() };
        (0..agents).for_each(|number| standing.start_agent(number));
        standing.wait_for(agents);
        standing
    }

    fn start_agent(&mut self, number: usize) {
        let name = format!("a{number}");
        let (url, creds) = (self.url(), self.path(&format!("{name}.creds")));
        let words = ["agent", "--nats", &url, "--creds", &creds, "--cores", "1"];
        let spool = self.path(&name);
        let own = ["--spool", &spool, "--allow", "::1", "--allow", "127.0.0.1", "-q"];
        let child = command(&[&words[..], &own[..]].concat()).stdin(Stdio::null()).spawn();
        self.agents.push(child.unwrap());
    }

    /// Waits until so many agents answer.
    fn wait_for(&self, agents: usize) {
        let side =
            NatsController::connect(self.server.address(), self.server.controller_credentials());
        let side = side.unwrap();
        wait_until("all agents answer", || {
            list_agents(&side, Duration::from_millis(200)).unwrap().len() == agents
        });
    }

    fn url(&self) -> String {
        self.server.address().to_string()
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Returns a command with the options of the fleet.
    fn controller(&self, words: &[&str]) -> Command {
        let (url, creds) = (self.url(), self.path("controller.creds"));
        let mut command = command(words);
        command.args(["--fleet", &url, "--creds", &creds]);
        command
    }

    /// Returns the records that an agent keeps.
    fn kept(&self, agent: &str) -> Vec<AgentRecord> {
        let files = std::fs::read_dir(self.path(agent)).unwrap().map(|file| file.unwrap().path());
        let records = files.filter(|path| path.extension().is_some_and(|end| end == "records"));
        let text: String = records.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        // An agent may be writing the last one.
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        whole.map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            drop(agent.kill());
            drop(agent.wait());
        }
    }
}

/// Waits for a condition.
fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !is() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until an agent has written so many seconds of a load.
fn wait_for_seconds(standing: &Standing, agent: &str, seconds: usize) {
    let spool = PathBuf::from(standing.path(agent));
    let lines =
        |path: PathBuf| std::fs::read_to_string(path).map_or(0, |text| text.lines().count());
    wait_until("a second is written", || {
        let files = std::fs::read_dir(&spool).unwrap().map(|file| file.unwrap().path());
        let records = files.filter(|path| path.extension().is_some_and(|end| end == "records"));
        records.map(lines).sum::<usize>() >= seconds
    });
}

fn sum_of_seconds(records: &[AgentRecord]) -> Tally {
    let mut sum = Tally::default();
    for record in records {
        if let RecordContent::Second(second) = &record.content {
            sum += &second.tally;
        }
    }
    sum
}

fn urls(origin: &Origin) -> [String; 2] {
    [origin.url(Family::Ipv6, "/bytes/100"), origin.url(Family::Ipv4, "/bytes/100")]
}

fn agents_of(result: &Value) -> Vec<&Value> {
    result["fleet"]["agents"].as_array().unwrap().iter().collect()
}

fn codes(result: &Value) -> Vec<&str> {
    let warnings = result["warnings"].as_array().unwrap().iter();
    warnings.map(|warning| warning["code"].as_str().unwrap()).collect()
}

#[test]
fn a_fleet_over_nats_counts_what_one_process_counts() {
    if skipped(SKIP) {
        return;
    }
    for loopback in LOOPBACKS {
        let server = start_nats(loopback);
        fleet_loads::conform(
            &|| {
                let creds = server.controller_credentials();
                Arc::new(NatsController::connect(server.address(), creds).unwrap())
            },
            &|name| Arc::new(connect_agent(&server, name)),
        );
    }
}

#[test]
fn killing_an_agent_and_the_server_loses_only_the_rest_of_that_agent() {
    if skipped(SKIP) {
        return;
    }
    let standing = Standing::start(IpAddr::V6(Ipv6Addr::LOCALHOST), 4);
    let origin = Origin::start();
    let [v6, v4] = urls(&origin);
    let words = ["run", "--rate", "400", "-d", "24s", "-c", "16", "--json", "-", "--store", "none"];
    let mut run = standing.controller(&[&words[..], &[&v6, &v4]].concat());
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_seconds(&standing, "a2", 7);
    signal(standing.agents[2].id(), "KILL");
    wait_for_seconds(&standing, "a1", 10);
    signal(standing.server.id(), "KILL");
    let output = finish(run);
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(standing.server.restarts(), 1);
    assert_eq!(result["ended"], "complete", "{result}");
    assert!(codes(&result).contains(&"agent_lost"), "{:?}", codes(&result));
    let mut sent = 0;
    for agent in agents_of(&result) {
        assert_eq!(agent["adds_up"], true, "{agent}");
        assert_eq!(agent["incomplete_from"].is_null(), agent["name"] != "a2", "{agent}");
        let families = ["ipv6", "ipv4"].map(|family| agent["families"][family]["sent"].as_u64());
        sent += families.into_iter().flatten().sum::<u64>();
    }
    assert_eq!(result["total"]["requests"]["sent"], sent);
    // The killed agent keeps what it counted, and all of it that was published is in the result.
    let kept = standing.kept("a2");
    let lost = agents_of(&result)[2];
    let counted = lost["incomplete_from"].as_u64().unwrap() as usize;
    // It may have been killed between writing its seventh second and publishing it.
    assert!(kept.len() >= counted && counted >= 6, "{counted} of {}", kept.len());
    let sum = sum_of_seconds(&kept[..counted]);
    for (family, tally) in [("ipv6", &sum.ipv6), ("ipv4", &sum.ipv4)] {
        let of = &lost["families"][family];
        assert_eq!(of["sent"], tally.sent, "{family}");
        let histogram = serde_json::to_value(tally.phases.response.summary()).unwrap();
        assert_eq!(of["response_us"]["hdr"], histogram["hdr"], "{family}");
    }
    // The others have no more to keep.
    for agent in ["a0", "a1", "a3"] {
        assert!(standing.kept(agent).is_empty(), "{agent}");
    }
    // All seconds of the run are there although the server was gone.
    let seconds = result["intervals"].as_array().unwrap().len();
    assert!((24..=25).contains(&seconds), "{seconds}");
}

/// Runs a load of `seconds` and returns its process, once the second second is written.
fn begun(standing: &Standing, origin: &Origin, json: &Path) -> Child {
    let [v6, v4] = urls(origin);
    let json = json.display().to_string();
    let words = ["run", "--rate", "200", "-d", "4s", "-c", "8", "--store", "none", "-q", "--json"];
    let mut run = standing.controller(&[&words[..], &[&json, &v6, &v4]].concat());
    let run = run.stderr(Stdio::piped()).spawn().unwrap();
    wait_for_seconds(standing, "a0", 2);
    run
}

#[test]
fn agent_records_survive_a_killed_controller() {
    if skipped(SKIP) {
        return;
    }
    let standing = Standing::start(IpAddr::V4(Ipv4Addr::LOCALHOST), 2);
    let origin = Origin::start();
    let json = standing.folder.path().join("result.json");
    let run = begun(&standing, &origin, &json);
    signal(run.id(), "KILL");
    finish(run);
    // Agents carry on to the end of the load, and keep what they counted.
    wait_until("the load ends", || {
        let is_end = |record: &AgentRecord| matches!(record.content, RecordContent::End(_));
        ["a0", "a1"].iter().all(|agent| standing.kept(agent).iter().any(is_end))
    });
    let load = standing.kept("a0")[0].load.to_string();
    let status = standing.controller(&["fleet", "status"]).output().unwrap();
    let text = String::from_utf8_lossy(&status.stdout);
    assert!(text.contains(&load), "{text}");
    let words = ["fleet", "collect", &load, "--json", "-", "--store", "none"];
    let output = standing.controller(&words).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    sixmark_testkit::check(&result);
    assert_eq!(result["ended"], "complete");
    let codes = codes(&result);
    assert!(!codes.iter().any(|code| code.starts_with("agent_")), "{codes:?}");
    // 200 per second for four seconds, over both families.
    assert_eq!(result["total"]["requests"]["sent"], 800);
    for agent in agents_of(&result) {
        assert_eq!((&agent["adds_up"], &agent["incomplete_from"]), (&true.into(), &Value::Null));
    }
    assert!(standing.kept("a0").is_empty() && standing.kept("a1").is_empty(), "confirmed");
}

#[test]
fn a_suspended_controller_collects_all_records_after_it_continues() {
    if skipped(SKIP) {
        return;
    }
    let standing = Standing::start(IpAddr::V6(Ipv6Addr::LOCALHOST), 2);
    let origin = Origin::start();
    let json = standing.folder.path().join("result.json");
    let run = begun(&standing, &origin, &json);
    signal(run.id(), "STOP");
    // It is stopped until the load is over.
    wait_until("the load ends", || {
        let is_end = |record: &AgentRecord| matches!(record.content, RecordContent::End(_));
        ["a0", "a1"].iter().all(|agent| standing.kept(agent).iter().any(is_end))
    });
    signal(run.id(), "CONT");
    let output = finish(run);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    sixmark_testkit::check(&result);
    assert_eq!(result["total"]["requests"]["sent"], 800);
    assert!(agents_of(&result).iter().all(|agent| agent["adds_up"] == true));
}

/// Whoever comes next need not wait until the lease has expired.
#[test]
fn a_second_interrupt_releases_the_controller_lease() {
    if skipped(SKIP) {
        return;
    }
    let standing = Standing::start(IpAddr::V6(Ipv6Addr::LOCALHOST), 1);
    let origin = Origin::start();
    let [v6, v4] = urls(&origin);
    let words = ["run", "--rate", "50", "-d", "10m", "-q", "--store", "none", &v6, &v4];
    let mut run = standing.controller(&words).stderr(Stdio::null()).spawn().unwrap();
    wait_for_seconds(&standing, "a0", 1);
    // After the first signal the controller waits for an agent that is silent.
    signal(standing.agents[0].id(), "STOP");
    let mut ended = None;
    wait_until("the second signal ends it", || {
        signal(run.id(), "INT");
        ended = run.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended.unwrap()), Some(2));
    let side = NatsController::connect(
        standing.server.address(),
        standing.server.controller_credentials(),
    );
    assert_eq!(side.unwrap().take_lease("next", DEADLINE), Ok(Ok(())));
}

#[test]
fn rejects_plans_that_agents_cannot_carry_out_in_one_line() {
    if skipped(SKIP) {
        return;
    }
    let standing = Standing::start(IpAddr::V6(Ipv6Addr::LOCALHOST), 1);
    let refused = |words: &[&str], part: &str| {
        let output = standing.controller(words).output().unwrap();
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(line.contains(part) && line.lines().count() == 1, "{words:?}: {line}");
        assert_ne!(output.status.code(), Some(0));
    };
    refused(
        &["run", "-n", "9", "http://[::2]/"],
        "agent a0: its --allow does not include [::2]:80",
    );
    refused(&["run", "-n", "9", "http://[::1]/", "--agents", "3"], "1 of 3 agents answered");
    refused(
        &["run", "-d", "25h", "http://[::1]/"],
        "agent a0: it runs no load longer than 1day (--longest)",
    );
    refused(&["run", "http://[::1]/", "--calibrate"], "--calibrate measures this machine");
    refused(
        &["run", "http://[::1]/", "--source", "::1"],
        "--source names addresses of this machine",
    );
    refused(&["fleet", "collect", "nothing"], "no records of load nothing are kept");
    let creds = standing.path("a0.creds");
    let url = standing.url();
    let words = ["run", "-n", "9", "http://[::1]/", "--fleet", &url, "--creds", &creds];
    let output = command(&words).output().unwrap();
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(line.lines().count() == 1 && output.status.code() == Some(3), "{line}");
}
