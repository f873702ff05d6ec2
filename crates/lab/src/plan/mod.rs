//! The lab file, which describes a network of hosts, bridges and links, and the validated lab that
//! is parsed from it.
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
//! A link, or a set of links joined by bridges, forms a *segment*, whose hosts reach each other
//! without a router. Segments are numbered in the order of the file. Segment N (from 1) has the
//! prefixes 10.0.N.0/24 and fd00:0:0:N::/64, unless its ends have addresses in the file. Hosts
//! without BGP get static routes along the shortest paths.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod advertises;
pub mod bird;
mod daemons;
mod dhcp;
pub mod diagram;
pub mod generated;
mod given;
mod host;
mod link;
mod names;
pub mod nft;
mod number;
pub mod optional;
pub mod placeholders;
mod program;
mod read;
mod responders;
pub mod routes;
pub mod segment;
pub mod services;
mod small_links;
pub mod storage;
pub mod tayga;
pub mod tc;
mod texts;
mod translators;
mod unbound;
mod variants;

use std::collections::BTreeMap;
use std::net::IpAddr;

pub(crate) use advertises::PREF64_LENGTHS;
pub use advertises::{AdvertisementPlan, Pref64};
pub use dhcp::DhcpPlan;
pub use host::{
    AddressMap, Bgp, CLAT_INTERFACE, Clat, Dns64, Forward, LabHost, LabRoute, Nat44, Nat64,
    OffloadPlan, Switch,
};
pub use link::{Bridge, LabLink, LabNode, LinkEnd, LinkMechanism};

pub use read::{is_lab_name, parse_lab};
pub use variants::Variants;

use crate::plan::generated::Generated;
use crate::plan::services::Service;
use sixmark_units::family::Family;

/// The beginning of the names of placeholders for texts.
const TEXTS: &str = "texts.";

/// A validated lab: everything that it refers to exists, and it can be built.
#[derive(Clone, Debug, PartialEq)]
pub struct Lab {
    /// The name: lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// The title, one line; the name by default.
    pub title: String,
    /// A longer description; may be empty.
    pub description: String,
    /// Hosts and routers, in the file's order.
    pub hosts: Vec<LabHost>,
    /// Bridges, in the file's order.
    pub bridges: Vec<Bridge>,
    /// Links, in the file's order.
    pub links: Vec<LabLink>,
    /// Host names and their addresses, for the hosts files and the name servers.
    pub names: BTreeMap<String, Vec<IpAddr>>,
    /// Texts for the placeholders `texts.NAME` of services, which variants may replace.
    pub texts: BTreeMap<String, String>,
    /// Programs that run while the lab is up.
    pub services: Vec<Service>,
    /// Files generated in `{www}`.
    pub files: Vec<Generated>,
    /// The variants of the lab, and the chosen values.
    pub variants: Variants,
    /// The seed of the random numbers of emulated links.
    pub seed: u64,
}

impl Lab {
    /// Returns the index of the host with this name.
    pub fn host(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// Removes the services that run on demand, except this one.
    pub fn demand(&mut self, service: Option<&str>) {
        self.services.retain(|one| !one.on_demand || service == Some(one.name.as_str()));
    }

    /// Returns the name of a node.
    pub fn node_name(&self, node: LabNode) -> &str {
        match node {
            LabNode::Host(at) => self.hosts.get(at).map_or("", |host| &host.name),
            LabNode::Bridge(at) => self.bridges.get(at).map_or("", |bridge| &bridge.name),
        }
    }

    /// Returns the link ends at a host, in the order of the links.
    pub fn ends(&self, host: usize) -> impl Iterator<Item = &LinkEnd> {
        let ends = self.links.iter().flat_map(|link| &link.ends);
        ends.filter(move |end| end.node == LabNode::Host(host))
    }

    /// Returns a host's first address of a family, as used for placeholders like `{host.ipv6}`.
    pub fn address(&self, host: usize, family: Family) -> Option<IpAddr> {
        let all = self.ends(host).flat_map(|end| &end.addresses);
        all.map(|net| net.address).find(|address| Family::of(*address) == family)
    }

    /// Returns the values of all placeholders that services may contain.
    pub(crate) fn values(&self) -> BTreeMap<String, String> {
        let of_host =
            |host: &LabHost| ["ipv6", "ipv4"].map(|family| format!("{}.{family}", host.name));
        let texts = self.texts.keys().map(|name| format!("{TEXTS}{name}"));
        let names = self.hosts.iter().flat_map(of_host).chain(texts);
        names.filter_map(|name| self.value(&name).map(|value| (name, value))).collect()
    }

    /// Returns the value of a placeholder: `client.ipv6` or `client.ipv4` for a host `client` with
    /// an address of that family, `texts.NAME` for a text.
    pub fn value(&self, name: &str) -> Option<String> {
        if let Some(text) = name.strip_prefix(TEXTS) {
            return self.texts.get(text).cloned();
        }
        let (host, family) = name.rsplit_once('.')?;
        let family = Family::BOTH.into_iter().find(|known| known.word() == family)?;
        self.address(self.host(host)?, family).map(|address| address.to_string())
    }
}

#[cfg(test)]
mod tests;
