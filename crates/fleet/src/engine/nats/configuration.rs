//! The configuration of a server for a fleet.

use std::net::SocketAddr;
use std::path::Path;

use super::subjects::{AGENT_INBOX, ALL, ALL_AGENTS, ALL_RECORDS, NOBODY};
use crate::engine::transport::LONGEST_MESSAGE;

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
    /// The public nkeys of the controller and of all agents.
    pub(super) users: [&'a str; 2],
    /// The files of its certificate and of the certificate's key.
    pub(super) tls: Option<[&'a Path; 2]>,
    /// The folder in which it writes its port.
    pub(super) ports: Option<&'a Path>,
}

/// Returns the text of a configuration.
pub(super) fn configure(settings: &Settings<'_>) -> String {
    let port = match settings.listen.port() {
        0 => -1,
        port => i32::from(port),
    };
    let [controller, agents] = settings.users;
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
{tls}{ports}authorization {{
    users: [
        # The controller.
        {{ nkey: {controller} }}
        # Agents: they answer, and publish records. They can't read any, nor what the controller keeps.
        {{
            nkey: {agents}
            permissions: {{
                publish: {{ allow: [\"{ALL_RECORDS}\", \"{NOBODY}\"] }}
                subscribe: {{ allow: [\"{ALL}\", \"{ALL_AGENTS}\", \"{AGENT_INBOX}.>\"] }}
                allow_responses: true
            }}
        }}
    ]
}}
",
        host = settings.listen.ip(),
        payload = LONGEST_MESSAGE + HEADERS,
        store = quote(settings.store),
        ports = ports.unwrap_or_default(),
    )
}

/// A path as a string of the configuration's syntax.
fn quote(path: &Path) -> String {
    let text = path.display().to_string();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
