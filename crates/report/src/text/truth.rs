//! What the packets say beside the client's clock.

use super::line;
use sixmark_model::truth::{Beside, FamilyTruth, Truth};
use sixmark_units::family::Family;
use sixmark_units::quantity::{count, duration_us};

type Phase = (&'static str, fn(&FamilyTruth) -> &Beside);

const PHASES: [Phase; 4] = [
    ("connect", |of| &of.connect),
    ("wait", |of| &of.wait),
    ("transfer", |of| &of.transfer),
    ("service", |of| &of.service),
];

/// Medians by the packets, and how much longer the client's were.
pub(super) fn lines(text: &mut String, truth: Option<&Truth>) {
    let Some(truth) = truth else { return };
    let sides = Family::BOTH.map(|family| truth.families.of(family));
    let title = format!("packets on {}", truth.interfaces.join(", "));
    line(text, &title, "IPv6 p50", "IPv4 p50", "");
    for (name, of) in PHASES {
        let both = sides.map(|side| side.map(of).filter(|beside| beside.packets_us.count > 0));
        if both.iter().all(Option::is_none) {
            continue;
        }
        let figure = |write: fn(&Beside) -> Option<String>| {
            both.map(|beside| beside.and_then(write).unwrap_or_default())
        };
        let [v6, v4] = figure(|beside| beside.packets_us.p50.map(duration_us));
        line(text, &format!("{name:<10}packets"), &v6, &v4, "");
        let [v6, v4] = figure(|beside| beside.longer_us().map(signed));
        line(text, "          client more", &v6, &v4, "");
    }
    let [v6, v4] =
        sides.map(|side| side.map_or(String::new(), |side| count(side.exchanges.matched)));
    line(text, "exchanges matched", &v6, &v4, "");
    text.push('\n');
}

/// A difference in microseconds.
fn signed(us: f64) -> String {
    let sign = if us < 0.0 { "-" } else { "+" };
    format!("{sign}{}", duration_us(us.abs()))
}
