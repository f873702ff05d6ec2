//! Describes the packets that belong to no followed connection.

use std::cmp::Reverse;

use crate::Watched;

use sixmark_units::quantity::write_count;

/// Returns the kinds of packets that belong to no followed connection with their numbers, the most
/// frequent first, like `ARP 12`.
pub fn describe_not_followed(watched: &Watched) -> Vec<String> {
    let mut kinds: Vec<(&String, u64)> =
        watched.not_followed.iter().map(|(name, packets)| (name, *packets)).collect();
    kinds.sort_by_key(|(_, packets)| Reverse(*packets));
    kinds.into_iter().map(|(name, packets)| format!("{name} {}", write_count(packets))).collect()
}
