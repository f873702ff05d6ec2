//! Warnings about the figures of watched traffic.

use crate::partial::{self, describe_cut, describe_missing};
use crate::watch_result::WatchResult;
use crate::{Watched, WatchedFamily};
use sixmark_document::provenance::{Ended, Warning};
use sixmark_plan::plan::accept::AcceptStatus;
use sixmark_units::family::Family;
use sixmark_units::quantity::write_count;

use sixmark_document::provenance::warning;
use sixmark_result::warnings::family::{bad_status, failures_of_family, few_samples};
use sixmark_units::quantity::counted;

/// Returns all warnings that follow from the result. `untimed` is the number of packets without a
/// timestamp, and `lost` describes interfaces that disappeared.
pub(crate) fn of_watched(result: &WatchResult, untimed: u64, lost: &[String]) -> Vec<Warning> {
    let watched = &result.watched;
    let of_capture = [
        interrupted(result),
        dropped(watched),
        cut_file(watched),
        clock_went_back(watched),
        without_time(untimed),
        evicted(watched),
        snapped(watched),
        malformed(watched),
        unreadable(watched),
    ];
    let lost = lost.iter().map(|why| {
        let message = format!("an interface disappeared, later packets are missing: {why}");
        warning("interface_lost", message)
    });
    let families = watched.families.iter().flat_map(|(family, seen)| of_family(family, seen));
    let figures = result.families.iter().flat_map(|(family, figures)| {
        let unaccepted = bad_status(AcceptStatus::default(), family, figures);
        [failures_of_family(family, figures), unaccepted, few_samples(family, figures)]
            .into_iter()
            .flatten()
    });
    of_capture.into_iter().flatten().chain(lost).chain(families).chain(figures).collect()
}

fn interrupted(result: &WatchResult) -> Option<Warning> {
    (result.ended == Ended::Interrupted).then(|| {
        let message = "a signal ended the watch early; figures cover traffic seen until then";
        warning("interrupted", message.to_owned())
    })
}

fn dropped(watched: &Watched) -> Option<Warning> {
    let dropped = watched.dropped.filter(|dropped| *dropped > 0)?;
    let message = format!(
        "{} dropped by the capture, of {} or more: connections and exchanges are missing or look \
         broken; make the ring larger (--ring), keep less (--snap) or watch fewer ports (--port)",
        counted(dropped, "packet was", "packets were"),
        write_count(watched.packets + dropped)
    );
    Some(warning("capture_dropped", message))
}

fn cut_file(watched: &Watched) -> Option<Warning> {
    let cut = watched.sources.iter().find(|source| !source.whole)?;
    let message = format!(
        "'{}' ends in the middle of a packet: it was cut, or is still being written",
        cut.name
    );
    Some(warning("capture_cut", message))
}

fn clock_went_back(watched: &Watched) -> Option<Warning> {
    let times = watched.clock_went_back;
    (times > 0).then(|| {
        let message = format!(
            "the clock of the capture went back {}: times across that are wrong",
            counted(times, "time", "times")
        );
        warning("capture_clock", message)
    })
}

fn without_time(untimed: u64) -> Option<Warning> {
    (untimed > 0).then(|| {
        let message = format!(
            "{} no timestamp (Simple Packet Blocks): that of the previous packet was used",
            counted(untimed, "packet has", "packets have")
        );
        warning("capture_untimed", message)
    })
}

fn evicted(watched: &Watched) -> Option<Warning> {
    (watched.evicted > 0).then(|| {
        let message = format!(
            "{} evicted before the end: raise --max-flows, or watch fewer ports",
            counted(watched.evicted, "connection was", "connections were")
        );
        warning("flows_evicted", message)
    })
}

fn snapped(watched: &Watched) -> Option<Warning> {
    (watched.cut > 0).then(|| {
        let message = format!(
            "{} are cut too short to be decoded: capture with a larger --snap",
            counted(watched.cut, "packet", "packets")
        );
        warning("packets_cut", message)
    })
}

fn malformed(watched: &Watched) -> Option<Warning> {
    (watched.malformed > 0).then(|| {
        let message = format!(
            "{} contradictory headers and {} not counted",
            counted(watched.malformed, "packet has", "packets have"),
            if watched.malformed == 1 { "is" } else { "are" },
        );
        warning("packets_malformed", message)
    })
}

fn unreadable(watched: &Watched) -> Option<Warning> {
    (watched.unreadable > 0).then(|| {
        let message = format!(
            "{} of an unsupported link type",
            counted(watched.unreadable, "packet is", "packets are")
        );
        warning("packets_unreadable", message)
    })
}

fn of_family(family: Family, seen: &WatchedFamily) -> Vec<Warning> {
    let all = [
        hidden(family, seen),
        one_direction(family, seen.without_server, "servers"),
        one_direction(family, seen.without_client, "clients"),
        cut_off(family, seen),
        begun_before(family, seen.begun_before),
        gaps(family, seen.gaps),
        fragmented(family, seen.fragmented),
        coalesced(family, seen.coalesced),
        unparsed(family, seen.unparsed),
    ];
    all.into_iter().flatten().collect()
}

fn hidden(family: Family, seen: &WatchedFamily) -> Option<Warning> {
    let line = crate::describe_hidden(&[seen])?;
    let message = format!("over {family} {line}: requests and goodput do not include them");
    Some(warning("exchanges_hidden", message))
}

fn one_direction(family: Family, number: u64, senders: &str) -> Option<Warning> {
    let line = describe_missing(number, senders)?;
    let message = format!(
        "over {family} {line}: what the other side sent is counted, times, ends and failures of \
         exchanges are unknown; capture both directions"
    );
    Some(warning("one_direction", message))
}

fn cut_off(family: Family, seen: &WatchedFamily) -> Option<Warning> {
    let line = describe_cut(partial::cut_off(seen))?;
    let message = format!(
        "over {family} {line}: requests and statuses are counted, ends and failures of exchanges are \
         unknown; capture with a larger --snap (tcpdump -s 0)"
    );
    Some(warning("exchanges_cut", message))
}

fn connections(number: u64) -> String {
    counted(number, "connection", "connections")
}

fn begun_before(family: Family, number: u64) -> Option<Warning> {
    (number > 0).then(|| {
        let message = format!(
            "{} over {family} began before the capture: they have no connect time",
            connections(number)
        );
        warning("begun_before", message)
    })
}

fn gaps(family: Family, number: u64) -> Option<Warning> {
    (number > 0).then(|| {
        let message = format!(
            "{} over {family} lack packets that the other side acknowledged: the capture is \
             incomplete",
            connections(number)
        );
        warning("capture_gaps", message)
    })
}

fn fragmented(family: Family, number: u64) -> Option<Warning> {
    (number > 0).then(|| {
        let message = format!(
            "{} over {family} had fragments that could not be reassembled",
            connections(number)
        );
        warning("fragments_unjoined", message)
    })
}

fn coalesced(family: Family, number: u64) -> Option<Warning> {
    (number > 0).then(|| {
        let message = format!(
            "{} over {family} several segments, merged by offloads: packets, bytes and \
             retransmissions are as the host saw them, not as on the wire (ethtool -K IFACE gro \
             off tso off gso off)",
            counted(number, "packet contains", "packets contain")
        );
        warning("packets_coalesced", message)
    })
}

fn unparsed(family: Family, number: u64) -> Option<Warning> {
    (number > 0).then(|| {
        let message = format!(
            "HTTP on {} over {family} could not be parsed to the end: exchanges are missing",
            connections(number)
        );
        warning("http_unparsed", message)
    })
}
