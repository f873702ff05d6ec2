//! Synthetic noise of blocks. Each model is a series of logarithms of a block's figure, scaled so
//! that `spread` is about the deviation of one block from its neighbours.

use std::f64::consts::TAU;

use sixmark_units::random::Random;

/// A model of how blocks scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Noise {
    /// Independent and normal.
    Normal,
    /// Autoregressive (AR(1)): the correlation of each block with the one before.
    Resembling(f64),
    /// Student's t with 3 degrees of freedom: outliers on both sides.
    Student,
    /// Lognormal: outliers upwards.
    Lognormal,
    /// Pareto with index 1.5: the variance is infinite.
    Pareto,
    /// A linear drift upwards by ten times the spread over the whole series, with normal noise.
    Drift,
    /// A random walk.
    Walk,
    /// Normal noise, and now and then higher values for a few blocks, as if another program were
    /// running.
    Bursts,
    /// A sine wave with this period in blocks and an amplitude of three times the spread, with
    /// normal noise.
    Periodic(usize),
}

/// All models in the tables, with their names there.
pub(crate) const ALL: [(&str, Noise); 11] = [
    ("independent, normal", Noise::Normal),
    ("AR(1), 0.5", Noise::Resembling(0.5)),
    ("AR(1), 0.9", Noise::Resembling(0.9)),
    ("Student's t, 3 degrees", Noise::Student),
    ("lognormal", Noise::Lognormal),
    ("Pareto, index 1.5", Noise::Pareto),
    ("linear drift", Noise::Drift),
    ("random walk", Noise::Walk),
    ("bursts", Noise::Bursts),
    ("every 6 blocks", Noise::Periodic(6)),
    ("every 8 blocks", Noise::Periodic(8)),
];

impl Noise {
    /// Returns the noise of `n` consecutive blocks.
    pub(crate) fn series(self, n: usize, spread: f64, random: &mut Random) -> Vec<f64> {
        let begin = normal(random);
        let mut state = State { begin, level: begin, left: 0, phase: uniform(random) };
        (0..n).map(|at| spread * self.next(at, n, &mut state, random)).collect()
    }

    fn next(self, at: usize, n: usize, state: &mut State, random: &mut Random) -> f64 {
        match self {
            Noise::Normal => normal(random),
            Noise::Resembling(by) => state.resembling(by, random),
            Noise::Student => student(random) / 3_f64.sqrt(),
            Noise::Lognormal => (normal(random).exp() - 0.5_f64.exp()) / 2.16,
            Noise::Pareto => uniform(random).powf(-1.0 / 1.5) - 1.0,
            Noise::Drift => 10.0 * at as f64 / n as f64 + normal(random),
            Noise::Walk => state.walk(random),
            Noise::Bursts => state.burst(random) + normal(random),
            Noise::Periodic(every) => state.wave(at, every) + normal(random),
        }
    }
}

struct State {
    begin: f64,
    level: f64,
    left: u64,
    phase: f64,
}

impl State {
    fn resembling(&mut self, by: f64, random: &mut Random) -> f64 {
        let now = self.level;
        self.level = by * now + (1.0 - by * by).sqrt() * normal(random);
        now
    }

    fn walk(&mut self, random: &mut Random) -> f64 {
        self.level += normal(random);
        self.level - self.begin
    }

    fn burst(&mut self, random: &mut Random) -> f64 {
        if self.left == 0 && random.below(10) == 0 {
            self.left = 1 + random.below(5);
            self.level = 2.0 + 4.0 * random.exponential();
        }
        let now = if self.left > 0 { self.level } else { 0.0 };
        self.left = self.left.saturating_sub(1);
        now
    }

    /// Returns the sine wave at a block. Its phase is random.
    fn wave(&self, at: usize, every: usize) -> f64 {
        3.0 * (TAU * (at as f64 / every as f64 + self.phase)).sin()
    }
}

/// Returns a uniform random number between 0 and 1, both exclusive.
pub(crate) fn uniform(random: &mut Random) -> f64 {
    ((random.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Returns a standard normal random number, by the method of Box and Muller.
pub(crate) fn normal(random: &mut Random) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (TAU * uniform(random)).cos()
}

fn student(random: &mut Random) -> f64 {
    let chi = (0..3).map(|_| normal(random).powi(2)).sum::<f64>();
    normal(random) / (chi / 3.0).sqrt()
}
