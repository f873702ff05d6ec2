//! The attempts of a client, in lanes: in each of them one goes on at a time.

use sixmark_units::family::Family;

use super::{AttemptOrder, RaceAttempt, RaceCandidate, RaceProtocol};

/// A sequence of attempts, one at a time.
#[derive(Clone, Debug)]
pub(super) struct RaceLane {
    /// From when it may begin; `None` if that is not known yet.
    pub(super) opens: Option<f64>,
    /// Until when it is idle after a failure, unless another event comes first.
    pub(super) stalls_until: Option<f64>,
    /// What it waits for.
    pub(super) current: Option<RaceAttempt>,
    /// The family that it prefers, or that it is limited to.
    pub(super) family: Family,
    /// Its last candidate.
    pub(super) last: Option<RaceCandidate>,
}

impl RaceLane {
    pub(super) fn new(family: Family) -> RaceLane {
        RaceLane { opens: None, stalls_until: None, current: None, family, last: None }
    }
}

/// What the next candidate depends on.
pub(super) struct LaneChoice<'a> {
    pub(super) order: AttemptOrder,
    /// The number of addresses of IPv6, and of IPv4.
    pub(super) counts: [usize; 2],
    /// What was attempted over TCP, by any lane.
    pub(super) tried: &'a [RaceCandidate],
    /// What of that failed.
    pub(super) failed: &'a [RaceCandidate],
}

impl LaneChoice<'_> {
    fn untried(&self, family: Family) -> Option<RaceCandidate> {
        let count = self.counts[super::place(family)];
        let of = |address| RaceCandidate { family, protocol: RaceProtocol::Tcp, address };
        (0..count).map(of).find(|candidate| !self.tried.contains(candidate))
    }

    /// Returns the next candidate of a lane; `None` if it has none.
    pub(super) fn next(&self, lane: &RaceLane) -> Option<RaceCandidate> {
        match self.order {
            AttemptOrder::PrimaryAndBackup => self.next_in_list(lane),
            AttemptOrder::Ipv6ThenIpv4 => self.untried(lane.family),
            AttemptOrder::OneThenOnePerFamily | AttemptOrder::Staggered => {
                self.untried(lane.family).or_else(|| self.untried(lane.family.other()))
            }
        }
    }

    /// Returns the next candidate of a list of its own: the primary's has IPv6 before IPv4, the backup's
    /// only IPv4. After a failure an address is skipped, but not the last one.
    fn next_in_list(&self, lane: &RaceLane) -> Option<RaceCandidate> {
        let families = Family::BOTH
            .into_iter()
            .filter(|of| lane.family == Family::Ipv6 || *of == Family::Ipv4);
        let list: Vec<RaceCandidate> = families
            .flat_map(|family| {
                let count = self.counts[super::place(family)];
                (0..count).map(move |address| RaceCandidate {
                    family,
                    protocol: RaceProtocol::Tcp,
                    address,
                })
            })
            .collect();
        let Some(last) = lane.last else {
            return list.into_iter().find(|candidate| !self.failed.contains(candidate));
        };
        let at = list.iter().position(|candidate| *candidate == last)?;
        let next = (at + 2).min(list.len() - 1);
        (next > at).then(|| list[next])
    }
}
