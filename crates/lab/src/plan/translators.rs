//! What the translators of a lab need of its other parts.

use std::collections::BTreeSet;

use super::{AddressMap, Clat, Lab, LabHost, Nat64};
use sixmark_units::family::Family;

/// Checks the translators of a host. Passes each mistake to `wrong`, with its key.
pub(super) fn check_translators(lab: &Lab, host: &LabHost, wrong: &dyn Fn(&str, &str)) {
    let missing = host.missing_stack.filter(|_| host.nat64.is_some() || host.clat.is_some());
    if let Some(family) = missing {
        wrong(
            "stacks",
            &format!("a host that translates needs both stacks, also that of {family}"),
        );
    }
    if let Some(nat) = &host.nat64 {
        check_maps(lab, nat, wrong);
    }
    if let Some(clat) = &host.clat {
        check_clat(lab, host, clat, wrong);
    }
}

/// Each address may stand for one host, and each host may have one address (RFC 7757, 3.2).
fn check_maps(lab: &Lab, nat: &Nat64, wrong: &dyn Fn(&str, &str)) {
    let (mut addresses, mut hosts) = (BTreeSet::new(), BTreeSet::new());
    for AddressMap { ipv4, to } in &nat.maps {
        let place = "nat64.maps";
        if lab.host(to).and_then(|host| lab.address(host, Family::Ipv6)).is_none() {
            wrong(place, &format!("'{to}' is not a host with an IPv6 address"));
        }
        if !addresses.insert(ipv4) {
            wrong(place, &format!("{ipv4} stands for two hosts"));
        }
        if !hosts.insert(to) {
            wrong(place, &format!("'{to}' has two addresses: a host can have one"));
        }
    }
}

fn check_clat(lab: &Lab, host: &LabHost, clat: &Clat, wrong: &dyn Fn(&str, &str)) {
    if host.families.contains(&Family::Ipv4) && !host.is_clat_of_others() {
        let line = "a host with a CLAT has no other IPv4: add families = [\"ipv6\"], or \
                    nat44.masquerade = [\"clat\"] if it is the router of hosts with IPv4";
        wrong("clat", line);
    }
    let same = |other: &&LabHost| other.clat.is_some_and(|of| of.own == clat.own);
    if lab.hosts.iter().filter(same).count() > 1 {
        wrong("clat.own", "is that of another host too: each CLAT needs a prefix of its own");
    }
    let of_nat64 = |other: &LabHost| other.nat64.as_ref().is_some_and(|of| of.prefix == clat.own);
    if clat.own == clat.prefix || lab.hosts.iter().any(of_nat64) {
        wrong("clat.own", "is the prefix of a NAT64: a CLAT needs one of its own");
    }
}
