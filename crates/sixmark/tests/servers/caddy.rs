//! Caddy: every protocol at once. What it would keep in its user's home is in the test's folder.

use std::net::SocketAddr;
use std::process::Command;

use sixmark_testkit::client::Protocol;
use sixmark_testkit::process::program;
use sixmark_testkit::web_server::{ServerKind, ServerSettings, ServerSite};

pub(super) const CADDY: ServerKind = ServerKind {
    package: "caddy",
    skip: "caddy",
    plain: &[Protocol::Http1, Protocol::Http2],
    secure: &Protocol::ALL,
    prepare,
    // Its log is off.
    first: 0,
    counts_requests: false,
};

fn prepare(site: &ServerSite<'_>, _: &ServerSettings) -> Vec<Command> {
    let conf = site.dir.join("conf");
    std::fs::write(&conf, configuration(site)).unwrap();
    let mut command = program("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(conf);
    for home in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, site.dir);
    }
    vec![command]
}

fn configuration(site: &ServerSite<'_>) -> String {
    let dir = site.dir.display();
    let [certificate, key] =
        [site.certificate(), site.key()].map(|path| path.display().to_string());
    let tls = format!("tls {certificate} {key}");
    let plain = site.plain.map(|address| listen("http", address, "")).concat();
    let secure = site.secure.map(|address| listen("https", address, &tls)).concat();
    format!(
        "{{
             admin off
             auto_https off
             skip_install_trust
             storage file_system {dir}/storage
             log {{
                 output discard
             }}
             servers {{
                 protocols h1 h2 h2c h3
             }}
         }}
         (site) {{
             root * {dir}/www
             file_server
         }}
         {plain}
         {secure}
         "
    )
}

fn listen(scheme: &str, address: SocketAddr, more: &str) -> String {
    let (ip, port) = (address.ip(), address.port());
    format!("{scheme}://:{port} {{\nbind {ip}\n{more}\nimport site\n}}\n")
}
