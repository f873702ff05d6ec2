//! Converts the counts of a run to the figures of a result.

use std::cmp::Reverse;
use std::net::SocketAddr;

use crate::account::AccountResult;
use crate::by_request::RequestNames;
use crate::by_step::LoadSteps;
use crate::family_result::{
    AddressResult, BreachCount, ByteCounts, FailureCount, Families, FamilyResult, UnfollowedCount,
};
use crate::outcome::{Failure, OutcomeCounts};
use crate::sizes::{Sizes, SizesResult};
use crate::tally::{ConnectionCounts, EndpointTally, FamilyTally, RequestCounts, Tally};
use sixmark_http::HttpVersion;
use sixmark_plan::plan::{Endpoint, Plan};
use sixmark_units::counts::Counts;
use sixmark_units::family::Family;

/// The most addresses that a result lists. A list of targets may have thousands.
const MOST_ADDRESSES: usize = 100;

/// Returns the figures of one family, except for those of TLS, QUIC, single addresses, single
/// requests and steps. Rates are counts divided by `elapsed_s`. `open` is true for an open loop.
pub fn family_result(
    tally: &FamilyTally,
    addresses: Vec<SocketAddr>,
    elapsed_s: f64,
    open: bool,
) -> FamilyResult {
    let per_s = |count: u64| if elapsed_s > 0.0 { count as f64 / elapsed_s } else { 0.0 };
    let mut result = FamilyResult {
        addresses,
        requests: RequestCounts::of(tally, elapsed_s),
        outcomes: tally.outcome_counts().by_name(),
        failures: failure_counts(&tally.failures),
        oldest_unanswered_s: (tally.oldest_unanswered_ns > 0)
            .then(|| seconds_of(tally.oldest_unanswered_ns)),
        content: tally.content.result(),
        breaches: breaches(tally),
        unfollowed: unfollowed(tally),
        connections: ConnectionCounts::of(tally, elapsed_s),
        status: tally.status.sorted(),
        bytes: byte_counts(tally),
        io: tally.io.result(tally.sent),
        requests_per_s: per_s(tally.completed()),
        goodput_bytes_per_s: per_s(tally.bytes.body),
        account: account_result(tally),
        wait_sample: tally.wait_sample.result(),
        tcp: tally.tcp.result(),
        carriers: Some(tally.carriers.result()).filter(|of| of.read > 0),
        server_fields: tally.server_fields.result(),
        sizes: sizes(tally),
        ..FamilyResult::default()
    };
    for (phase, durations) in tally.phases.iter() {
        if phase.is_in_result(open, durations.count() > 0) {
            phase.set_durations(&mut result, durations.summary());
        }
    }
    result
}

fn account_result(tally: &FamilyTally) -> Option<AccountResult> {
    let responses = &tally.phases.response;
    let at = |share: f64| tally.account.around(share, responses.quantile(share)? as f64);
    Some(AccountResult {
        mean: tally.account.of_mean()?.figures(),
        p50: at(0.5)?.figures(),
        p99: at(0.99)?.figures(),
        round_trip_us: tally.round_trip_ns().map(|ns| ns / 1e3),
        tls_round_trips: tally.tls.round_trips(),
    })
}

fn sizes(tally: &FamilyTally) -> Option<SizesResult> {
    let mut all = Sizes::default();
    tally.endpoints.iter().for_each(|of| all += &of.sizes);
    all.result()
}

fn breaches(tally: &FamilyTally) -> Vec<BreachCount> {
    let sorted = tally.breaches.sorted().into_iter();
    sorted.map(|(what, count)| BreachCount { what: what.to_owned(), count }).collect()
}

fn unfollowed(tally: &FamilyTally) -> Vec<UnfollowedCount> {
    let sorted = tally.unfollowed.sorted().into_iter();
    sorted.map(|(why, count)| UnfollowedCount { why: why.to_owned(), count }).collect()
}

fn failure_counts(failures: &Counts<Failure>) -> Vec<FailureCount> {
    let sorted = failures.sorted().into_iter();
    sorted.map(|(failure, count)| FailureCount { failure, count }).collect()
}

fn seconds_of(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn byte_counts(tally: &FamilyTally) -> ByteCounts {
    ByteCounts { received: tally.bytes.received, body: tally.bytes.body, sent: tally.bytes.sent }
}

/// Returns the figures of one family, including those of TLS, QUIC, addresses, requests and steps
/// that apply to the plan.
pub fn planned_result(
    plan: &Plan,
    tally: &FamilyTally,
    addresses: Vec<SocketAddr>,
    elapsed_s: f64,
    open: bool,
) -> FamilyResult {
    FamilyResult {
        tls: plan.tls.as_ref().map(|tls| tally.tls.result(tls)),
        quic: (plan.http.version == HttpVersion::Http3).then(|| tally.quic.result()),
        by_address: by_address(plan, tally),
        by_request: RequestNames::new(&plan.requests).figures(&tally.requests),
        by_step: LoadSteps::new(plan).figures(&tally.steps, elapsed_s),
        ..family_result(tally, addresses, elapsed_s, open)
    }
}

/// Returns the results of each address, those with the most failures first; empty unless exchanges
/// ended at two or more.
fn by_address(plan: &Plan, tally: &FamilyTally) -> Vec<AddressResult> {
    let endpoints = plan.all_endpoints();
    let result = |(endpoint, counted): (&Endpoint, &EndpointTally)| {
        let EndpointTally { status, failures, unaccepted, .. } = counted;
        let counts = OutcomeCounts { status, failures, unaccepted: *unaccepted };
        AddressResult {
            address: endpoint.address,
            url: plan.targets.get(endpoint.target).map_or(String::new(), |of| of.url.clone()),
            ended: counts.known(),
            completed: counts.completed(),
            unaccepted: *unaccepted,
            failures: failure_counts(failures),
        }
    };
    let mut all: Vec<AddressResult> = endpoints.iter().zip(&tally.endpoints).map(result).collect();
    all.retain(|address| address.ended > 0);
    if all.len() < 2 {
        return Vec::new();
    }
    all.sort_by_key(|of| Reverse(of.failed()));
    all.truncate(MOST_ADDRESSES);
    all
}

/// Returns the figures of each family in use and of both together.
pub fn families_of(plan: &Plan, tally: &Tally, elapsed_s: f64) -> (Families, FamilyResult) {
    let open = plan.load.pace.open().is_some();
    let addresses =
        |family| plan.endpoints(family).into_iter().map(|e| e.address).collect::<Vec<_>>();
    let figures =
        |tally: &FamilyTally, addresses| planned_result(plan, tally, addresses, elapsed_s, open);
    let of = |family: Family| {
        let used = plan.ratio.uses(family) || tally[family].sent > 0;
        used.then(|| figures(&tally[family], addresses(family)))
    };
    let mut both = tally.ipv6.clone();
    both += &tally.ipv4;
    let everywhere = plan.families().flat_map(addresses).collect();
    (Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) }, figures(&both, everywhere))
}
