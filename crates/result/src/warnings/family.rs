//! Warnings about the figures of one family.

use crate::result::RunResult;
use sixmark_document::provenance::Warning;
use sixmark_plan::check::{MOST_CONTENT, MOST_KEPT};
use sixmark_plan::plan::accept::AcceptStatus;
use sixmark_tally::content::ContentResult;
use sixmark_tally::family_result::{FailureCount, FamilyResult};
use sixmark_tally::outcome::{LocalCause, Outcome};
use sixmark_tally::unanswered::FACTOR;
use sixmark_tally::wait_sample::OwnDelay;
use sixmark_units::family::Family;
use sixmark_units::quantity::{duration_us, write_count};

use sixmark_document::provenance::warning;
use sixmark_units::quantity::counted;

use super::redirects::{redirects_cut, redirects_unfollowed};

/// The number of complete responses below which the slowest percent is unreliable.
const FEW: u64 = 1_000;

/// The unused share of `-c`, for lack of a connection of the right family, that gets a warning.
const AWAITED: f64 = 0.05;

/// Returns the warnings about the figures of one family, after a run.
pub fn of_family(result: &RunResult, family: Family, figures: &FamilyResult) -> Vec<Warning> {
    let doubts = [
        fell_away(family, figures),
        redirects_cut(family, figures),
        redirects_unfollowed(family, figures),
        unanswered(family, figures),
        client_delay(result, family, figures),
        failures_of_family(family, figures),
        overloaded(result, family, figures),
        awaited(result, family, figures),
        dropped(result, family, figures),
        datagrams_dropped(family, figures),
        unsent(family, figures),
        no_port(family, figures),
        local(family, figures),
        given_up(family, figures),
        unchecked(result, family, figures),
        malformed(family, figures),
        bad_status(result.plan.accept_status, family, figures),
        content(family, figures),
        few_samples(family, figures),
        dead_addresses(family, figures),
        unsolicited(family, figures),
        unopened(family, figures),
    ];
    doubts.into_iter().flatten().collect()
}

/// Warns that a good part of the median wait is this machine's own delay: responses had arrived and
/// lay unread.
fn client_delay(result: &RunResult, family: Family, figures: &FamilyResult) -> Option<Warning> {
    let OwnDelay { shown_us, delay_us } = figures.wait_delay()?;
    // Several responses that were read together have the timestamp of the last one.
    let least = if result.plan.http.streams.get() > 1 { "at least " } else { "" };
    let message = format!(
        "of {}, the median wait over {family}, {least}about {} are this machine's delay: responses \
         had arrived, and sixmark was woken late or was busy; give sixmark cores of its own",
        duration_us(shown_us),
        duration_us(delay_us)
    );
    Some(warning("client_delay", message))
}

fn ended_as(figures: &FamilyResult, outcome: Outcome) -> u64 {
    figures.outcomes.get(outcome.name()).copied().unwrap_or(0)
}

/// Returns the number of complete responses that were not checked.
fn unchecked_by(figures: &FamilyResult) -> u64 {
    let unchecked = |found: &&FailureCount| found.failure.cause == Some(LocalCause::ContentLimit);
    figures.failures.iter().filter(unchecked).map(|found| found.count).sum()
}

/// Warns of a family over which no exchange ended with a response of an accepted status.
pub fn fell_away(family: Family, figures: &FamilyResult) -> Option<Warning> {
    (figures.accepted() == 0).then(|| {
        let what = match (figures.content.is_empty(), figures.requests.completed) {
            (true, 0) => format!("no request over {family} was answered"),
            (true, _) => format!("every response over {family} was an error"),
            (false, _) => format!("no response over {family} passed its checks"),
        };
        warning("family_fell_away", format!("{what}: nothing to compare"))
    })
}

/// Warns about exchanges that the end of the load found without a response for longer than the
/// completed ones can explain.
fn unanswered(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let count = ended_as(figures, Outcome::Unanswered);
    let oldest_s = figures.oldest_unanswered_s.filter(|_| count > 0)?;
    let message = format!(
        "{} over {family} had no response when the load ended, the oldest after {}: more than \
         {FACTOR} times as long as any completed one took; --drain waits for how they end",
        counted(count, "request", "requests"),
        duration_us(oldest_s * 1e6),
    );
    Some(warning("unanswered", message))
}

/// Warns of exchanges that failed over a family.
pub fn failures_of_family(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let failed = figures.requests.sent.checked_sub(figures.requests.completed)?;
    // Responses that failed a check or were not checked have separate warnings.
    let others = ended_as(figures, Outcome::Abandoned)
        + ended_as(figures, Outcome::Unanswered)
        + ended_as(figures, Outcome::Content)
        + unchecked_by(figures);
    let failed = failed.saturating_sub(others);
    (failed > 0 && figures.requests.completed > 0).then(|| {
        let share = failed as f64 / figures.ended() as f64 * 100.0;
        let message = format!(
            "{} of {} over {family} ({share:.2} %) had no complete response; times cover the other \
             requests",
            write_count(failed),
            counted(figures.ended(), "request", "requests")
        );
        warning("failures", message)
    })
}

/// Returns what to do where no connection was free when an exchange was due. After a stall all that
/// was due in it comes at once, however many connections there are.
fn free_connections(result: &RunResult) -> &'static str {
    match result.generator.stalls {
        0 => "raise -c or lower the rate",
        _ => "sixmark was stalled, and what was due then came all at once",
    }
}

fn overloaded(result: &RunResult, family: Family, figures: &FamilyResult) -> Option<Warning> {
    let waited = figures.requests.waited;
    (waited > 0).then(|| {
        let message = format!(
            "{} over {family} waited for a connection: {}",
            counted(waited, "exchange", "exchanges"),
            free_connections(result)
        );
        warning("overloaded", message)
    })
}

/// Warns about unused connections in a closed loop. In an open loop the exchanges that waited are
/// counted.
fn awaited(result: &RunResult, family: Family, figures: &FamilyResult) -> Option<Warning> {
    let plan = Some(&result.plan).filter(|plan| plan.load.pace.open().is_none())?;
    let share = figures.connections.awaited_s / (plan.in_flight() as f64 * result.elapsed_s);
    (share >= AWAITED).then(|| {
        let message = format!(
            "{:.0} % of -c was unused, because all connections of {family} were busy and no more \
             may be open: it answers later than the ratio needs, or -c is too small for the ratio",
            share * 100.0
        );
        warning("connections_awaited", message)
    })
}

fn dropped(result: &RunResult, family: Family, figures: &FamilyResult) -> Option<Warning> {
    let dropped = figures.requests.dropped;
    (dropped > 0).then(|| {
        let message = format!(
            "{} over {family}, because no connection was free when they were due: {}; times cover \
             the other exchanges",
            counted(dropped, "exchange was dropped", "exchanges were dropped"),
            free_connections(result)
        );
        warning("dropped", message)
    })
}

/// Warns about datagrams that this host dropped. QUIC takes them for loss in the network and slows
/// down.
fn datagrams_dropped(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let dropped = figures.quic.as_ref().map_or(0, |quic| quic.dropped);
    (dropped > 0).then(|| {
        let message = format!(
            "{} over {family} were dropped at this host's full socket buffers, which QUIC treats \
             as loss; raise net.core.rmem_max or use more connections",
            counted(dropped, "datagram", "datagrams")
        );
        warning("datagrams_dropped", message)
    })
}

fn unsent(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let unsent = figures.requests.unsent;
    (unsent > 0).then(|| {
        let message = format!(
            "{} due over {family} never began: the rate was not reached, and times omit the \
             longest waits",
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

/// Warns about failures caused by this host. Stalls of sixmark and its limit on kept contents have
/// separate warnings.
fn local(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let own = |cause| matches!(cause, Some(LocalCause::Stalled | LocalCause::ContentLimit));
    let of_local = |found: &&FailureCount| {
        found.failure.outcome == Outcome::Local && !own(found.failure.cause)
    };
    let failed = figures.failures.iter().filter(of_local).map(|found| found.count).sum();
    (failed > 0).then(|| {
        let most = figures.failures.iter().filter(of_local).max_by_key(|found| found.count);
        let cause = most.and_then(|most| most.failure.cause);
        let message = format!(
            "{} over {family} failed on this host, not on the server: {}",
            counted(failed, "request", "requests"),
            cause.map_or("see the errno", LocalCause::text)
        );
        warning("local", message)
    })
}

/// Warns that a family was given up, in a load with a fixed number of requests.
fn given_up(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let given_up = figures.requests.given_up;
    (given_up > 0).then(|| {
        let message = format!(
            "{family} was given up: no answer for 10 s to {}; {} not sent",
            counted(figures.requests.sent, "request", "requests"),
            counted(given_up, "other was", "others were"),
        );
        warning("given_up", message)
    })
}

/// Warns about contents that were not kept and could not be checked.
fn unchecked(result: &RunResult, family: Family, figures: &FamilyResult) -> Option<Warning> {
    let unchecked = unchecked_by(figures);
    (unchecked > 0).then(|| {
        let threads = result.generator.threads;
        let room = MOST_KEPT.max(threads as usize * MOST_CONTENT) >> 20;
        let message = format!(
            "{} over {family} could not be checked: sixmark keeps at most {room} MiB of the contents \
             in flight; use fewer connections (-c) or streams, or check size or status",
            counted(unchecked, "response", "responses"),
        );
        warning("unchecked", message)
    })
}

/// Warns about protocol violations in responses that ended as PROTOCOL.
fn malformed(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let total: u64 = figures.breaches.iter().map(|breach| breach.count).sum();
    let most = figures.breaches.iter().max_by_key(|breach| breach.count)?;
    let part = if figures.breaches.len() > 1 { "most of them: " } else { "" };
    let responses = counted(total, "response", "responses");
    let message = format!("{responses} over {family} broke the protocol, {part}{}", most.what);
    Some(warning("malformed", message))
}

/// Warns about statuses that count as failures.
pub fn bad_status(
    accepted: AcceptStatus,
    family: Family,
    figures: &FamilyResult,
) -> Option<Warning> {
    let unaccepted = figures.requests.unaccepted;
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

/// Describes the check that most responses failed, with what one of them contained instead.
pub fn most_failed(content: &[ContentResult]) -> Option<String> {
    let most = content.iter().max_by_key(|check| check.count)?;
    let found = most.samples.first().map_or("", |sample| &sample.found);
    let part = if content.len() > 1 { "most of them " } else { "" };
    Some(format!("{part}{} (found {found})", most.check.escape_debug()))
}

/// Warns of a family with too few responses for its slowest percent.
pub fn few_samples(family: Family, figures: &FamilyResult) -> Option<Warning> {
    (1..FEW).contains(&figures.requests.completed).then(|| {
        let message = format!(
            "only {} over {family}: p99 and above rest on fewer than 10",
            counted(figures.requests.completed, "response", "responses")
        );
        warning("few_samples", message)
    })
}

/// Warns about addresses that yield no response while others of the family do.
fn dead_addresses(family: Family, figures: &FamilyResult) -> Option<Warning> {
    let (dead, alive): (Vec<_>, Vec<_>) = figures.by_address.iter().partition(|of| of.is_dead());
    let (first, others) = (dead.first()?, dead.len() - 1);
    let most = first.failures.iter().max_by_key(|failed| failed.count);
    let how = match (first.completed, most) {
        (0, Some(most)) => format!(", {}", most.failure.spoken(None)),
        (0, None) => String::new(),
        _ => ", errors only".to_owned(),
    };
    (!alive.is_empty()).then(|| {
        let (address, ended) = (first.address, write_count(first.ended));
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
            "{} over {family} could not be opened (--preopen): the server may have reached a limit \
             on open files or connections",
            counted(missing, "connection", "connections")
        );
        warning("unopened", message)
    })
}
