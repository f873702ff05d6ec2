//! What can be done with the key of an agent, by whoever has it.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, HeaderMap};
use sixmark_fleet::engine::controller::{FleetController, Unwatched, Wanted};
use sixmark_fleet::engine::nats::agent::NatsAgent;
use sixmark_fleet::engine::nats::controller::NatsController;
use sixmark_fleet::engine::nats::credentials::Credentials;
use sixmark_fleet::engine::nats::server::NatsServer;
use sixmark_fleet::engine::transport::{AgentSide as _, ControllerSide as _, TransportError};
use sixmark_fleet::records::{AgentRecord, RecordContent, SecondRecord};
use sixmark_run::{AgentExtras, Generators as _};
use sixmark_tally::tally::Tally;
use sixmark_testkit::fleet_loads::{AgentThreads, kept, timed};
use sixmark_testkit::nats::{LOOPBACKS, SKIP, connect_agent, start_nats};
use sixmark_testkit::transport::{agent_name, echo, load_name, record};
use sixmark_testkit::{DEADLINE, Origin, skipped};

/// What the key of agent `a` lets a client read and send.
const ALLOWED: [&[&str]; 2] = [
    &["sixmark.all", "sixmark.agent.a", "_INBOX_AGENT.a.>"],
    &["sixmark.record.l.a", "sixmark.record.other.a", "sixmark.answer.a.1"],
];

/// What it does not let it read.
const UNREADABLE: [&str; 15] = [
    ">",
    "sixmark.>",
    "sixmark.agent.b",
    "sixmark.agent.>",
    "sixmark.answer.*.1",
    "sixmark.question.>",
    "sixmark.record.l.a",
    "sixmark.record.l.b",
    "sixmark.note.l",
    "sixmark.lease",
    "_INBOX.>",
    "_INBOX_AGENT.>",
    "_INBOX_AGENT.b.>",
    "$JS.>",
    "$SYS.>",
];

/// What it does not let it send.
const UNSENDABLE: [&str; 16] = [
    "$JS.API.STREAM.INFO.sixmark",
    "$JS.API.STREAM.MSG.GET.sixmark",
    "$JS.API.STREAM.MSG.GET.sixmark-lease",
    "$JS.API.DIRECT.GET.sixmark",
    "$JS.API.CONSUMER.CREATE.sixmark",
    "$JS.API.STREAM.PURGE.sixmark",
    "$JS.API.STREAM.DELETE.sixmark-notes",
    "sixmark.lease",
    "sixmark.note.l",
    "sixmark.all",
    "sixmark.agent.a",
    "sixmark.agent.b",
    "sixmark.answer.b.1",
    "sixmark.record.l.b",
    "_INBOX.anything",
    "_INBOX_AGENT.b.anything",
];

fn controller(server: &NatsServer) -> NatsController {
    NatsController::connect(server.address(), server.controller_credentials()).unwrap()
}

fn credentials<'a>(server: &'a NatsServer, name: &str) -> &'a Credentials {
    server.agent_credentials(&agent_name(name)).unwrap()
}

#[test]
fn an_agent_key_permits_only_the_subjects_of_that_agent() {
    if skipped(SKIP) {
        return;
    }
    let [loopback, _] = LOOPBACKS;
    let server = start_nats(loopback);
    let controller = controller(&server);
    controller.keep_note(&load_name("l"), b"plan").unwrap();
    controller.take_lease("holder", DEADLINE).unwrap().unwrap();
    connect_agent(&server, "a").publish(&record("l", "a", 0), DEADLINE).unwrap();

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, events) = connect_with(&server, credentials(&server, "a")).await;
        let [readable, sendable] = ALLOWED;
        for subject in readable {
            let _subscription = client.subscribe(*subject).await.unwrap();
            // What is denied after it is the first denial.
            denied_to_send(&client, &events, "sixmark.lease").await;
        }
        for subject in sendable {
            client.publish(*subject, "{}".into()).await.unwrap();
            denied_to_send(&client, &events, "sixmark.lease").await;
        }
        for subject in UNREADABLE {
            let _subscription = client.subscribe(subject).await.unwrap();
            denied(&client, &events, subject).await;
        }
        for subject in UNSENDABLE {
            denied_to_send(&client, &events, subject).await;
        }
        // The controller's key is good for all of it.
        let (client, events) = connect_with(&server, server.controller_credentials()).await;
        for subject in UNREADABLE.iter().filter(|subject| !subject.starts_with("$SYS")) {
            let _subscription = client.subscribe(*subject).await.unwrap();
            client.flush().await.unwrap();
        }
        assert!(events.try_recv().is_err(), "something is denied to the controller");
    });
    assert_eq!(controller.note(&load_name("l")), Ok(Some(b"plan".to_vec())));
    assert_eq!(controller.take_lease("other", DEADLINE), Ok(Err("holder".to_owned())));
}

async fn connect_with(
    server: &NatsServer,
    credentials: &Credentials,
) -> (Client, Receiver<String>) {
    let text = credentials.to_text();
    let seed = text.lines().nth(1).unwrap().to_owned();
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let options = ConnectOptions::with_nkey(seed).event_callback(move |event| {
        if let Event::ServerError(error) = event {
            // The test may have ended.
            let _ = sender.lock().unwrap().send(error.to_string().to_lowercase());
        }
        std::future::ready(())
    });
    (options.connect(server.address().to_string()).await.unwrap(), receiver)
}

async fn denied_to_send(client: &Client, events: &Receiver<String>, subject: &str) {
    client.publish(subject.to_owned(), "{}".into()).await.unwrap();
    denied(client, events, subject).await;
}

/// Waits until the server says that this subject is not allowed, before it says anything else.
async fn denied(client: &Client, events: &Receiver<String>, subject: &str) {
    client.flush().await.unwrap();
    let said = tokio::task::block_in_place(|| events.recv_timeout(DEADLINE)).unwrap();
    let quoted = format!("\"{}\"", subject.to_lowercase());
    assert!(said.contains("permissions violation") && said.contains(&quoted), "{subject}: {said}");
}

#[test]
fn credentials_of_one_agent_do_not_serve_as_another() {
    if skipped(SKIP) {
        return;
    }
    for loopback in LOOPBACKS {
        let server = start_nats(loopback);
        let controller = controller(&server);
        let (a, b) = (agent_name("a"), agent_name("b"));
        let side = NatsAgent::connect(server.address(), credentials(&server, "a"), &b).unwrap();
        let refused = side.serve(&b, echo("b"));
        let Err(TransportError::Refused(line)) = refused else { panic!("{refused:?}") };
        assert!(line.contains("does not let these credentials be agent b"), "{line}");
        assert!(!side.is_open());
        // Its own name is of use all the same.
        let side = NatsAgent::connect(server.address(), credentials(&server, "a"), &a).unwrap();
        side.serve(&a, echo("a")).unwrap();
        assert_eq!(controller.ask(&a, b"?", DEADLINE).unwrap(), b"a ?");
        let answers = controller.ask_all(b"?", Some(1), DEADLINE).unwrap();
        assert_eq!(answers.iter().map(|of| &of.agent).collect::<Vec<_>>(), [&a]);
    }
}

/// A record of a second in which so many requests were sent.
fn forged(load: &str, agent: &str, sent: u64) -> Vec<u8> {
    let mut tally = Tally::default();
    tally.ipv6.sent = sent;
    let second = SecondRecord { second: 0, length_ns: 1_000_000_000, busy_ns: 0, tally };
    let content = RecordContent::Second(Box::new(second));
    let (load, agent) = (load_name(load), agent_name(agent));
    let record = AgentRecord { load, agent, incarnation: 0, number: 0, content };
    serde_json::to_vec(&record).unwrap()
}

/// Whoever has the key of `a0` can spoil what is counted of it. That is shown, nothing that disagrees
/// is removed, and no other agent suffers.
#[test]
fn forged_records_affect_only_their_own_agent_and_are_detected() {
    if skipped(SKIP) {
        return;
    }
    let [_, loopback] = LOOPBACKS;
    let (server, origin) = (start_nats(loopback), Origin::start());
    let folder = tempfile::tempdir().unwrap();
    let agents =
        AgentThreads::start(folder.path(), &[0, 0], |name| Arc::new(connect_agent(&server, name)));
    // It creates the streams.
    let side = Arc::new(controller(&server));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // The names of loads can be guessed.
    runtime.block_on(async {
        let (client, _events) = connect_with(&server, credentials(&server, "a0")).await;
        let subject = "sixmark.record.theft-1.a0";
        for (id, content) in [
            ("a1/theft-1/0/0", b"taken for the record of a1".to_vec()),
            ("theft-1/0/0", forged("theft-1", "a1", 10)),
            ("x", forged("theft-1", "a0", 10)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(async_nats::header::NATS_MESSAGE_ID, id);
            client.publish_with_headers(subject, headers, content.into()).await.unwrap();
        }
        client.flush().await.unwrap();
    });
    let wanted = Wanted::Number(2);
    let fleet = FleetController::take(Arc::clone(&side) as _, "theft", wanted, Box::new(Unwatched))
        .unwrap();
    let mut plan = timed(&origin, 200.0, Duration::from_secs(1));
    plan.load.threads = 2.try_into().unwrap();
    fleet.check(&plan).unwrap();
    let loaded = fleet.load(&plan, &AgentExtras::default(), &Arc::default(), &mut |_| {}).unwrap();
    let [robbed, other] = loaded.fleet.as_ref().unwrap().agents.as_slice() else { panic!() };
    // Two that claim to be or are for another agent, and the genuine one that comes too late.
    assert_eq!((robbed.conflicts, robbed.adds_up), (3, false));
    assert_eq!((other.conflicts, other.adds_up, other.incomplete_from), (0, true, None));
    assert!(other.loaded.tally.ipv6.sent > 10, "{:?}", other.loaded.tally.ipv6.sent);
    drop(fleet);
    assert_eq!(kept(folder.path()).len(), 1, "what disagrees is not removed");
    assert!(side.note(&load_name("theft-1")).unwrap().is_some());
    drop(agents);
}
