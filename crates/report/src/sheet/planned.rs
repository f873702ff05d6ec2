//! The plan of a run, and the machine and generator that ran it.

use sixmark_document::provenance::Lookup;
use sixmark_document::provenance::{Environment, Tool};
use sixmark_http::HttpVersion;
use sixmark_plan::pace::Pace;
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_result::result::Generator;
use sixmark_tally::clocks::TimestampResult;
use sixmark_tally::phase_clock::PhaseClock;
use sixmark_tally::timed_phase::TimedPhase;

use sixmark_sheet::table::Table;
use sixmark_sheet::{Block, setting, write};

/// The most targets that are listed.
const SHOWN: usize = 8;

/// The description of each clock.
const CLOCKS: [(PhaseClock, &str); 3] = [
    (PhaseClock::Kernel, "the kernel’s"),
    (PhaseClock::User, "sixmark’s own"),
    (PhaseClock::Both, "an end of each"),
];

/// Returns a table of the plan's settings.
pub fn plan(plan: &Plan, caption: &str) -> Block {
    let load = &plan.load;
    let yes = |set: bool, word: &str| if set { word.to_owned() } else { String::new() };
    let facts = vec![
        ("Targets", targets(plan, ", ")),
        ("Loop", pace(plan)),
        ("IPv6 : IPv4", plan.ratio.to_string()),
        ("Requests", load.requests.map_or(String::new(), |n| write::write_count(n.get()))),
        ("Time", load.duration.map_or(String::new(), write_seconds)),
        ("Warm-up", write_seconds(load.warmup)),
        ("Protocol", protocol(plan)),
        ("Connections", connections(plan)),
        ("Request", requests(plan)),
        ("Timeout", write_seconds(load.timeout)),
        ("Redirects", yes(plan.location, "followed")),
        ("Cookies", yes(plan.cookies, "kept")),
        ("Certificates", yes(plan.tls.as_ref().is_some_and(|tls| tls.insecure), "not verified")),
        ("Seed", plan.seed.to_string()),
    ];
    Block::Table(Table::facts(caption, facts))
}

/// Returns the machine, its routes, the generator, and name lookups.
pub fn environment(
    environment: &Environment,
    generator: Option<&Generator>,
    dns: &[Lookup],
    tool: &Tool,
) -> Vec<Block> {
    let mut blocks =
        setting::machine(environment, generator.map(generator_facts).unwrap_or_default(), tool);
    blocks.extend(setting::lookups(dns));
    blocks
}

/// Returns the first target, and the number of others.
pub fn plan_title(plan: &Plan) -> String {
    match plan.targets.as_slice() {
        [] => "no target".into(),
        [one] => one.url.clone(),
        [one, other] => format!("{} and {}", one.url, other.url),
        [one, others @ ..] => format!("{} and {} more", one.url, others.len()),
    }
}

/// Describes the loop, its rate, and the limit of exchanges in flight.
pub fn pace(plan: &Plan) -> String {
    let in_flight = write::write_count(plan.in_flight());
    match &plan.load.pace {
        Pace::Closed => format!("closed loop, {in_flight} in flight"),
        Pace::Open(open) => format!("open loop, {open}, at most {in_flight} in flight"),
    }
}

/// Describes the version of HTTP, TLS, and the streams per connection.
pub fn protocol(plan: &Plan) -> String {
    let secured = if plan.tls.is_some() && plan.http.version != HttpVersion::Http3 {
        " over TLS"
    } else {
        ""
    };
    let streams = match plan.http.streams.get() {
        1 => String::new(),
        streams => format!(", {streams} streams"),
    };
    format!("{}{secured}{streams}", plan.http.version.name())
}

fn targets(plan: &Plan, between: &str) -> String {
    let shown = plan.targets.iter().take(SHOWN).map(|target| target.url.as_str());
    let shown = shown.collect::<Vec<_>>().join(between);
    match plan.targets.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn write_seconds(time: std::time::Duration) -> String {
    if time.is_zero() { "none".into() } else { write::write_time(time.as_secs_f64() * 1e6) }
}

fn connections(plan: &Plan) -> String {
    let number = write::write_count(u64::from(plan.load.connections.get()));
    let kept = match (plan.connection.keep_alive, plan.connection.requests) {
        (false, _) => ", one for each request".to_owned(),
        (true, Some(most)) => format!(", at most {most} requests on each"),
        (true, None) => ", kept".to_owned(),
    };
    let before = if plan.connection.preopen { ", opened before" } else { "" };
    format!("{number}{kept}{before}")
}

fn requests(plan: &Plan) -> String {
    match plan.requests.number() {
        0 | 1 => String::new(),
        number => format!("a mix of {} requests", write::write_count(number as u64)),
    }
}

fn generator_facts(generator: &Generator) -> Vec<(&'static str, String)> {
    let Generator { threads, driver, cpu_user_s, cpu_sys_s, .. } = generator;
    let clock = clock(&generator.timestamps);
    let saturated = if generator.saturated { ": too much" } else { "" };
    vec![
        ("Driver", format!("{driver}, {threads} threads")),
        ("Time stamps", clock),
        (
            "Busiest second of a worker",
            format!("{}{saturated}", write::write_percent(generator.busiest)),
        ),
        ("Begun late", write::write_count(generator.late)),
        ("CPU time", format!("{cpu_user_s:.1} s user, {cpu_sys_s:.1} s kernel")),
        ("Peak memory", sixmark_units::quantity::bytes(generator.peak_rss_bytes as f64)),
    ]
}

/// Describes which clock the times of each phase are from; of documents of an earlier version, which
/// clock was asked for.
fn clock(timestamps: &TimestampResult) -> String {
    let Some(phases) = timestamps.phases else {
        let is_kernel = timestamps.mode == Timestamps::Kernel;
        return if is_kernel { "the kernel’s" } else { "sixmark’s own" }.into();
    };
    let by = |(clock, whose): (PhaseClock, &str)| {
        let timed = TimedPhase::ALL.into_iter().filter(|phase| phases.of_phase(*phase) == clock);
        let names = timed.map(TimedPhase::name).collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| format!("{whose}: {names}"))
    };
    CLOCKS.into_iter().filter_map(by).collect::<Vec<_>>().join("; ")
}
