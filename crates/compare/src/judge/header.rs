//! Goodput over a full link, where IPv6 has 20 bytes less of each packet.

use super::{JudgedEffect, Rules, blocks};
use crate::{Compared, Comparison, HeaderCorrected, Settings};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_stats::Refused;
use sixmark_tally::metric::{Metric, Quantity};

/// The sizes in bytes of an IPv6 header, an IPv4 header, and a TCP header with timestamps (RFC
/// 8200, 791, 9293, 7323).
const HEADERS: [u32; 3] = [40, 20, 32];

/// Returns the payload of IPv6 divided by that of IPv4 in packets of `mtu` bytes: 1428/1448 at
/// 1500. Returns `None` for an MTU below 1280, which IPv6 does not allow (RFC 8200, 5).
pub fn header_ratio(mtu: u32) -> Option<f64> {
    let [ipv6, ipv4, tcp] = HEADERS;
    (mtu >= 1280).then(|| f64::from(mtu - ipv6 - tcp) / f64::from(mtu - ipv4 - tcp))
}

/// Judges the goodput once more, against `expected` instead of 1. This is only meaningful if the
/// sides differ in the family and the link is full; otherwise the headers have no measurable
/// effect. The p-value is multiplied by the number of metrics (Bonferroni), which is at least as
/// strict as Holm's correction.
#[must_use]
pub fn header_corrected(mut comparison: Comparison, expected: f64) -> Comparison {
    let family = comparison.metrics.iter().filter(|compared| compared.p.is_some()).count();
    let rules = Rules { settings: &comparison.settings };
    for compared in
        comparison.metrics.iter_mut().filter(|of| of.metric == Metric::Quantity(Quantity::Goodput))
    {
        let whole = compared.effects.len() == comparison.pairs;
        compared.header_corrected = corrected(compared, expected, &rules).ok().map(|found| {
            let verdict = corrected_verdict(&found, whole, family, rules.settings);
            HeaderCorrected {
                expected,
                ratio: corrected_ratio(&found),
                equivalence: Some(found.equivalence(rules.settings)),
                verdict,
            }
        });
    }
    comparison
}

fn corrected(
    compared: &Compared,
    expected: f64,
    rules: &Rules<'_>,
) -> Result<JudgedEffect, Refused> {
    let effects: Vec<f64> = compared.effects.iter().map(|effect| effect - expected.ln()).collect();
    blocks::of_effects(&effects, NO_DIFFERENCE, rules)
}

/// A difference in bytes per second is not of interest here.
const NO_DIFFERENCE: Estimate = Estimate { value: 0.0, low: 0.0, high: 0.0 };

fn corrected_ratio(found: &JudgedEffect) -> Estimate {
    found.ratio.unwrap_or(Estimate { value: 1.0, low: 1.0, high: 1.0 })
}

fn corrected_verdict(
    found: &JudgedEffect,
    whole: bool,
    family: usize,
    settings: &Settings,
) -> Verdict {
    let alpha = super::alpha(settings);
    if whole && found.within() && found.p_equivalence <= alpha {
        return Verdict::Equivalent;
    }
    match corrected_ratio(found) {
        _ if found.p * family as f64 > settings.level_of_difference() => Verdict::Inconclusive,
        ratio if ratio.low > 1.0 => Verdict::Better,
        ratio if ratio.high < 1.0 => Verdict::Worse,
        _ => Verdict::Inconclusive,
    }
}
