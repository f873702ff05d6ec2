//! A fleet's messages over a real NATS server.

use std::collections::HashSet;
use std::io::Write as _;
use std::net::TcpListener;
use std::sync::Barrier;
use std::thread::{scope, spawn};
use std::time::Duration;

use sixmark_fleet::engine::nats::address::NatsAddress;
use sixmark_fleet::engine::nats::agent::NatsAgent;
use sixmark_fleet::engine::nats::controller::NatsController;
use sixmark_fleet::engine::nats::credentials::Credentials;
use sixmark_fleet::engine::nats::server::NatsServer;
use sixmark_fleet::engine::transport::{
    AgentSide as _, ControllerSide as _, RecordSource, TransportError,
};
use sixmark_testkit::nats::{LOOPBACKS, SKIP, connect_agent, start_nats};
use sixmark_testkit::transport::{agent_name, conform, echo, load_name, record};
use sixmark_testkit::{DEADLINE, signal, skipped};

fn controller(server: &NatsServer) -> NatsController {
    NatsController::connect(server.address(), server.controller_credentials()).unwrap()
}

#[test]
fn the_nats_transport_passes_the_conformance_test() {
    if skipped(SKIP) {
        return;
    }
    for loopback in LOOPBACKS {
        let server = start_nats(loopback);
        conform(&controller(&server), &|name| Box::new(connect_agent(&server, name)));
        assert_eq!(server.restarts(), 0);
    }
}

#[test]
fn killing_the_nats_server_neither_loses_nor_duplicates_records() {
    const COUNT: usize = 200;
    if skipped(SKIP) {
        return;
    }
    for loopback in LOOPBACKS {
        let server = start_nats(loopback);
        let controller = controller(&server);
        let load = load_name("killed");
        let mut source = controller.records(&load).unwrap();
        let agents = ["a", "b"].map(|name| (name, connect_agent(&server, name)));
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
    while let Some(record) = source
        .next(if records.len() < count { DEADLINE } else { Duration::from_millis(300) })
        .unwrap()
    {
        records.push(String::from_utf8(record.content).unwrap());
    }
    records
}

#[test]
fn rejects_unusable_nats_servers_and_credentials_in_one_line() {
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
        NatsAgent::connect(server, credentials, &agent_name("a")).map(drop),
    ] {
        let Err(TransportError::Refused(line)) = result else { panic!("{said}: {result:?}") };
        assert!(line.contains(said) && !line.contains('\n'), "{line}");
    }
}

fn silent(server: &NatsAddress, credentials: &Credentials, said: &str) {
    let result = NatsAgent::connect(server, credentials, &agent_name("a")).map(drop);
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
