//! Races on a simulated clock.

use sixmark_units::family::Family;

use super::{
    AttemptEvent, HappyEyeballs, RaceAttempt, RaceCandidate, RaceProfile, RaceProtocol, place,
};

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

impl AddressFate {
    fn delayed(self, added_ms: f64) -> AddressFate {
        match self {
            AddressFate::Connects(ms) => AddressFate::Connects(ms + added_ms),
            AddressFate::Fails(ms) => AddressFate::Fails(ms + added_ms),
            AddressFate::Silent => AddressFate::Silent,
        }
    }
}

/// What comes of attempts to connect to an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CandidateFates {
    /// TCP.
    pub tcp: AddressFate,
    /// TLS, from the established TCP connection on.
    pub tls: AddressFate,
    /// QUIC, with its handshake.
    pub quic: AddressFate,
}

impl CandidateFates {
    /// Returns the fates of an address of which only TCP is of interest.
    pub fn of_tcp(tcp: AddressFate) -> CandidateFates {
        CandidateFates { tcp, tls: AddressFate::Connects(0.0), quic: AddressFate::Silent }
    }
}

/// The answer for HTTPS.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServiceAnswer {
    /// When it comes, in milliseconds; `None` if it never does.
    pub answered_ms: Option<f64>,
    /// Whether a record offers QUIC.
    pub offers_quic: bool,
}

/// A race: when the answers come, and what comes of each address.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceSetting {
    /// When the answer for AAAA comes, and that for A.
    pub answers_ms: [f64; 2],
    /// The answer for HTTPS.
    pub service: ServiceAnswer,
    /// Whether the site is fetched over TLS or QUIC.
    pub is_secure: bool,
    /// Whether the client remembers from an Alt-Svc field that the site has HTTP/3.
    pub remembers_quic: bool,
    /// What comes of the addresses of IPv6, and of those of IPv4.
    pub fates: [Vec<CandidateFates>; 2],
}

impl RaceSetting {
    /// Returns a race over TCP alone, with addresses that are known.
    pub fn of_tcp(fates: [Vec<AddressFate>; 2]) -> RaceSetting {
        RaceSetting {
            answers_ms: [0.0; 2],
            service: ServiceAnswer { answered_ms: Some(0.0), offers_quic: false },
            is_secure: false,
            remembers_quic: false,
            fates: fates.map(|of| of.into_iter().map(CandidateFates::of_tcp).collect()),
        }
    }
}

/// How a race ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceOutcome {
    /// The family of the connection.
    pub winner: Family,
    /// Its protocol.
    pub protocol: RaceProtocol,
    /// When it is established: TCP without TLS, QUIC with its handshake.
    pub connected_ms: f64,
}

/// What happens at a time.
#[derive(Clone, Copy)]
enum Happening {
    Answer(Family),
    Service,
    Attempt(RaceAttempt, AttemptEvent),
}

/// A race that runs.
struct SimulatedRace<'a> {
    setting: &'a RaceSetting,
    client: HappyEyeballs,
    coming: Vec<(f64, Happening)>,
}

impl SimulatedRace<'_> {
    /// Notes what will become of an attempt.
    fn begin(&mut self, attempt: RaceAttempt, now: f64) {
        let RaceCandidate { family, protocol, address } = attempt.candidate;
        let fates = self.setting.fates[place(family)][address];
        let fate = match protocol {
            RaceProtocol::Tcp => fates.tcp,
            RaceProtocol::Quic => fates.quic,
        };
        self.expect(attempt, fate, AttemptEvent::Established, now);
    }

    fn expect(&mut self, attempt: RaceAttempt, fate: AddressFate, good: AttemptEvent, now: f64) {
        let (after, event) = match fate {
            AddressFate::Connects(ms) => (ms, good),
            AddressFate::Fails(ms) => (ms, AttemptEvent::Failed),
            AddressFate::Silent => return,
        };
        self.coming.push((now + after, Happening::Attempt(attempt, event)));
    }

    /// Returns the first that happens up to now.
    fn next(&mut self, now: f64) -> Option<Happening> {
        let first = self.coming.iter().enumerate().min_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let at = first.filter(|(_, (time, _))| *time <= now)?.0;
        Some(self.coming.remove(at).1)
    }

    /// Lets something happen. Returns an attempt that has won.
    fn happen(&mut self, what: Happening, now: f64) -> Option<RaceAttempt> {
        let (attempt, event) = match what {
            Happening::Answer(family) => {
                let count = self.setting.fates[place(family)].len();
                self.client.answer(family, count, now);
                return None;
            }
            Happening::Service => {
                self.client.answer_service(self.setting.service.offers_quic, now);
                return None;
            }
            Happening::Attempt(attempt, event) => (attempt, event),
        };
        let has_won = self.client.note(attempt, event, now);
        let candidate = attempt.candidate;
        if event == AttemptEvent::Established && candidate.protocol == RaceProtocol::Tcp && !has_won
        {
            let tls = self.setting.fates[place(candidate.family)][candidate.address].tls;
            self.expect(attempt, tls, AttemptEvent::Secured, now);
        }
        has_won.then_some(attempt)
    }
}

/// Runs a race on a simulated clock. `None` if no address connects.
pub fn run_race(profile: RaceProfile, setting: &RaceSetting) -> Option<RaceOutcome> {
    let client = HappyEyeballs::new(profile, setting.is_secure, setting.remembers_quic);
    let answers = Family::BOTH.map(|of| (setting.answers_ms[place(of)], Happening::Answer(of)));
    let service = setting.service.answered_ms.map(|at| (at, Happening::Service));
    let coming = answers.into_iter().chain(service).collect();
    let mut race = SimulatedRace { setting, client, coming };
    // When each attempt was established, by its number.
    let mut established: Vec<Option<f64>> = Vec::new();
    let mut now = 0.0;
    loop {
        // What is due since before, after a failure, is due now.
        let happens = race.coming.iter().map(|of| of.0);
        let next = happens.chain(race.client.next_due()).min_by(f64::total_cmp)?;
        now = next.max(now);
        if let Some(what) = race.next(now) {
            if let Happening::Attempt(attempt, AttemptEvent::Established) = what {
                established[attempt.number] = Some(now);
            }
            if let Some(RaceAttempt { number, candidate }) = race.happen(what, now) {
                let RaceCandidate { family: winner, protocol, .. } = candidate;
                let connected_ms = established[number].unwrap_or(now);
                return Some(RaceOutcome { winner, protocol, connected_ms });
            }
        } else if let Some(attempt) = race.client.begin_due(now) {
            established.push(None);
            race.begin(attempt, now);
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
    let mut delayed = setting.clone();
    for fates in &mut delayed.fates[0] {
        fates.tcp = fates.tcp.delayed(added_ms);
        fates.quic = fates.quic.delayed(added_ms);
    }
    delayed
}

/// Returns the setting with addresses of IPv6 of which nothing is ever heard.
pub fn silenced(setting: &RaceSetting) -> RaceSetting {
    let mut silenced = setting.clone();
    for fates in &mut silenced.fates[0] {
        *fates = CandidateFates::of_tcp(AddressFate::Silent);
    }
    silenced
}
