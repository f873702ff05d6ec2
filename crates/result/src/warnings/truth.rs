//! Warnings about the comparison with packets (`--truth`).

use crate::truth::{Beside, FamilyTruth, Truth, TruthCounts};
use sixmark_document::provenance::Warning;
use sixmark_plan::plan::Plan;
use sixmark_units::family::Family;
use sixmark_units::quantity::duration_us;

use sixmark_document::provenance::warning;
use sixmark_units::quantity::counted;

/// The largest difference between the median times of the client and of the packets without a
/// warning: this many microseconds, plus this share of the time of the packets. docs/accuracy.md
/// states measured differences.
const APART_US: f64 = 100.0;
const APART_SHARE: f64 = 0.05;

/// Returns why the packets do not show everything, after a run.
pub(super) fn of_truth(plan: &Plan, truth: &Truth) -> Vec<Warning> {
    [connect_only(plan), incomplete(truth), apart(truth)].into_iter().flatten().collect()
}

/// Returns a warning if the packets don't show the client's times.
fn apart(truth: &Truth) -> Option<Warning> {
    let families = truth.families.iter();
    let found: Vec<String> = families.flat_map(|(family, of)| describe_apart(family, of)).collect();
    (!found.is_empty()).then(|| {
        let message = format!(
            "--truth: by this host's clock {}; medians, more than 100 us and 5 % apart: use --spin or \
             --timestamps kernel, or a machine that is less busy",
            found.join("; ")
        );
        warning("truth_apart", message)
    })
}

fn describe_apart(family: Family, of: &FamilyTruth) -> Vec<String> {
    let phases = [
        ("connect", of.connect),
        ("wait", of.wait),
        ("transfer", of.transfer),
        ("service", of.service),
    ];
    let describe = |(name, beside): (&str, Beside)| {
        let (longer_us, packets_us) = (beside.longer_us()?, beside.packets_us.p50?);
        let way = if longer_us > 0.0 { "longer" } else { "shorter" };
        let [apart, packets] = [longer_us.abs(), packets_us].map(duration_us);
        (longer_us.abs() > APART_US + APART_SHARE * packets_us)
            .then(|| format!("{name} over {family} is {apart} {way} than by packets ({packets})"))
    };
    phases.into_iter().filter_map(describe).collect()
}

fn connect_only(plan: &Plan) -> Option<Warning> {
    let hidden = plan.targets.iter().any(|target| target.secure());
    (hidden || !plan.http.version.is_http1()).then(|| {
        let message = "--truth: packets of TLS and HTTP/2 don't show exchanges: only connect is \
                       compared there";
        warning("truth_connect_only", message.to_owned())
    })
}

fn incomplete(truth: &Truth) -> Option<Warning> {
    let missing = |of: &TruthCounts| of.untold + of.client - of.matched;
    let families = || truth.families.iter().map(|(_, family)| family);
    let connections: u64 = families().map(|family| missing(&family.connections)).sum();
    let exchanges: u64 = families().map(|family| missing(&family.exchanges)).sum();
    let why = [
        (truth.dropped > 0)
            .then(|| format!("the kernel dropped {}", counted(truth.dropped, "packet", "packets"))),
        (!truth.settled).then(|| "connections were still active".to_owned()),
        (connections > 0).then(|| {
            let connections = counted(connections, "connection was", "connections were");
            format!("{connections} not found among the packets")
        }),
        (exchanges > 0).then(|| {
            let exchanges = counted(exchanges, "exchange was", "exchanges were");
            format!("{exchanges} not found among the packets")
        }),
    ];
    let why: Vec<String> = why.into_iter().flatten().collect();
    (!why.is_empty()).then(|| warning("truth_incomplete", format!("--truth: {}", why.join("; "))))
}

#[cfg(test)]
mod tests {
    use crate::truth::{Brief, Differences};
    use sixmark_tally::family_result::Families;

    use super::*;

    fn waits(packets_us: f64, longer_us: f64) -> FamilyTruth {
        let brief = |p50| Brief { count: 100, p50: Some(p50), p99: Some(p50) };
        let wait = Beside {
            client_us: brief(packets_us + longer_us),
            packets_us: brief(packets_us),
            medians_apart_us: Some(longer_us),
            difference_us: Differences {
                count: 100,
                p50: Some(longer_us),
                ..Differences::default()
            },
        };
        let (counts, none) = (TruthCounts::default(), Beside::default());
        FamilyTruth {
            connections: counts,
            exchanges: counts,
            connect: none,
            wait,
            transfer: none,
            service: none,
        }
    }

    fn warned(family: Family, of: FamilyTruth) -> Option<String> {
        let mut families = Families::default();
        match family {
            Family::Ipv6 => families.ipv6 = Some(of),
            Family::Ipv4 => families.ipv4 = Some(of),
        }
        let (interfaces, settled) = (Vec::new(), true);
        apart(&Truth { interfaces, packets: 1, dropped: 0, settled, families })
            .map(|warning| warning.message)
    }

    #[test]
    fn warns_if_measured_times_differ_from_the_packets() {
        for family in Family::BOTH {
            let said = warned(family, waits(1_130.0, 422.0)).unwrap();
            let expected =
                format!("wait over {family} is 422 us longer than by packets (1.13 ms);");
            assert!(said.contains(&expected), "{said}");
            assert!(warned(family, waits(1_130.0, -422.0)).unwrap().contains("422 us shorter"));
        }
    }

    #[test]
    fn does_not_warn_about_small_differences() {
        for (packets_us, longer_us) in [(25.0, 99.0), (1_130.0, 150.0), (30_400.0, 317.0)] {
            assert_eq!(warned(Family::Ipv6, waits(packets_us, longer_us)), None, "{packets_us}");
        }
    }
}
