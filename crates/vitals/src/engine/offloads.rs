//! The offloads of interfaces, as `ethtool -k` shows them.

use std::io;

use crate::vitals_result::OffloadState;
use sixmark_sys::ethtool::Ethtool;

use super::links::Links;

/// Features that affect how many packets the kernel sees, and what it computes for them.
const NAMED: [&str; 12] = [
    "rx-gro",
    "rx-gro-hw",
    "rx-gro-list",
    "rx-udp-gro-forwarding",
    "rx-lro",
    "rx-checksum",
    "tx-checksum-ipv4",
    "tx-checksum-ipv6",
    "tx-checksum-ip-generic",
    "tx-generic-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
];

/// Returns the offloads of all interfaces of the calling thread's network namespace.
///
/// # Errors
/// Returns an error if the kernel does not list the interfaces.
pub fn offloads() -> io::Result<Vec<OffloadState>> {
    let tool = Ethtool::open()?;
    let of = |(name, mtu): (String, u32)| {
        // An interface may have disappeared since it was listed.
        let features = tool.features(&name).unwrap_or_default();
        let named = |on| {
            let known = features.iter().filter(|f| f.on == on && NAMED.contains(&f.name.as_str()));
            known.map(|feature| feature.name.clone()).collect()
        };
        OffloadState { on: named(true), off: named(false), name, mtu }
    };
    Ok(Links::open()?.mtus()?.into_iter().map(of).collect())
}
