//! The links of a lab, and the bridges at which links may end.

use super::host::{OffloadPlan, offloads};
use crate::impairment::{Impairment, impairment};
use sixmark_document::fields::{FileField, FileFields};
use sixmark_units::net::Net;

/// A bridge, which joins links at the link layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bridge {
    /// Its name.
    pub name: String,
    /// The label for display; the name by default.
    pub label: String,
}

/// A node of the lab: the index of a host or of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabNode {
    /// A host.
    Host(usize),
    /// A bridge.
    Bridge(usize),
}

/// A link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct LabLink {
    /// Its name.
    pub name: String,
    /// Its ends.
    pub ends: [LinkEnd; 2],
    /// The impairment in each direction: from the first end to the second, and back.
    pub toward: [Impairment; 2],
    /// The mechanism that impairs frames.
    pub mechanism: LinkMechanism,
}

/// The mechanism that delays and loses frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkMechanism {
    /// The kernel's netem if available and sufficient, otherwise the emulator.
    #[default]
    Auto,
    /// The kernel's netem or token bucket; an error if the kernel cannot implement the impairment.
    Netem,
    /// The emulator, also for rate limits.
    Emulator,
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkEnd {
    /// The node.
    pub node: LabNode,
    /// The name of the interface. The default is the name of the node at the other end.
    pub interface: String,
    /// The addresses; empty at a bridge.
    pub addresses: Vec<Net>,
    /// The MTU in bytes.
    pub mtu: u32,
    /// The offloads of the interface.
    pub offloads: OffloadPlan,
}

/// The default MTU, that of Ethernet.
const MTU: u32 = 1500;
/// The allowed MTUs: the minimum is the datagram that every host of IPv4 accepts (RFC 791, 3.1), the maximum that of
/// a veth device. A link with IPv6 needs more.
const MTUS: (u64, u64) = (576, 65_535);

/// Reads a bridge from its table.
pub(super) fn bridge(field: &FileField<'_>) -> Option<Bridge> {
    super::names::check_name(field, "a bridge");
    let mut fields = field.fields()?;
    let label = fields.text("label").unwrap_or_else(|| field.name.clone());
    fields.end();
    Some(Bridge { name: field.name.clone(), label })
}

/// Finds a node by its name.
pub(super) type Find<'a> = &'a dyn Fn(&str) -> Option<LabNode>;

/// Reads a link from its table, or from a list of the names of its ends.
pub(super) fn link(field: &FileField<'_>, find: Find<'_>) -> Option<LabLink> {
    super::names::check_name(field, "a link");
    if field.is_list() {
        let names = between(field, find)?;
        let ends = [read_end(&names, 0, None, MTU), read_end(&names, 1, None, MTU)];
        let toward = [Impairment::default(), Impairment::default()];
        let name = field.name.clone();
        return Some(LabLink { name, ends, toward, mechanism: LinkMechanism::Auto });
    }
    let mut fields = field.fields()?;
    let names = fields.need("between").and_then(|field| between(&field, find));
    let mtu = fields.take("mtu").map_or(Some(MTU), |field| mtu(&field));
    let mechanism = fields.take("mechanism").and_then(|field| field.one_of(&MECHANISMS));
    let both = impairment(&mut fields);
    let (at, toward) = (fields.table("at"), fields.table("toward"));
    fields.end();
    let (names, mtu) = (names?, mtu?);
    let at = per_end(at, &names);
    let ends = [read_end(&names, 0, at.0, mtu), read_end(&names, 1, at.1, mtu)];
    let (first, second) = per_end(toward, &names);
    let of = |fields: Option<FileFields<'_>>| fields.map_or(both.clone(), directed);
    let toward = [of(second), of(first)];
    let name = field.name.clone();
    Some(LabLink { name, ends, toward, mechanism: mechanism.unwrap_or_default() })
}

const MECHANISMS: [(&str, LinkMechanism); 3] = [
    ("auto", LinkMechanism::Auto),
    ("netem", LinkMechanism::Netem),
    ("emulator", LinkMechanism::Emulator),
];

/// Reads the impairment of one direction from its own table, which replaces that of the link.
fn directed(mut fields: FileFields<'_>) -> Impairment {
    let own = impairment(&mut fields);
    fields.end();
    own
}

/// Reads the two ends of a link: names and nodes.
fn between(field: &FileField<'_>, find: Find<'_>) -> Option<[(String, LabNode); 2]> {
    let names = field.texts();
    let node = |name: &String| {
        let found = find(name);
        if found.is_none() {
            field.wrong(&format!("'{name}' is neither a host nor a bridge"));
        }
        found.map(|node| (name.clone(), node))
    };
    let found: Vec<_> = names.iter().filter_map(node).collect();
    let two: Option<[(String, LabNode); 2]> = found.try_into().ok();
    if two.is_none() && names.len() != 2 {
        field.wrong("a link has two ends: [\"client\", \"router\"]");
    }
    let two = two?;
    if two[0].1 == two[1].1 {
        field.wrong("a link joins two nodes, not one with itself");
    }
    Some(two)
}

/// Returns the tables for the two ends, by the names of their nodes.
fn per_end<'a>(
    fields: Option<FileFields<'a>>,
    names: &[(String, LabNode); 2],
) -> (Option<FileFields<'a>>, Option<FileFields<'a>>) {
    let Some(mut fields) = fields else { return (None, None) };
    let mut found = (None, None);
    for field in fields.rest() {
        if field.name == names[0].0 {
            found.0 = field.fields();
        } else if field.name == names[1].0 {
            found.1 = field.fields();
        } else {
            field.wrong(&format!(
                "is not an end of this link; its ends are {} and {}",
                names[0].0, names[1].0
            ));
        }
    }
    found
}

fn read_end(
    names: &[(String, LabNode); 2],
    at: usize,
    fields: Option<FileFields<'_>>,
    usual: u32,
) -> LinkEnd {
    let node = names[at].1;
    let mut end = LinkEnd {
        node,
        interface: names[1 - at].0.clone(),
        addresses: Vec::new(),
        mtu: usual,
        offloads: OffloadPlan::default(),
    };
    let Some(mut fields) = fields else { return end };
    if let Some(field) = fields.take("name") {
        end.interface = field.text().unwrap_or_default();
        super::names::check_text(&field, &end.interface, "an interface");
    }
    if let Some(field) = fields.take("addresses") {
        end.addresses = field.items().iter().filter_map(|item| item.parsed(str::parse)).collect();
        if matches!(node, LabNode::Bridge(_)) {
            field.wrong("a bridge has no addresses");
        }
    }
    end.mtu = fields.take("mtu").and_then(|field| mtu(&field)).unwrap_or(usual);
    end.offloads = fields.table("offloads").map_or(end.offloads, offloads);
    fields.end();
    end
}

fn mtu(field: &FileField<'_>) -> Option<u32> {
    field.whole(MTUS.0, MTUS.1).map(|mtu| mtu as u32)
}
