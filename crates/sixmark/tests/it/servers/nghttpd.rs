//! nghttpd: HTTP/2 and nothing else. It listens at one address, so there is a process for each.

use std::net::SocketAddr;
use std::process::Command;

use super::process::program;
use super::server::{Kind, Settings, Site};
use crate::support::client::Protocol;

pub(super) const NGHTTPD: Kind = Kind {
    package: "nghttp2-server",
    skip: "nghttpd",
    plain: &[Protocol::Http2],
    secure: &[Protocol::Http2],
    prepare,
    // It keeps no log.
    first: 0,
    counts_requests: false,
};

fn prepare(site: &Site<'_>, _: &Settings) -> Vec<Command> {
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

fn listening(site: &Site<'_>, address: SocketAddr) -> Command {
    let mut command = program("nghttpd");
    command.arg("-a").arg(address.ip().to_string()).arg("-d").arg(site.dir.join("www"));
    command
}
