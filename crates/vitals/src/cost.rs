//! The processor time that a request and a gigabyte cost.

use serde::{Deserialize, Serialize};

use crate::regression;
use crate::regression::Second;
use crate::series::PointSeries;
use sixmark_units::family::{Families, Family, PerFamily};

/// The least covered time for a cost, microseconds. The kernel reports processor time with a
/// resolution of 10 ms, which is too coarse for less.
const SHORTEST_US: f64 = 500_000.0;

/// The least share (0 to 1) of the measured time that must be covered for a cost to be computed.
const LEAST_COVERED: f64 = 0.9;

/// Processor time used in the measured time, per request and per gigabyte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Seconds of processor time in the covered part of the measured time.
    pub cpu_s: f64,
    /// Processor time divided by the time that it covers: 1 is one processor busy all the time.
    pub cpu_share: f64,
    /// The share (0 to 1) of all processors' time that was busy, by any process.
    pub busy_share: f64,
    /// Microseconds of processor time per complete response, over both families; null if there were
    /// none, or if reason says why it is missing.
    pub us_per_request: Option<f64>,
    /// Seconds of processor time per gigabyte (10^9 bytes) received and sent above TCP, over both
    /// families; null if nothing was carried, or if reason says why it is missing.
    pub s_per_gb: Option<f64>,
    /// The cost per request and per gigabyte of each family; null where it can't be determined.
    pub families: Families<FamilyCost>,
    /// How the costs of the families were determined; null if they can't be.
    pub method: Option<CostMethod>,
    /// Why a cost can't be determined, as text for people; null if all can.
    pub reason: Option<String>,
}

/// How the cost of each family was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CostMethod {
    /// Only one family was loaded, so the whole cost is its own.
    Alone,
    /// Both families were loaded, and the ratio of their requests varied from second to second, so
    /// that a linear regression could separate their costs.
    Regression,
}

/// The cost of one family's requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyCost {
    /// Microseconds of processor time per complete response.
    pub us_per_request: f64,
    /// The lower and the upper end of the 95 % interval of a regression; null for the other method.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<[sixmark_document::schema_type::Signed; 2]>")
    )]
    pub interval_us: Option<[f64; 2]>,
    /// Seconds of processor time per gigabyte: the cost of all requests of the family divided by
    /// the bytes that it carried; null if it carried none.
    pub s_per_gb: Option<f64>,
}

/// The load on a server over a period.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// The begin of the period by the wall clock, microseconds since 1970.
    pub from_us: u64,
    /// The end of the period, likewise.
    pub to_us: u64,
    /// Complete responses of each family.
    pub requests: PerFamily<u64>,
    /// Bytes above TCP of each family, both directions together.
    pub bytes: PerFamily<u64>,
    /// Requests of each family in each whole second of the period, in order.
    pub seconds: Vec<PerFamily<u64>>,
}

/// Whose processor time is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuScope {
    /// That of the whole machine.
    Host,
    /// That of the selected processes.
    Processes,
    /// That of this process, which is known to the microsecond.
    Own,
}

impl Work {
    /// Returns the family that was loaded if only one was.
    fn only(&self) -> Option<Family> {
        let loaded = |family: &Family| self.requests[*family] > 0 || self.bytes[*family] > 0;
        let mut loaded = Family::BOTH.into_iter().filter(loaded);
        loaded.next().filter(|_| loaded.next().is_none())
    }
}

/// Returns the cost of the work, or `None` if the series covers no part of its period or has no
/// data about processes although `scope` asks for them.
pub fn cost(work: &Work, series: &PointSeries, scope: CpuScope) -> Option<Cost> {
    let used = series.between(work.from_us, work.to_us)?;
    let cpu_us = match scope {
        CpuScope::Host => used.host_us,
        CpuScope::Processes | CpuScope::Own => used.processes_us?,
    };
    let time = (work.to_us - work.from_us) as f64;
    let mut cost = Cost::total(cpu_us, used.covered_us);
    cost.busy_share = if used.all_us > 0.0 { used.host_us / used.all_us } else { 0.0 };
    let covered = used.covered_us / time;
    if covered < LEAST_COVERED {
        cost.reason =
            Some(format!("only {:.0} % of the measured time is covered", covered * 100.0));
        return Some(cost);
    }
    if used.covered_us < SHORTEST_US && scope != CpuScope::Own {
        cost.reason = Some(
            "less than half a second was measured: the kernel counts CPU time in hundredths of a \
             second"
                .to_owned(),
        );
        return Some(cost);
    }
    // The part that is not covered is assumed to have cost as much per time as the rest.
    cost.share_out(work, cpu_us / covered);
    cost.of_families(work, series, scope);
    Some(cost)
}

impl Cost {
    fn total(cpu_us: f64, time_us: f64) -> Cost {
        Cost {
            cpu_s: cpu_us / 1e6,
            cpu_share: cpu_us / time_us,
            busy_share: 0.0,
            us_per_request: None,
            s_per_gb: None,
            families: Families { ipv6: None, ipv4: None },
            method: None,
            reason: None,
        }
    }

    fn share_out(&mut self, work: &Work, cpu_us: f64) {
        let requests = work.requests.ipv6 + work.requests.ipv4;
        let bytes = work.bytes.ipv6 + work.bytes.ipv4;
        self.us_per_request = (requests > 0).then(|| cpu_us / requests as f64);
        // Seconds per gigabyte are microseconds per kilobyte.
        self.s_per_gb = (bytes > 0).then(|| cpu_us * 1e3 / bytes as f64);
    }

    /// Attributes the whole cost to one family if only that was loaded. Returns false otherwise.
    fn alone(&mut self, work: &Work) -> bool {
        let Some(family) = work.only() else { return false };
        let Some(us_per_request) = self.us_per_request else { return true };
        let own = FamilyCost { us_per_request, interval_us: None, s_per_gb: self.s_per_gb };
        self.families = Families {
            ipv6: (family == Family::Ipv6).then_some(own),
            ipv4: (family == Family::Ipv4).then_some(own),
        };
        self.method = Some(CostMethod::Alone);
        true
    }

    fn of_families(&mut self, work: &Work, series: &PointSeries, scope: CpuScope) {
        if self.alone(work) {
            return;
        }
        match regression::fit(&seconds_of_work(work, series, scope)) {
            Ok(found) => {
                let of = |family: Family| {
                    let (fitted, bytes) = (found[family], work.bytes[family]);
                    let all_us = fitted.value * work.requests[family] as f64;
                    FamilyCost {
                        us_per_request: fitted.value,
                        interval_us: Some([fitted.value - fitted.half, fitted.value + fitted.half]),
                        s_per_gb: (bytes > 0).then(|| all_us * 1e3 / bytes as f64),
                    }
                };
                self.families =
                    Families { ipv6: Some(of(Family::Ipv6)), ipv4: Some(of(Family::Ipv4)) };
                self.method = Some(CostMethod::Regression);
            }
            Err(why) => self.reason = Some(why),
        }
    }
}

/// Returns the seconds that the series covers completely.
fn seconds_of_work(work: &Work, series: &PointSeries, scope: CpuScope) -> Vec<Second> {
    let second = |(number, requests): (u64, &PerFamily<u64>)| {
        let from_us = work.from_us + number * 1_000_000;
        let used = series.between(from_us, from_us + 1_000_000)?;
        let cpu_us = match scope {
            CpuScope::Host => used.host_us,
            CpuScope::Processes | CpuScope::Own => used.processes_us?,
        };
        let requests = requests.map(|number| number as f64);
        (used.covered_us > 999_000.0).then_some(Second { cpu_us, requests })
    };
    (0..).zip(&work.seconds).filter_map(second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Point;

    /// Half of the time of two processors is busy, half of that by the selected processes.
    fn series(seconds: u64) -> PointSeries {
        let point = |at: u64| Point {
            at_us: 1_000_000 * at,
            host_us: 1_000_000.0 * at as f64,
            all_us: 2_000_000.0 * at as f64,
            processes_us: Some(500_000.0 * at as f64),
        };
        (0..=seconds).map(point).collect()
    }

    fn work(ipv6: u64, ipv4: u64) -> Work {
        Work {
            from_us: 2_000_000,
            to_us: 6_000_000,
            requests: PerFamily { ipv6, ipv4 },
            bytes: PerFamily { ipv6: ipv6 * 1_000, ipv4: ipv4 * 1_000 },
            seconds: vec![PerFamily { ipv6: ipv6 / 4, ipv4: ipv4 / 4 }; 4],
        }
    }

    #[test]
    fn computes_the_exact_cost_of_a_run_of_one_family() {
        let found = cost(&work(40_000, 0), &series(10), CpuScope::Host).unwrap();
        assert_eq!((found.cpu_s, found.cpu_share), (4.0, 1.0));
        // 4 s over 40,000 requests and over 40 MB.
        assert_eq!((found.us_per_request, found.s_per_gb), (Some(100.0), Some(100.0)));
        let own = FamilyCost { us_per_request: 100.0, interval_us: None, s_per_gb: Some(100.0) };
        assert_eq!(found.families, Families { ipv6: Some(own), ipv4: None });
        assert_eq!((found.method, found.reason), (Some(CostMethod::Alone), None));
        let found = cost(&work(0, 40_000), &series(10), CpuScope::Processes).unwrap();
        assert_eq!(found.families.ipv4.unwrap().us_per_request, 50.0);
    }

    #[test]
    fn gives_only_the_total_cost_of_a_short_mixed_run() {
        let found = cost(&work(20_000, 20_000), &series(10), CpuScope::Host).unwrap();
        assert_eq!(found.us_per_request, Some(100.0));
        assert_eq!((found.families.ipv6, found.families.ipv4, found.method), (None, None, None));
        assert!(found.reason.unwrap().contains("too few"));
    }

    #[test]
    fn gives_no_cost_for_low_coverage_or_a_run_that_is_too_short() {
        let found = cost(&work(40_000, 0), &series(4), CpuScope::Host).unwrap();
        assert_eq!((found.us_per_request, found.cpu_s), (None, 2.0));
        assert!(found.reason.unwrap().contains("50 %"));
        assert_eq!(cost(&work(40_000, 0), &series(2), CpuScope::Host), None);
        let short = Work { to_us: 2_400_000, ..work(40_000, 0) };
        let found = cost(&short, &series(10), CpuScope::Host).unwrap();
        assert!(found.us_per_request.is_none() && found.reason.unwrap().contains("hundredths"));
    }

    #[test]
    fn own_processor_time_gives_costs_of_runs_below_half_a_second() {
        let short = Work { to_us: 2_100_000, ..work(100, 0) };
        let found = cost(&short, &series(10), CpuScope::Own).unwrap();
        assert_eq!((found.us_per_request, found.cpu_share), (Some(500.0), 0.5));
        assert_eq!(found.busy_share, 0.5);
    }
}
