//! nginx as a single process, with its files in the test's folder.

use std::net::SocketAddr;
use std::process::Command;

use crate::client::Protocol;
use crate::process::program;
use crate::web_server::{ServerKind, ServerSettings, ServerSite};

/// nginx with HTTP/1.1 and, over TLS, HTTP/2.
pub const NGINX: ServerKind = ServerKind {
    package: "nginx",
    skip: "nginx",
    plain: &[Protocol::Http1],
    secure: &[Protocol::Http1, Protocol::Http2],
    prepare,
    first: 1,
    counts_requests: true,
};

/// nginx with HTTP/2 alone, also without TLS (with prior knowledge).
pub const NGINX_CLEAR_HTTP2: ServerKind = ServerKind {
    plain: &[Protocol::Http2],
    secure: &[Protocol::Http2],
    prepare: prepare_clear_http2,
    ..NGINX
};

fn prepare(site: &ServerSite<'_>, settings: &ServerSettings) -> Vec<Command> {
    start(site, &configuration(site, settings, ""))
}

fn prepare_clear_http2(site: &ServerSite<'_>, settings: &ServerSettings) -> Vec<Command> {
    start(site, &configuration(site, settings, "http2"))
}

fn start(site: &ServerSite<'_>, configuration: &str) -> Vec<Command> {
    let conf = site.dir.join("conf");
    std::fs::write(&conf, configuration).unwrap();
    let mut command = program("nginx");
    command.arg("-p").arg(site.dir).args(["-e", "errors", "-c"]).arg(conf);
    vec![command]
}

fn listen(address: SocketAddr, more: &str) -> String {
    let only = if address.is_ipv6() { "ipv6only=on" } else { "" };
    format!("listen {address} {only} backlog=4096 {more};\n")
}

fn configuration(site: &ServerSite<'_>, settings: &ServerSettings, clear: &str) -> String {
    let (dir, a_connection) = (site.dir.display(), settings.a_connection);
    let [certificate, key] =
        [site.certificate(), site.key()].map(|path| path.display().to_string());
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {dir}/{kind};\n"))
        .concat();
    let plain = site.plain.map(|address| listen(address, clear)).concat();
    let secure = site.secure.map(|address| listen(address, "ssl http2")).concat();
    format!(
        "daemon off;
         master_process off;
         pid {dir}/pid;
         error_log {dir}/errors;
         events {{ worker_connections 4096; }}
         http {{
             {temporary}
             log_format line '$remote_addr $connection_requests $status $request_length $bytes_sent $server_protocol $ssl_protocol $uri';
             access_log {dir}/log line;
             default_type text/plain;
             keepalive_requests {a_connection};
             server {{
                 {plain}
                 {secure}
                 ssl_certificate {certificate};
                 ssl_certificate_key {key};
                 ssl_protocols TLSv1.2 TLSv1.3;
                 root {dir}/www;
                 location /ssi/ {{ ssi on; ssi_types *; }}
             }}
         }}
         "
    )
}
