//! What a request and a gigabyte cost of the processor.

use serde::{Deserialize, Serialize};

use crate::regression;
use crate::regression::Second;
use crate::series::PointSeries;
use sixmark_units::family::{Families, Family, PerFamily};

/// The kernel tells time in hundredths of a second: of less than this, in microseconds, it says too
/// little.
const SHORTEST_US: f64 = 500_000.0;

/// Where less than this part (0 to 1) of the measured time is covered there is no cost.
const LEAST_COVERED: f64 = 0.9;

/// Processor time over the measured time, and what each request and each gigabyte took of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Seconds of processor time.
    pub cpu_s: f64,
    /// Over the time it was taken from: 1 is one processor all the time.
    pub cpu_share: f64,
    /// The part (0 to 1) of all processors' time that something was done in, by anybody.
    pub busy_share: f64,
    /// Microseconds a complete response of either family; null where there were none, or reason
    /// tells why not.
    pub us_per_request: Option<f64>,
    /// Seconds a gigabyte (10^9 bytes) above TCP, received and sent, of either family; null
    /// likewise.
    pub s_per_gb: Option<f64>,
    /// The same of each family, where that can be told.
    pub families: Families<FamilyCost>,
    /// How each family's were told; null: they can't be told.
    pub method: Option<CostMethod>,
    /// Why something can't be told, for people; null: all can.
    pub reason: Option<String>,
}

/// How the cost of each family was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CostMethod {
    /// No other family was loaded.
    Alone,
    /// Both were, and how many requests of each there were changed from second to second.
    Regression,
}

/// What requests of one family cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyCost {
    /// Microseconds a complete response.
    pub us_per_request: f64,
    /// The ends of its 95 % interval, of a regression; else null.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<[sixmark_document::schema_type::Signed; 2]>")
    )]
    pub interval_us: Option<[f64; 2]>,
    /// Seconds a gigabyte, as many requests as there were having carried it; null where nothing was
    /// carried.
    pub s_per_gb: Option<f64>,
}

/// What was asked of a server in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// The stretch, by the wall clock, microseconds since 1970.
    pub from_us: u64,
    /// Its end.
    pub to_us: u64,
    /// Complete responses of each family.
    pub requests: PerFamily<u64>,
    /// Bytes above TCP, both directions, of each.
    pub bytes: PerFamily<u64>,
    /// Requests of each whole second from its begin.
    pub seconds: Vec<PerFamily<u64>>,
}

/// The processor time that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuScope {
    /// All of the machine.
    Host,
    /// Those processes that were asked for.
    Processes,
    /// This process's own, which is known to the microsecond.
    Own,
}

impl Work {
    /// The family that was loaded alone.
    fn only(&self) -> Option<Family> {
        let loaded = |family: &Family| self.requests[*family] > 0 || self.bytes[*family] > 0;
        let mut loaded = Family::BOTH.into_iter().filter(loaded);
        loaded.next().filter(|_| loaded.next().is_none())
    }
}

/// What the work cost; none where the series has nothing of its time, or knows of no processes.
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
    // What is not covered is taken to have been as the rest.
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
        // Seconds over gigabytes: a microsecond a kilobyte.
        self.s_per_gb = (bytes > 0).then(|| cpu_us * 1e3 / bytes as f64);
    }

    /// True where one family was loaded, so that all is its.
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

/// The seconds that are covered whole.
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

    /// Half of two processors is busy all the time, a quarter by the processes.
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
    fn what_one_family_alone_cost_is_exact() {
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
    fn of_a_mixed_run_the_total_is_told_and_nothing_is_invented() {
        let found = cost(&work(20_000, 20_000), &series(10), CpuScope::Host).unwrap();
        assert_eq!(found.us_per_request, Some(100.0));
        assert_eq!((found.families.ipv6, found.families.ipv4, found.method), (None, None, None));
        assert!(found.reason.unwrap().contains("too few"));
    }

    #[test]
    fn of_times_that_hardly_meet_there_is_no_cost() {
        let found = cost(&work(40_000, 0), &series(4), CpuScope::Host).unwrap();
        assert_eq!((found.us_per_request, found.cpu_s), (None, 2.0));
        assert!(found.reason.unwrap().contains("50 %"));
        assert_eq!(cost(&work(40_000, 0), &series(2), CpuScope::Host), None);
        let short = Work { to_us: 2_400_000, ..work(40_000, 0) };
        let found = cost(&short, &series(10), CpuScope::Host).unwrap();
        assert!(found.us_per_request.is_none() && found.reason.unwrap().contains("hundredths"));
    }

    #[test]
    fn what_is_known_to_the_microsecond_needs_no_half_a_second() {
        let short = Work { to_us: 2_100_000, ..work(100, 0) };
        let found = cost(&short, &series(10), CpuScope::Own).unwrap();
        assert_eq!((found.us_per_request, found.cpu_share), (Some(500.0), 0.5));
        assert_eq!(found.busy_share, 0.5);
    }
}
