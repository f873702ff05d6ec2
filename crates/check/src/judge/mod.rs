//! What observations mean: a finding for each check, and the verdict.
//!
//! A difference counts only where the families differ more than a family differs from itself.

mod delegation;
mod names;
mod path;
mod path_mtu;
mod race;
mod reach;
mod responses;
mod sides;
mod times;
mod verdict;

use sixmark_http::url::Url;
use sixmark_why::divided_difference::DividedDifference;

use crate::check_result::SiteResult;
use crate::observed::SiteObserved;
use crate::site_finding::{FindingState, SiteCheck, SiteFinding};
use sides::SitePair;
pub use times::{CONFIDENCE, SiteTimes, TimeRatio, times_of_site};

/// Judges what was observed of a site. The verdict is on all checks; the findings are of those in `only`,
/// or of all if it is empty.
pub fn judge_site(url: &Url, observed: SiteObserved, only: &[SiteCheck]) -> SiteResult {
    let pair = SitePair::of(url, &observed);
    let (time, why) = times::judge_times(&pair);
    let mut findings = [
        names::judge_names(&pair),
        reach::judge_reach(&pair),
        responses::judge_responses(&pair),
        path::judge_path(&pair),
        vec![path_mtu::judge_large_packets(&pair)],
        vec![time, responses::judge_http3(&pair)],
    ]
    .concat();
    // Within a weight the order of the checks stands.
    findings.sort_by_key(|finding| (order_of(finding), finding.check));
    let (verdict, sentence) = verdict::judge_verdict(&pair, &findings, why.as_ref());
    findings.retain(|finding| only.is_empty() || only.contains(&finding.check));
    let clients = race::predict_races(&pair);
    let url = url.to_string();
    SiteResult { url, verdict, sentence, since: None, findings, why, clients, observed }
}

fn order_of(finding: &SiteFinding) -> (u8, Option<crate::site_finding::FindingWeight>) {
    let state = match finding.state {
        FindingState::Differs => 0,
        FindingState::CantTell => 1,
        FindingState::Same => 2,
        FindingState::NotTried => 3,
    };
    (state, finding.weight)
}

/// What decides a verdict beside the findings.
pub(crate) type WhySlower = Option<DividedDifference>;

#[cfg(test)]
mod tests;
