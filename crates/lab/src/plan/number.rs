//! Addresses for ends that have none from the file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::host::LabHost;
use super::link::{LabLink, LabNode};
use super::segment::segments;
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// The most segments that 10.0.0.0/16 has room for, and the most hosts in each.
pub(super) const MOST: usize = 254;

/// Gives addresses to the ends of every segment in which the file gives none: to its hosts from 1 in
/// their order, of the families that they have.
///
/// # Errors
/// There are too many segments, or hosts in one.
pub(super) fn number_addresses(links: &mut [LabLink], hosts: &[LabHost]) -> Result<(), String> {
    let segments = segments(links);
    if segments.len() > MOST {
        return Err(format!("there are more than {MOST} segments"));
    }
    for (number, segment) in (1_u16..).zip(segments) {
        if segment.ends.len() > MOST {
            return Err(format!("there are more than {MOST} hosts in one segment"));
        }
        let given = |&(link, end): &(usize, usize)| !links[link].ends[end].addresses.is_empty();
        if segment.ends.iter().any(given) {
            continue;
        }
        for (place, (link, end)) in (1_u16..).zip(segment.ends) {
            let end = &mut links[link].ends[end];
            let LabNode::Host(host) = end.node else { continue };
            end.addresses = hosts[host]
                .families
                .iter()
                .map(|&f| address_in_segment(f, number, place))
                .collect();
        }
    }
    Ok(())
}

fn address_in_segment(family: Family, segment: u16, place: u16) -> Net {
    match family {
        Family::Ipv6 => {
            let address = Ipv6Addr::new(0xfd00, 0, 0, segment, 0, 0, 0, place);
            Net { address: IpAddr::V6(address), length: 64 }
        }
        Family::Ipv4 => {
            let address = Ipv4Addr::new(10, 0, segment as u8, place as u8);
            Net { address: IpAddr::V4(address), length: 24 }
        }
    }
}
