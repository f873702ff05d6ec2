//! Comparison with SciPy and statsmodels, whose results `scripts/reference-statistics` recorded.

use super::*;

const REFERENCE: &str = include_str!("reference.csv");

fn numbers(text: &str) -> Vec<f64> {
    text.split(' ').map(|number| number.parse().unwrap()).collect()
}

/// Returns the results of this crate and the relative tolerance.
fn ours(name: &str, of: &[f64]) -> Result<(Vec<f64>, f64), Refused> {
    let count = |part: f64, whole: f64| Count { part: part as u64, whole: whole as u64 };
    let side = |part: f64, whole: f64| (part / whole, whole);
    let ends = |interval: Interval| vec![interval.low, interval.high];
    let one_each = |values: &[f64]| values.iter().map(|value| (*value, 1)).collect::<Vec<_>>();
    Ok(match name {
        "hodges_lehmann" => (vec![hodges_lehmann(of)?], 1e-12),
        "wilcoxon" => {
            let test = signed_rank(of)?;
            (vec![test.less, test.greater], 1e-12)
        }
        "wilcoxon_less" => (vec![signed_rank(of)?.less], 1e-9),
        "wilcoxon_greater" => (vec![signed_rank(of)?.greater], 1e-9),
        "harrell_davis" => (vec![harrell_davis(&one_each(&of[1..]), of[0])?], 1e-9),
        // SciPy's logarithms of factorials keep fewer digits for large tables.
        "fisher" => (vec![fisher(count(of[0], of[1]), count(of[2], of[3]))?], 1e-7),
        "newcombe" => (ends(newcombe(side(of[0], of[1]), side(of[2], of[3]), of[4])?), 1e-9),
        "wilson" => (ends(wilson(of[0] / of[1], of[1], of[2])?), 1e-9),
        "holm" => {
            let ps: Vec<_> = of.iter().copied().map(Some).collect();
            (holm(&ps).into_iter().flatten().collect(), 1e-12)
        }
        "normal_cdf" => (vec![normal_cdf(of[0])], 1e-12),
        "normal_quantile" => (vec![normal_quantile(of[0])], 1e-10),
        "t_quantile" => (vec![t_quantile(of[0], of[1])], 1e-9),
        "incomplete_beta" => (vec![incomplete_beta(of[0], of[1], of[2])], 1e-9),
        other => panic!("the reference has a function that nothing is compared with: {other}"),
    })
}

#[test]
fn results_match_scipy_and_statsmodels() {
    let mut compared = 0;
    for line in REFERENCE.lines() {
        let parts: Vec<&str> = line.split(';').collect();
        let (arguments, expected) = (numbers(parts[1]), numbers(parts[2]));
        let (found, relative) = ours(parts[0], &arguments).unwrap();
        assert_eq!(found.len(), expected.len(), "{line}");
        for (found, expected) in found.iter().zip(&expected) {
            let slack = relative * expected.abs() + 1e-14;
            let near = (found - expected).abs() <= slack || found == expected;
            assert!(near, "{}: {found} is not {expected}\n{line}", parts[0]);
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
}
