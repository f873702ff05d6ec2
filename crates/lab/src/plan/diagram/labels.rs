//! Short descriptions of hosts and links.

use std::time::Duration;

use super::super::{AddressMap, Forward, Lab, LabHost, LabNode, LinkEnd};
use crate::impairment::{Effect, FrameRate, Impairment, Loss};
use sixmark_units::family::Family;

/// Describes the functions of a host.
pub(super) fn marks(host: &LabHost) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(host.bgp.map(|bgp| format!("BGP, AS {}", bgp.asn)));
    if let Some(nat) = &host.nat44 {
        let behind = nat.masquerade.iter().map(|name| format!("NAT44 toward {name}"));
        found.extend(behind);
        let forward = |f: &Forward| format!("port {} to {}", f.port, f.to);
        found.extend(nat.forward.iter().map(forward));
    }
    found.extend(host.nat64.as_ref().map(|nat| format!("NAT64 {}", nat.prefix)));
    let map = |of: &AddressMap| format!("{} is {}", of.ipv4, of.to);
    found.extend(host.nat64.iter().flat_map(|nat| nat.maps.iter().map(map)));
    found.extend(host.clat.map(|clat| format!("CLAT toward {}", clat.prefix)));
    found.extend(host.advertises.map(|of| match of.pref64 {
        Some(pref64) => format!("advertises NAT64 {}", pref64.prefix),
        None => "advertises itself".to_owned(),
    }));
    found.extend(host.dhcp.map(|of| match of.v6only_wait_s {
        Some(seconds) => format!("DHCPv4, IPv6-only preferred for {seconds} s"),
        None => "DHCPv4".to_owned(),
    }));
    found.extend(host.dns64.map(|dns| format!("DNS64 {}", dns.prefix)));
    found.extend(host.clamp_mss.then(|| "MSS clamping".to_owned()));
    found.extend(host.resolver.as_ref().map(|name| format!("asks {name} for names")));
    if let [only] = host.families.as_slice() {
        found.push(format!("{only} only"));
    }
    found.extend(host.missing_stack.map(|family| format!("no {family} stack")));
    found
}

/// Returns the names of the file's services in a host.
pub(super) fn services<'a>(lab: &'a Lab, host: &LabHost) -> Vec<&'a str> {
    let here = lab.services.iter().filter(|s| s.host.as_deref() == Some(&host.name));
    here.map(|service| service.name.as_str()).collect()
}

/// Returns the label of a node.
pub(super) fn title_of_node(lab: &Lab, node: LabNode) -> String {
    let label = match node {
        LabNode::Host(at) => lab.hosts.get(at).map(|host| host.label.as_str()),
        LabNode::Bridge(at) => lab.bridges.get(at).map(|bridge| bridge.label.as_str()),
    };
    label.unwrap_or_default().to_owned()
}

/// Formats the addresses of an interface.
pub(super) fn addresses_of_end(end: &LinkEnd) -> Vec<String> {
    end.addresses.iter().map(ToString::to_string).collect()
}

/// Describes the impairment of one direction; empty if there is none.
pub(super) fn impairment(impairment: &Impairment) -> Vec<String> {
    let mut found: Vec<String> = impairment.rate.iter().flat_map(describe_rate).collect();
    if impairment.by_family() {
        for family in Family::BOTH {
            let parts = effect(&impairment.families[family]);
            let parts = if parts.is_empty() { "as sent".to_owned() } else { parts.join(", ") };
            found.push(format!("{family}: {parts}"));
        }
    } else {
        found.extend(effect(&impairment.common));
    }
    for (family, _) in impairment.drops_too_big.iter().filter(|(_, drops)| **drops) {
        found.push(format!("{family}: no Packet Too Big"));
    }
    found
}

fn describe_rate(rate: &FrameRate) -> Vec<String> {
    let bits = rate.bits_per_s.get() as f64;
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let unit = units.into_iter().find(|(scale, _)| bits >= *scale);
    let (scale, unit) = unit.unwrap_or((1.0, "bit/s"));
    let framing = if rate.ethernet { " with framing" } else { "" };
    let mut found = vec![format!("{} {unit}{framing}", bits / scale)];
    found.extend(rate.queue_bytes.map(|bytes| format!("queue {} kB", bytes.get() as f64 / 1e3)));
    found
}

fn effect(effect: &Effect) -> Vec<String> {
    let mut found = Vec::new();
    match (effect.delay.is_zero(), effect.jitter.is_zero()) {
        (true, _) => {}
        (false, true) => found.push(describe_time(effect.delay)),
        (false, false) => {
            found.push(format!(
                "{} ± {}",
                describe_time(effect.delay),
                describe_time(effect.jitter)
            ));
        }
    }
    match effect.loss {
        Loss::None => {}
        Loss::Random(share) => found.push(format!("loss {}", describe_percent(share))),
        Loss::Bursts { share, mean } => {
            found.push(format!("loss {} in bursts of {mean}", describe_percent(share)));
        }
    }
    if effect.reorder > 0.0 {
        found.push(format!("{} overtake", describe_percent(effect.reorder)));
    }
    found
}

fn describe_time(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 1.0 { format!("{} us", ms * 1e3) } else { format!("{ms} ms") }
}

fn describe_percent(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}
