//! Documents for tests, with figures that are easy to verify by hand.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::fleet::{AgentFamily, AgentResult};
use crate::result::{self, Generator, RatioResult, RunResult};
use sixmark_document::provenance::{Ended, Environment, Tool};
pub use sixmark_plan::fixture::{plan, secure_plan};
use sixmark_tally::clocks::TimestampResult;
use sixmark_tally::family_result::Families;
pub use sixmark_tally::fixture::{side, silent};

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
