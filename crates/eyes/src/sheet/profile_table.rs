//! The profile of a client as a table: what it does, in one line each.

use sixmark_sheet::table::{Column, Row, Table};
use sixmark_units::family::Family;

use crate::client_profile::{AnswerWait, AttemptDelay, ClientProfile, LosersEnd, QuicRace};

use super::write_ms;

/// Returns the table of what the client does; what no case showed has no line.
pub(super) fn profile_table(profile: &ClientProfile) -> Table {
    let columns = vec![Column::words("Question"), Column::words("Answer")];
    let rows = [
        ("queries", profile.query_order.as_deref().map(write_queries)),
        ("first attempt", profile.first_family.map(|of| format!("over {of}"))),
        ("AAAA 1 s late", profile.without_aaaa.map(|of| write_wait(of, "AAAA"))),
        ("AAAA never answered", profile.never_aaaa.map(|of| write_wait(of, "AAAA"))),
        ("A 1 s late", profile.without_a.map(|of| write_wait(of, "A"))),
        ("HTTPS 1 s late", profile.without_https.map(|of| write_wait(of, "HTTPS"))),
        ("next attempt", profile.attempt_delay.map(write_delay)),
        ("order of addresses", profile.address_order.as_deref().map(write_order)),
        (
            "after a failure",
            profile
                .after_failure
                .map(|of| format!("next attempt after {}", write_ms(of.median_ms))),
        ),
        ("attempts that lost", profile.losers.map(write_losers)),
        ("QUIC", profile.quic.map(write_quic)),
        ("stalled after connecting", profile.survives_stall.map(write_stall)),
        ("remembers a dead family", profile.remembers_outcome.map(write_memory)),
    ];
    let rows = rows
        .into_iter()
        .filter_map(|(question, answer)| Some(Row::new(question, vec![answer?.as_str().into()])));
    Table::new("What the client does", columns, rows.collect())
}

fn write_queries(order: &[String]) -> String {
    if order.is_empty() { "none".to_owned() } else { order.join(", ") }
}

fn write_wait(wait: AnswerWait, missing: &str) -> String {
    let AnswerWait { waited, waited_for_it, starts } = wait;
    match waited {
        None => format!("no attempt in {starts} of {starts} starts"),
        Some(waited) if waited_for_it == starts => {
            format!("waits for {missing}: first attempt after {}", write_ms(waited.median_ms))
        }
        Some(waited) if waited_for_it == 0 => {
            format!("first attempt after {}", write_ms(waited.median_ms))
        }
        Some(waited) => format!(
            "waits for {missing} in {waited_for_it} of {starts} starts: first attempt after {} to {}",
            write_ms(waited.least_ms),
            write_ms(waited.largest_ms)
        ),
    }
}

fn write_delay(delay: AttemptDelay) -> String {
    let AttemptDelay { all, is_fixed } = delay;
    let range = format!("{} to {}", write_ms(all.least_ms), write_ms(all.largest_ms));
    let median = write_ms(all.median_ms);
    match is_fixed {
        Some(true) => format!("after {median}, fixed ({range})"),
        Some(false) => format!("after {range}, not fixed (median {median})"),
        None => format!("after {median} ({range})"),
    }
}

fn write_order(order: &[Family]) -> String {
    let digits: Vec<&str> =
        order.iter().map(|of| if *of == Family::Ipv6 { "6" } else { "4" }).collect();
    let of = |family: Family| order.iter().filter(|of| **of == family).count();
    format!(
        "{}: {} of 4 addresses of IPv6, {} of 4 of IPv4",
        digits.join(" "),
        of(Family::Ipv6),
        of(Family::Ipv4)
    )
}

fn write_losers(losers: LosersEnd) -> String {
    format!("{} of {} given up", losers.given_up, losers.all)
}

fn write_quic(race: QuicRace) -> String {
    let asked = match race.starts {
        0 => "whether it asks over it was not watched".to_owned(),
        starts => format!("asks over it in {} of {starts} starts", race.over_quic),
    };
    match race.tcp_after {
        Some(after) if after.median_ms >= 0.0 => {
            format!("tried; TCP begins {} later; {asked}", write_ms(after.median_ms))
        }
        Some(after) => format!("tried {} after TCP; {asked}", write_ms(-after.median_ms)),
        None => format!("tried, without TCP beside it; {asked}"),
    }
}

fn write_stall(survives: bool) -> String {
    let answer = match survives {
        true => "gets the content by another attempt",
        false => "gets no content: an established connection counts",
    };
    answer.to_owned()
}

fn write_memory(remembers: bool) -> String {
    if remembers { "yes: begins with IPv4" } else { "no: begins as before" }.to_owned()
}
