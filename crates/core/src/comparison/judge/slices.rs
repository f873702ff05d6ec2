//! Blocks of a mixed run: its seconds, joined where there are many.

use crate::comparison::{Pair, Stretch};

/// Joins neighbouring slices of a run, each a pair of what both sides did in it, to `most` pairs at
/// the most, all of the same number of slices but for the last, which is left out where it has less
/// than half of them. Longer blocks hang together less.
pub fn pairs_of_slices(slices: &[Pair], most: usize) -> Vec<Pair> {
    let each = slices.len().div_ceil(most.max(1)).max(1);
    let whole = |chunk: &&[Pair]| 2 * chunk.len() >= each;
    slices.chunks(each).filter(whole).map(joined).collect()
}

fn joined(slices: &[Pair]) -> Pair {
    slices.iter().fold(Pair::default(), |mut sum, slice| {
        add(&mut sum.a, &slice.a);
        add(&mut sum.b, &slice.b);
        sum
    })
}

fn add(to: &mut Stretch, more: &Stretch) {
    to.elapsed_s += more.elapsed_s;
    to.sent += more.sent;
    to.completed += more.completed;
    to.failed += more.failed;
    to.body_bytes += more.body_bytes;
    to.phases += &more.phases;
    to.tls += &more.tls;
}
