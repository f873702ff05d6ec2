//! Random effects on frames: loss, reordering and jitter.

use crate::impairment::{Effect, Loss};
use sixmark_units::random::Random;

/// Draws what happens to each frame of one effect. A draw depends only on the seed and on the
/// number of frames drawn before.
#[derive(Debug)]
pub(super) struct Chance {
    random: Random,
    loss: Weighted,
    reorder: u64,
    delay_ns: u64,
    jitter_ns: u64,
}

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lot {
    /// The frame is lost.
    Lost,
    /// The frame is not delayed and overtakes those that are.
    Overtakes,
    /// The frame is delayed by this time, in nanoseconds.
    Takes(u64),
}

/// The kind of loss, with probabilities as thresholds for 64 random bits.
#[derive(Debug)]
enum Weighted {
    None,
    Random(u64),
    Bursts { worse: u64, better: u64, bad: bool },
}

impl Chance {
    pub(super) fn new(effect: &Effect, seed: u64, stream: u64) -> Chance {
        Chance {
            random: Random::new(seed, stream),
            loss: weighted(&effect.loss),
            reorder: threshold(effect.reorder),
            delay_ns: effect.delay.as_nanos() as u64,
            jitter_ns: effect.jitter.as_nanos() as u64,
        }
    }

    /// Draws what happens to the next frame.
    pub(super) fn draw(&mut self) -> Lot {
        if self.loses() {
            return Lot::Lost;
        }
        if self.reorder > 0 && happens(&mut self.random, self.reorder) {
            return Lot::Overtakes;
        }
        if self.jitter_ns == 0 {
            return Lot::Takes(self.delay_ns);
        }
        let jitter = self.random.below(2 * self.jitter_ns + 1);
        Lot::Takes((self.delay_ns + jitter).saturating_sub(self.jitter_ns))
    }

    fn loses(&mut self) -> bool {
        match &mut self.loss {
            Weighted::None => false,
            Weighted::Random(share) => happens(&mut self.random, *share),
            Weighted::Bursts { worse, better, bad } => {
                let turns = happens(&mut self.random, if *bad { *better } else { *worse });
                // The frame at which the link changes its state still has the state before, as in
                // netem.
                let lost = *bad;
                *bad ^= turns;
                lost
            }
        }
    }
}

fn weighted(loss: &Loss) -> Weighted {
    match *loss {
        Loss::None => Weighted::None,
        Loss::Random(share) => Weighted::Random(threshold(share)),
        Loss::Bursts { share, mean } => {
            let [worse, better] = Loss::turns(share, mean).map(threshold);
            Weighted::Bursts { worse, better, bad: false }
        }
    }
}

/// Converts a probability to a threshold; `as` saturates, so 1 and more always happens.
fn threshold(share: f64) -> u64 {
    (share * u64::MAX as f64) as u64
}

fn happens(random: &mut Random, threshold: u64) -> bool {
    random.bits() < threshold || threshold == u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const FRAMES: usize = 1_000_000;

    fn lots(effect: Effect, seed: u64) -> Vec<Lot> {
        let mut chance = Chance::new(&effect, seed, 0);
        (0..FRAMES).map(|_| chance.draw()).collect()
    }

    fn share(lots: &[Lot], of: Lot) -> f64 {
        lots.iter().filter(|lot| **lot == of).count() as f64 / lots.len() as f64
    }

    /// Asserts that `found` is within five standard errors of `share`.
    fn close(found: f64, share: f64, inflated: f64) {
        let error = (share * (1.0 - share) * inflated / FRAMES as f64).sqrt();
        assert!((found - share).abs() < 5.0 * error, "{found} is not {share}");
    }

    #[test]
    fn random_loss_drops_the_configured_share_of_frames() {
        for (seed, of) in [(1, 0.001), (2, 0.01), (3, 0.5)] {
            let lots = lots(Effect { loss: Loss::Random(of), ..Effect::default() }, seed);
            close(share(&lots, Lot::Lost), of, 1.0);
        }
        let all = Effect { loss: Loss::Random(1.0), ..Effect::default() };
        assert_eq!(share(&lots(all, 1), Lot::Lost), 1.0);
    }

    #[test]
    fn burst_loss_matches_the_configured_share_and_mean_length() {
        for (seed, of, mean) in [(1, 0.01, 5.0), (2, 0.2, 3.0), (3, 0.5, 1.0), (4, 0.05, 50.0)] {
            let effect = Effect { loss: Loss::Bursts { share: of, mean }, ..Effect::default() };
            let lost: Vec<bool> = lots(effect, seed).iter().map(|lot| *lot == Lot::Lost).collect();
            let total = lost.iter().filter(|lost| **lost).count() as f64;
            let bursts = lost.windows(2).filter(|pair| pair == &[false, true]).count() as f64;
            close(total / FRAMES as f64, of, 2.0 * mean);
            let found = total / bursts;
            assert!((found - mean).abs() < mean * 5.0 / bursts.sqrt(), "{found} is not {mean}");
        }
    }

    #[test]
    fn jitter_is_uniform_around_the_delay() {
        let [delay, jitter] = [10, 4].map(Duration::from_millis);
        let lots = lots(Effect { delay, jitter, ..Effect::default() }, 7);
        let takes = lots.iter().map(|lot| match lot {
            Lot::Takes(ns) => *ns as f64 / 1e6,
            other => panic!("{other:?}"),
        });
        let takes: Vec<f64> = takes.collect();
        let mean = takes.iter().sum::<f64>() / FRAMES as f64;
        let quarter = takes.iter().filter(|ms| **ms < 8.0).count() as f64 / FRAMES as f64;
        assert!(takes.iter().all(|ms| (6.0..=14.0).contains(ms)));
        assert!((mean - 10.0).abs() < 0.02, "{mean}");
        close(quarter, 0.25, 1.0);
    }

    #[test]
    fn reorders_the_configured_share_of_frames() {
        let delay = Duration::from_millis(1);
        let lots = lots(Effect { delay, reorder: 0.02, ..Effect::default() }, 5);
        close(share(&lots, Lot::Overtakes), 0.02, 1.0);
        close(share(&lots, Lot::Takes(1_000_000)), 0.98, 1.0);
    }

    #[test]
    fn repeats_the_losses_for_the_same_seed_only() {
        let effect = Effect { loss: Loss::Random(0.1), ..Effect::default() };
        assert_eq!(lots(effect, 11), lots(effect, 11));
        assert_ne!(lots(effect, 11), lots(effect, 12));
    }
}
