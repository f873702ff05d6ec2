//! What the resolver has answered so far, and when a client may begin with that.

use sixmark_units::family::Family;

use super::profile::{RaceProfile, ServiceWait};

/// The answers to a client's queries. Times are in milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct RaceAnswers {
    /// When the answer for AAAA came, and that for A, each with the number of addresses.
    pub(super) addresses: [Option<(f64, usize)>; 2],
    /// When the answer for HTTPS came.
    pub(super) service: Option<f64>,
    /// True if a record or a remembered Alt-Svc offers QUIC.
    pub(super) offers_quic: bool,
}

impl RaceAnswers {
    /// Returns the number of addresses of a family that are known.
    pub(super) fn count(&self, family: Family) -> usize {
        self.addresses[super::place(family)].map_or(0, |(_, count)| count)
    }

    /// Returns when the first attempt may begin; `None` if that is not known yet.
    pub(super) fn begins_from(&self, profile: &RaceProfile) -> Option<f64> {
        match profile.resolution_delay_ms {
            None => {
                let [Some((ipv6, count6)), Some((ipv4, count4))] = self.addresses else {
                    return None;
                };
                let both = ipv6.max(ipv4);
                (count6 + count4 > 0).then(|| self.wait_for_service(profile, both))
            }
            Some(delay) => self.begins_by_delay(profile, delay),
        }
    }

    /// Returns the time at which addresses that are there since `from` no longer wait for HTTPS.
    fn wait_for_service(&self, profile: &RaceProfile, from: f64) -> f64 {
        let ServiceWait::Share(share, [least, most]) = profile.service_wait else { return from };
        let until = from + (share * from).clamp(least, most);
        self.service.map_or(until, |came| came.clamp(from, until))
    }

    /// The draft's two sets of conditions (4.2): all that is preferred is there, or the delay is over.
    fn begins_by_delay(&self, profile: &RaceProfile, delay: f64) -> Option<f64> {
        let positive = self.addresses.iter().flatten().filter(|(_, count)| *count > 0);
        let first = positive.map(|(came, _)| *came).min_by(f64::total_cmp)?;
        let over = first + delay;
        let [preferred, _] = self.addresses;
        let waits = profile.service_wait == ServiceWait::ResolutionDelay;
        let service = if waits { self.service } else { Some(first) };
        let complete = preferred.zip(service).map(|((came, _), service)| came.max(service));
        Some(complete.map_or(over, |complete| complete.max(first).min(over)))
    }
}
