//! Races for real: connections to the addresses of a site, begun by the machine of a client on the real
//! clock.
//!
//! They are over TCP alone, to addresses that are known. They carry nothing, and are closed when the
//! race is over.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sixmark_units::family::Family;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use crate::happy_eyeballs::{AttemptEvent, HappyEyeballs, RaceAttempt, RaceCandidate, RaceProfile};
use crate::observed::{RaceEnd, SiteRace};

/// The most connections of a race.
pub(super) const MOST_ATTEMPTS: u32 = 4;
/// How long a race may take.
const RACE_LIMIT: Duration = Duration::from_secs(3);

/// Races to the addresses of a site, IPv6 and IPv4, as a client does. It opens at most
/// [`MOST_ATTEMPTS`] connections and returns within 3 s.
pub(super) fn race_for_real(profile: RaceProfile, addresses: &[Vec<SocketAddr>; 2]) -> SiteRace {
    let client = profile.name.to_owned();
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else {
        return SiteRace { client, attempts: 0, won: None };
    };
    let mut race = RealRace::begin(profile, addresses);
    let won = runtime.block_on(race.run());
    SiteRace { client, attempts: race.attempts, won }
}

/// A race that runs.
struct RealRace<'a> {
    addresses: &'a [Vec<SocketAddr>; 2],
    client: HappyEyeballs,
    begin: Instant,
    attempts: u32,
    going: JoinSet<(RaceAttempt, std::io::Result<TcpStream>)>,
}

impl<'a> RealRace<'a> {
    fn begin(profile: RaceProfile, addresses: &'a [Vec<SocketAddr>; 2]) -> RealRace<'a> {
        let mut client = HappyEyeballs::new(profile, false, false);
        for (family, of) in Family::BOTH.into_iter().zip(addresses) {
            client.answer(family, of.len(), 0.0);
        }
        client.answer_service(false, 0.0);
        RealRace { addresses, client, begin: Instant::now(), attempts: 0, going: JoinSet::new() }
    }

    fn now_ms(&self) -> f64 {
        self.begin.elapsed().as_secs_f64() * 1e3
    }

    /// Returns when the next attempt is due; `None` if an event comes first, or if there were enough.
    fn next_due(&self) -> Option<Instant> {
        let due = self.client.next_due().filter(|_| self.attempts < MOST_ATTEMPTS)?;
        Some(self.begin + Duration::from_secs_f64(due.max(0.0) / 1e3))
    }

    fn connect(&mut self, attempt: RaceAttempt) {
        let RaceCandidate { family, address, .. } = attempt.candidate;
        let to = self.addresses[usize::from(family == Family::Ipv4)][address];
        self.attempts += 1;
        self.going.spawn(async move { (attempt, TcpStream::connect(to).await) });
    }

    /// Runs the race. `None` if no address connects in time.
    async fn run(&mut self) -> Option<RaceEnd> {
        let limit = self.begin + RACE_LIMIT;
        loop {
            let now = self.now_ms();
            let may_begin = self.attempts < MOST_ATTEMPTS;
            if let Some(attempt) = may_begin.then(|| self.client.begin_due(now)).flatten() {
                self.connect(attempt);
                continue;
            }
            let due = self.next_due();
            if due.is_none() && self.going.is_empty() || Instant::now() >= limit {
                return None;
            }
            let until = due.map_or(limit, |due| due.min(limit));
            let Some((attempt, connected)) = self.wait_until(until).await else { continue };
            let now = self.now_ms();
            let event = match connected {
                Ok(_) => AttemptEvent::Established,
                Err(_) => AttemptEvent::Failed,
            };
            if self.client.note(attempt, event, now) {
                return Some(RaceEnd { family: attempt.candidate.family, connected_ms: now });
            }
        }
    }

    /// Returns the first attempt that has a result; `None` if none has until then.
    async fn wait_until(
        &mut self,
        until: Instant,
    ) -> Option<(RaceAttempt, std::io::Result<TcpStream>)> {
        if self.going.is_empty() {
            tokio::time::sleep_until(until.into()).await;
            return None;
        }
        timeout_at(until.into(), self.going.join_next()).await.ok()??.ok()
    }
}
