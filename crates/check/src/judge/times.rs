//! Whether responses take equally long, and why not.

use std::collections::BTreeSet;

use sixmark_sheet::write::{write_percent, write_time};
use sixmark_stats::{Refused, StudentEstimate};
use sixmark_tally::account::AccountFigures;
use sixmark_tally::metric::Metric;
use sixmark_tally::response_part::PerPart;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::quantity::counted;
use sixmark_why::divide::{SideAccount, TestedPart, divide_difference};
use sixmark_why::part::WhyPart;

use super::WhySlower;
use super::sides::{SitePair, SiteSide, quoted, sides_of};
use crate::observed::SiteObserved;
use crate::site_fetch::SiteFetch;
use crate::site_finding::{FindingWeight, SiteCheck, SiteFinding, WhoMends};

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;
/// A difference matters only if its whole interval is beyond this share of the other family's time,
const LEAST_SHARE: f64 = 0.1;
/// and beyond this many microseconds: what a user may notice.
const LEAST_US: f64 = 2_000.0;
/// Fewer fetches from each family decide nothing.
const FEWEST: usize = 3;

/// Compares the times of the families' fetches, round by round.
pub(super) fn judge_times(pair: &SitePair<'_>) -> (SiteFinding, WhySlower) {
    let check = SiteCheck::Time;
    let [ipv6, ipv4] = Family::BOTH.map(|family| usual_fetches(&pair.sides[family]));
    let pairs = pair_rounds(&ipv6, &ipv4);
    if pairs.is_empty() {
        let why = "both families need a complete response";
        return (SiteFinding::not_tried(check, why), None);
    }
    let again = format!("sixmark compare {}", quoted(pair.url));
    if pairs.len() < FEWEST {
        let said = format!("{} rounds of fetches are too few to tell", pairs.len());
        return (SiteFinding::cant_tell(check, said).shown_by(again), None);
    }
    let Ok(ratio) = ratio_of(&pairs) else {
        return (SiteFinding::cant_tell(check, "the times can’t be compared"), None);
    };
    let median = |of: &[&SiteFetch]| write_time(median_us(of));
    let said = format!(
        "{} over IPv6, {} over IPv4 (medians of {} and {} fetches); IPv6 takes × {:.2} ({}, {:.2} to {:.2})",
        median(&ipv6),
        median(&ipv4),
        ipv6.len(),
        ipv4.len(),
        ratio.value,
        write_percent(CONFIDENCE),
        ratio.low,
        ratio.high
    );
    let why = divide(&pairs).filter(|why| {
        let difference = why.difference_us;
        difference.low > LEAST_US || difference.high < -LEAST_US
    });
    let is_slower = ratio.low > 1.0 + LEAST_SHARE;
    let is_faster = ratio.high < 1.0 - LEAST_SHARE;
    if why.is_some() && (is_slower || is_faster) {
        // To serve IPv6 faster is no fault of it.
        let weight = if is_slower { FindingWeight::Worse } else { FindingWeight::Notice };
        let cause = why.as_ref().and_then(|why| why.causes().first().map(|of| of.part));
        let who = match cause {
            Some(WhyPart::RoundTrips | WhyPart::Connect | WhyPart::Recovery) => WhoMends::Network,
            _ => WhoMends::Server,
        };
        let said = said + &describe_hops(pair);
        return (SiteFinding::differs(check, weight, who, said).shown_by(again), why);
    }
    let is_alike = ratio.low > 1.0 - 2.0 * LEAST_SHARE && ratio.high < 1.0 + 2.0 * LEAST_SHARE;
    let finding = match is_alike || !is_noticeable(&pairs) {
        true => SiteFinding::same(check, said),
        false => SiteFinding::cant_tell(check, format!("{said}: too few to tell")).shown_by(again),
    };
    (finding, None)
}

/// Returns a clause about the hops over each family, or nothing if they were not counted.
fn describe_hops(pair: &SitePair<'_>) -> String {
    let hops = |family: Family| pair.sides[family].addresses.iter().find_map(|of| of.hops);
    match Family::BOTH.map(hops) {
        [Some(ipv6), Some(ipv4)] => {
            let ipv6 = counted(ipv6.into(), "hop", "hops");
            format!("; the server is {ipv6} away over IPv6, {ipv4} over IPv4")
        }
        _ => String::new(),
    }
}

/// Returns the fetches without a retransmission: a lost segment is chance, and takes a second. If it is
/// not, and too few remain, all fetches count.
fn usual_fetches<'a>(side: &SiteSide<'a>) -> Vec<&'a SiteFetch> {
    let is_usual = |fetch: &&SiteFetch| fetch.tcp.is_none_or(|tcp| tcp.retransmitted == 0);
    let usual: Vec<&SiteFetch> = side.complete().filter(is_usual).collect();
    if usual.len() < FEWEST { side.complete().collect() } else { usual }
}

/// Returns the accounts of the rounds in which both families have a fetch: of each family the average over
/// its addresses.
fn pair_rounds(ipv6: &[&SiteFetch], ipv4: &[&SiteFetch]) -> Vec<[SideAccount; 2]> {
    let of_round = |of: &[&SiteFetch], round: u32| {
        let fetches = of.iter().filter(|fetch| fetch.round == round);
        SideAccount::average(&fetches.map(|fetch| account_of(fetch)).collect::<Vec<_>>())
    };
    let rounds: BTreeSet<u32> = ipv6.iter().map(|fetch| fetch.round).collect();
    let pair = |round: u32| Some([of_round(ipv6, round)?, of_round(ipv4, round)?]);
    rounds.into_iter().filter_map(pair).collect()
}

/// The ratio of IPv6's time to IPv4's, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeRatio {
    /// The geometric mean over the rounds.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The times of a site, by family, as its finding has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteTimes {
    /// The medians from the connect call to the last byte, in microseconds; `None` without a complete
    /// response.
    pub response_us: PerFamily<Option<f64>>,
    /// The medians of the times to an established connection, likewise.
    pub connect_us: PerFamily<Option<f64>>,
    /// By how much IPv6 takes longer; `None` if fewer than three rounds have both families.
    pub ratio: Option<TimeRatio>,
}

/// Returns the times of a site.
pub fn times_of_site(observed: &SiteObserved) -> SiteTimes {
    let sides = sides_of(observed);
    let of = PerFamily::from_fn(|family| usual_fetches(&sides[family]));
    let median = |value: fn(&SiteFetch) -> f64| {
        PerFamily::from_fn(|family| (!of[family].is_empty()).then(|| median_of(&of[family], value)))
    };
    let pairs = pair_rounds(&of[Family::Ipv6], &of[Family::Ipv4]);
    SiteTimes {
        response_us: median(SiteFetch::response_us),
        connect_us: median(|fetch| fetch.connect_us),
        ratio: if pairs.len() < FEWEST { None } else { ratio_of(&pairs).ok() },
    }
}

/// Returns the geometric mean of the ratios of pairs, with Student's interval on the logarithms.
fn ratio_of(pairs: &[[SideAccount; 2]]) -> Result<TimeRatio, Refused> {
    let logs: Vec<f64> =
        pairs.iter().map(|[a, b]| (a.account.response_us / b.account.response_us).ln()).collect();
    let student = StudentEstimate::of_mean(&logs)?;
    let interval = student.interval(CONFIDENCE)?;
    Ok(TimeRatio { value: student.value.exp(), low: interval.low.exp(), high: interval.high.exp() })
}

/// Returns true if the interval of the difference goes beyond what a user may notice.
fn is_noticeable(pairs: &[[SideAccount; 2]]) -> bool {
    let apart: Vec<f64> =
        pairs.iter().map(|[a, b]| a.account.response_us - b.account.response_us).collect();
    TestedPart::of_mean(&apart, CONFIDENCE)
        .is_ok_and(|of| of.difference_us.low < -LEAST_US || of.difference_us.high > LEAST_US)
}

fn divide(pairs: &[[SideAccount; 2]]) -> WhySlower {
    let apart: Vec<f64> =
        pairs.iter().map(|[a, b]| a.account.response_us - b.account.response_us).collect();
    let whole = TestedPart::of_mean(&apart, CONFIDENCE).ok()?.difference_us;
    let metric = Metric::Time(TimedPhase::Response, TimePoint::Mean);
    let estimate = |apart: &[f64]| TestedPart::of_mean(apart, CONFIDENCE);
    divide_difference(metric, whole, pairs, 1.0 - CONFIDENCE, estimate).ok()
}

fn account_of(fetch: &SiteFetch) -> SideAccount {
    let is_secure = fetch.tls.is_some();
    let is_old = fetch.tls.as_ref().is_some_and(|tls| tls.version == "TLSv1.2");
    SideAccount {
        account: AccountFigures {
            response_us: fetch.response_us(),
            parts_us: PerPart {
                connect: fetch.connect_us,
                tls: fetch.tls_us,
                send: fetch.send_us,
                wait: fetch.wait_us,
                transfer: fetch.transfer_us,
                ..PerPart::default()
            },
            connecting: 1.0,
            securing: if is_secure { 1.0 } else { 0.0 },
            flights: 0.0,
        },
        round_trip_us: fetch.round_trip_us,
        tls_round_trips: if is_old { 2.0 } else { f64::from(u8::from(is_secure)) },
    }
}

fn median_us(of: &[&SiteFetch]) -> f64 {
    median_of(of, SiteFetch::response_us)
}

fn median_of(of: &[&SiteFetch], value: fn(&SiteFetch) -> f64) -> f64 {
    let mut times: Vec<f64> = of.iter().map(|fetch| value(fetch)).collect();
    times.sort_by(f64::total_cmp);
    let n = times.len();
    if n == 0 { 0.0 } else { (times[(n - 1) / 2] + times[n / 2]) / 2.0 }
}
