//! Documents for tests, with figures that are easy to verify by hand.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::plan::tls::PlanTls;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::clocks::{TimestampResult, Timestamps};
use crate::comparison::result::{
    BlockOrder, BlockSchedule, ComparedSide, ComparedSides, ComparisonResult,
};
use crate::comparison::{Compared, Comparison, ComparisonKind, EffectMethod, Settings};
use crate::family_result::{Families, FamilyResult};
use crate::metric::Metric;
use crate::outcome::{Failure, FailurePhase, Outcome};
use crate::pace::Pace;
use crate::plan::http::Http;
use crate::plan::ratio::PlanRatio;
use crate::plan::{Close, Connection, Driver, LoadPlan, Plan, PlanRequests, Request, Target};
use crate::result::{self, Generator, RatioResult, RunResult, family_result};
use crate::tally::FamilyTally;
use sixmark_document::provenance::{Ended, Environment, Tool};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_http::HttpVersion;
use sixmark_units::family::Family;

const ONE: NonZeroU32 = NonZeroU32::MIN;

/// Returns 990 complete responses in one second, each of `response_ns` nanoseconds and 1,000 bytes,
/// and 10 resets. No connection was opened, there was no TLS, and the loop was closed.
pub fn side(response_ns: u64) -> FamilyResult {
    let mut tally = FamilyTally { sent: 1_000, ..FamilyTally::default() };
    tally.status.add(200, 990);
    tally.bytes.body = 990_000;
    tally.failures.add(Failure::new(Outcome::Reset, FailurePhase::Wait), 10);
    (0..990).for_each(|_| tally.phases.response.record(response_ns));
    family_result(&tally, Vec::new(), 1.0, false)
}

/// Returns the result of a family without any exchange.
pub fn silent() -> FamilyResult {
    family_result(&FamilyTally::default(), Vec::new(), 1.0, false)
}

/// Returns a run in which IPv6 answered in 12 ms and IPv4 in 10 ms; the total is IPv4's.
pub fn run() -> RunResult {
    RunResult {
        schema: result::SCHEMA.to_owned(),
        tool: tool(),
        started: "2026-01-02T03:04:05Z".to_owned(),
        elapsed_s: 1.0,
        ended: Ended::Complete,
        plan: plan(),
        seed: 7,
        dns: Vec::new(),
        environment: Environment::default(),
        warnings: Vec::new(),
        ratio: RatioResult { asked: [1, 1], sent: [1_000, 1_000] },
        families: Families { ipv6: Some(side(12_000_000)), ipv4: Some(side(10_000_000)) },
        total: side(10_000_000),
        intervals: Vec::new(),
        generator: generator(),
        calibration: None,
        truth: None,
        find_max: None,
        sameness: None,
        gates: Vec::new(),
        vitals: None,
    }
}

/// Returns a comparison of the same sides as in [`run`], with the same names.
pub fn comparison_result() -> ComparisonResult {
    let run = run();
    let side = |family: Family| ComparedSide {
        name: family.to_string().to_lowercase(),
        options: String::new(),
        plan: plan(),
        elapsed_s: 1.0,
        figures: run.families.of(family).unwrap().clone(),
        cpu: Default::default(),
    };
    let schedule = BlockSchedule {
        pairs: 12,
        order: BlockOrder::Abba,
        block_s: Some(1.0),
        requested_block_s: None,
        block_requests: None,
        warm_up_blocks: 1,
    };
    ComparisonResult {
        schema: crate::comparison::result::SCHEMA.to_owned(),
        tool: tool(),
        started: run.started.clone(),
        elapsed_s: 26.0,
        ended: Ended::Complete,
        seed: 7,
        schedule,
        sides: ComparedSides { a: side(Family::Ipv6), b: side(Family::Ipv4) },
        blocks: Vec::new(),
        comparison: comparison(),
        noise: None,
        gates: Vec::new(),
        dns: Vec::new(),
        environment: Environment::default(),
        warnings: Vec::new(),
        generator: generator(),
    }
}

/// Returns a comparison in which the median is 20 % longer, the 99.9th percentile is refused,
/// failures are equal, and goodput is inconclusive.
pub fn comparison() -> Comparison {
    let longer = Compared {
        ratio: Some(Estimate { value: 1.2, low: 1.15, high: 1.25 }),
        difference: Some(Estimate { value: 2_000.0, low: 1_500.0, high: 2_500.0 }),
        p: Some(0.0005),
        p_holm: Some(0.0015),
        ..compared("response.p50", Verdict::Worse)
    };
    let refused = Compared {
        reason: Some("1 sample is in the tail, of 100 that it takes".to_owned()),
        ..compared("response.p999", Verdict::Inconclusive)
    };
    let failures = Compared {
        difference: Some(Estimate { value: 0.0, low: -0.01, high: 0.01 }),
        method: EffectMethod::Proportions,
        ..compared("failures", Verdict::Equivalent)
    };
    let goodput = Compared {
        ratio: Some(Estimate { value: 1.01, low: 0.9, high: 1.1 }),
        reason: Some("below the noise floor of 2 %".to_owned()),
        ..compared("goodput", Verdict::Inconclusive)
    };
    Comparison {
        kind: ComparisonKind::Isolated,
        a: "ipv6".to_owned(),
        b: "ipv4".to_owned(),
        settings: Settings::usual(7),
        pairs: 12,
        left_out: 0,
        sameness: None,
        metrics: vec![longer, refused, failures, goodput],
    }
}

fn compared(metric: &str, verdict: Verdict) -> Compared {
    Compared {
        metric: metric.parse::<Metric>().unwrap(),
        a: None,
        b: None,
        method: EffectMethod::Blocks,
        ratio: None,
        difference: None,
        p: None,
        p_holm: None,
        p_equivalence: None,
        effects: Vec::new(),
        autocorrelation: None,
        noise_floor: None,
        verdict,
        reason: None,
        header_corrected: None,
    }
}

fn tool() -> Tool {
    Tool { name: "sixmark".to_owned(), version: "0.1.0".to_owned() }
}

fn generator() -> Generator {
    Generator {
        driver: "epoll".to_owned(),
        threads: 1,
        cpu_user_s: 0.1,
        cpu_sys_s: 0.1,
        peak_rss_bytes: 1,
        busiest: 0.1,
        late: 0,
        stalls: 0,
        stalled_s: 0.0,
        checking_s: 0.0,
        longest_check_s: 0.0,
        saturated: false,
        timestamps: TimestampResult::default(),
    }
}

fn plan() -> Plan {
    let target = Target {
        url: "http://localhost/?a&b".to_owned(),
        authority: "localhost".to_owned(),
        server_name: None,
        path: "/?a&b".to_owned(),
        weight: 1,
        addresses: Vec::new(),
    };
    Plan {
        targets: vec![target],
        ratio: PlanRatio::EVEN,
        load: load(),
        requests: PlanRequests::one(Request::plain("GET")),
        location: false,
        accept_status: Default::default(),
        cookies: false,
        http: Http { version: HttpVersion::Http1, prior_knowledge: false, streams: ONE },
        connection: Connection {
            keep_alive: true,
            requests: None,
            close: Close::Fin,
            most_open: ONE,
            preopen: false,
        },
        tls: None,
        sources: Default::default(),
        seed: 7,
    }
}

fn load() -> LoadPlan {
    LoadPlan {
        requests: None,
        duration: Some(Duration::from_secs(1)),
        warmup: Duration::ZERO,
        pace: Pace::default(),
        connections: ONE,
        threads: ONE,
        timeout: Duration::from_secs(10),
        drain: Duration::ZERO,
        driver: Driver::Auto,
        timestamps: Timestamps::default(),
        linger: None,
    }
}

/// Returns a plan over TLS with one address of each family.
pub fn secure_plan(tls: PlanTls) -> Plan {
    let target = Target {
        url: "https://a.example/".into(),
        authority: "a.example".into(),
        server_name: Some(tls.sni.clone().unwrap_or("a.example".into())),
        path: "/".into(),
        weight: 1,
        addresses: ["[::1]:443", "127.0.0.1:443"].map(|a| a.parse().unwrap()).to_vec(),
    };
    Plan {
        targets: vec![target],
        ratio: PlanRatio::EVEN,
        load: LoadPlan {
            requests: None,
            duration: Some(Duration::from_secs(1)),
            warmup: Duration::ZERO,
            pace: Pace::Closed,
            connections: NonZeroU32::MIN,
            threads: NonZeroU32::MIN,
            timeout: Duration::from_secs(5),
            drain: Duration::ZERO,
            driver: Driver::Auto,
            timestamps: Timestamps::User,
            linger: None,
        },
        requests: PlanRequests::one(Request::plain("GET")),
        location: false,
        accept_status: Default::default(),
        cookies: false,
        http: Default::default(),
        connection: Connection {
            keep_alive: true,
            requests: None,
            close: Close::Fin,
            most_open: NonZeroU32::MIN,
            preopen: false,
        },
        tls: Some(tls),
        sources: Default::default(),
        seed: 0,
    }
}
