//! What a router needs that tells hosts of its networks what to use.

use super::{Lab, LabHost};
use sixmark_units::family::Family;

/// Checks that a host can do what it should tell others. Passes each mistake to `wrong`, with its key.
pub(super) fn check_responders(
    lab: &Lab,
    number: usize,
    host: &LabHost,
    wrong: &dyn Fn(&str, &str),
) {
    let lacks = |family| lab.address(number, family).is_none();
    if host.advertises.is_some() {
        if !host.forwards {
            wrong("advertises", "only a router sends advertisements: add forwards = true");
        }
        if lacks(Family::Ipv6) {
            wrong("advertises", "the host has no IPv6 address to advertise a network of");
        }
    }
    if host.dhcp.is_some() {
        if !host.forwards {
            wrong("dhcp", "the server names itself as router: add forwards = true");
        }
        if lacks(Family::Ipv4) {
            wrong("dhcp", "the host has no IPv4 address to serve others from");
        }
    }
}
