//! The methods of the tests in words, with their sources.

use sixmark_design::spec::{ClaimTest, Relation, SidesTest};

/// Describes how a claim is tested.
pub(super) fn describe_method(test: &ClaimTest) -> String {
    match test {
        ClaimTest::Sides(of) => describe_sides(of),
        ClaimTest::Share(_) => {
            "the score test on the pooled count (Wilson 1927) and Student's t on \
                                the blocks' shares must both agree"
                .to_owned()
        }
        ClaimTest::Trend(of) => format!(
            "t of the trimmed mean of the slopes of each block's line through the logarithms \
             (Matthews et al. 1990), or of the regression of a single block; no step may go against \
             it by more than {} %, and a change within that is none",
            of.margin
        ),
        ClaimTest::Order(_) => {
            "t of the trimmed mean of each claimed level against each other level, all of which must \
             agree (intersection-union test, Berger 1982); levels within the margin are tied"
                .to_owned()
        }
        ClaimTest::Independent(of) => format!(
            "two one-sided tests (Schuirmann 1987) of each pair of levels within {} %, all of which \
             must agree (Berger 1982)",
            of.margin
        ),
        ClaimTest::Counted { .. } => "the count of all exchanges".to_owned(),
        ClaimTest::Exact(of) => {
            let noun = if of.within == 1 { "exchange" } else { "exchanges" };
            format!("the count in each cell, to within {} {noun}", of.within)
        }
    }
}

fn describe_sides(of: &SidesTest) -> String {
    let scale = match &of.contrast {
        Some(contrast) if contrast.difference => "differences",
        _ if matches!(of.relation, Relation::Apart(_)) => "differences",
        _ => "logarithms of the ratios",
    };
    let of_blocks =
        format!("t of the trimmed mean of the blocks' {scale} (Tukey and McLaughlin 1963)");
    let method = match of.relation {
        Relation::Higher(_) | Relation::Lower(_) if scale == "differences" => of_blocks,
        Relation::Higher(margin) | Relation::Lower(margin) => {
            format!(
                "two one-sided tests within {margin} % (Schuirmann 1987) come first, and show no \
                 difference that matters; else {of_blocks}"
            )
        }
        Relation::Equal(margin) => {
            format!("two one-sided tests within {margin} % (Schuirmann 1987), by {of_blocks}")
        }
        Relation::Within(_) | Relation::Apart(_) => {
            format!("two one-sided tests against the bounds (Schuirmann 1987), by {of_blocks}")
        }
    };
    match &of.each {
        Some(each) => format!("{method}, at each level of {} (Berger 1982)", each.factor),
        None => method,
    }
}
