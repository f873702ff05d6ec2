//! Divides whole numbers into whole parts.

/// Divides `total` into whole parts in the ratio of `weights`. The remainder of rounding down goes
/// to the parts with the largest remainders, to the first ones if several are equal. All parts are
/// 0 if all weights are.
pub(super) fn split(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let exact = |weight: &u64| u128::from(total) * u128::from(*weight);
    let mut parts: Vec<u64> = weights.iter().map(|weight| (exact(weight) / sum) as u64).collect();
    let mut by_loss: Vec<usize> = (0..weights.len()).collect();
    by_loss.sort_by_key(|&at| std::cmp::Reverse(exact(&weights[at]) % sum));
    let left = total - parts.iter().sum::<u64>();
    by_loss.into_iter().take(left as usize).for_each(|at| parts[at] += 1);
    parts
}

/// Distributes `seats` among shares: one to each share that is not zero, the others one at a time
/// to the share that is largest per seat (D'Hondt). Returns `None` if there are fewer seats than
/// shares.
pub(super) fn seats(seats: u32, shares: &[u64]) -> Option<Vec<u32>> {
    let mut given: Vec<u32> = shares.iter().map(|&share| u32::from(share > 0)).collect();
    let rest = seats.checked_sub(given.iter().sum())?;
    for _ in 0..rest {
        let per_seat = |at: &usize| {
            // Compares share / (given + 1) as an integer, scaled so that rounding has no effect.
            (u128::from(shares[*at]) << 40) / u128::from(given[*at] + 1)
        };
        let most = (0..shares.len()).rev().max_by_key(per_seat)?;
        given[most] += 1;
    }
    Some(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        assert_eq!(split(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(
            split(75_000_000, &[225, 675, 25, 75]),
            [16_875_000, 50_625_000, 1_875_000, 5_625_000]
        );
        assert_eq!(split(u64::MAX, &[u64::MAX, u64::MAX]).iter().sum::<u64>(), u64::MAX);
        assert_eq!(split(7, &[0, 0]), [0, 0]);
        for total in 0..200 {
            let parts = split(total, &[3, 0, 7, 11]);
            assert_eq!((parts.iter().sum::<u64>(), parts[1]), (total, 0));
        }
    }

    #[test]
    fn gives_each_share_a_seat_and_large_shares_more() {
        assert_eq!(seats(10, &[45, 45, 5, 5]), Some(vec![4, 4, 1, 1]));
        assert_eq!(seats(100, &[45, 45, 5, 5]), Some(vec![45, 45, 5, 5]));
        assert_eq!(seats(3, &[45, 45, 5, 5]), None);
        assert_eq!(seats(3, &[0, 1, 0]), Some(vec![0, 3, 0]));
        assert_eq!(seats(0, &[0]), Some(vec![0]));
    }
}
