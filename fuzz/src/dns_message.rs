//! Whatever a name server sends: reading it never panics, and what is read is of the family that was asked for.

use sixmark_names::message::{encode_query, read_response};
use sixmark_names::sources::{families_in_hosts, host_sources, read_resolv_conf};
use sixmark_units::family::Family;

/// Reads an input. Panics where what this module says does not hold.
pub fn check(message: &[u8]) {
    for family in Family::BOTH {
        let query = encode_query(7, "a.example", family).unwrap();
        if let Some(found) = read_response(message, &query, family) {
            assert!(
                found.addresses.iter().all(|address| address.is_ipv6() == (family == Family::Ipv6))
            );
            assert!(found.addresses.len() <= message.len());
        }
    }
    if let Ok(text) = std::str::from_utf8(message) {
        let _ = (families_in_hosts(text, "a.example"), host_sources(text));
        let read = read_resolv_conf(text);
        assert!((1..=3).contains(&read.servers.len()) && !read.full_names("a").is_empty());
        if let Some(query) = encode_query(0, text, Family::Ipv6) {
            assert!(query.len() <= 12 + 255 + 4);
        }
    }
}
