//! What a way to a server costs, beside native IPv6: which ways are compared, and what the report shows of it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::app_scenario::{AppScenario, NodeAccess, ScenarioClass, ScenarioSide, ScenarioTwist};
use crate::app_start::ServerWay;

/// What a way to a server costs, beside native IPv6.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WayCost {
    /// The way.
    pub way: ServerWay,
    /// The answer of the comparison, in one sentence; its side a is the way, side b native IPv6.
    pub sentence: String,
    /// What the comparison says beside that, as why they differ.
    pub notes: Vec<String>,
    /// The file with the whole comparison (sixmark.comparison/1), in the folder of --output.
    pub file: String,
}

/// Two ways to a server that are compared, in a network that has both.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedWays {
    /// The network.
    pub scenario: AppScenario,
    /// The way that is compared with native IPv6.
    pub way: ServerWay,
}

impl ComparedWays {
    /// Returns the name of the file with the comparison.
    pub fn file(&self) -> String {
        format!("{}.json", self.scenario.name)
    }

    /// Returns the addresses by which the client reaches the server: that of the way, and of native IPv6.
    pub fn addresses(&self) -> [IpAddr; 2] {
        use crate::scenario_lab::{AT_TRANSLATOR, SERVER, host_address, translated};
        use sixmark_units::family::Family;
        let native = host_address(SERVER, Family::Ipv6);
        let ipv4 = host_address(SERVER, Family::Ipv4);
        let way = match (self.way, ipv4) {
            (ServerWay::SiitDc, _) => AT_TRANSLATOR.into(),
            (ServerWay::Nat64, IpAddr::V4(ipv4)) => translated(ipv4).into(),
            _ => ipv4,
        };
        [way, native]
    }
}

const fn compared(
    name: &'static str,
    way: ServerWay,
    client: NodeAccess,
    server: NodeAccess,
) -> ComparedWays {
    let (twist, class) = (ScenarioTwist::Plain, ScenarioClass::Beyond);
    let (side, about) = (ScenarioSide::Either, "a network with both ways");
    ComparedWays { scenario: AppScenario { name, client, server, twist, class, side, about }, way }
}

use NodeAccess::{Clat, DualStack, Nat64};

/// The ways that are compared with native IPv6.
pub static COMPARED_WAYS: [ComparedWays; 4] = [
    compared("cost-ipv4", ServerWay::Ipv4, DualStack, DualStack),
    compared("cost-nat64", ServerWay::Nat64, Nat64, DualStack),
    compared("cost-464xlat", ServerWay::Clat, Clat, DualStack),
    compared("cost-siit-dc", ServerWay::SiitDc, DualStack, Nat64),
];
