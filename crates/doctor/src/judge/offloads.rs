//! Offloads of interfaces, which may differ between the families.

use crate::facts::{Facts, FeatureFacts, InterfaceFacts};
use crate::finding::{CheckState, Finding, Mend, MendPlace};

const NAME: &str = "offloads";

/// Pairs of features: what the interface does for IPv6, and for IPv4.
const PAIRS: [(&str, &str, &str); 2] = [
    ("tx-tcp6-segmentation", "tx-tcp-segmentation", "TSO"),
    ("tx-checksum-ipv6", "tx-checksum-ipv4", "checksums"),
];

/// Judges whether interfaces do as much for IPv6 as for IPv4.
pub(super) fn judge_offloads(facts: &Facts) -> Finding {
    let interfaces = match &facts.interfaces {
        Ok(interfaces) => interfaces,
        Err(why) => {
            let means = "Whether interfaces do as much for IPv6 as for IPv4 is not known.";
            return Finding::unknown(NAME, why, means);
        }
    };
    if interfaces.is_empty() {
        let means = "Offloads matter only for traffic that leaves the machine.";
        return Finding::new(NAME, CheckState::Ok, "no interface but loopback is up", means);
    }
    let said: Vec<String> = interfaces.iter().map(describe_interface).collect();
    let (mut unlike, mut mend) = (Vec::new(), Vec::new());
    for interface in interfaces {
        for (six, four, what) in PAIRS {
            if let Some(wrong) = compare(interface, six, four) {
                let family = if wrong.name == six { "IPv6" } else { "IPv4" };
                unlike.push(format!("{}: {what} is off for {family} only", interface.name));
                mend.push(mend_feature(interface, wrong));
            }
        }
    }
    let unread = interfaces.iter().all(|interface| interface.features.is_err());
    let found = said.join("; ");
    match (unlike.is_empty(), unread) {
        (true, true) => {
            Finding::unknown(NAME, &found, "Whether interfaces prefer a family is not known.")
        }
        (true, false) => Finding::new(
            NAME,
            CheckState::Ok,
            found,
            "Interfaces do as much for IPv6 as for IPv4. Captures see packets larger than the MTU \
             where segmentation or GRO is on.",
        ),
        (false, _) => Finding::new(
            NAME,
            CheckState::Limited,
            format!("{} ({found})", unlike.join("; ")),
            "Comparisons of the families show the interface's difference too: large responses and \
             uploads take more CPU time over one of them.",
        )
        .mended(mend),
    }
}

fn describe_interface(of: &InterfaceFacts) -> String {
    let features = match &of.features {
        Ok(features) => features,
        Err(why) => return format!("{}: {why}", of.name),
    };
    let state = |name: &str| match find(features, name) {
        Some(feature) if feature.on => "on",
        Some(_) => "off",
        None => "unknown",
    };
    format!(
        "{}: TSO IPv6 {}, IPv4 {}; GSO {}; GRO {}",
        of.name,
        state("tx-tcp6-segmentation"),
        state("tx-tcp-segmentation"),
        state("tx-generic-segmentation"),
        state("rx-gro"),
    )
}

/// Returns the feature that is off for one of the families only.
fn compare<'a>(of: &'a InterfaceFacts, six: &str, four: &str) -> Option<&'a FeatureFacts> {
    let features = of.features.as_ref().ok()?;
    // A checksum for any protocol covers both.
    let covers_both = |name: &str| {
        name.contains("checksum")
            && find(features, "tx-checksum-ip-generic").is_some_and(|feature| feature.on)
    };
    let (six, four) = (find(features, six)?, find(features, four)?);
    let wrong = match (six.on, four.on) {
        (false, true) => six,
        (true, false) => four,
        _ => return None,
    };
    (!covers_both(&wrong.name)).then_some(wrong)
}

fn mend_feature(interface: &InterfaceFacts, wrong: &FeatureFacts) -> Mend {
    if wrong.open {
        Mend::command(
            MendPlace::Root,
            format!("ethtool -K {} {} on", super::quoted(&interface.name), wrong.name),
        )
    } else {
        Mend::advice(
            MendPlace::Root,
            format!("{} can't do {}; use a lab, or loopback", interface.name, wrong.name),
        )
    }
}

fn find<'a>(features: &'a [FeatureFacts], name: &str) -> Option<&'a FeatureFacts> {
    features.iter().find(|feature| feature.name == name)
}
