//! Probes of a path that is in doubt: which packets get lost on it?
//!
//! A path-MTU black hole is proven by its control: with segments of 1,200 bytes the same fetch is complete.
//! Behind a balancer, Packet Too Big may reach another server than the one that sent the packet (RFC 7690),
//! so that only some connections stall; then more of them are tried.

use std::net::IpAddr;
use std::thread;

use sixmark_units::family::Family;

use super::SiteChecker;
use super::fetch::{FetchedUrl, fetch};
use crate::observed::CheckedAddress;
use crate::path_probe::{PathProbe, ProbeKind};
use crate::site_fetch::{FetchPhase, SiteFetch};

/// How many connections of each kind are tried where only some stall.
const MORE: u32 = 12;
/// How many of them at the same time: each may take 4 s until it counts as stalled.
const AT_ONCE: usize = 8;

/// A probe that is to be made: of which address, and which.
type PlannedProbe = (usize, ProbeKind);

impl SiteChecker<'_> {
    /// Makes the probes that the fetches call for.
    pub(super) fn probe_paths(&mut self, addresses: &mut [CheckedAddress]) {
        self.make_probes(addresses, &plan_probes(addresses, first_probes), true);
        self.make_probes(addresses, &plan_probes(addresses, second_probes), false);
        let partial = addresses.iter().position(is_partial);
        let more = partial.map_or(Vec::new(), |at| more_probes(addresses, at));
        self.make_probes(addresses, &more, false);
    }

    /// Makes probes, a few at the same time, as long as requests are left.
    fn make_probes(
        &mut self,
        addresses: &mut [CheckedAddress],
        planned: &[PlannedProbe],
        waits_longer: bool,
    ) {
        for some in planned.chunks(AT_ONCE) {
            let some = &some[..some.len().min(self.requests_left() as usize)];
            self.requests += some.len() as u32;
            let whom = |at: usize| addresses[at].address;
            let targets: Vec<(usize, ProbeKind, IpAddr)> =
                some.iter().map(|(at, kind)| (*at, *kind, whom(*at))).collect();
            let found: Vec<SiteFetch> = thread::scope(|scope| {
                let this = &*self;
                let begun: Vec<_> = targets
                    .iter()
                    .map(|(_, kind, address)| {
                        scope.spawn(move || this.probe(*kind, *address, waits_longer))
                    })
                    .collect();
                begun.into_iter().map(|of| of.join().unwrap_or_default()).collect()
            });
            for ((at, kind, _), fetch) in targets.into_iter().zip(found) {
                addresses[at].probes.push(PathProbe { kind, fetch });
            }
        }
    }

    fn probe(&self, kind: ProbeKind, address: IpAddr, waits_longer: bool) -> SiteFetch {
        let what = FetchedUrl {
            url: self.url,
            method: if kind.is_large() { "HEAD" } else { "GET" },
            headers: &self.options.headers,
            roots: &self.options.roots,
            probe: Some(kind),
            waits_longer,
        };
        fetch(&what, self.socket_address(address, self.url.port)).fetch
    }
}

/// Returns the probes that each address calls for: the first of each address, then the second, so that all
/// have some if requests are few.
fn plan_probes(
    addresses: &[CheckedAddress],
    of_address: fn(&CheckedAddress) -> Vec<ProbeKind>,
) -> Vec<PlannedProbe> {
    let mut planned: Vec<(usize, PlannedProbe)> = Vec::new();
    for (at, of) in addresses.iter().enumerate() {
        planned
            .extend(of_address(of).into_iter().enumerate().map(|(turn, kind)| (turn, (at, kind))));
    }
    planned.sort_by_key(|(turn, _)| *turn);
    planned.into_iter().map(|(_, probe)| probe).collect()
}

/// How many more connections are tried where all stall: two may do so by chance.
const MORE_OF_STALLED: usize = 6;

fn is_complete(of: &CheckedAddress) -> bool {
    of.usual_fetches().any(SiteFetch::is_complete)
}

/// Returns true if some connections to an address stall and others do not.
fn is_partial(of: &CheckedAddress) -> bool {
    is_complete(of) && of.usual_fetches().any(SiteFetch::is_stalled)
}

fn first_probes(of: &CheckedAddress) -> Vec<ProbeKind> {
    let is_stalled = of.fetches.iter().any(SiteFetch::is_stalled);
    match (is_complete(of), is_stalled) {
        (true, false) => vec![ProbeKind::LargeRequest],
        (false, true) => {
            let small = [ProbeKind::SmallSegments; 2];
            [&small[..], &[ProbeKind::Again; MORE_OF_STALLED]].concat()
        }
        _ => Vec::new(),
    }
}

/// Returns what is tried because of what came of the first probes.
fn second_probes(of: &CheckedAddress) -> Vec<ProbeKind> {
    let stalled = |kind: ProbeKind| of.probes_of(kind).any(SiteFetch::is_stalled);
    if stalled(ProbeKind::LargeRequest) {
        return vec![ProbeKind::LargeRequest, ProbeKind::LargeRequestInSmallSegments];
    }
    let in_handshake = of.fetches.iter().all(|fetch| fetch.reached == FetchPhase::Tls);
    if stalled(ProbeKind::SmallSegments) && in_handshake {
        return vec![ProbeKind::SmallHello];
    }
    Vec::new()
}

/// Returns more connections to an address of which some stall, with small segments as a control, and as
/// many to one of the other family.
fn more_probes(addresses: &[CheckedAddress], at: usize) -> Vec<PlannedProbe> {
    let other: Family = addresses[at].family.other();
    let control = addresses.iter().position(|of| of.family == other && is_complete(of));
    let one_of_each = [
        Some((at, ProbeKind::Again)),
        Some((at, ProbeKind::SmallSegments)),
        control.map(|at| (at, ProbeKind::Again)),
    ];
    (0..MORE).flat_map(|_| one_of_each.into_iter().flatten()).collect()
}
