//! The transport within a process. The one over NATS needs a server: `crates/sixmark/tests/servers`.

use sixmark_fleet::engine::in_process::InProcess;
use sixmark_fleet::engine::transport::{AgentSide as _, ControllerSide as _, TransportError};
use sixmark_testkit::transport::{agent_name, conform, echo};

#[test]
fn a_transport_within_a_process_does_what_every_transport_must() {
    let transport = InProcess::new();
    conform(&transport.controller(), &|_| Box::new(transport.agent()));
}

#[test]
fn agents_find_that_a_transport_is_closed() {
    let transport = InProcess::new();
    let (controller, agent) = (transport.controller(), transport.agent());
    agent.serve(&agent_name("a"), echo("a")).unwrap();
    assert!(agent.is_open());
    transport.close();
    assert!(!agent.is_open());
    assert!(matches!(controller.announce(b""), Err(TransportError::Refused(_))));
}
