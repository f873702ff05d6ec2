//! What a router says of itself and of its networks in Router Advertisements.

use std::time::Duration;

use sixmark_document::fields::{FileField, FileFields};
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// The Router Advertisements of a host (RFC 4861).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertisementPlan {
    /// The prefix of a NAT64 that they name, if any.
    pub pref64: Option<Pref64>,
    /// For how many seconds the host is a default router; 0 if it is none.
    pub router_lifetime_s: u16,
}

/// A prefix that represents IPv4 addresses, as Router Advertisements name it (RFC 8781).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pref64 {
    /// The prefix, whose length is 32, 40, 48, 56, 64 or 96 bits.
    pub prefix: Net,
    /// For how many seconds it may be used, at most 65,528; 0 if no longer.
    pub lifetime_s: u16,
}

/// The lengths of prefixes, each at the place that is its code (RFC 8781, 4).
pub(crate) const PREF64_LENGTHS: [u8; 6] = [96, 64, 56, 48, 40, 32];

/// The longest lifetime of a prefix in seconds: 13 bits, in units of 8 s (RFC 8781, 4).
const LONGEST_PREF64_S: u64 = 8_191 * 8;
/// The default lifetime of a prefix: three times the default interval of advertisements (RFC 8781, 4.1).
const PREF64_S: u16 = 1_800;
/// The longest lifetime of a router in seconds (RFC 8319, 4).
const LONGEST_ROUTER_S: u64 = 65_535;

/// Reads the table `advertises` of a host.
pub(super) fn read_advertises(mut fields: FileFields<'_>) -> Option<AdvertisementPlan> {
    let prefix = fields.take("pref64").map(|field| field.parsed(pref64_prefix));
    let lifetime = fields.take("lifetime");
    if let (None, Some(field)) = (&prefix, &lifetime) {
        field.wrong("is that of the prefix of a NAT64: add pref64");
    }
    let lifetime = lifetime.map_or(Some(PREF64_S), |field| {
        read_seconds(&field, LONGEST_PREF64_S, "RFC 8781").map(|seconds| seconds as u16)
    });
    let router = fields.take("router-lifetime").map_or(Some(0), |field| {
        read_seconds(&field, LONGEST_ROUTER_S, "RFC 8319").map(|seconds| seconds as u16)
    });
    fields.end();
    let pref64 = match prefix {
        None => None,
        Some(prefix) => Some(Pref64 { prefix: prefix?, lifetime_s: lifetime? }),
    };
    Some(AdvertisementPlan { pref64, router_lifetime_s: router? })
}

fn pref64_prefix(text: &str) -> Result<Net, String> {
    let net: Net = text.parse()?;
    if net.family() == Family::Ipv6 && PREF64_LENGTHS.contains(&net.length) {
        Ok(net.prefix())
    } else {
        Err(format!(
            "'{text}' is not a prefix of IPv6 with a length of 32, 40, 48, 56, 64 or 96 (RFC 8781)"
        ))
    }
}

/// Reads a time in whole seconds, at most `most`, which `source` allows.
fn read_seconds(field: &FileField<'_>, most: u64, source: &str) -> Option<u64> {
    let time = field.time()?;
    let fits = time.subsec_nanos() == 0 && time <= Duration::from_secs(most);
    if !fits {
        field.wrong(&format!("is not a whole number of seconds up to {most} ({source})"));
    }
    fits.then_some(time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lab, told};
    use super::*;

    fn with(advertises: &str) -> String {
        format!(
            "name = \"a\"\n[hosts]\nr = {{ forwards = true, advertises = {{ {advertises} }} }}\nc = {{}}\n\
             [links]\nl = [\"r\", \"c\"]\n"
        )
    }

    #[test]
    fn a_router_advertises_a_prefix_for_half_an_hour_unless_told_otherwise() {
        let read = |text: &str| lab(&with(text)).hosts[0].advertises.unwrap();
        assert_eq!(read(""), AdvertisementPlan { pref64: None, router_lifetime_s: 0 });
        let prefix = "fd64::/96".parse().unwrap();
        let pref64 = |lifetime_s| Some(Pref64 { prefix, lifetime_s });
        assert_eq!(read("pref64 = \"fd64::5/96\"").pref64, pref64(1_800));
        assert_eq!(read("pref64 = \"fd64::/96\", lifetime = \"2m\"").pref64, pref64(120));
        assert_eq!(read("pref64 = \"fd64::/96\", lifetime = \"65528s\"").pref64, pref64(65_528));
        assert_eq!(read("router-lifetime = \"30m\"").router_lifetime_s, 1_800);
        for length in PREF64_LENGTHS {
            assert!(read(&format!("pref64 = \"fd64::/{length}\"")).pref64.is_some());
        }
    }

    #[test]
    fn advertisements_that_can_not_be_sent_are_refused() {
        let lifetime = "hosts.r.advertises.lifetime: is not a whole number of seconds up to 65528";
        told(&[
            (&with("pref64 = \"fd64::/95\""), "with a length of 32, 40, 48, 56, 64 or 96"),
            (&with("pref64 = \"10.0.0.0/32\""), "is not a prefix of IPv6"),
            (&with("pref64 = \"fd64::/96\", lifetime = \"65529s\""), lifetime),
            (&with("pref64 = \"fd64::/96\", lifetime = \"1500ms\""), lifetime),
            (&with("lifetime = \"8s\""), "hosts.r.advertises.lifetime: is that of the prefix"),
            (&with("router-lifetime = \"65536s\""), "up to 65535 (RFC 8319)"),
            (&with("").replace("forwards = true, ", ""), "hosts.r.advertises: only a router"),
            (
                &with("").replace("forwards", "families = [\"ipv4\"], forwards"),
                "hosts.r.advertises: the host has no IPv6 address",
            ),
            (&with("colour = 1"), "hosts.r.advertises.colour: unknown key"),
        ]);
    }
}
