//! Comparisons for tests.
#![allow(clippy::unwrap_used)]

use sixmark_document::provenance::{Ended, Environment};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_units::family::Family;

use crate::comparison_result::{
    BlockOrder, BlockSchedule, ComparedSide, ComparedSides, ComparisonResult,
};
use crate::deciding::EquivalenceInterval;
use crate::{Compared, Comparison, ComparisonKind, EffectMethod, Settings};
use sixmark_result::fixture::{generator, plan, run, tool};
use sixmark_tally::metric::Metric;
use sixmark_why::differs_with::FactApart;
use sixmark_why::divided_difference::{DividedDifference, PartOfDifference};
use sixmark_why::part::WhyPart;

/// Returns a comparison of the same sides as in [`run`], with the same names.
pub fn comparison_result() -> ComparisonResult {
    let run = run();
    let side = |family: Family| ComparedSide {
        name: family.to_string().to_lowercase(),
        options: String::new(),
        plan: plan(),
        elapsed_s: 1.0,
        figures: run.families.of(family).unwrap().clone(),
        cpu: Default::default(),
    };
    let schedule = BlockSchedule {
        pairs: 12,
        order: BlockOrder::Abba,
        block_s: Some(1.0),
        requested_block_s: None,
        block_requests: None,
        warm_up_blocks: 1,
    };
    ComparisonResult {
        schema: crate::comparison_result::SCHEMA.to_owned(),
        tool: tool(),
        started: run.started.clone(),
        elapsed_s: 26.0,
        ended: Ended::Complete,
        seed: 7,
        schedule,
        sides: ComparedSides { a: side(Family::Ipv6), b: side(Family::Ipv4) },
        blocks: Vec::new(),
        comparison: comparison(),
        noise: None,
        gates: Vec::new(),
        dns: Vec::new(),
        environment: Environment::default(),
        warnings: Vec::new(),
        generator: generator(),
        fleet: None,
    }
}

/// Returns a comparison in which the median is 20 % longer, the 99.9th percentile is refused,
/// failures are equal, and goodput is inconclusive.
pub fn comparison() -> Comparison {
    let longer = Compared {
        ratio: Some(Estimate { value: 1.2, low: 1.15, high: 1.25 }),
        difference: Some(Estimate { value: 2_000.0, low: 1_500.0, high: 2_500.0 }),
        p: Some(0.0005),
        p_holm: Some(0.0015),
        ..compared("response.p50", Verdict::Worse)
    };
    let refused = Compared {
        reason: Some("1 sample is in the tail, of 100 that it takes".to_owned()),
        ..compared("response.p999", Verdict::Inconclusive)
    };
    let failures = Compared {
        difference: Some(Estimate { value: 0.0, low: -0.01, high: 0.01 }),
        equivalence: Some(EquivalenceInterval {
            confidence: 0.9,
            low: -0.004,
            high: 0.004,
            margin: 0.005,
        }),
        method: EffectMethod::Proportions,
        ..compared("failures", Verdict::Equivalent)
    };
    let goodput = Compared {
        ratio: Some(Estimate { value: 1.01, low: 0.9, high: 1.1 }),
        reason: Some("below the noise floor of 2 %".to_owned()),
        ..compared("goodput", Verdict::Inconclusive)
    };
    Comparison {
        kind: ComparisonKind::Isolated,
        a: "ipv6".to_owned(),
        b: "ipv4".to_owned(),
        settings: Settings::usual(7),
        pairs: 12,
        left_out: 0,
        sameness: None,
        metrics: vec![longer, refused, failures, goodput],
        why: Some(divided()),
        by_agent: Vec::new(),
    }
}

/// The round trip is three quarters of the difference, and the rest is of no part.
fn divided() -> DividedDifference {
    let near = |us: f64, by: f64| Estimate { value: us, low: us - by, high: us + by };
    let part = |part: WhyPart, [a_us, b_us]: [f64; 2], share: f64| PartOfDifference {
        part,
        a_us,
        b_us,
        difference_us: near(a_us - b_us, 100.0),
        share,
        p_holm: if share > 0.1 { 0.0005 } else { 1.0 },
        is_cause: share > 0.1,
    };
    DividedDifference {
        metric: "response.p50".parse().unwrap(),
        difference_us: near(2_000.0, 500.0),
        parts: vec![
            part(WhyPart::RoundTrips, [9_500.0, 8_000.0], 0.75),
            part(WhyPart::Server, [2_010.0, 2_000.0], 0.005),
        ],
        unexplained_us: 490.0,
        round_trip_us: Some([9_500.0, 8_000.0]),
        differs_with: vec![FactApart {
            what: "largest segment".to_owned(),
            a: "1220 bytes".to_owned(),
            b: "1448 bytes".to_owned(),
        }],
    }
}

fn compared(metric: &str, verdict: Verdict) -> Compared {
    Compared {
        metric: metric.parse::<Metric>().unwrap(),
        a: None,
        b: None,
        method: EffectMethod::Blocks,
        ratio: None,
        difference: None,
        p: None,
        p_holm: None,
        p_equivalence: None,
        equivalence: None,
        effects: Vec::new(),
        autocorrelation: None,
        noise_floor: None,
        verdict,
        cause: None,
        reason: None,
        header_corrected: None,
    }
}
