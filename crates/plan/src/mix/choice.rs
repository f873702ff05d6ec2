//! The selection of the next endpoint or request, in turns or at random.

use sixmark_units::random::Random;

use super::deal::Deal;
use super::draw::{WeightedDraw, sums_of};

/// Separates these random numbers from others with the same seed.
const REQUESTS: u64 = 0x7265_7175_0000_0001;

/// Selects indices in proportion to weights.
#[derive(Clone, Debug)]
pub enum Turns {
    /// In rounds, each of which has the weights exactly.
    Dealt(Deal),
    /// Independently of each other: for Poisson arrivals.
    Drawn(WeightedDraw),
}

impl Turns {
    /// Returns the next index; 0 if there is no choice.
    #[inline]
    pub fn draw(&mut self) -> usize {
        match self {
            Turns::Dealt(deal) => deal.draw(),
            Turns::Drawn(draw) => draw.draw(),
        }
    }
}

/// The selection of the next request, for one worker.
///
/// Each endpoint has its own. With a common one, two requests and two endpoints in turns would
/// never mix, and the families would not be sent the same requests.
#[derive(Clone, Debug)]
pub struct Choice {
    turns: Vec<Turns>,
}

impl Choice {
    /// Creates a choice of requests with `weights`, all above zero, for each of `endpoints`, in
    /// rounds whose orders depend on `seed`. Workers start at different points of a round, so that
    /// even a short run includes the whole mix.
    pub fn new(weights: &[f64], endpoints: usize, seed: u64, worker: u32, workers: u32) -> Choice {
        if weights.len() < 2 {
            return Choice { turns: Vec::new() };
        }
        let shift = f64::from(worker) / f64::from(workers.max(1));
        let deal = |endpoint| Turns::Dealt(Deal::new(weights, seed, endpoint as u64, shift));
        Choice { turns: (0..endpoints).map(deal).collect() }
    }

    /// Creates a choice of requests with `weights`, all above zero, for each of `endpoints`, drawn
    /// independently. `counts_of` returns the exact counts of the requests to an endpoint, if they
    /// are to be exact; it may use the random numbers.
    pub fn drawn(
        weights: &[f64],
        endpoints: usize,
        seed: u64,
        worker: u32,
        mut counts_of: impl FnMut(usize, &mut Random) -> Option<Vec<u64>>,
    ) -> Choice {
        if weights.len() < 2 {
            return Choice { turns: Vec::new() };
        }
        let sums = sums_of(weights);
        let draw = |endpoint| {
            let stream = u64::from(worker) << 32 | endpoint as u64;
            let mut random = Random::new(seed ^ REQUESTS, stream);
            let counts = counts_of(endpoint, &mut random);
            let draw = WeightedDraw::of_sums(sums.clone(), random);
            Turns::Drawn(match counts {
                Some(counts) => draw.with_counts(&counts),
                None => draw,
            })
        };
        Choice { turns: (0..endpoints).map(draw).collect() }
    }

    /// Returns the index of the next request for endpoint number `endpoint`.
    #[inline]
    pub fn draw(&mut self, endpoint: usize) -> usize {
        self.turns.get_mut(endpoint).map_or(0, Turns::draw)
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw::divide_by_weights;
    use super::*;

    #[test]
    fn sends_the_exact_request_mix_to_each_endpoint() {
        let weights = [3.0, 1.0, 1.0];
        for workers in [1, 2, 5] {
            let mut sent = [[0u32; 3]; 2];
            for worker in 0..workers {
                let mut choice = Choice::new(&weights, 2, 4, worker, workers);
                for k in 0..1_000 {
                    sent[k % 2][choice.draw(k % 2)] += 1;
                }
            }
            let each = 100 * workers;
            for of in sent {
                let expected = [3 * each, each, each];
                assert_eq!(of, expected, "{workers}");
            }
        }
        let mut one = Choice::new(&[2.0], 4, 0, 0, 1);
        assert_eq!((one.draw(0), one.draw(3)), (0, 0));
    }

    #[test]
    fn draws_exact_counts_in_a_different_order_per_endpoint_and_worker() {
        let weights = [3.0, 1.0, 1.0];
        let exact = |_, random: &mut Random| Some(divide_by_weights(50, &weights, random));
        let mut orders = Vec::new();
        for worker in 0..4 {
            let mut choice = Choice::drawn(&weights, 2, 4, worker, exact);
            for endpoint in 0..2 {
                let order: Vec<usize> = (0..50).map(|_| choice.draw(endpoint)).collect();
                let count = |which| order.iter().filter(|&&index| index == which).count();
                assert_eq!([count(0), count(1), count(2)], [30, 10, 10]);
                orders.push(order);
            }
        }
        orders.sort_unstable();
        orders.dedup();
        assert_eq!(orders.len(), 8);
    }
}
