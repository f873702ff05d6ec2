//! The lab file: a network of hosts, bridges and links, as people write it, and as a value that can't
//! be invalid.
//!
//! ```toml
//! name = "first"
//!
//! [hosts.client]
//! [hosts.router]
//! forwards = true
//! [hosts.server]
//!
//! [links]
//! near = ["client", "router"]
//! far = { between = ["router", "server"], delay = "2ms", toward.server.ipv6 = { loss = "1%" } }
//!
//! [services.web]
//! host = "server"
//! command = ["{sixmark}", "origin", "--listen", "[::]:80", "--listen", "0.0.0.0:80"]
//! ```
//!
//! Every link and bridge makes a *segment*: what reaches it without a router. Segments are numbered in
//! the file's order, N from 1, and have the prefixes 10.0.N.0/24 and fd00:0:0:N::/64, unless ends say
//! their addresses. Hosts without BGP have the static routes of the shortest ways.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod bird;
mod daemons;
pub mod diagram;
pub mod generated;
mod host;
mod link;
mod names;
pub mod nft;
mod number;
mod read;
pub mod routes;
pub mod segment;
pub mod services;
pub mod storage;
pub mod tayga;
pub mod tc;
mod texts;
mod unbound;
mod variants;

use std::collections::BTreeMap;
use std::net::IpAddr;

pub use host::{Bgp, Dns64, Forward, LabHost, LabRoute, Nat44, Nat64, OffloadPlan, Switch};
pub use link::{Bridge, LabLink, LabNode, LinkEnd, LinkMechanism};

pub use read::{is_lab_name, parse_lab};
pub use variants::Variants;

use crate::plan::generated::Generated;
use crate::plan::services::Service;
use sixmark_units::family::Family;

/// A lab, checked: whatever it names is there, and it can be built.
#[derive(Clone, Debug, PartialEq)]
pub struct Lab {
    /// Lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// A line about it.
    pub title: String,
    /// More, for people; may be empty.
    pub description: String,
    /// Hosts and routers, in the file's order.
    pub hosts: Vec<LabHost>,
    /// Bridges, in the file's order.
    pub bridges: Vec<Bridge>,
    /// Links, in the file's order.
    pub links: Vec<LabLink>,
    /// Names and their addresses, for files of hosts and name servers.
    pub names: BTreeMap<String, Vec<IpAddr>>,
    /// Programs that run while the lab is up.
    pub services: Vec<Service>,
    /// Files made for it, in `{www}`.
    pub files: Vec<Generated>,
    /// What it may be varied in, and what has been chosen.
    pub variants: Variants,
    /// Decides what emulated links do by chance.
    pub seed: u64,
}

impl Lab {
    /// The host of this name.
    pub fn host(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// Leaves out the services that run on demand, but for this one.
    pub fn demand(&mut self, service: Option<&str>) {
        self.services.retain(|one| !one.on_demand || service == Some(one.name.as_str()));
    }

    /// A node's name.
    pub fn node_name(&self, node: LabNode) -> &str {
        match node {
            LabNode::Host(at) => self.hosts.get(at).map_or("", |host| &host.name),
            LabNode::Bridge(at) => self.bridges.get(at).map_or("", |bridge| &bridge.name),
        }
    }

    /// The ends of links at a host, in the links' order.
    pub fn ends(&self, host: usize) -> impl Iterator<Item = &LinkEnd> {
        let ends = self.links.iter().flat_map(|link| &link.ends);
        ends.filter(move |end| end.node == LabNode::Host(host))
    }

    /// A host's first address of a family: the one that `{host.ipv6}` stands for.
    pub fn address(&self, host: usize, family: Family) -> Option<IpAddr> {
        let all = self.ends(host).flat_map(|end| &end.addresses);
        all.map(|net| net.address).find(|address| Family::of(*address) == family)
    }

    /// What stands in braces: `client.ipv6`, `client.ipv4` of every host that has one.
    pub fn value(&self, name: &str) -> Option<String> {
        let (host, family) = name.rsplit_once('.')?;
        let family = Family::BOTH.into_iter().find(|known| known.word() == family)?;
        self.address(self.host(host)?, family).map(|address| address.to_string())
    }
}

#[cfg(test)]
mod tests;
