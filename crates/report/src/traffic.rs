//! What became of traffic, as a table on the screen.

use std::fmt::Write as _;

use sixmark_model::provenance::Ended;
use sixmark_model::traffic::result::{
    Amount, Delay, MessageFigures, OfferedTraffic, TrafficResult,
};
use sixmark_model::traffic::{Basis, Spread};
use sixmark_units::quantity::{duration_us, write_count};

/// More flows than this are shown by kind only.
const MOST_ROWS: usize = 24;

/// The whole report, at most 100 columns wide; ends with a line feed.
pub fn traffic_text(result: &TrafficResult) -> String {
    let basis = match &result.asked {
        OfferedTraffic::Mix { mix, .. } => mix.basis,
        OfferedTraffic::Script { .. } => Basis::Payload,
    };
    let mut text = traffic_headline(result, basis);
    let row = |text: &mut String, cells: [String; 9]| {
        let [name, kind, offered, sent, received, lost, p50, p99, again] = cells;
        let line = format!(
            "{name:<10}{kind:<10}{offered:>12}{sent:>12}{received:>12}{lost:>9}{p50:>10}{p99:>10}{again:>8}"
        );
        let _ = writeln!(text, "{}", line.trim_end());
    };
    let heads = ["from", "", "offered", "sent", "received", "lost", "var. p50", "p99", "resent"];
    row(&mut text, heads.map(str::to_owned));
    let side = |from: Option<_>| from.map_or("elsewhere".to_owned(), |side| format!("{side}"));
    if result.flows.len() <= MOST_ROWS {
        for flow in &result.flows {
            let kind = format!("{} {}", flow.protocol, flow.family);
            let name =
                format!("{:>3} {}", flow.id, flow.from.map_or("-".to_owned(), |s| s.to_string()));
            let again = flow.retransmitted.map(u64::from);
            row(&mut text, cells(name, kind, &flow.figures, basis, flow.delay.as_ref(), again));
        }
        text.push('\n');
    }
    for kind in &result.kinds {
        let name = format!("{} {}", kind.protocol, kind.family);
        let cells = cells(side(kind.from), name, &kind.figures, basis, None, kind.retransmitted);
        row(&mut text, cells);
    }
    row(&mut text, cells("all".into(), String::new(), &result.total, basis, None, None));
    text
}

fn traffic_headline(result: &TrafficResult, basis: Basis) -> String {
    let mut text = String::new();
    let seconds = result.elapsed_s;
    let ended = if result.ended == Ended::Interrupted { ", interrupted" } else { "" };
    match &result.asked {
        OfferedTraffic::Mix { mix, to, .. } => {
            let to: Vec<String> = to.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "traffic with {}", to.join(" and "));
            let spread = if mix.spread == Spread::Equal { " of equal rates" } else { "" };
            let _ = writeln!(
                text,
                "{} {basis}, TCP {}, IPv6 {}, {} flows{spread}, {}, {}",
                write_bit_rate(mix.rate.0 as f64),
                mix.tcp,
                mix.ipv6,
                mix.flows,
                mix.arrivals,
                mix.direction
            );
        }
        OfferedTraffic::Script { file, .. } => {
            let _ = writeln!(text, "traffic of {file}");
        }
    }
    let messages = result.total.sent.map_or(0, |sent| sent.messages);
    let heard = result.total.received.map_or(0, |received| received.messages);
    let (messages, heard) = (write_count(messages), write_count(heard));
    let _ = writeln!(
        text,
        "{messages} messages sent, {heard} received in {seconds:.2} s{ended}; rates count {}",
        what(basis)
    );
    text.push('\n');
    text
}

fn what(basis: Basis) -> &'static str {
    match basis {
        Basis::Payload => "payload",
        Basis::Wire => "headers from Ethernet's on",
    }
}

fn cells(
    name: String,
    kind: String,
    figures: &MessageFigures,
    basis: Basis,
    delay: Option<&Delay>,
    again: Option<u64>,
) -> [String; 9] {
    let none = || "-".to_owned();
    let of =
        |amount: Option<Amount>| amount.map_or_else(none, |a| write_bit_rate(a.bits_per_s(basis)));
    let variation =
        |q: fn(&Delay) -> Option<f64>| delay.and_then(q).map_or_else(String::new, duration_us);
    [
        name,
        kind,
        of(figures.offered),
        of(figures.sent),
        of(figures.received),
        figures.loss().map_or_else(none, |loss| format!("{:.2} %", loss * 100.0)),
        variation(|delay| delay.variation_us.p50),
        variation(|delay| delay.variation_us.p99),
        again.map_or_else(String::new, write_count),
    ]
}

/// Bits a second in the unit that suits them.
pub fn write_bit_rate(bits_per_s: f64) -> String {
    match bits_per_s {
        r if r < 999.5 => format!("{r:.0} bit/s"),
        r if r < 999.95e3 => format!("{:.1} kb/s", r / 1e3),
        r if r < 999.95e6 => format!("{:.2} Mb/s", r / 1e6),
        r => format!("{:.3} Gb/s", r / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_a_unit_that_suits_them() {
        let shown = [0.0, 1_500.0, 75e6, 1e9].map(write_bit_rate);
        assert_eq!(shown, ["0 bit/s", "1.5 kb/s", "75.00 Mb/s", "1.000 Gb/s"]);
    }
}
