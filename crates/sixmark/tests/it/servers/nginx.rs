//! nginx: one process, its files in the test's folder.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use super::process::program;
use super::server::{Kind, Settings};

pub(super) const NGINX: Kind =
    Kind { package: "nginx", skip: "nginx", prepare, first: 1, counts_requests: true };

fn prepare(dir: &Path, addresses: [SocketAddr; 2], settings: &Settings) -> Command {
    std::fs::write(dir.join("conf"), configuration(dir, addresses, settings)).unwrap();
    let mut command = program("nginx");
    command.arg("-p").arg(dir).args(["-e", "errors", "-c"]).arg(dir.join("conf"));
    command
}

fn configuration(dir: &Path, [one, other]: [SocketAddr; 2], settings: &Settings) -> String {
    let (dir, a_connection) = (dir.display(), settings.a_connection);
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {dir}/{kind};\n"))
        .concat();
    let listen: String = [one, other]
        .map(|address| {
            let only = if address.is_ipv6() { "ipv6only=on" } else { "" };
            format!("listen {address} {only} backlog=4096;\n")
        })
        .concat();
    format!(
        "daemon off;
         master_process off;
         pid {dir}/pid;
         error_log {dir}/errors;
         events {{ worker_connections 4096; }}
         http {{
             {temporary}
             log_format line '$remote_addr $connection_requests $status $request_length $bytes_sent $uri';
             access_log {dir}/log line;
             default_type text/plain;
             keepalive_requests {a_connection};
             server {{
                 {listen}
                 root {dir}/www;
                 location /ssi/ {{ ssi on; ssi_types *; }}
             }}
         }}
         "
    )
}
