//! nghttpd: HTTP/2 and nothing else. It listens at one address, so there is a process for each.

use std::net::SocketAddr;
use std::process::Command;

use sixmark_testkit::client::Protocol;
use sixmark_testkit::process::program;
use sixmark_testkit::web_server::{ServerKind, ServerSettings, ServerSite};

pub(super) const NGHTTPD: ServerKind = ServerKind {
    package: "nghttp2-server",
    skip: "nghttpd",
    plain: &[Protocol::Http2],
    secure: &[Protocol::Http2],
    prepare,
    // It keeps no log.
    first: 0,
    counts_requests: false,
};

fn prepare(site: &ServerSite<'_>, _: &ServerSettings) -> Vec<Command> {
    let plain = site.plain.map(|address| {
        let mut command = listening(site, address);
        command.arg("--no-tls").arg(address.port().to_string());
        command
    });
    let secure = site.secure.map(|address| {
        let mut command = listening(site, address);
        command.arg(address.port().to_string()).arg(site.key()).arg(site.certificate());
        command
    });
    plain.into_iter().chain(secure).collect()
}

fn listening(site: &ServerSite<'_>, address: SocketAddr) -> Command {
    let mut command = program("nghttpd");
    command.arg("-a").arg(address.ip().to_string()).arg("-d").arg(site.dir.join("www"));
    command
}
