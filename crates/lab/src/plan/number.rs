//! Assigns addresses to link ends.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::host::LabHost;
use super::link::{LabLink, LabNode};
use super::segment::segments;
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// The maximum number of segments in 10.0.0.0/16, and of hosts in a segment.
pub(super) const MOST: usize = 254;

/// Assigns addresses to the hosts of every segment in which the file sets none. Hosts are numbered
/// from 1 in the order of the links, and get addresses of the families that they have.
///
/// # Errors
/// Returns one line if there are too many segments, or too many hosts in one.
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
