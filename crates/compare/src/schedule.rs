//! The order in which the blocks of two sides follow one another.

use crate::comparison_result::{BlockOrder, BlockSchedule, SideName};
use sixmark_units::random::Random;

/// One block to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockTurn {
    /// The side to load.
    pub side: SideName,
    /// The number of its pair, from 0; `None` for a warm-up.
    pub pair: Option<u32>,
}

/// Whether A comes first in each of a group of four pairs: ABBA and BAAB in turns. A linear drift
/// cancels in any two of them, and noise that is correlated between adjacent blocks increases
/// effects as often as it decreases them. Noise with a period of eight blocks looks like a
/// difference, however; therefore the order is random unless this one is requested.
const ABBA_BAAB: [bool; 4] = [true, false, false, true];

/// The stream of random numbers from which orders are drawn.
const STREAM: u64 = 0x0b10_c450;

/// Returns all blocks in order: first those of the warm-up, then pair after pair.
pub fn turns(schedule: &BlockSchedule, seed: u64) -> Vec<BlockTurn> {
    let warm_up = (0..schedule.warm_up_blocks).map(|number| (number % 2 == 0, None));
    let mut random = Random::new(seed, STREAM);
    let pairs = (0..schedule.pairs).map(|number| {
        let a_first = match schedule.order {
            BlockOrder::Abba => ABBA_BAAB[number as usize % ABBA_BAAB.len()],
            BlockOrder::Random => random.bits() >> 63 == 0,
        };
        (a_first, Some(number))
    });
    warm_up.chain(pairs).flat_map(|(a_first, pair)| both(a_first, pair)).collect()
}

fn both(a_first: bool, pair: Option<u32>) -> [BlockTurn; 2] {
    let sides = if a_first { [SideName::A, SideName::B] } else { [SideName::B, SideName::A] };
    sides.map(|side| BlockTurn { side, pair })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(pairs: u32, order: BlockOrder) -> BlockSchedule {
        BlockSchedule {
            pairs,
            order,
            block_s: Some(1.0),
            requested_block_s: None,
            block_requests: None,
            warm_up_blocks: 1,
        }
    }

    fn written(turns: &[BlockTurn]) -> String {
        turns.iter().map(|turn| if turn.side == SideName::A { 'A' } else { 'B' }).collect()
    }

    #[test]
    fn alternates_abba_and_baab_after_a_warm_up() {
        let turns = turns(&schedule(6, BlockOrder::Abba), 1);
        assert_eq!(written(&turns), "AB".to_owned() + "ABBA" + "BAAB" + "ABBA");
        let pairs: Vec<_> = turns.iter().map(|turn| turn.pair).collect();
        assert_eq!(pairs[..4], [None, None, Some(0), Some(0)]);
        assert_eq!(pairs[13], Some(5));
    }

    #[test]
    fn a_linear_drift_cancels_in_every_two_pairs() {
        let turns = turns(&schedule(8, BlockOrder::Abba), 1);
        let drift = |pair| {
            let of = |(at, turn): (usize, &BlockTurn)| {
                let sign = if turn.side == SideName::A { 1 } else { -1 };
                if turn.pair == Some(pair) { sign * at as i64 } else { 0 }
            };
            turns.iter().enumerate().map(of).sum::<i64>()
        };
        assert!((0..4).all(|two| drift(2 * two) + drift(2 * two + 1) == 0));
    }

    #[test]
    fn random_order_follows_the_seed_and_has_each_side_once_per_pair() {
        let drawn = |seed| turns(&schedule(64, BlockOrder::Random), seed);
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(written(&drawn(7)), written(&drawn(8)));
        for turns in drawn(7).chunks(2) {
            assert!(turns[0].side != turns[1].side && turns[0].pair == turns[1].pair);
        }
        let first = drawn(9).iter().step_by(2).filter(|turn| turn.side == SideName::A).count();
        assert!((20..46).contains(&first), "{first} of 65 begin with A");
    }
}
