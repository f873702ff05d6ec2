use crate::outputs::comparisons;
use crate::outputs::tests::{measured, study};
use sixmark_design::study_result::{CellResult, RatioFinding, StudyComparison};
use sixmark_tally::account::{AccountFigures, AccountResult};
use sixmark_tally::response_part::PerPart;
use sixmark_units::family::Family;
use sixmark_units::random::Random;
use sixmark_why::part::WhyPart;

const STUDY: &str = "[factors]\nsize = [1, 2]\nfamily = ['ipv6', 'ipv4']\n\
    [[comparisons]]\nname = 'c'\nmeasure = 'requests_per_s'\nby = ['size']\n";

/// Adds the account of a closed loop of one connection, whose round trip and server take this long in
/// microseconds at a size, and the rate that follows from it.
fn add_account(
    cell: &mut CellResult,
    family: Family,
    take: impl Fn(&str) -> [f64; 2],
    random: &mut Random,
) {
    let size = cell.level("size").unwrap().to_owned();
    let [trip, server] = take(&size).map(|us| us * (1.0 + 0.01 * (random.unit() - 0.5)));
    let parts_us = PerPart { wait: trip + server, transfer: 20.0, ..PerPart::default() };
    let of = AccountFigures {
        response_us: trip + server + 20.0,
        parts_us,
        connecting: 0.0,
        securing: 0.0,
        flights: 0.0,
    };
    let account = Some(AccountResult {
        mean: of,
        p50: of,
        p99: of,
        round_trip_us: Some(trip),
        tls_round_trips: 0.0,
    });
    let figures = Some([("requests_per_s".to_owned(), 1e6 / of.response_us)].into());
    match family {
        Family::Ipv6 => (cell.accounts.ipv6, cell.families.ipv6) = (account, figures),
        Family::Ipv4 => (cell.accounts.ipv4, cell.families.ipv4) = (account, figures),
    }
}

/// Compares the families of cells whose round trip and server take this long.
fn compared(take: impl Fn(Family, &str) -> [f64; 2]) -> StudyComparison {
    let study = study(STUDY);
    let mut random = Random::new(7, 0);
    let mut cells = measured(&study, |_, _, _| Some(1.0));
    for cell in &mut cells {
        for family in Family::BOTH {
            if cell.families.of(family).is_some() {
                add_account(cell, family, |size| take(family, size), &mut random);
            }
        }
    }
    comparisons(&study, &cells).remove(0)
}

#[test]
fn divides_the_difference_at_each_level_among_its_parts() {
    let comparison = compared(|family, size| match (family, size) {
        (Family::Ipv4, _) => [1_000.0, 500.0],
        (Family::Ipv6, "1") => [1_300.0, 500.0],
        (Family::Ipv6, _) => [1_000.0, 900.0],
    });
    let cause = |at: usize| {
        let entry = &comparison.entries[at];
        assert_eq!(entry.finding, RatioFinding::Lower, "{entry:?}");
        let why = entry.why.as_ref().unwrap();
        assert!(why.unexplained_us.abs() < 1e-6, "means add up: {why:?}");
        let causes = why.causes();
        (causes.len(), causes[0].part, causes[0].difference_us.value.round())
    };
    let (count, part, us) = cause(0);
    assert_eq!((count, part), (1, WhyPart::RoundTrips));
    assert!((us - 300.0).abs() < 10.0, "{us}");
    let (count, part, us) = cause(1);
    assert_eq!((count, part), (1, WhyPart::Server));
    assert!((us - 400.0).abs() < 10.0, "{us}");
}

#[test]
fn names_no_cause_of_levels_that_do_not_differ() {
    let comparison = compared(|_, _| [1_000.0, 500.0]);
    assert!(comparison.entries.iter().all(|entry| entry.why.is_none()), "{comparison:?}");
}

#[test]
fn names_no_cause_if_a_cell_has_no_account() {
    let study = study(STUDY);
    let rate = |family: Family| if family == Family::Ipv6 { 1.0 } else { 2.0 };
    let mut cells = measured(&study, |family, _, repetition| {
        Some(rate(family) * (1.0 + f64::from(repetition) / 100.0))
    });
    for cell in &mut cells {
        let goodput = |of: &mut Option<std::collections::BTreeMap<String, f64>>| {
            let of = of.as_mut()?;
            let value = of.get("goodput").copied()?;
            of.insert("requests_per_s".to_owned(), value)
        };
        goodput(&mut cell.families.ipv6);
        goodput(&mut cell.families.ipv4);
    }
    let comparison = comparisons(&study, &cells).remove(0);
    let found = comparison.entries.iter().map(|entry| (entry.finding, entry.why.is_some()));
    assert_eq!(found.collect::<Vec<_>>(), [(RatioFinding::Lower, false); 2]);
}
