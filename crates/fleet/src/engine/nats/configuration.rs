//! The configuration of a server for a fleet.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::subjects::{self, ALL, NOBODY};
use crate::engine::transport::LONGEST_MESSAGE;
use crate::names::AgentName;

/// The room for headers beside the longest message, in bytes.
const HEADERS: usize = 64 << 10;
/// What JetStream may keep on disk: the streams, and as much again for what an operator adds.
const STORE: &str = "2GB";

/// What differs between servers.
#[derive(Debug)]
pub(super) struct Settings<'a> {
    /// Where it listens; with port 0 it chooses one. `::` is all addresses of both families.
    pub(super) listen: SocketAddr,
    /// The folder of what it keeps.
    pub(super) store: &'a Path,
    /// Who may use it.
    pub(super) users: UsersPart<'a>,
    /// The files of its certificate and of the certificate's key.
    pub(super) tls: Option<[&'a Path; 2]>,
    /// The folder in which it writes its port.
    pub(super) ports: Option<&'a Path>,
}

/// Where a configuration states who may use the server.
#[derive(Debug)]
pub(super) enum UsersPart<'a> {
    /// In itself.
    Within(&'a FleetUsers),
    /// In this file beside it.
    File(&'a str),
}

/// The public nkeys of those who may use a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FleetUsers {
    /// The controller's.
    pub(super) controller: String,
    /// Each agent's.
    pub(super) agents: BTreeMap<AgentName, String>,
}

/// Returns the text of a configuration.
pub(super) fn configure(settings: &Settings<'_>) -> String {
    let port = match settings.listen.port() {
        0 => -1,
        port => i32::from(port),
    };
    let users = match &settings.users {
        UsersPart::Within(users) => users.to_text(),
        UsersPart::File(name) => format!("include \"{name}\"\n"),
    };
    let tls = settings.tls.map_or(String::new(), |[certificate, key]| {
        let (certificate, key) = (quote(certificate), quote(key));
        format!("tls {{\n    cert_file: {certificate}\n    key_file: {key}\n    timeout: 5\n}}\n")
    });
    let ports = settings.ports.map(|folder| format!("ports_file_dir: {}\n", quote(folder)));
    format!(
        "host: \"{host}\"
port: {port}
max_payload: {payload}
jetstream {{
    store_dir: {store}
    max_memory_store: 64MB
    max_file_store: {STORE}
}}
{tls}{ports}{users}",
        host = settings.listen.ip(),
        payload = LONGEST_MESSAGE + HEADERS,
        store = quote(settings.store),
        ports = ports.unwrap_or_default(),
    )
}

impl FleetUsers {
    /// Returns the part of a configuration that states them.
    pub(super) fn to_text(&self) -> String {
        let agents: String = self.agents.iter().map(|(name, key)| agent_user(name, key)).collect();
        format!(
            "authorization {{
    users: [
        # The controller.
        {{ nkey: {} }}
{agents}    ]
}}
",
            self.controller
        )
    }
}

/// An agent reads what is sent to it and to all, answers, and publishes its own records. It can't
/// read any record, nor what is sent to another agent, nor what the controller keeps.
fn agent_user(name: &AgentName, key: &str) -> String {
    let publish = [subjects::records_by(name), subjects::answers_of(name), NOBODY.to_owned()];
    let inbox = format!("{}.>", subjects::agent_inbox(name));
    let subscribe = [ALL.to_owned(), subjects::agent(name), inbox];
    let list = |subjects: [String; 3]| subjects.map(|of| format!("\"{of}\"")).join(", ");
    format!(
        "        # Agent {name}.
        {{
            nkey: {key}
            permissions: {{
                publish: {{ allow: [{}] }}
                subscribe: {{ allow: [{}] }}
                allow_responses: true
            }}
        }}
",
        list(publish),
        list(subscribe)
    )
}

/// A path as a string of the configuration's syntax.
fn quote(path: &Path) -> String {
    let text = path.display().to_string();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
