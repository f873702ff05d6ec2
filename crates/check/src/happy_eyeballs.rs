//! Which address a client connects to, and when: Happy Eyeballs (RFC 8305, and its third version
//! draft-ietf-happy-happyeyeballs-v3) as a state machine. It reads no clock: times go in, in
//! milliseconds from the client's queries on.

use std::collections::VecDeque;

use sixmark_units::family::Family;

/// How a client races. A source is given for each figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceProfile {
    /// The client.
    pub name: &'static str,
    /// After how long without a result the next attempt begins.
    pub attempt_delay_ms: f64,
    /// How long the answer for A waits for that for AAAA; `None` if the client waits for both.
    pub resolution_delay_ms: Option<f64>,
    /// Where the figures are from.
    pub source: &'static str,
}

/// The clients.
pub const PROFILES: [RaceProfile; 5] = [
    RaceProfile {
        name: "RFC 8305",
        attempt_delay_ms: 250.0,
        resolution_delay_ms: Some(50.0),
        source: "RFC 8305, 8",
    },
    RaceProfile {
        name: "Chrome",
        attempt_delay_ms: 300.0,
        resolution_delay_ms: None,
        source: "net/socket/transport_connect_job.h, kIPv6FallbackTime",
    },
    RaceProfile {
        name: "Firefox",
        attempt_delay_ms: 250.0,
        resolution_delay_ms: None,
        source: "about:config, network.http.connection-retry-timeout",
    },
    RaceProfile {
        name: "Safari",
        attempt_delay_ms: 250.0,
        resolution_delay_ms: Some(50.0),
        source: "RFC 8305, by the client’s authors; without a history of the path",
    },
    RaceProfile {
        name: "curl",
        attempt_delay_ms: 200.0,
        resolution_delay_ms: None,
        source: "CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS(3)",
    },
];

/// What comes of an attempt to connect to an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AddressFate {
    /// It is established after this many milliseconds.
    Connects(f64),
    /// It fails after this many milliseconds.
    Fails(f64),
    /// Nothing is ever heard of it.
    Silent,
}

/// A client that connects to a name.
#[derive(Clone, Debug)]
pub struct HappyEyeballs {
    profile: RaceProfile,
    waiting: [VecDeque<usize>; 2],
    answered: [Option<f64>; 2],
    /// When the last attempt began.
    last_begun: Option<f64>,
    next_family: Family,
}

fn place(family: Family) -> usize {
    usize::from(family == Family::Ipv4)
}

impl HappyEyeballs {
    /// Creates a client that has just sent its queries.
    pub fn new(profile: RaceProfile) -> HappyEyeballs {
        HappyEyeballs {
            profile,
            waiting: Default::default(),
            answered: [None; 2],
            last_begun: None,
            next_family: Family::Ipv6,
        }
    }

    /// Notes the answer for a family, with this number of addresses.
    pub fn answer(&mut self, family: Family, addresses: usize, now: f64) {
        self.answered[place(family)] = Some(now);
        self.waiting[place(family)].extend(0..addresses);
    }

    /// Notes that an attempt failed: the next one need not wait.
    pub fn fail(&mut self) {
        self.last_begun = None;
    }

    /// Returns when [`begin_due`](HappyEyeballs::begin_due) is to be called again; `None` if an event
    /// comes first.
    pub fn next_due(&self) -> Option<f64> {
        if self.waiting.iter().all(VecDeque::is_empty) {
            return None;
        }
        let from = self.may_begin_from()?;
        Some(self.last_begun.map_or(from, |begun| from.max(begun + self.profile.attempt_delay_ms)))
    }

    /// Returns when the first attempt may begin; `None` if that is not known yet.
    fn may_begin_from(&self) -> Option<f64> {
        let [ipv6, ipv4] = self.answered;
        match (ipv6, ipv4, self.profile.resolution_delay_ms) {
            (Some(ipv6), Some(ipv4), None) => Some(ipv6.max(ipv4)),
            (Some(ipv6), Some(ipv4), Some(delay)) => Some(ipv6.min(ipv4 + delay)),
            (Some(ipv6), None, Some(_)) => Some(ipv6),
            (None, Some(ipv4), Some(delay)) => Some(ipv4 + delay),
            _ => None,
        }
    }

    /// Begins an attempt if one is due. Returns its family, and the number of its address within that.
    pub fn begin_due(&mut self, now: f64) -> Option<(Family, usize)> {
        if self.next_due().is_none_or(|due| due > now) {
            return None;
        }
        let family = match self.waiting[place(self.next_family)].is_empty() {
            false => self.next_family,
            true => other(self.next_family),
        };
        let address = self.waiting[place(family)].pop_front()?;
        self.next_family = other(family);
        self.last_begun = Some(now);
        Some((family, address))
    }
}

fn other(family: Family) -> Family {
    match family {
        Family::Ipv6 => Family::Ipv4,
        Family::Ipv4 => Family::Ipv6,
    }
}

/// A race: when the answers for both families come, and what comes of each of their addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceSetting {
    /// When the answer for AAAA comes, and that for A.
    pub answers_ms: [f64; 2],
    /// What comes of the addresses of IPv6, and of those of IPv4.
    pub fates: [Vec<AddressFate>; 2],
}

/// How a race ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceOutcome {
    /// The family of the connection.
    pub winner: Family,
    /// When it is established.
    pub connected_ms: f64,
}

/// Runs a race on a simulated clock. `None` if no address connects.
pub fn run_race(profile: RaceProfile, setting: &RaceSetting) -> Option<RaceOutcome> {
    let mut client = HappyEyeballs::new(profile);
    let mut answers: Vec<(f64, Family)> = Family::BOTH
        .into_iter()
        .map(|family| (setting.answers_ms[place(family)], family))
        .collect();
    answers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut answers: VecDeque<(f64, Family)> = answers.into();
    // When each attempt has its result, and whether it connects.
    let mut results: Vec<(f64, Family, bool)> = Vec::new();
    let mut now = 0.0;
    loop {
        let result = results.iter().map(|of| of.0).min_by(f64::total_cmp);
        let answer = answers.front().map(|of| of.0);
        let due = client.next_due();
        // What is due since before, after a failure, is due now.
        let next = [answer, result, due].into_iter().flatten().min_by(f64::total_cmp)?;
        now = next.max(now);
        if let Some((_, family)) = answers.pop_front_if(|of| of.0 <= now) {
            client.answer(family, setting.fates[place(family)].len(), now);
        } else if let Some(at) = results.iter().position(|of| of.0 <= now) {
            let (connected_ms, winner, connects) = results.swap_remove(at);
            if connects {
                return Some(RaceOutcome { winner, connected_ms });
            }
            client.fail();
        } else if let Some((family, address)) = client.begin_due(now) {
            match setting.fates[place(family)][address] {
                AddressFate::Connects(ms) => results.push((now + ms, family, true)),
                AddressFate::Fails(ms) => results.push((now + ms, family, false)),
                AddressFate::Silent => {}
            }
        }
    }
}

/// Returns the largest delay in milliseconds, up to `most`, that can be added to the connections of IPv6
/// before IPv4 wins; `None` if IPv4 wins without any.
pub fn tolerated_delay_ms(profile: RaceProfile, setting: &RaceSetting, most: u32) -> Option<u32> {
    let wins = |added: u32| {
        let delayed = delayed(setting, f64::from(added));
        run_race(profile, &delayed).is_some_and(|of| of.winner == Family::Ipv6)
    };
    if !wins(0) {
        return None;
    }
    // More delay never makes IPv6 win.
    let (mut low, mut high) = (0, most + 1);
    while high - low > 1 {
        let middle = u32::midpoint(low, high);
        if wins(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// Returns the setting with a delay added to the connections of IPv6.
pub fn delayed(setting: &RaceSetting, added_ms: f64) -> RaceSetting {
    let delay = |fate: &AddressFate| match *fate {
        AddressFate::Connects(ms) => AddressFate::Connects(ms + added_ms),
        AddressFate::Fails(ms) => AddressFate::Fails(ms + added_ms),
        AddressFate::Silent => AddressFate::Silent,
    };
    let [ipv6, ipv4] = &setting.fates;
    let fates = [ipv6.iter().map(delay).collect(), ipv4.clone()];
    RaceSetting { answers_ms: setting.answers_ms, fates }
}

/// Returns the setting with addresses of IPv6 of which nothing is ever heard.
pub fn silenced(setting: &RaceSetting) -> RaceSetting {
    let fates = [vec![AddressFate::Silent; setting.fates[0].len()], setting.fates[1].clone()];
    RaceSetting { answers_ms: setting.answers_ms, fates }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RFC: RaceProfile = PROFILES[0];

    fn race(answers_ms: [f64; 2], ipv6: AddressFate, ipv4: AddressFate) -> (Family, f64) {
        let setting = RaceSetting { answers_ms, fates: [vec![ipv6], vec![ipv4]] };
        let RaceOutcome { winner, connected_ms } = run_race(RFC, &setting).unwrap();
        (winner, connected_ms)
    }

    #[test]
    fn ipv6_has_a_head_start() {
        use AddressFate::{Connects, Fails, Silent};
        let both = [10.0, 10.0];
        assert_eq!(race(both, Connects(30.0), Connects(20.0)), (Family::Ipv6, 40.0));
        assert_eq!(race(both, Connects(265.0), Connects(20.0)), (Family::Ipv6, 275.0));
        assert_eq!(race(both, Connects(275.0), Connects(20.0)), (Family::Ipv4, 280.0));
        assert_eq!(race(both, Silent, Connects(20.0)), (Family::Ipv4, 280.0));
        // A failure ends the wait for the next attempt.
        assert_eq!(race(both, Fails(5.0), Connects(20.0)), (Family::Ipv4, 35.0));
    }

    #[test]
    fn the_answer_for_a_waits_for_that_for_aaaa() {
        use AddressFate::Connects;
        assert_eq!(race([40.0, 10.0], Connects(30.0), Connects(20.0)), (Family::Ipv6, 70.0));
        assert_eq!(race([90.0, 10.0], Connects(30.0), Connects(20.0)), (Family::Ipv4, 80.0));
        assert_eq!(race([10.0, 90.0], Connects(30.0), Connects(20.0)), (Family::Ipv6, 40.0));
    }

    #[test]
    fn families_take_turns() {
        use AddressFate::{Connects, Silent};
        let fates = [vec![Silent, Connects(10.0)], vec![Silent, Connects(10.0)]];
        let setting = RaceSetting { answers_ms: [0.0, 0.0], fates };
        // IPv6, IPv4, IPv6: the third attempt begins after two delays.
        let found = run_race(RFC, &setting).unwrap();
        assert_eq!((found.winner, found.connected_ms), (Family::Ipv6, 510.0));
        let dead = RaceSetting { answers_ms: [0.0; 2], fates: [vec![Silent], vec![]] };
        assert_eq!(run_race(RFC, &dead), None);
    }

    #[test]
    fn finds_the_delay_that_clients_tolerate() {
        use AddressFate::Connects;
        let setting = RaceSetting {
            answers_ms: [0.0, 0.0],
            fates: [vec![Connects(30.0)], vec![Connects(20.0)]],
        };
        for profile in PROFILES {
            let tolerated = f64::from(tolerated_delay_ms(profile, &setting, 2_000).unwrap());
            // IPv4 begins after the delay, and is established 20 ms later.
            let expected = profile.attempt_delay_ms + 20.0 - 30.0;
            assert!((tolerated - expected).abs() <= 1.0, "{}: {tolerated}", profile.name);
        }
    }
}
