//! Simulated servers: how long each exchange takes, and whether it fails, in simulated time.

use sixmark_units::random::Random;

/// The limit of response times in seconds, with which all servers are searched: `response.p99 <
/// 10ms`.
pub(crate) const BOUND_S: f64 = 0.010;
/// The share of exchanges that may be slower, and of those that may fail.
pub(crate) const BEYOND: f64 = 0.01;

/// A server with one queue in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Server {
    /// Poisson arrivals, exponential service times, by the mean number of services per second.
    Markov(f64),
    /// Poisson arrivals, constant service times.
    Constant(f64),
    /// A bucket of tokens: how many per second, and the most that it holds. What finds none is
    /// refused.
    Policer(f64, f64),
    /// The same, but what finds no token waits for one.
    Shaper(f64, f64),
    /// Constant service times, and a share of failures at random.
    Failing(f64, f64),
    /// Constant service times that become longer, by a share per second.
    Decaying(f64, f64),
    /// Constant service times, and pauses of 100 ms at random, with this mean time between them in
    /// seconds.
    Pausing(f64, f64),
}

/// The length of a pause in seconds.
const PAUSE_S: f64 = 0.1;

/// One exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// When it was due, in seconds from the beginning.
    pub(crate) due_s: f64,
    /// How long it took, in seconds.
    pub(crate) took_s: f64,
    /// Whether it failed.
    pub(crate) failed: bool,
}

impl Server {
    /// Returns the server with `factor` times the capacity.
    pub(crate) fn scaled(self, factor: f64) -> Server {
        match self {
            Server::Markov(mu) => Server::Markov(mu * factor),
            Server::Constant(mu) => Server::Constant(mu * factor),
            Server::Policer(rate, depth) => Server::Policer(rate * factor, depth),
            Server::Shaper(rate, depth) => Server::Shaper(rate * factor, depth),
            Server::Failing(mu, share) => Server::Failing(mu * factor, share),
            Server::Decaying(mu, per_s) => Server::Decaying(mu * factor, per_s),
            Server::Pausing(mu, every) => Server::Pausing(mu * factor, every),
        }
    }

    /// Answers a load of `rate` per second for `lasts_s` that begins at the time `at_s` with an empty
    /// queue.
    pub(crate) fn answer(
        self,
        rate: f64,
        at_s: f64,
        lasts_s: f64,
        random: &mut Random,
        mut each: impl FnMut(Answer),
    ) {
        let poisson = matches!(self, Server::Markov(_) | Server::Constant(_) | Server::Pausing(..));
        let (mut due_s, mut free_s) = (0.0, 0.0_f64);
        let mut tokens = Tokens::new(self);
        let mut pauses = Pauses::new(self, random);
        loop {
            due_s += if poisson { random.exponential() / rate } else { 1.0 / rate };
            if due_s >= lasts_s {
                return;
            }
            let (took_s, failed) = match self {
                Server::Policer(..) => (0.001, !tokens.take(due_s)),
                Server::Shaper(..) => (0.001 + tokens.wait(due_s), false),
                _ => {
                    let service_s = self.service_s(at_s + due_s, random);
                    free_s = pauses.end_of(free_s.max(due_s), service_s, random);
                    let failed = matches!(self, Server::Failing(_, share) if random.unit() < share);
                    (free_s - due_s, failed)
                }
            };
            each(Answer { due_s, took_s, failed });
        }
    }

    /// Returns a service time at a time of the search.
    fn service_s(self, at_s: f64, random: &mut Random) -> f64 {
        match self {
            Server::Markov(mu) => random.exponential() / mu,
            Server::Decaying(mu, per_s) => 1.0 / (mu * (-per_s * at_s).exp()),
            Server::Constant(mu) | Server::Failing(mu, _) | Server::Pausing(mu, _) => 1.0 / mu,
            Server::Policer(..) | Server::Shaper(..) => 0.0,
        }
    }

    /// Returns the highest rate at which the condition holds in the long run, at a time of the
    /// search: by theory, or by a long simulation where there is none.
    pub(crate) fn capacity(self, at_s: f64) -> f64 {
        match self {
            // The response time of M/M/1 is exponential with the rate mu - lambda.
            Server::Markov(mu) => mu - BEYOND.recip().ln() / BOUND_S,
            // One in a hundred may be refused.
            Server::Policer(rate, _) => rate / (1.0 - BEYOND),
            Server::Shaper(rate, _) => rate,
            // With constant arrivals no exchange waits below the capacity.
            Server::Failing(mu, _) => mu,
            Server::Decaying(mu, per_s) => mu * (-per_s * at_s).exp(),
            Server::Constant(mu) | Server::Pausing(mu, _) => self.simulated_capacity(mu),
        }
    }

    fn simulated_capacity(self, mu: f64) -> f64 {
        const LONG: f64 = 2e6;
        let (mut low, mut high) = (mu / 1e3, mu);
        while high > low * 1.001 {
            let rate = (low * high).sqrt();
            let (mut all, mut slow) = (0.0, 0.0);
            self.answer(rate, 0.0, LONG / rate, &mut Random::new(1, 2), |answer| {
                all += 1.0;
                slow += f64::from(u8::from(answer.took_s >= BOUND_S));
            });
            *(if slow < BEYOND * all { &mut low } else { &mut high }) = rate;
        }
        (low * high).sqrt()
    }
}

/// A bucket of tokens that is full in the beginning.
#[derive(Debug)]
struct Tokens {
    rate: f64,
    depth: f64,
    left: f64,
    at_s: f64,
}

impl Tokens {
    fn new(of: Server) -> Tokens {
        let (rate, depth) = match of {
            Server::Policer(rate, depth) | Server::Shaper(rate, depth) => (rate, depth),
            _ => (0.0, 0.0),
        };
        Tokens { rate, depth, left: depth, at_s: 0.0 }
    }

    fn fill(&mut self, at_s: f64) {
        self.left = (self.left + (at_s - self.at_s) * self.rate).min(self.depth);
        self.at_s = at_s;
    }

    fn take(&mut self, at_s: f64) -> bool {
        self.fill(at_s);
        let is_there = self.left >= 1.0;
        self.left -= f64::from(u8::from(is_there));
        is_there
    }

    /// Returns how long an exchange waits for its token, in seconds.
    fn wait(&mut self, at_s: f64) -> f64 {
        self.fill(at_s);
        self.left -= 1.0;
        (-self.left / self.rate).max(0.0)
    }
}

/// The pauses of a server.
#[derive(Debug)]
struct Pauses {
    every_s: f64,
    next_s: f64,
}

impl Pauses {
    fn new(of: Server, random: &mut Random) -> Pauses {
        match of {
            Server::Pausing(_, every_s) => {
                Pauses { every_s, next_s: random.exponential() * every_s }
            }
            _ => Pauses { every_s: f64::INFINITY, next_s: f64::INFINITY },
        }
    }

    /// Returns when a service ends that begins at `from_s`.
    fn end_of(&mut self, from_s: f64, service_s: f64, random: &mut Random) -> f64 {
        let mut from_s = from_s;
        while self.next_s <= from_s + service_s {
            from_s = from_s.max(self.next_s) + PAUSE_S;
            self.next_s = from_s + random.exponential() * self.every_s;
        }
        from_s + service_s
    }
}
