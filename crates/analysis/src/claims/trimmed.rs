//! The mean of blocks, such that a single outlier does not decide a claim.

use sixmark_stats::StudentEstimate;

/// The number of blocks for each one that is trimmed at either end.
const BLOCKS_FOR_EACH_TRIMMED: usize = 8;

/// Estimates the centre of the blocks' values by a trimmed mean with the winsorised standard error,
/// whose error has Student's distribution with as many degrees of freedom as values are kept, less
/// one (Tukey, McLaughlin: Less vulnerable confidence and significance procedures for location
/// based on a single sample, Sankhya A 1963, 25: 331). Of each eight values, one is trimmed at
/// either end, so that fewer than eight are averaged as they are. Values that do not vary after
/// that are not trimmed: their error would be 0, and the figures do not show it.
///
/// A rank test can't replace it: of ten blocks its smallest p is 0.002, which no correction over 30
/// claims leaves below 0.05.
///
/// Returns `None` for fewer than two values, or for a value that is not finite.
pub(super) fn trimmed_mean(values: &[f64]) -> Option<StudentEstimate> {
    let plain = StudentEstimate::of_mean(values).ok()?;
    let each = values.len() / BLOCKS_FOR_EACH_TRIMMED;
    if each == 0 {
        return Some(plain);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let kept = &sorted[each..sorted.len() - each];
    let (low, high) = (kept[0], kept[kept.len() - 1]);
    let winsorised: Vec<f64> = values.iter().map(|value| value.clamp(low, high)).collect();
    let error = StudentEstimate::of_mean(&winsorised).ok()?.error;
    if error == 0.0 {
        return Some(plain);
    }
    let (all, kept_count) = (values.len() as f64, kept.len() as f64);
    Some(StudentEstimate {
        value: kept.iter().sum::<f64>() / kept_count,
        error: error * all / kept_count,
        freedom: kept_count - 1.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_among_ten_moves_neither_the_mean_nor_its_error() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = trimmed_mean(&ten).unwrap();
        assert_eq!((found.value, found.freedom), (5.5, 7.0));
        // Winsorised: 2, 2, 3 to 8, 9, 9: the squares sum to 66.5.
        let error = (66.5_f64 / 9.0 / 10.0).sqrt() * 10.0 / 8.0;
        assert!((found.error - error).abs() < 1e-12, "{found:?}");
        let far: Vec<f64> = ten.iter().map(|&v| if v == 10.0 { 360.0 } else { v }).collect();
        assert_eq!(trimmed_mean(&far), Some(found));
    }

    #[test]
    fn few_values_and_ties_are_not_trimmed() {
        let seven = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 70.0];
        assert_eq!(trimmed_mean(&seven), StudentEstimate::of_mean(&seven).ok());
        let zeros = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0];
        assert_eq!(trimmed_mean(&zeros), StudentEstimate::of_mean(&zeros).ok());
        assert_eq!((trimmed_mean(&[1.0]), trimmed_mean(&[1.0, f64::NAN])), (None, None));
    }
}
