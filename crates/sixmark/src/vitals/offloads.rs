//! What interfaces leave to their devices, as `ethtool -k` shows it.

use std::io;

use sixmark_model::vitals::result::OffloadState;
use sixmark_sys::ethtool::Ethtool;

use super::links::Links;

/// Features that bear on how many packets the kernel sees, and on what it computes of them.
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

/// Of all interfaces of the calling thread's network namespace.
///
/// # Errors
/// The kernel does not list them.
pub fn offloads() -> io::Result<Vec<OffloadState>> {
    let tool = Ethtool::open()?;
    let of = |(name, mtu): (String, u32)| {
        // One may have gone since it was listed.
        let features = tool.features(&name).unwrap_or_default();
        let named = |on| {
            let known = features.iter().filter(|f| f.on == on && NAMED.contains(&f.name.as_str()));
            known.map(|feature| feature.name.clone()).collect()
        };
        OffloadState { on: named(true), off: named(false), name, mtu }
    };
    Ok(Links::open()?.mtus()?.into_iter().map(of).collect())
}
