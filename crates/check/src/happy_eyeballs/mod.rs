//! Which address a client connects to, and when: Happy Eyeballs (RFC 8305, and its third version
//! draft-ietf-happy-happyeyeballs-v3) as a state machine, with what clients do otherwise. It reads no
//! clock: times go in, in milliseconds from the client's queries on.

mod answers;
mod lane;
mod profile;
mod simulated;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

use answers::RaceAnswers;
use lane::{LaneChoice, RaceLane};
pub use profile::{
    AttemptOrder, CHROME, CURL, FIREFOX, HAPPY_EYEBALLS_V3, PROFILES, QuicUse, RFC_8305,
    RaceProfile, SAFARI, ServiceWait,
};
pub use simulated::{
    AddressFate, CandidateFates, RaceOutcome, RaceSetting, ServiceAnswer, delayed, run_race,
    silenced, tolerated_delay_ms,
};

/// What a connection is made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RaceProtocol {
    /// TCP, with TLS for https.
    #[default]
    Tcp,
    /// QUIC (RFC 9000).
    Quic,
}

/// What a client can connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceCandidate {
    /// The family.
    pub family: Family,
    /// The protocol.
    pub protocol: RaceProtocol,
    /// The number of the address among those of the family.
    pub address: usize,
}

/// An attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceAttempt {
    /// Its number, from 0 on.
    pub number: usize,
    /// What it connects to.
    pub candidate: RaceCandidate,
}

/// What becomes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEvent {
    /// TCP is established, or QUIC with its handshake.
    Established,
    /// TLS is established on TCP.
    Secured,
    /// It failed.
    Failed,
}

/// A client that connects to a name.
#[derive(Clone, Debug)]
pub struct HappyEyeballs {
    profile: RaceProfile,
    is_secure: bool,
    answers: RaceAnswers,
    lanes: Vec<RaceLane>,
    tried: Vec<RaceCandidate>,
    failed: Vec<RaceCandidate>,
    begun: usize,
    /// When the first attempt over TCP began.
    first_begun: Option<f64>,
    /// When the last attempt began or made progress, in staggered order; `None` after a failure.
    last_begun: Option<f64>,
    last_family: Option<Family>,
    /// From when TCP is attempted, if QUIC goes first.
    tcp_from: Option<f64>,
    /// The attempts that go on, in staggered order, and that over QUIC.
    going: Vec<RaceAttempt>,
    /// The attempt over TCP that is established while QUIC is still attempted, or TLS.
    established: Option<RaceAttempt>,
}

/// How long curl leaves a lane idle after a failure, if nothing else happens, in milliseconds.
const STALL_MS: f64 = 1_000.0;

fn place(family: Family) -> usize {
    usize::from(family == Family::Ipv4)
}

impl HappyEyeballs {
    /// Creates a client that has just sent its queries. It may remember from an Alt-Svc field that the
    /// site has HTTP/3.
    pub fn new(profile: RaceProfile, is_secure: bool, remembers_quic: bool) -> HappyEyeballs {
        let lanes = match profile.order {
            AttemptOrder::Staggered => Vec::new(),
            _ => Family::BOTH.map(RaceLane::new).to_vec(),
        };
        HappyEyeballs {
            profile,
            is_secure,
            answers: RaceAnswers { offers_quic: remembers_quic, ..RaceAnswers::default() },
            lanes,
            tried: Vec::new(),
            failed: Vec::new(),
            begun: 0,
            first_begun: None,
            last_begun: None,
            last_family: None,
            tcp_from: None,
            going: Vec::new(),
            established: None,
        }
    }

    /// Notes the answer for a family, with this number of addresses.
    pub fn answer(&mut self, family: Family, addresses: usize, now: f64) {
        self.answers.addresses[place(family)] = Some((now, addresses));
    }

    /// Notes the answer for HTTPS, which may offer QUIC.
    pub fn answer_service(&mut self, offers_quic: bool, now: f64) {
        self.answers.service = Some(now);
        // Who does not attempt QUIC in turn attempts it first or not at all.
        let is_early = self.begun == 0 || self.profile.quic == QuicUse::InTurn;
        self.answers.offers_quic |= offers_quic && is_early;
    }

    /// Returns when [`begin_due`](HappyEyeballs::begin_due) is to be called again; `None` if an event
    /// comes first. It may be in the past.
    pub fn next_due(&self) -> Option<f64> {
        self.next_attempt().map(|(due, ..)| due)
    }

    /// Begins an attempt if one is due.
    pub fn begin_due(&mut self, now: f64) -> Option<RaceAttempt> {
        let (due, candidate, lane) = self.next_attempt()?;
        if due > now {
            return None;
        }
        let attempt = RaceAttempt { number: self.begun, candidate };
        self.begun += 1;
        self.tried.push(candidate);
        match (candidate.protocol, self.profile.quic) {
            (RaceProtocol::Quic, QuicUse::BesideTcp(after)) => self.tcp_from = Some(now + after),
            _ => self.begin_in_order(attempt, lane, now),
        }
        if lane.is_none() {
            self.going.push(attempt);
        }
        Some(attempt)
    }

    fn begin_in_order(&mut self, attempt: RaceAttempt, lane: Option<usize>, now: f64) {
        self.last_begun = Some(now);
        self.last_family = Some(attempt.candidate.family);
        let first = *self.first_begun.get_or_insert(now);
        let Some(at) = lane else { return };
        if at == 1 && self.lanes[1].last.is_none() {
            self.lanes[1].family = self.second_family();
            self.lanes[0].family = self.lanes[1].family.other();
            self.wake_lanes(at);
        }
        self.lanes[at].current = Some(attempt);
        self.lanes[at].last = Some(attempt.candidate);
        self.lanes[1].opens = Some(first + self.profile.attempt_delay_ms);
    }

    /// Returns the family that the second lane prefers: not that which the first one attempts.
    fn second_family(&self) -> Family {
        match self.lanes[0].current {
            Some(first) if self.profile.order == AttemptOrder::OneThenOnePerFamily => {
                first.candidate.family.other()
            }
            _ => self.lanes[1].family,
        }
    }

    /// Lets lanes that stall go on: something happened.
    fn wake_lanes(&mut self, but: usize) {
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            if at != but {
                lane.stalls_until = None;
            }
        }
    }

    /// Notes what became of an attempt. Returns true if it has won.
    pub fn note(&mut self, attempt: RaceAttempt, event: AttemptEvent, now: f64) -> bool {
        let is_quic = attempt.candidate.protocol == RaceProtocol::Quic;
        match event {
            AttemptEvent::Failed => {
                self.fail(attempt, now);
                false
            }
            AttemptEvent::Secured => true,
            AttemptEvent::Established if is_quic || !self.is_secure => true,
            AttemptEvent::Established if self.profile.wins_with_tls => {
                // It made progress: the others get as much time as it had (draft, 6.1).
                self.last_begun = Some(now);
                false
            }
            AttemptEvent::Established => {
                self.established = Some(attempt);
                !self.attempts_quic()
            }
        }
    }

    /// Returns true if an attempt over QUIC goes on.
    fn attempts_quic(&self) -> bool {
        self.going.iter().any(|of| of.candidate.protocol == RaceProtocol::Quic)
    }

    fn fail(&mut self, attempt: RaceAttempt, now: f64) {
        self.failed.push(attempt.candidate);
        self.going.retain(|of| of.number != attempt.number);
        if attempt.candidate.protocol == RaceProtocol::Quic && self.profile.quic != QuicUse::InTurn
        {
            self.tcp_from = Some(self.tcp_from.map_or(now, |from| from.min(now)));
            return;
        }
        // The next one need not wait.
        self.last_begun = None;
        let is_alone = self.lanes.get(1).is_some_and(|second| second.last.is_none());
        let is_lane = |lane: &RaceLane| lane.current.is_some_and(|of| of.number == attempt.number);
        let Some(at) = self.lanes.iter().position(is_lane) else { return };
        self.wake_lanes(at);
        let lane = &mut self.lanes[at];
        lane.current = None;
        match self.profile.order {
            AttemptOrder::OneThenOnePerFamily if is_alone => {
                lane.family = attempt.candidate.family.other();
            }
            AttemptOrder::Ipv6ThenIpv4 => lane.stalls_until = Some(now + STALL_MS),
            _ => {}
        }
    }

    /// Returns the next attempt: when it is due, what it connects to, and its lane.
    fn next_attempt(&self) -> Option<(f64, RaceCandidate, Option<usize>)> {
        let from = self.answers.begins_from(&self.profile)?;
        let quic = self.is_secure && self.answers.offers_quic;
        if let QuicUse::BesideTcp(_) = self.profile.quic
            && quic
            && self.begun == 0
        {
            let family = Family::BOTH.into_iter().find(|of| self.answers.count(*of) > 0)?;
            let first = RaceCandidate { family, protocol: RaceProtocol::Quic, address: 0 };
            return Some((from, first, None));
        }
        if self.established.is_some() {
            return None;
        }
        let from = self.tcp_from.unwrap_or(from);
        if self.lanes.is_empty() {
            let candidate = self.next_in_turn(quic)?;
            let due = self.last_begun.map(|begun| begun + self.profile.attempt_delay_ms);
            return Some((due.map_or(from, |due| from.max(due)), candidate, None));
        }
        self.next_in_lanes(from)
    }

    /// Returns the next candidate in staggered order: rounds of both families over QUIC and both over
    /// TCP, an address of each; and never a family twice in a row if there is another one (draft, 5.3).
    fn next_in_turn(&self, quic: bool) -> Option<RaceCandidate> {
        let quic = quic && self.profile.quic == QuicUse::InTurn;
        let protocols = [RaceProtocol::Quic, RaceProtocol::Tcp];
        let protocols = protocols.into_iter().filter(|of| quic || *of == RaceProtocol::Tcp);
        let families = match self.last_family {
            Some(Family::Ipv6) => [Family::Ipv4, Family::Ipv6],
            _ => Family::BOTH,
        };
        let all = families.into_iter().flat_map(|family| {
            let protocols = protocols.clone();
            (0..self.answers.count(family)).flat_map(move |address| {
                protocols.clone().map(move |protocol| RaceCandidate { family, protocol, address })
            })
        });
        all.into_iter().find(|candidate| !self.tried.contains(candidate))
    }

    fn next_in_lanes(&self, from: f64) -> Option<(f64, RaceCandidate, Option<usize>)> {
        let choice = LaneChoice {
            order: self.profile.order,
            counts: Family::BOTH.map(|family| self.answers.count(family)),
            tried: &self.tried,
            failed: &self.failed,
        };
        let due = |lane: &RaceLane, at: usize| {
            if lane.current.is_some() {
                return None;
            }
            let candidate = choice.next(lane)?;
            let times = [lane.opens, lane.stalls_until].into_iter().flatten();
            Some((times.fold(from, f64::max), candidate, Some(at)))
        };
        let first = due(&self.lanes[0], 0);
        let mut second_lane = self.lanes[1].clone();
        if second_lane.last.is_none() {
            second_lane.family = self.second_family();
            // curl's IPv4 need not wait if no address of IPv6 is left, that of others opens beside IPv6.
            match self.profile.order {
                AttemptOrder::Ipv6ThenIpv4
                    if self.lanes[0].current.is_none() && first.is_none() =>
                {
                    second_lane.opens = None;
                }
                _ if self.first_begun.is_none() => return first,
                _ => {}
            }
        }
        let second = due(&second_lane, 1);
        [first, second].into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0))
    }
}
