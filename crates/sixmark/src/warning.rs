//! What makes figures doubtful: each doubt a code for programs and a line for people.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::Duration;

use sixmark_core::calibration::Below;
use sixmark_core::content::ContentResult;
use sixmark_core::family::Family;
use sixmark_core::import::LeftOut;
use sixmark_core::outcome::Outcome;
use sixmark_core::plan::accept::AcceptStatus;
use sixmark_core::plan::http::Version;
use sixmark_core::plan::ratio::Ratio;
use sixmark_core::plan::{Close, Plan};
use sixmark_core::report::{count, duration_us};
use sixmark_core::result::{Ended, FamilyResult, RunResult, Warning};
use sixmark_core::tls::CertificateCount;

mod comparison;
mod search;
#[cfg(test)]
mod tests;
mod truth;
mod vitals;
mod watch;

pub(crate) use comparison::{cut_short, of_comparison};
use search::of_search;
use truth::of_truth;
pub(crate) use vitals::{of_change, of_client, of_server};
pub(crate) use watch::of_watched;

/// Fewer whole responses than this say little about the slowest percent.
const FEW: u64 = 1_000;

/// A certificate that expires within this time is worth a word.
const SOON: Duration = Duration::from_secs(7 * 24 * 3600);

/// A larger part of the segments sent again tells of a path that loses packets.
const MANY: f64 = 0.001;

/// A larger part of what may be in flight that is not used, for want of a connection of the right
/// family, is worth a word.
const AWAITED: f64 = 0.05;

/// Hosts, or certificates, that a line names.
const NAMED: usize = 3;

/// Digits of a hash that tell it from others.
const DIGITS: usize = 8;

/// To be called with the code itself: a test reads them all in this file.
fn warning(code: &str, message: String) -> Warning {
    Warning { code: code.to_owned(), message }
}

/// A number with what it is a number of.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Before the run: ports may not suffice.
pub(crate) fn few_ports(family: Family, needed: u64, ports: u64) -> Warning {
    let (needed, ports) = (count(needed), count(ports));
    warning(
        "few_ports",
        format!(
            "{family} may need {needed} local ports but has {ports}; give more addresses with \
             --source, widen net.ipv4.ip_local_port_range, or use --close rst"
        ),
    )
}

/// Before the run: only one family, though nobody asked for that.
pub(crate) fn single_family(missing: Family) -> Warning {
    let message =
        format!("the targets have no {missing} address: there is nothing to compare with");
    warning("single_family", message)
}

/// Before the run: `count` targets have no address of a family that is used.
pub(crate) fn left_out(count: usize, ratio: Ratio) -> Option<Warning> {
    let targets = if count == 1 { "1 target has".into() } else { format!("{count} targets have") };
    let message = format!("{targets} no address that a ratio of {ratio} uses: left out");
    (count > 0).then(|| warning("left_out", message))
}

/// What a recording has one of for each request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    one: &'static str,
    many: &'static str,
}

/// Of HAR files.
pub(crate) const ENTRIES: Unit = Unit { one: "entry", many: "entries" };
/// Of access logs.
pub(crate) const LINES: Unit = Unit { one: "line", many: "lines" };

/// Before the run: what of a recording is not sent.
pub(crate) fn requests_left_out(left_out: &LeftOut, unit: Unit) -> Option<Warning> {
    let message = format!("{}: left out", reasons(left_out, unit));
    (left_out.count() > 0).then(|| warning("requests_left_out", message))
}

/// A recording of which nothing is left.
pub(crate) fn nothing_imported(left_out: &LeftOut, unit: Unit) -> String {
    match left_out.count() {
        0 => format!("it has no {}", unit.many),
        _ => format!("none of its {} can be sent: {}", unit.many, reasons(left_out, unit)),
    }
}

/// Why some were left out, how many, and what to do.
fn reasons(left_out: &LeftOut, unit: Unit) -> String {
    let mut reasons = Vec::new();
    if left_out.methods > 0 {
        reasons.push(format!(
            "{} of methods that may change something (--unsafe-methods takes them)",
            count(left_out.methods)
        ));
    }
    if !left_out.hosts.is_empty() {
        let mut hosts: Vec<_> = left_out.hosts.iter().collect();
        hosts.sort_by_key(|&(_, &times)| Reverse(times));
        let of =
            |&(host, &times): &(&String, &u64)| format!("{} {}", host.escape_debug(), count(times));
        let more = if hosts.len() > NAMED { ", ..." } else { "" };
        let named: Vec<_> = hosts.iter().take(NAMED).map(of).collect();
        let total = count(left_out.hosts.values().sum());
        let named = named.join(", ");
        reasons.push(format!("{total} to other hosts ({named}{more}; --har-host takes another)"));
    }
    if let Some((number, why)) = &left_out.first_unreadable {
        let first = if left_out.unreadable == 1 { "" } else { "the first " };
        let unreadable = counted(left_out.unreadable, unit.one, unit.many);
        reasons.push(format!("{unreadable} unreadable, {first}number {number} ({why})"));
    }
    reasons.join(", ")
}

/// After the run: everything that the result itself gives reason to doubt.
pub(crate) fn of_result(result: &RunResult) -> Vec<Warning> {
    let of_run = [
        linger(result),
        saturated(result),
        begun_late(result),
        ended(result),
        resets(result),
        clock_stepped(result),
        missing_stamps(result),
        retransmissions(result),
        below_noise_floor(result),
        insecure(result),
        certificates_differ(result),
        certificate_expires(result),
    ];
    let families =
        result.families.iter().flat_map(|(family, figures)| of_family(result, family, figures));
    let found = result.find_max.iter().flat_map(|found| of_search(result, found));
    let beside = result.plan.iter().zip(&result.truth);
    let beside = beside.flat_map(|(plan, truth)| of_truth(plan, truth));
    of_run.into_iter().flatten().chain(found).chain(families).chain(beside).collect()
}

fn saturated(result: &RunResult) -> Option<Warning> {
    let generator = result.generator.as_ref().filter(|generator| generator.saturated)?;
    let message = format!(
        "a worker was busy {:.0} % of a second: the generator may have been the bottleneck; give it \
         more threads (-t) or cores of its own",
        generator.busiest * 100.0
    );
    Some(warning("generator_saturated", message))
}

/// More than one of a hundred exchanges of an open loop that had not to wait for a place began late
/// by workers that had time: they were woken late.
fn begun_late(result: &RunResult) -> Option<Warning> {
    let late = result.generator.as_ref().filter(|generator| !generator.saturated)?.late;
    let families = || result.families.iter().map(|(_, figures)| figures);
    let slips = || families().filter_map(|figures| figures.slip_us.as_ref());
    let waited: u64 = families().map(|figures| figures.requests.waited).sum();
    let free = slips().map(|slip| slip.count).sum::<u64>().saturating_sub(waited);
    let p99 = slips().filter_map(|slip| slip.p99).reduce(f64::max)?;
    (late * 100 > free).then(|| {
        let message = format!(
            "{} of {} began over 1 ms after they were due (slip p99 {}) though a connection was free \
             and workers had time: they were woken late; response times hold that, service times \
             don't; leave sixmark cores of its own",
            count(late),
            counted(free, "exchange", "exchanges"),
            duration_us(p99)
        );
        warning("begun_late", message)
    })
}

fn linger(result: &RunResult) -> Option<Warning> {
    let linger = result.plan.as_ref()?.load.linger.filter(|linger| !linger.is_zero())?;
    let message = format!(
        "responses were left lying for up to {} to deal with more at once (--linger): times are late \
         by up to that",
        humantime::format_duration(linger)
    );
    Some(warning("linger", message))
}

fn ended(result: &RunResult) -> Option<Warning> {
    match result.ended {
        Ended::Complete => None,
        Ended::Interrupted => {
            let message = "a signal ended the run early; the figures are of what was done by then";
            Some(warning("interrupted", message.to_owned()))
        }
        Ended::Hopeless => {
            let message = "no connection could be established, so the run was given up";
            Some(warning("hopeless", message.to_owned()))
        }
    }
}

fn resets(result: &RunResult) -> Option<Warning> {
    let plan = result.plan.as_ref()?;
    (plan.connection.close == Close::Rst).then(|| {
        let message = match plan.http.version {
            Version::Http3 => {
                "--close rst changes nothing over HTTP/3: QUIC has no reset, connections were \
                 closed with CONNECTION_CLOSE"
            }
            _ => {
                "connections were closed with a reset, which servers see as an error and which \
                 leaves them no TIME-WAIT"
            }
        };
        warning("close_rst", message.to_owned())
    })
}

fn clock_stepped(result: &RunResult) -> Option<Warning> {
    let steps = result.generator.as_ref()?.timestamps.clock_steps;
    (steps > 0).then(|| {
        let message = "the system's clock was set during the run: times that the kernel took then \
                       are wrong; repeat the run, or use --timestamps user";
        warning("clock_stepped", message.to_owned())
    })
}

fn missing_stamps(result: &RunResult) -> Option<Warning> {
    let missing = result.generator.as_ref()?.timestamps.missing;
    (missing > 0).then(|| {
        let message = format!(
            "{} by sixmark, since the kernel gave no stamp",
            counted(missing, "time was taken", "times were taken")
        );
        warning("missing_stamps", message)
    })
}

/// Segments sent again are more than a few, or more over one family than chance explains.
fn retransmissions(result: &RunResult) -> Option<Warning> {
    let tcp = |family| Some(&result.families.of(family)?.tcp);
    let share = |family| Some((family, tcp(family)?.retransmitted_share()?));
    let shares: Vec<_> = Family::BOTH.into_iter().filter_map(share).collect();
    let unlike = matches!((tcp(Family::Ipv6), tcp(Family::Ipv4)),
        (Some(v6), Some(v4)) if v6.retransmits_unlike(v4));
    let many = shares.iter().any(|&(_, share)| share > MANY);
    (many || unlike).then(|| {
        let each =
            shares.iter().map(|(family, share)| format!("{:.2} % over {family}", share * 1e2));
        let message = format!(
            "TCP had to send segments again ({}): packets were lost, and times hold the repair",
            each.collect::<Vec<_>>().join(", ")
        );
        warning("retransmissions", message)
    })
}

/// The families differ by less than they do over loopback, where they should not.
fn below_noise_floor(result: &RunResult) -> Option<Warning> {
    let plan = result.plan.as_ref()?;
    let leg = result.calibration.as_ref()?.at(plan.load.connections.get())?;
    if !is_like_the_floor(plan) {
        return None;
    }
    let (v6, v4) = (result.families.ipv6.as_ref()?, result.families.ipv4.as_ref()?);
    let below: Vec<String> = leg
        .below(v6, v4)
        .into_iter()
        .map(|Below { phase, run_us, floor_us }| {
            format!("{phase} by {} (there {})", duration_us(run_us), duration_us(floor_us))
        })
        .collect();
    (!below.is_empty()).then(|| {
        let message = format!(
            "the families' medians differ by less than over loopback, where they should not: {}",
            below.join(", ")
        );
        warning("below_noise_floor", message)
    })
}

/// The noise floor is of HTTP/1.1 without TLS: what is spoken otherwise has another one.
fn is_like_the_floor(plan: &Plan) -> bool {
    plan.http.version.is_http1() && plan.tls.is_none()
}

fn insecure(result: &RunResult) -> Option<Warning> {
    result.plan.as_ref()?.tls.as_ref().is_some_and(|tls| tls.insecure).then(|| {
        let message = "any certificate was accepted (--insecure): who answered is not known";
        warning("insecure", message.to_owned())
    })
}

fn certificates(figures: &FamilyResult) -> &[CertificateCount] {
    figures.tls.as_ref().map_or(&[], |tls| &tls.certificates)
}

/// A family has seen a certificate that the other one has not.
fn certificates_differ(result: &RunResult) -> Option<Warning> {
    let seen = |figures| certificates(figures).iter().map(|c| &c.sha256).collect::<BTreeSet<_>>();
    let (v6, v4) = (result.families.ipv6.as_ref()?, result.families.ipv4.as_ref()?);
    let (v6, v4) = (seen(v6), seen(v4));
    (v6 != v4 && !v6.is_empty() && !v4.is_empty()).then(|| {
        let message = format!(
            "the servers show other certificates over IPv6 (SHA-256 {}) than over IPv4 ({}): the \
             families may not have reached the same server",
            beginnings(&v6),
            beginnings(&v4)
        );
        warning("certificates_differ", message)
    })
}

/// The first hexadecimal digits of hashes.
fn beginnings(hashes: &BTreeSet<&String>) -> String {
    let named = hashes.iter().take(NAMED).map(|hash| hash.chars().take(DIGITS).collect::<String>());
    let more = if hashes.len() > NAMED { ", ..." } else { "" };
    format!("{}{more}", named.collect::<Vec<_>>().join(", "))
}

/// The certificate that expires first, where that is soon or has been.
fn certificate_expires(result: &RunResult) -> Option<Warning> {
    let ends = certificates(&result.total).iter().filter_map(|c| c.not_after.as_deref());
    let time = |text| humantime::parse_rfc3339(text).ok();
    let (end, text) = ends.filter_map(|text| Some((time(text)?, text))).min()?;
    let started = time(&result.started)?;
    (end < started + SOON).then(|| {
        let what = if end < started { "expired on" } else { "is about to expire, on" };
        let over = families_shown(result, text);
        let message = format!("a certificate that the server shows over {over} {what} {text}");
        warning("certificate_expires", message)
    })
}

/// The families over which a certificate was shown that ends then.
fn families_shown(result: &RunResult, end: &str) -> String {
    let shown = |figures: &FamilyResult| {
        certificates(figures).iter().any(|c| c.not_after.as_deref() == Some(end))
    };
    let families = result.families.iter().filter(|(_, figures)| shown(figures));
    families.map(|(family, _)| family.to_string()).collect::<Vec<_>>().join(" and ")
}

fn of_family(result: &RunResult, family: Family, figures: &FamilyResult) -> Vec<Warning> {
    let doubts = [
        fell_away(family, figures),
        failed(family, figures),
        overloaded(family, figures),
        awaited(result, family, figures),
        dropped(family, figures),
        datagrams_dropped(family, figures),
        unsent(family, figures),
        no_port(family, figures),
        local(family, figures),
        bad_status(result.plan.as_ref(), family, figures),
        content(family, figures),
        few_samples(family, figures),
        dead_addresses(family, figures),
        unsolicited(family, figures),
        unopened(family, figures),
    ];
    doubts.into_iter().flatten().collect()
}

fn ended_as(figures: &FamilyResult, outcome: Outcome) -> u64 {
    figures.outcomes.get(outcome.name()).copied().unwrap_or(0)
}

fn fell_away(family: Family, figures: &FamilyResult) -> Option<Warning> {
    (figures.accepted() == 0).then(|| {
        let what = match (figures.content.is_empty(), figures.requests.completed) {
            (true, 0) => format!("not one request over {family} was answered"),
            (true, _) => format!("every response over {family} was an error"),
            (false, _) => format!("not one response over {family} passed its checks"),
        };
        warning("family_fell_away", format!("{what}: it can't be compared"))
    })
}

fn failed(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let failed = figures.requests.sent.checked_sub(figures.requests.completed)?;
    // What failed a check has a warning of its own.
    let others = ended_as(figures, Outcome::Abandoned) + ended_as(figures, Outcome::Content);
    let failed = failed.saturating_sub(others);
    (failed > 0 && figures.requests.completed > 0).then(|| {
        let share = failed as f64 / figures.requests.sent as f64 * 100.0;
        let message = format!(
            "{} of {} over {family} ({share:.2} %) had no whole response; the times are of the \
             others",
            count(failed),
            counted(figures.requests.sent, "request", "requests")
        );
        warning("failures", message)
    })
}

fn overloaded(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let waited = figures.requests.waited;
    (waited > 0).then(|| {
        let message = format!(
            "{} over {family} waited for a connection: raise -c or lower the rate",
            counted(waited, "exchange", "exchanges")
        );
        warning("overloaded", message)
    })
}

/// In a closed loop. In an open one exchanges that waited are counted.
fn awaited(result: &RunResult, family: Family, figures: &FamilyResult) -> Option<Warning> {
    let plan = result.plan.as_ref().filter(|plan| plan.load.pace.open().is_none())?;
    let share = figures.connections.awaited_s / (plan.in_flight() as f64 * result.elapsed_s);
    (share >= AWAITED).then(|| {
        let message = format!(
            "{:.0} % of what -c may have in flight was not used, since all connections of {family} were \
             busy and no more may be open: it answers later than the ratio needs, or -c is too small \
             for the ratio",
            share * 100.0
        );
        warning("connections_awaited", message)
    })
}

fn dropped(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let dropped = figures.requests.dropped;
    (dropped > 0).then(|| {
        let message = format!(
            "{} over {family}, since no connection was free when they were due: raise -c or lower the \
             rate; the times are of the others",
            counted(dropped, "exchange was dropped", "exchanges were dropped")
        );
        warning("dropped", message)
    })
}

/// What this host drops looks like loss of the network, and QUIC slows down for it.
fn datagrams_dropped(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let dropped = figures.quic.as_ref().map_or(0, |quic| quic.dropped);
    (dropped > 0).then(|| {
        let message = format!(
            "{} over {family} came to this host and found no room in its sockets' buffers, which \
             QUIC takes for loss and slows down; raise net.core.rmem_max or use more connections",
            counted(dropped, "datagram", "datagrams")
        );
        warning("datagrams_dropped", message)
    })
}

fn unsent(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let unsent = figures.requests.unsent;
    (unsent > 0).then(|| {
        let message = format!(
            "{} due over {family} before the end never began: the rate was not kept up, and the \
             longest waits are missing from the times",
            counted(unsent, "exchange", "exchanges")
        );
        warning("unsent", message)
    })
}

fn no_port(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let missed = ended_as(figures, Outcome::NoPort);
    (missed > 0).then(|| {
        let message = format!(
            "{} over {family} found no local port; give more addresses with --source, widen \
             net.ipv4.ip_local_port_range, or use --close rst",
            counted(missed, "connection", "connections")
        );
        warning("no_port", message)
    })
}

fn local(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let failed = ended_as(figures, Outcome::Local);
    (failed > 0).then(|| {
        let message = format!(
            "{} over {family} failed on this host, not on the server: see the errno",
            counted(failed, "request", "requests")
        );
        warning("local", message)
    })
}

/// Statuses that count as failures.
fn bad_status(plan: Option<&Plan>, family: Family, figures: &FamilyResult) -> Option<Warning> {
    let unaccepted = figures.requests.unaccepted;
    let accepted = plan.map_or_else(AcceptStatus::default, |plan| plan.accept_status);
    let others = || figures.status.iter().filter(|&(&status, _)| !accepted.accepts(status));
    let (most, _) = others().max_by_key(|&(_, times)| times)?;
    let kind = match others().count() {
        1 => format!("status {most}"),
        _ => format!("a status that is not accepted, most of them {most}"),
    };
    (unaccepted > 0).then(|| {
        let total = counted(unaccepted, "response", "responses");
        warning("status", format!("{total} over {family} had {kind}: they count as failures"))
    })
}

fn content(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let failed: u64 = figures.content.iter().map(|check| check.count).sum();
    let most = most_failed(&figures.content)?;
    let responses = counted(failed, "response", "responses");
    let message = format!("{responses} over {family} failed a check, {most}");
    Some(warning("content", message))
}

/// Which check the most responses failed, and what one of them had instead.
pub(crate) fn most_failed(content: &[ContentResult]) -> Option<String> {
    let most = content.iter().max_by_key(|check| check.count)?;
    let found = most.samples.first().map_or("", |sample| &sample.found);
    let part = if content.len() > 1 { "most of them " } else { "" };
    Some(format!("{part}{} (found {found})", most.check.escape_debug()))
}

fn few_samples(family: Family, figures: &FamilyResult) -> Option<Warning> {
    (1..FEW).contains(&figures.requests.completed).then(|| {
        let message = format!(
            "only {} over {family}: p99 and above rest on fewer than 10",
            counted(figures.requests.completed, "response", "responses")
        );
        warning("few_samples", message)
    })
}

/// Addresses of several that give nothing, while others do.
fn dead_addresses(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let (dead, alive): (Vec<_>, Vec<_>) = figures.by_address.iter().partition(|of| of.is_dead());
    let (first, others) = (dead.first()?, dead.len() - 1);
    let most = first.failures.iter().max_by_key(|failed| failed.count);
    let how = match (first.completed, most) {
        (0, Some(most)) => format!(", {} in {}", most.failure.outcome, most.failure.phase),
        (0, None) => String::new(),
        _ => ", errors only".to_owned(),
    };
    (!alive.is_empty()).then(|| {
        let (address, ended) = (first.address, count(first.ended));
        let more = match others {
            0 => String::new(),
            _ => format!(", nor {}", counted(others as u64, "other", "others")),
        };
        let message = format!(
            "{address} over {family} does not answer (0 of {ended}{how}){more}; {}",
            counted(alive.len() as u64, "other address does", "other addresses do"),
        );
        warning("dead_address", message)
    })
}

fn unsolicited(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let times = figures.connections.unsolicited;
    (times > 0).then(|| {
        let message = format!(
            "{} over {family} carried bytes that no request had asked for",
            counted(times, "connection", "connections")
        );
        warning("unsolicited", message)
    })
}

fn unopened(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let missing = figures.connections.unopened;
    (missing > 0).then(|| {
        let message = format!(
            "{} over {family} that --preopen was to open could not be opened: the server may be at a \
             limit of its own, on open files or on connections",
            counted(missing, "connection", "connections")
        );
        warning("unopened", message)
    })
}
