//! Warnings about redirects that were not followed although they were to be (`--location`).

use sixmark_document::provenance::{Warning, warning};
use sixmark_http::redirect::MOST_HOPS;
use sixmark_tally::family_result::FamilyResult;
use sixmark_units::family::Family;
use sixmark_units::quantity::counted;

/// Warns about chains of redirects that were too long.
pub(super) fn redirects_cut(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let chains = figures.requests.cut_chains;
    (chains > 0).then(|| {
        let message = format!(
            "over {family} {} of {MOST_HOPS} redirects (--location) {} followed no further: the \
             server may redirect in a loop",
            counted(chains, "chain", "chains"),
            if chains == 1 { "was" } else { "were" },
        );
        warning("redirects_cut", message)
    })
}

/// Warns about redirects that lead nowhere within their target, although they were to be followed:
/// their exchanges ended NORMAL, and the figures are those of the redirects.
pub(super) fn redirects_unfollowed(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let total: u64 = figures.unfollowed.iter().map(|of| of.count).sum();
    let most = figures.unfollowed.iter().max_by_key(|of| of.count)?;
    let message = format!(
        "over {family} {} (--location) {} not followed{} {}",
        counted(total, "redirect", "redirects"),
        if total == 1 { "was" } else { "were" },
        if figures.unfollowed.len() > 1 { ", most of them because" } else { ":" },
        most.why,
    );
    Some(warning("redirects_unfollowed", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::side;
    use sixmark_http::redirect::Why;
    use sixmark_tally::family_result::UnfollowedCount;

    #[test]
    fn warns_about_unfollowed_redirects_with_the_most_common_reason() {
        let said = |reasons: &[(Why, u64)]| {
            let mut figures = side(1_000);
            figures.unfollowed = reasons
                .iter()
                .map(|&(why, count)| UnfollowedCount { why: why.text().to_owned(), count })
                .collect();
            redirects_unfollowed(Family::Ipv6, &figures).map(|warning| warning.message)
        };
        assert_eq!(said(&[]), None);
        assert_eq!(
            said(&[(Why::NoLocation, 1)]).unwrap(),
            "over IPv6 1 redirect (--location) was not followed: there is no Location"
        );
        assert_eq!(
            said(&[(Why::NoLocation, 1), (Why::ToHttps, 1_200)]).unwrap(),
            "over IPv6 1,201 redirects (--location) were not followed, most of them because the \
             Location leads to another target (https://)"
        );
    }
}
