//! A comparison on the screen: its verdict in plain words, and a line for each metric.

use std::fmt::Write as _;

use sixmark_model::comparison::result::{ComparisonResult, Order, Schedule, Side};
use sixmark_model::comparison::{Compared, Comparison, Estimate, Method, Verdict};
use sixmark_model::metric::{Metric, MetricKind};
use sixmark_model::pace::Pace;
use sixmark_model::plan::Plan;
use sixmark_model::provenance::Ended;

use sixmark_units::quantity::{bytes, count, duration_us};

/// The longest name that heads a column; sides with longer ones are called A and B there.
const HEADING: usize = 10;

/// A change that is said as how many times as much: 10 times and more.
const MANY: f64 = 9.0;

/// Columns of the table.
const WIDTH: usize = 84;

/// The whole report, at most 84 columns wide but for what was typed; ends with a line feed.
pub fn table(result: &ComparisonResult) -> String {
    let mut text = String::new();
    if result.generator.saturated || result.blocks.iter().any(|block| block.saturated) {
        text.push_str(
            "GENERATOR SATURATED: these figures may be sixmark's limit, not the server's\n",
        );
    }
    side(&mut text, 'A', &result.sides.a);
    side(&mut text, 'B', &result.sides.b);
    let _ = writeln!(text, "{}", setting(result));
    let _ = writeln!(text, "\n{}\n", wrapped(&sentence(&result.comparison), WIDTH));
    if let Some(floor) = noise_floor(result, str::to_owned) {
        let _ = writeln!(text, "{}\n", wrapped(&floor, WIDTH));
    }
    text.push_str(&metrics(&result.comparison));
    text.push_str(&super::gates::lines(&result.gates));
    text
}

/// In lines of at most so many columns.
pub(super) fn wrapped(sentence: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in sentence.split(' ') {
        let last = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if last + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// `A  ipv6: http://host/ (1,234 requests)`.
fn side(text: &mut String, letter: char, side: &Side) {
    let urls: Vec<&str> = side.plan.targets.iter().map(|target| target.url.as_str()).collect();
    let more = if urls.len() > 2 { format!(" and {} more", urls.len() - 2) } else { String::new() };
    let shown = urls[..urls.len().min(2)].join(" ");
    let named = if side.name == shown { String::new() } else { format!("{}: ", side.name) };
    let sent = count(side.figures.requests.sent);
    let _ = writeln!(text, "{letter}  {named}{shown}{more} ({sent} requests)");
}

/// How it was measured.
fn setting(result: &ComparisonResult) -> String {
    let Schedule { pairs, order, block_s, block_requests, .. } = &result.schedule;
    let of = match (block_s, block_requests) {
        (_, Some(requests)) => format!("{} requests", count(*requests)),
        (Some(seconds), None) => duration_us(seconds * 1e6),
        (None, None) => "no bound".to_owned(),
    };
    let order = match order {
        Order::Abba => "ABBA BAAB",
        Order::Random => "order drawn",
    };
    let compared = result.comparison.pairs;
    let pairs = match compared == *pairs as usize {
        true => format!("{pairs} pairs"),
        false => format!("{compared} of {pairs} pairs"),
    };
    let ended = if result.ended == Ended::Interrupted { " (interrupted)" } else { "" };
    let load = load(&result.sides.a.plan);
    format!("{pairs} of blocks of {of}, {order}, {load}; {:.1} s{ended}", result.elapsed_s)
}

fn load(plan: &Plan) -> String {
    let in_flight = count(plan.in_flight());
    match &plan.load.pace {
        Pace::Closed => format!("closed loop, {in_flight} in flight"),
        Pace::Open(open) => format!("open loop, {open}, at most {in_flight} in flight"),
    }
}

/// The verdict on the primary metric in plain words, in one line.
pub fn sentence(comparison: &Comparison) -> String {
    if let Some(said) = comparison.not_same() {
        return format!("NOT COMPARABLE: {said}.");
    }
    let Some(primary) = comparison.metrics.first() else {
        return "Nothing was measured of both sides: nothing can be said.".to_owned();
    };
    let Comparison { a, b, pairs, .. } = comparison;
    let what = spoken(primary.metric);
    let measured = match effect(primary) {
        Some(effect) => format!(" ({effect}, {pairs} pairs)"),
        None => format!(" ({pairs} pairs)"),
    };
    let margin = percent(comparison.settings.margin);
    match primary.verdict {
        Verdict::Better => format!("{a} is BETTER than {b} in {what}{measured}."),
        Verdict::Worse => format!("{a} is WORSE than {b} in {what}{measured}."),
        Verdict::Equivalent => {
            format!("{a} and {b} are EQUIVALENT in {what}, within {margin}{measured}.")
        }
        Verdict::Inconclusive => {
            let reason = primary
                .reason
                .as_deref()
                .unwrap_or("the blocks allow both for a difference that matters and for none");
            format!("INCONCLUSIVE in {what}{measured}: {reason}.")
        }
        Verdict::NotComparable => format!("NOT COMPARABLE in {what} ({pairs} pairs)."),
    }
}

/// What side A against itself says of the primary metric, where that was measured (`--calibrate`).
/// `named` writes a side's name.
pub fn noise_floor(result: &ComparisonResult, named: impl Fn(&str) -> String) -> Option<String> {
    let noise = result.noise.as_ref()?;
    let primary = result.comparison.metrics.first()?;
    let (side, what) = (named(&noise.a), spoken(primary.metric));
    let Some(floor) = primary.noise_floor else {
        return Some(format!(
            "Noise floor: unknown, {side} can't be compared with itself in {what}."
        ));
    };
    let found = noise.metrics.iter().find(|of| of.metric == primary.metric).and_then(effect);
    let found = found.map_or(String::new(), |effect| format!("{effect}, "));
    Some(format!(
        "Noise floor: {side} differs from itself by up to {} % in {what} ({found}{} pairs).",
        signed(floor * 100.0).trim_start_matches('+'),
        noise.pairs
    ))
}

/// What the pairs so far say of the primary metric: `response.p50 +2.1 % (+0.3 to +4.1 %)`.
pub fn estimate(comparison: &Comparison) -> String {
    if let Some(said) = comparison.not_same() {
        return format!("not comparable: {said}");
    }
    let Some(primary) = comparison.metrics.first() else { return "nothing measured".to_owned() };
    match effect(primary) {
        Some(effect) => format!("{} {effect}, {} pairs", primary.metric, comparison.pairs),
        None => format!("{} can't be told yet", primary.metric),
    }
}

/// `+2.1 %, interval +0.3 to +4.1`; of failures in points.
fn effect(compared: &Compared) -> Option<String> {
    let (value, interval) = columns(compared)?;
    Some(format!("{value}, interval {interval}"))
}

/// The difference and its interval, each as it stands in the table.
fn columns(compared: &Compared) -> Option<(String, String)> {
    let (Estimate { value, low, high }, unit) = match compared.method {
        Method::Proportions => (compared.difference?, "points"),
        _ => (compared.ratio.map(less_one)?, "%"),
    };
    if value >= MANY {
        let of = |share: f64| count((share + 1.0).max(0.0).round() as u64);
        return Some((format!("{} times", of(value)), format!("{} to {}", of(low), of(high))));
    }
    let of = |share: f64| signed(share * 100.0);
    Some((format!("{} {unit}", of(value)), format!("{} to {}", of(low), of(high))))
}

fn less_one(ratio: Estimate) -> Estimate {
    let Estimate { value, low, high } = ratio;
    Estimate { value: value - 1.0, low: low - 1.0, high: high - 1.0 }
}

/// As many decimals as tell something.
fn signed(percent: f64) -> String {
    match percent.abs() {
        100.0.. => format!("{percent:+.0}"),
        10.0.. => format!("{percent:+.1}"),
        _ => format!("{percent:+.2}"),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

/// Within the verdict's sentence. A phase's figure has the name that options and gates have for it.
fn spoken(metric: Metric) -> String {
    match metric {
        Metric::Time(..) => metric.to_string(),
        other => other.noun(),
    }
}

/// A line for each metric.
fn metrics(comparison: &Comparison) -> String {
    let mut text = String::new();
    let short = comparison.a.len().max(comparison.b.len()) <= HEADING;
    let (a, b) = if short { (comparison.a.as_str(), comparison.b.as_str()) } else { ("A", "B") };
    line(&mut text, ["", a, b, &format!("{a} to {b}"), "95 % interval", ""]);
    for compared in &comparison.metrics {
        let write =
            |value: Option<f64>| value.map_or("-".to_owned(), |v| figure(compared.metric, v));
        let (value, interval) = columns(compared).unwrap_or(("-".to_owned(), String::new()));
        let [of_a, of_b] = [write(compared.a), write(compared.b)];
        let name = compared.metric.to_string();
        line(&mut text, [&name, &of_a, &of_b, &value, &interval, name_of(compared.verdict)]);
        corrected(&mut text, compared);
    }
    reasons(&mut text, comparison);
    text
}

/// Goodput against what the headers alone make of it.
fn corrected(text: &mut String, compared: &Compared) {
    let Some(corrected) = compared.header_corrected else { return };
    let Estimate { value, low, high } = less_one(corrected.ratio);
    let interval = format!("{} to {}", signed(low * 100.0), signed(high * 100.0));
    let value = format!("{} %", signed(value * 100.0));
    line(text, ["  less headers", "", "", &value, &interval, name_of(corrected.verdict)]);
}

/// Why metrics can't be told, but for what the sentence above says already.
fn reasons(text: &mut String, comparison: &Comparison) {
    let above = comparison.metrics.first().and_then(|first| first.reason.as_deref());
    let above = comparison.not_same().or(above);
    for (reason, metrics) in super::reasons::reasons(comparison) {
        if Some(reason) != above {
            let metrics: Vec<String> = metrics.iter().map(Metric::to_string).collect();
            let _ = writeln!(text, "{}: {reason}", metrics.join(", "));
        }
    }
}

/// A figure with its unit.
fn figure(metric: Metric, value: f64) -> String {
    match metric.kind() {
        MetricKind::Time => duration_us(value),
        MetricKind::Seconds => duration_us(value * 1e6),
        MetricKind::Frequency => format!("{}/s", count(value.round() as u64)),
        MetricKind::BytesPerS => bytes(value) + "/s",
        MetricKind::Share => format!("{:.3} %", value * 100.0),
        MetricKind::Count => count(value.round() as u64),
    }
}

/// A verdict as it stands in a table.
pub fn name_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::NotComparable => "not comparable",
    }
}

fn line(text: &mut String, [label, a, b, value, interval, verdict]: [&str; 6]) {
    let row = format!("{label:<15}{a:>11}{b:>11}{value:>14}{interval:>19}  {verdict}");
    let _ = writeln!(text, "{}", row.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_model::comparison::judge::with_noise;
    use sixmark_model::fixture::{comparison, comparison_result};

    /// A against itself, in the median between these.
    fn noise(low: f64, high: f64) -> Comparison {
        let mut noise = Comparison { b: "ipv6".into(), ..comparison() };
        noise.metrics[0].ratio = Some(Estimate { value: 1.01, low, high });
        noise
    }

    #[test]
    fn the_noise_floor_stands_below_the_verdict() {
        let mut result = comparison_result();
        assert!(!table(&result).contains("Noise floor"));
        result.noise = Some(noise(0.97, 1.02));
        result.comparison = with_noise(comparison(), &noise(0.97, 1.02));
        let text = table(&result);
        let said = "Noise floor: ipv6 differs from itself by up to 3.09 % in response.p50 (+1.00 %,\n\
                    interval -3.00 to +2.00, 12 pairs).\n";
        assert!(text.contains(said), "{text}");
        assert!(text.find("WORSE") < text.find("Noise floor"), "{text}");
        result.comparison = comparison();
        let text = table(&result);
        assert!(
            text.contains("Noise floor: unknown, ipv6 can't be compared with itself"),
            "{text}"
        );
    }
}
