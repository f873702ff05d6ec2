//! A fleet's messages over a real NATS server.

use std::collections::HashSet;
use std::io::Write as _;
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Barrier, Mutex};
use std::thread::{scope, spawn};
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event};
use sixmark_fleet::engine::nats::address::NatsAddress;
use sixmark_fleet::engine::nats::agent::NatsAgent;
use sixmark_fleet::engine::nats::controller::NatsController;
use sixmark_fleet::engine::nats::credentials::Credentials;
use sixmark_fleet::engine::nats::server::NatsServer;
use sixmark_fleet::engine::transport::{AgentSide, ControllerSide, RecordSource, TransportError};
use sixmark_testkit::nats::{LOOPBACKS, SKIP, start_nats};
use sixmark_testkit::transport::{agent_name, conform, echo, load_name, record};
use sixmark_testkit::{DEADLINE, signal, skipped};

fn controller(server: &NatsServer) -> NatsController {
    NatsController::connect(server.address(), server.controller_credentials()).unwrap()
}

fn agent(server: &NatsServer) -> NatsAgent {
    NatsAgent::connect(server.address(), server.agent_credentials()).unwrap()
}

#[test]
fn a_transport_over_nats_does_what_every_transport_must() {
    if skipped(SKIP) {
        return;
    }
    for loopback in LOOPBACKS {
        let server = start_nats(loopback);
        conform(&controller(&server), &|| Box::new(agent(&server)));
        assert_eq!(server.restarts(), 0);
    }
}

#[test]
fn nothing_is_lost_or_doubled_when_the_server_is_killed_in_the_middle() {
    const COUNT: usize = 200;
    if skipped(SKIP) {
        return;
    }
    for loopback in LOOPBACKS {
        let server = start_nats(loopback);
        let controller = controller(&server);
        let load = load_name("killed");
        let mut source = controller.records(&load).unwrap();
        let agents = [("a", agent(&server)), ("b", agent(&server))];
        for (name, agent) in &agents {
            agent.serve(&agent_name(name), echo(name)).unwrap();
        }
        // All come to it when a quarter is published, and then the server is killed.
        let quarter = Barrier::new(agents.len() + 1);
        let records = scope(|scope| {
            for (name, agent) in &agents {
                let quarter = &quarter;
                scope.spawn(move || {
                    for number in 0..COUNT {
                        if number == COUNT / 4 {
                            quarter.wait();
                        }
                        agent.publish(&record("killed", name, number), DEADLINE).unwrap();
                    }
                });
            }
            let (killed, quarter) = (server.id(), &quarter);
            scope.spawn(move || {
                quarter.wait();
                signal(killed, "KILL");
            });
            read_all(&mut *source, 2 * COUNT)
        });
        let all: HashSet<&String> = records.iter().collect();
        assert_eq!(all.len(), records.len(), "a record came twice");
        for (name, agent) in &agents {
            let own = records.iter().filter(|record| record.starts_with(name));
            let expected: Vec<String> = (0..COUNT).map(|at| format!("{name} {at}")).collect();
            assert!(own.eq(&expected), "{name}: {records:?}");
            let answer = controller.ask(&agent_name(name), b"still there", DEADLINE).unwrap();
            assert_eq!(answer, format!("{name} still there").into_bytes());
            assert!(agent.is_open());
        }
        assert_eq!(server.restarts(), 1);
        server.restart().unwrap();
        assert_eq!(controller.ask(&agent_name("a"), b"?", DEADLINE).unwrap(), b"a ?");
        assert_eq!(read_all(&mut *controller.records(&load).unwrap(), 2 * COUNT), records);
        assert_eq!(server.restarts(), 1, "one that was asked for does not count");
    }
}

/// Reads records until there are so many, and then for a moment longer.
fn read_all(source: &mut dyn RecordSource, count: usize) -> Vec<String> {
    let mut records = Vec::new();
    while let Some(content) = source
        .next(if records.len() < count { DEADLINE } else { Duration::from_millis(300) })
        .unwrap()
    {
        records.push(String::from_utf8(content).unwrap());
    }
    records
}

#[test]
fn what_can_not_be_used_is_refused_in_one_line() {
    if skipped(SKIP) {
        return;
    }
    for loopback in LOOPBACKS {
        let server = start_nats(loopback);
        let (stranger, _) = Credentials::generate(None);
        refused(server.address(), &stranger, "refuses these credentials");
        let tls = NatsAddress { tls: true, ..server.address().clone() };
        refused(&tls, server.controller_credentials(), "has no TLS");

        let old = greeting(loopback, "INFO {\"version\":\"2.9.10\",\"jetstream\":true}\r\n");
        refused(
            &old,
            &stranger,
            &format!("the NATS server at {old} is version 2.9.10; sixmark needs 2.14 or later"),
        );
        let bare = greeting(loopback, "INFO {\"version\":\"2.15.2\"}\r\n");
        refused(&bare, &stranger, "has no JetStream");
        let other = greeting(loopback, "220 mail.example ESMTP\r\n");
        silent(&other, &stranger, "what listens there is not NATS");

        let closed = server.address().clone();
        drop(server);
        silent(&closed, &stranger, "connection refused");
    }
}

fn refused(server: &NatsAddress, credentials: &Credentials, said: &str) {
    for result in [
        NatsController::connect(server, credentials).map(drop),
        NatsAgent::connect(server, credentials).map(drop),
    ] {
        let Err(TransportError::Refused(line)) = result else { panic!("{said}: {result:?}") };
        assert!(line.contains(said) && !line.contains('\n'), "{line}");
    }
}

fn silent(server: &NatsAddress, credentials: &Credentials, said: &str) {
    let result = NatsAgent::connect(server, credentials).map(drop);
    let Err(TransportError::Silent(line)) = result else { panic!("{said}: {result:?}") };
    assert!(line.contains(said) && !line.contains('\n'), "{line}");
}

/// What sends a greeting and no more.
fn greeting(loopback: std::net::IpAddr, greeting: &'static str) -> NatsAddress {
    let listener = TcpListener::bind((loopback, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    spawn(move || {
        for stream in listener.incoming() {
            // The other side may have gone.
            let _ = stream.unwrap().write_all(greeting.as_bytes());
        }
    });
    format!("nats://{address}").parse().unwrap()
}

#[test]
fn an_agent_reads_nothing_that_is_not_for_agents() {
    if skipped(SKIP) {
        return;
    }
    let [loopback, _] = LOOPBACKS;
    let server = start_nats(loopback);
    let controller = controller(&server);
    controller.keep_note(&load_name("l"), b"plan").unwrap();
    controller.take_lease("holder", DEADLINE).unwrap().unwrap();
    agent(&server).publish(&record("l", "a", 0), DEADLINE).unwrap();

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, events) = connect_as_agent(&server).await;
        for subject in [
            ">",
            "sixmark.>",
            "sixmark.record.l.a",
            "sixmark.note.l",
            "sixmark.lease",
            "_INBOX.>",
            "$JS.>",
        ] {
            let _subscription = client.subscribe(subject).await.unwrap();
            denied(&client, &events, subject).await;
        }
        for subject in [
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
            "_INBOX.anything",
        ] {
            client.publish(subject, "{}".into()).await.unwrap();
            denied(&client, &events, subject).await;
        }
    });
    assert_eq!(controller.note(&load_name("l")), Ok(Some(b"plan".to_vec())));
    assert_eq!(controller.take_lease("other", DEADLINE), Ok(Err("holder".to_owned())));
}

async fn connect_as_agent(server: &NatsServer) -> (Client, Receiver<String>) {
    let text = server.agent_credentials().to_text();
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

/// Waits until the server says that this subject is not allowed.
async fn denied(client: &Client, events: &Receiver<String>, subject: &str) {
    client.flush().await.unwrap();
    let said = tokio::task::block_in_place(|| events.recv_timeout(DEADLINE)).unwrap();
    let quoted = format!("\"{}\"", subject.to_lowercase());
    assert!(said.contains("permissions violation") && said.contains(&quoted), "{subject}: {said}");
}
