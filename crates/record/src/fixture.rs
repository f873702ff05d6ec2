//! Documents for tests, with figures that are easy to verify by hand.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::plan::tls::PlanTls;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::clocks::{TimestampResult, Timestamps};
use crate::family_result::{Families, FamilyResult};
use crate::fleet::{AgentFamily, AgentResult};
use crate::outcome::{Failure, FailurePhase, Outcome};
use crate::pace::Pace;
use crate::plan::http::Http;
use crate::plan::ratio::PlanRatio;
use crate::plan::{Close, Connection, Driver, LoadPlan, Plan, PlanRequests, Request, Target};
use crate::result::{self, Generator, RatioResult, RunResult, family_result};
use crate::tally::FamilyTally;
use sixmark_document::provenance::{Ended, Environment, Tool};
use sixmark_http::HttpVersion;

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
        tenths: Vec::new(),
        generator: generator(),
        calibration: None,
        truth: None,
        find_max: None,
        sameness: None,
        gates: Vec::new(),
        vitals: None,
        fleet: None,
    }
}

/// Returns the program that made the documents.
pub fn tool() -> Tool {
    Tool { name: "sixmark".to_owned(), version: "0.1.0".to_owned(), commit: None }
}

/// Returns the figures of an idle generator.
pub fn generator() -> Generator {
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

/// Returns the plan of [`run`].
pub fn plan() -> Plan {
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
            resend: false,
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
            resend: false,
        },
        tls: Some(tls),
        sources: Default::default(),
        seed: 0,
    }
}

/// Returns an agent with this many complete responses per second over IPv6.
pub fn agent(name: &str, requests_per_s: f64) -> AgentResult {
    let mut of = AgentFamily::of(&silent(), Some(1500));
    (of.sent, of.completed, of.requests_per_s) = (1_000, 1_000, requests_per_s);
    AgentResult {
        name: name.to_owned(),
        host: format!("{name}.example"),
        environment: Environment { kernel: "Linux 6.12".to_owned(), ..Environment::default() },
        driver: "epoll".to_owned(),
        workers: 1,
        share: Some(0.5),
        incomplete_from: None,
        lost_because: None,
        adds_up: true,
        conflicts: 0,
        spool_failed: None,
        clock_offset_s: 0.001,
        clock_bound_s: 0.0002,
        start_late_s: 0.000_05,
        busiest: 0.2,
        saturated: false,
        cpu_user_s: 0.1,
        cpu_sys_s: 0.2,
        peak_rss_bytes: 1,
        families: Families { ipv6: Some(of), ipv4: None },
        truth: None,
        vitals: None,
    }
}
