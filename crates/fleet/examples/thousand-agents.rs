//! A thousand simulated agents publish a record each second over NATS, and one controller collects
//! them: whether all are acknowledged, whether the collector keeps up, and what the server needs.
//!
//!     thousand-agents FOLDER-OF-NATS-SERVER [AGENTS [SECONDS]]

#![allow(clippy::print_stdout)]

use std::net::{IpAddr, Ipv6Addr};
use std::path::absolute;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use sixmark_fleet::collector::RecordCollector;
use sixmark_fleet::engine::nats::agent::NatsAgent;
use sixmark_fleet::engine::nats::controller::NatsController;
use sixmark_fleet::engine::nats::server::NatsServer;
use sixmark_fleet::engine::transport::{AgentSide as _, ControllerSide as _, PublishedRecord};
use sixmark_fleet::names::{AgentName, LoadName};
use sixmark_fleet::records::{AgentRecord, RecordContent, SecondRecord};
use sixmark_tally::tally::Tally;
use sixmark_units::random::Random;

/// The connections that the agents share: a thousand processes do not fit one machine.
const CONNECTIONS: usize = 50;
/// The exchanges of each agent in each second.
const EXCHANGES: u64 = 1_000;
/// How long a record may take to be acknowledged.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or("name the folder of nats-server")?;
    let number = |at: usize, usual: usize| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let wrong = |error| format!("not a number: {error}");
    let agents = number(1, 1_000).map_err(wrong)?;
    let seconds = number(2, 20).map_err(wrong)? as u64;
    let folder = absolute(folder).map_err(|error| error.to_string())?;
    let load: LoadName = "thousand".parse()?;
    let names: Vec<AgentName> =
        (0..agents).map(|n| format!("agent-{n}").parse()).collect::<Result<_, _>>()?;
    let server = NatsServer::start(Some(&folder), IpAddr::V6(Ipv6Addr::LOCALHOST), &names)?;
    let said = |error| format!("{error}");
    let controller = NatsController::connect(server.address(), server.controller_credentials());
    let controller = controller.map_err(said)?;
    // An agent's own credentials let it publish its own records alone, and agents share connections.
    let credentials = server.controller_credentials();
    let sides = names
        .iter()
        .take(CONNECTIONS)
        .map(|name| NatsAgent::connect(server.address(), credentials, name).map_err(said));
    let sides = sides.collect::<Result<Vec<_>, _>>()?;
    let acks: Arc<Acknowledgements> = Arc::default();
    let begin = Barrier::new(sides.len() + 1);
    let mut collector = RecordCollector::new(load.clone(), names.iter().map(|n| (n.clone(), 0)));
    let mut source = controller.records(&load).map_err(said)?;
    let wanted = agents as u64 * seconds;
    let (took, memory) = scope(|scope| {
        for (connection, side) in sides.iter().enumerate() {
            let own: Vec<&AgentName> = names.iter().skip(connection).step_by(CONNECTIONS).collect();
            let (acks, begin, load) = (Arc::clone(&acks), &begin, &load);
            scope.spawn(move || {
                begin.wait();
                publish_seconds(side, load, &own, seconds, &acks);
            });
        }
        begin.wait();
        let start = Instant::now();
        let (mut counted, mut memory) = (0, 0);
        while counted < wanted && start.elapsed() < Duration::from_secs(seconds) + PATIENCE {
            if let Ok(Some(record)) = source.next(Duration::from_secs(1)) {
                counted += collector.add(&record).len() as u64;
            }
            if counted % 1_000 == 0 {
                memory = memory.max(resident_kib(server.id()));
            }
        }
        (start.elapsed(), memory.max(resident_kib(server.id())))
    });
    let sent: u64 = collector.all().map(|(_, series)| series.sum.ipv6.sent).sum();
    println!("agents             {agents}, a record a second each for {seconds} s");
    println!("acknowledged       {} of {wanted}", acks.number.load(Ordering::Relaxed));
    println!("slowest ack        {:.1} ms", acks.slowest_us.load(Ordering::Relaxed) as f64 / 1e3);
    println!("collected          {sent} of {} exchanges", wanted * EXCHANGES);
    println!("duplicates         {}", collector.duplicates);
    println!("collector behind   {:.2} s", took.as_secs_f64() - (seconds - 1) as f64);
    println!("server's memory    {:.0} MB", memory as f64 * 1_024.0 / 1e6);
    Ok(())
}

/// The records that the server has acknowledged.
#[derive(Default)]
struct Acknowledgements {
    number: AtomicU64,
    slowest_us: AtomicU64,
}

/// Publishes a record of each agent in each second.
fn publish_seconds(
    side: &NatsAgent,
    load: &LoadName,
    agents: &[&AgentName],
    seconds: u64,
    acks: &Acknowledgements,
) {
    let start = Instant::now();
    for second in 0..seconds {
        for agent in agents {
            let sent = Instant::now();
            if side.publish(&record(load, agent, second), PATIENCE).is_ok() {
                acks.number.fetch_add(1, Ordering::Relaxed);
            }
            acks.slowest_us.fetch_max(sent.elapsed().as_micros() as u64, Ordering::Relaxed);
        }
        let next = start + Duration::from_secs(second + 1);
        sleep(next.saturating_duration_since(Instant::now()));
    }
}

/// A record as an agent under load makes it.
fn record(load: &LoadName, agent: &AgentName, second: u64) -> PublishedRecord {
    let mut tally = Tally::default();
    let mut random = Random::new(second, agent.as_str().len() as u64);
    for family in [&mut tally.ipv6, &mut tally.ipv4] {
        family.sent = EXCHANGES;
        family.status.add(200, EXCHANGES);
        for _ in 0..EXCHANGES {
            let ns = 100_000 + random.bits() % 900_000;
            family.phases.wait.record(ns);
            family.phases.response.record(ns + 20_000);
        }
    }
    let content = RecordContent::Second(Box::new(SecondRecord {
        second,
        length_ns: 1_000_000_000,
        busy_ns: 100_000_000,
        tally,
    }));
    let (load, agent) = (load.clone(), agent.clone());
    let record = AgentRecord {
        load: load.clone(),
        agent: agent.clone(),
        incarnation: 0,
        number: second,
        content,
    };
    let id = format!("{agent}/{second}");
    PublishedRecord { load, agent, id, content: serde_json::to_vec(&record).unwrap_or_default() }
}

/// Returns the resident memory of a process, in KiB.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
