//! What makes figures doubtful: each doubt a code for programs and a line for people.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use sixmark_core::calibration::Below;
use sixmark_core::family::Family;
use sixmark_core::find::{FindMax, Found, Limit};
use sixmark_core::import::LeftOut;
use sixmark_core::outcome::Outcome;
use sixmark_core::plan::Close;
use sixmark_core::plan::ratio::Ratio;
use sixmark_core::report::{count, duration_us};
use sixmark_core::result::{Ended, FamilyResult, RunResult, Warning};
use sixmark_core::tls::CertificateCount;

use crate::run::BUSY;

#[cfg(test)]
mod tests;

/// Fewer whole responses than this say little about the slowest percent.
const FEW: u64 = 1_000;
/// A bound that is longer than this part of a trial lets a queue grow that a longer trial would not.
const GROWTH: f64 = 0.05;

/// A certificate that expires within this time is worth a word.
const SOON: Duration = Duration::from_secs(7 * 24 * 3600);

/// A larger part of the segments sent again tells of a path that loses packets.
const MANY: f64 = 0.001;

/// Hosts that a line names.
const NAMED: usize = 3;

fn warning(code: &str, message: String) -> Warning {
    Warning { code: code.to_owned(), message }
}

/// Before the run: idle connections have to make room.
pub(crate) fn few_files(room: NonZeroU32, wanted: NonZeroU32) -> Warning {
    let message = format!(
        "only {room} of {wanted} connections can be open at once: idle ones are closed when others \
         are needed; raise the limit on open files (ulimit -Hn)"
    );
    warning("few_files", message)
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

/// Before the run: what of a recording is not sent.
pub(crate) fn requests_left_out(left_out: &LeftOut, unit: &str) -> Option<Warning> {
    let message = format!("{}: left out", reasons(left_out, unit));
    (left_out.count() > 0).then(|| warning("requests_left_out", message))
}

/// A recording of which nothing is left.
pub(crate) fn nothing_imported(left_out: &LeftOut, unit: &str) -> String {
    match left_out.count() {
        0 => format!("it has no {unit}"),
        _ => format!("none of its {unit} can be sent: {}", reasons(left_out, unit)),
    }
}

/// Why some were left out, how many, and what to do.
fn reasons(left_out: &LeftOut, unit: &str) -> String {
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
        let unreadable = count(left_out.unreadable);
        reasons.push(format!("{unreadable} unreadable {unit}, first number {number} ({why})"));
    }
    reasons.join(", ")
}

/// After the run: everything that the result itself gives reason to doubt.
pub(crate) fn of_result(result: &RunResult) -> Vec<Warning> {
    let of_run = [
        linger(result),
        saturated(result),
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
    let families = result.families.iter().flat_map(|(family, figures)| of_family(family, figures));
    let found = result.find_max.iter().flat_map(|found| of_search(result, found));
    of_run.into_iter().flatten().chain(found).chain(families).collect()
}

/// What set the highest rate, where that was not the server.
fn of_search(result: &RunResult, found: &FindMax) -> Vec<Warning> {
    let limits = found.families.iter().map(|(family, found)| limited(result, family, found));
    short_trials(found).into_iter().chain(limits.flatten()).collect()
}

/// A server that gets a part more than it can do, even for as long as a trial, is late by no more
/// than that part of the trial.
fn short_trials(found: &FindMax) -> Option<Warning> {
    let bounds = found.conditions.iter().filter_map(|c| Some((c, c.response_bound_s()?)));
    let (condition, bound_s) = bounds.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let part = bound_s / found.trial_s;
    (part > GROWTH).then(|| {
        let message = format!(
            "with '{condition}' a queue may grow through a trial of {} s and still hold: the rates \
             may be {:.0} % too high; lengthen -d",
            found.trial_s,
            part * 100.0
        );
        warning("short_trials", message)
    })
}

fn limited(result: &RunResult, family: Family, found: &Found) -> Option<Warning> {
    let in_flight = result.plan.in_flight();
    match found.limited_by? {
        Limit::Generator => Some(warning(
            "generator_limited",
            format!(
                "sixmark itself could not keep up with more over {family}: the server may sustain a \
                 higher rate; give sixmark more threads (-t) or cores of its own"
            ),
        )),
        Limit::Connections | Limit::Unsent => Some(warning(
            "connections_limited",
            format!(
                "all {in_flight} exchanges that may be were in flight at the rate that did not hold \
                 over {family}: a higher one may hold with more (-c)"
            ),
        )),
        Limit::Condition | Limit::Failures | Limit::Interrupted => None,
    }
}

fn saturated(result: &RunResult) -> Option<Warning> {
    let generator = &result.generator;
    let sign = match generator.busiest > BUSY {
        true => format!("a worker was busy {:.0} % of a second", generator.busiest * 100.0),
        false => format!(
            "{} exchanges began over 1 ms late though a connection was free for them",
            count(generator.late)
        ),
    };
    generator.saturated.then(|| {
        let message = format!(
            "{sign}: the generator may have been the bottleneck; give it more threads (-t) or \
             cores of its own"
        );
        warning("generator_saturated", message)
    })
}

fn linger(result: &RunResult) -> Option<Warning> {
    let linger = result.plan.load.linger.filter(|linger| !linger.is_zero())?;
    let message = format!(
        "responses were left lying for up to {} to deal with more at once (--linger): times are late \
         by up to that",
        humantime::format_duration(linger)
    );
    Some(warning("linger", message))
}

fn ended(result: &RunResult) -> Option<Warning> {
    let message = match result.ended {
        Ended::Complete => return None,
        Ended::Interrupted => {
            "a signal ended the run early; the figures are of what was done by then"
        }
        Ended::Hopeless => "no connection could be established, so the run was given up",
    };
    let code = if result.ended == Ended::Interrupted { "interrupted" } else { "hopeless" };
    Some(warning(code, message.to_owned()))
}

fn resets(result: &RunResult) -> Option<Warning> {
    (result.plan.connection.close == Close::Rst).then(|| {
        let message = "connections were closed with a reset, which servers see as an error and \
                       which leaves them no TIME-WAIT";
        warning("close_rst", message.to_owned())
    })
}

fn clock_stepped(result: &RunResult) -> Option<Warning> {
    let steps = result.generator.timestamps.clock_steps;
    (steps > 0).then(|| {
        let message = "the system's clock was set during the run: times that the kernel took then \
                       are wrong; repeat the run, or use --timestamps user";
        warning("clock_stepped", message.to_owned())
    })
}

fn missing_stamps(result: &RunResult) -> Option<Warning> {
    let missing = result.generator.timestamps.missing;
    (missing > 0).then(|| {
        let message = format!(
            "{} times were taken by sixmark, since the kernel gave no stamp for them",
            count(missing)
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
    let leg = result.calibration.as_ref()?.at(result.plan.load.connections.get())?;
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

fn insecure(result: &RunResult) -> Option<Warning> {
    result.plan.tls.as_ref().is_some_and(|tls| tls.insecure).then(|| {
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
        let message = "the servers show other certificates over IPv6 than over IPv4: the families \
                       may not have reached the same server";
        warning("certificates_differ", message.to_owned())
    })
}

/// The certificate that expires first, where that is soon or has been.
fn certificate_expires(result: &RunResult) -> Option<Warning> {
    let ends = certificates(&result.total).iter().filter_map(|c| c.not_after.as_deref());
    let time = |text| humantime::parse_rfc3339(text).ok();
    let (end, text) = ends.filter_map(|text| Some((time(text)?, text))).min()?;
    let started = time(&result.started)?;
    (end < started + SOON).then(|| {
        let verb = if end < started { "has expired" } else { "is about to expire" };
        let message = format!("a server's certificate {verb}: it is valid until {text}");
        warning("certificate_expires", message)
    })
}

fn of_family(family: Family, figures: &FamilyResult) -> Vec<Warning> {
    let doubts = [
        fell_away(family, figures),
        failed(family, figures),
        overloaded(family, figures),
        dropped(family, figures),
        datagrams_dropped(family, figures),
        unsent(family, figures),
        no_port(family, figures),
        local(family, figures),
        bad_status(family, figures),
        content(family, figures),
        few_samples(family, figures),
        unsolicited(family, figures),
        unopened(family, figures),
    ];
    doubts.into_iter().flatten().collect()
}

fn ended_as(figures: &FamilyResult, outcome: Outcome) -> u64 {
    figures.outcomes.get(outcome.name()).copied().unwrap_or(0)
}

fn fell_away(family: Family, figures: &FamilyResult) -> Option<Warning> {
    (figures.requests.completed == 0).then(|| {
        let message = format!("not one request over {family} was answered: it can't be compared");
        warning("family_fell_away", message)
    })
}

fn failed(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let failed = figures.requests.sent.checked_sub(figures.requests.completed)?;
    let failed = failed.saturating_sub(ended_as(figures, Outcome::Abandoned));
    (failed > 0 && figures.requests.completed > 0).then(|| {
        let share = failed as f64 / figures.requests.sent as f64 * 100.0;
        let message = format!(
            "{} of {} requests over {family} ({share:.2} %) did not end NORMAL; the times are of \
             the others",
            count(failed),
            count(figures.requests.sent)
        );
        warning("failures", message)
    })
}

fn overloaded(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let waited = figures.requests.waited;
    (waited > 0).then(|| {
        let message = format!(
            "{} exchanges over {family} waited for a connection: raise -c or lower the rate",
            count(waited)
        );
        warning("overloaded", message)
    })
}

fn dropped(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let dropped = figures.requests.dropped;
    (dropped > 0).then(|| {
        let message = format!(
            "{} exchanges over {family} were dropped, -c being in flight when they were due: raise \
             -c or lower the rate; the times are of the others",
            count(dropped)
        );
        warning("dropped", message)
    })
}

/// What this host drops looks like loss of the network, and QUIC slows down for it.
fn datagrams_dropped(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let dropped = figures.quic.as_ref().map_or(0, |quic| quic.dropped);
    (dropped > 0).then(|| {
        let message = format!(
            "{} datagrams over {family} came to this host and found no room in its sockets' \
             buffers: QUIC took them for lost and slowed down; raise net.core.rmem_max or use more \
             connections",
            count(dropped)
        );
        warning("datagrams_dropped", message)
    })
}

fn unsent(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let unsent = figures.requests.unsent;
    (unsent > 0).then(|| {
        let message = format!(
            "{} exchanges over {family} were due before the end and never began: the rate was not \
             kept up, and the longest waits are missing from the times",
            count(unsent)
        );
        warning("unsent", message)
    })
}

fn no_port(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let missed = ended_as(figures, Outcome::NoPort);
    (missed > 0).then(|| {
        let message = format!(
            "{} connections over {family} found no local port; give more addresses with --source, \
             widen net.ipv4.ip_local_port_range, or use --close rst",
            count(missed)
        );
        warning("no_port", message)
    })
}

fn local(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let failed = ended_as(figures, Outcome::Local);
    (failed > 0).then(|| {
        let message = format!(
            "{} requests over {family} failed on this host, not on the server: see the errno",
            count(failed)
        );
        warning("local", message)
    })
}

fn bad_status(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let errors = figures.status.iter().filter(|(status, _)| **status >= 400);
    let (mut total, mut kinds) = (0, Vec::new());
    for (status, times) in errors {
        total += times;
        kinds.push(status.to_string());
    }
    (total > 0).then(|| {
        let (total, kinds) = (count(total), kinds.join(", "));
        let message =
            format!("{total} responses over {family} were errors of the server's ({kinds})");
        warning("status", message)
    })
}

fn content(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let failed: u64 = figures.content.iter().map(|check| check.count).sum();
    let most = figures.content.iter().max_by_key(|check| check.count)?;
    let found = most.samples.first().map_or("", |sample| &sample.found);
    let message = format!(
        "{} responses over {family} did not pass a check, most of them {}: found {found}",
        count(failed),
        most.check.escape_debug()
    );
    Some(warning("content", message))
}

fn few_samples(family: Family, figures: &FamilyResult) -> Option<Warning> {
    (1..FEW).contains(&figures.requests.completed).then(|| {
        let message = format!(
            "only {} responses over {family}: p99 and above rest on fewer than 10 of them",
            count(figures.requests.completed)
        );
        warning("few_samples", message)
    })
}

fn unsolicited(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let times = figures.connections.unsolicited;
    (times > 0).then(|| {
        let message = format!(
            "{} connections over {family} carried bytes that no request had asked for",
            count(times)
        );
        warning("unsolicited", message)
    })
}

fn unopened(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let missing = figures.connections.unopened;
    (missing > 0).then(|| {
        let message = format!(
            "{} connections over {family} that --preopen was to open could not be opened",
            count(missing)
        );
        warning("unopened", message)
    })
}
