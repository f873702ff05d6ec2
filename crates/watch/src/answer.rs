//! What a watch found, in one sentence.

use crate::WatchedFamily;
use crate::hidden::unread_by_protocol;
use crate::partial::describe_counted;
use crate::watch_result::WatchResult;
use crate::watched_sheet::describe_connections;

use sixmark_sheet::write;
use sixmark_tally::family_result::FamilyResult;
use sixmark_units::family::Family;

/// Returns a sentence like `IPv6: 120 requests answered, median 1.20 ms; IPv4: 118, median 1.10 ms; 2 IPv4
/// connections unread (TLS 2).`
pub(super) fn watch_answer(result: &WatchResult) -> String {
    let seen = &result.watched.families;
    let mut said: Vec<String> = Vec::new();
    let mut named = false;
    for (family, of) in seen.iter() {
        let figures = result.families.of(family);
        match figures.filter(|_| of.has_judged()) {
            Some(figures) => {
                said.push(format!("{family}: {}", answered(figures, named)));
                named = true;
            }
            None if of.exchanges == 0 && of.hidden > 0 => {
                said.push(format!("{family}: {}", describe_connections(of)))
            }
            None if of.hides_all() => said.push(format!("{family}: {}", describe_counted(of))),
            None => said.push(format!("{family}: {}", nothing_asked(of))),
        }
    }
    let partly = seen.iter().filter(|(_, of)| of.exchanges > 0 && of.hidden > 0);
    said.extend(partly.map(|(family, of)| unread(family, of)));
    format!("{}.", said.join("; "))
}

/// Describes the exchanges of a family. The noun is left out if it is `named` before.
fn answered(of: &FamilyResult, named: bool) -> String {
    let number = write::write_count(of.requests.completed);
    let what = match (named, of.requests.completed) {
        (true, _) => number,
        (false, 1) => "1 request answered".to_owned(),
        (false, _) => format!("{number} requests answered"),
    };
    let p50 = of.response_us.p50.map(|us| format!("median {}", write::write_time(us)));
    let failed = (of.failed() > 0).then(|| format!("{} failed", write::write_count(of.failed())));
    [Some(what), p50, failed].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn nothing_asked(of: &WatchedFamily) -> String {
    match of.connections {
        0 => "no connection".to_owned(),
        1 => "1 connection without a request".to_owned(),
        number => format!("{} connections without a request", write::write_count(number)),
    }
}

fn unread(family: Family, of: &WatchedFamily) -> String {
    let noun = if of.hidden == 1 { "connection" } else { "connections" };
    let number = write::write_count(of.hidden);
    format!("{number} {family} {noun} unread ({})", unread_by_protocol(&[of]))
}
