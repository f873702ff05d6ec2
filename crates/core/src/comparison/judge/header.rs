//! Goodput over a full link, where IPv6 has 20 bytes less of each packet.

use super::alpha;
use crate::comparison::{Compared, Comparison, Estimate, HeaderCorrected, Metric, Verdict};
use crate::stats::{Refused, equivalence, hodges_lehmann, signed_rank, walsh_interval};

/// Bytes of an IPv6 header, of an IPv4 header, and of a TCP header with timestamps (RFC 8200, 791,
/// 9293, 7323).
const HEADERS: [u32; 3] = [40, 20, 32];

/// What IPv6 carries over what IPv4 carries in packets of `mtu` bytes: 1428/1448 at 1500. None of an
/// MTU that IPv6 does not allow, below 1280 (RFC 8200, 5).
pub fn header_ratio(mtu: u32) -> Option<f64> {
    let [ipv6, ipv4, tcp] = HEADERS;
    (mtu >= 1280).then(|| f64::from(mtu - ipv6 - tcp) / f64::from(mtu - ipv4 - tcp))
}

/// Judges the goodput once more, against `expected` instead of 1. To be asked only of sides that
/// differ in the family, on a link that is full: elsewhere the headers cost nothing that is seen.
/// The metrics are corrected for with Bonferroni's factor, which is no smaller than Holm's.
#[must_use]
pub fn header_corrected(mut comparison: Comparison, expected: f64) -> Comparison {
    let family = comparison.metrics.iter().filter(|compared| compared.p.is_some()).count();
    let (margin, alpha) = (comparison.settings.margin.ln_1p(), alpha(&comparison.settings));
    let (confidence, pairs) = (comparison.settings.confidence, comparison.pairs);
    let bounds = Bounds { margin, alpha, family, confidence, pairs };
    let goodput = comparison.metrics.iter_mut().filter(|of| of.metric == Metric::Goodput);
    goodput
        .for_each(|compared| compared.header_corrected = bounds.corrected(compared, expected).ok());
    comparison
}

struct Bounds {
    margin: f64,
    alpha: f64,
    family: usize,
    confidence: f64,
    pairs: usize,
}

impl Bounds {
    fn corrected(&self, compared: &Compared, expected: f64) -> Result<HeaderCorrected, Refused> {
        let effects: Vec<f64> =
            compared.effects.iter().map(|effect| effect - expected.ln()).collect();
        let interval = walsh_interval(&effects, self.confidence)?;
        let value = hodges_lehmann(&effects)?.exp();
        let ratio = Estimate { value, low: interval.low.exp(), high: interval.high.exp() };
        let p = signed_rank(&effects)?.two_sided * self.family as f64;
        let near = equivalence(&effects, self.margin, self.alpha)?;
        let equivalent = near.p <= self.alpha && near.interval.within(-self.margin, self.margin);
        let verdict = match p <= self.alpha && !interval.holds(0.0) {
            _ if equivalent && effects.len() == self.pairs => Verdict::Equivalent,
            true if value > 1.0 => Verdict::Better,
            true => Verdict::Worse,
            false => Verdict::Inconclusive,
        };
        Ok(HeaderCorrected { expected, ratio, verdict })
    }
}
