//! The zones on the way to a name, and what their name servers answer over each family.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

/// A zone on the way to a name, and its name servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZoneServers {
    /// The name of the zone, without the final dot.
    pub zone: String,
    /// Its name servers, by name.
    pub servers: Vec<ZoneServer>,
}

impl ZoneServers {
    /// Returns the addresses of a family that its servers have.
    pub fn addresses(&self, family: Family) -> impl Iterator<Item = &ServerAddress> {
        let all = self.servers.iter().flat_map(|of| &of.addresses);
        all.filter(move |of| Family::of(of.address) == family)
    }

    /// Returns true if it is known whether each server has an address of a family.
    pub fn is_known(&self, family: Family) -> bool {
        self.servers.iter().all(|of| !of.unknown.contains(&family))
    }
}

/// A name server of a zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZoneServer {
    /// Its name, without the final dot.
    pub name: String,
    /// Its addresses, IPv6 first.
    pub addresses: Vec<ServerAddress>,
    /// The families whose look-up failed.
    pub unknown: Vec<Family>,
}

/// An address of a name server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerAddress {
    /// The address.
    pub address: IpAddr,
    /// What came of a query for the SOA record of the zone; null if it was not asked.
    pub end: Option<ZoneAnswer>,
}

/// What a name server answered about its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ZoneAnswer {
    /// It answered with authority.
    Answered,
    /// It answered that it does not serve the zone, or without authority.
    Lame,
    /// It did not answer in time.
    Silent,
    /// It could not be asked: refused, or no route.
    Unreachable,
}

impl ZoneAnswer {
    /// Returns a phrase for people.
    pub fn phrase(self) -> &'static str {
        match self {
            ZoneAnswer::Answered => "answers",
            ZoneAnswer::Lame => "does not serve the zone",
            ZoneAnswer::Silent => "no answer",
            ZoneAnswer::Unreachable => "can't be reached",
        }
    }
}
