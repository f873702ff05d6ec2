//! The transport within a process. The one over NATS needs a server: `crates/sixmark/tests/servers`.

use sixmark_fleet::engine::in_process::InProcess;
use sixmark_fleet::engine::transport::{AgentSide as _, ControllerSide as _, TransportError};
use sixmark_testkit::transport::{agent_name, conform, echo};

#[test]
fn the_in_process_transport_passes_the_conformance_tests() {
    let transport = InProcess::new();
    conform(&transport.controller(), &|_| Box::new(transport.agent()));
}

#[test]
fn agents_detect_a_closed_transport() {
    let transport = InProcess::new();
    let (controller, agent) = (transport.controller(), transport.agent());
    agent.serve(&agent_name("a"), echo("a")).unwrap();
    assert!(agent.is_open());
    transport.close();
    assert!(!agent.is_open());
    assert!(matches!(controller.announce(b""), Err(TransportError::Refused(_))));
}
