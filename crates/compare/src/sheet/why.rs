//! Why the response times differ: a sentence, and the parts of the difference.

use super::by_agent::agents_sentence;
use crate::comparison_result::ComparisonResult;
use crate::why::{DividedDifference, PartOfDifference, WhyPart};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_report::sheet::side::shown;
use sixmark_sheet::table::{Column, Row, SheetCell, StepOf, Table};
use sixmark_sheet::{Block, Part, write};
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

/// The most causes that the sentence names; the table has all.
const MOST_NAMED: usize = 3;
/// What the parts leave is said from this share of the difference on.
const TOLD_UNEXPLAINED: f64 = 0.1;

/// Returns the sentence that says why the median response times differ, with what shows it again, or
/// that there is no cause to name. Empty if they were not compared.
pub fn why_notes(result: &ComparisonResult) -> Vec<String> {
    let agents = agents_sentence(result);
    let Some(why) = result.comparison.divided_difference() else {
        return no_cause(result).into_iter().chain(agents).collect();
    };
    let [a, b] = [&result.comparison.a, &result.comparison.b].map(|name| shown(name));
    let confidence = write::write_percent(result.comparison.settings.confidence);
    let whole = why.difference_us.value;
    let (slow, percent) =
        (if whole > 0.0 { &a } else { &b }, |share: f64| write::write_percent(share));
    let begin = format!(
        "WHY: of the {} by which {slow} is slower (median)",
        write::write_time(whole.abs())
    );
    let causes = why.causes();
    let sentence = if causes.is_empty() {
        format!("{begin}, no part has a share that passes its own test.")
    } else {
        let named = causes.iter().take(MOST_NAMED).map(|of| cause_phrase(why, of, &confidence));
        let more = match causes.len().saturating_sub(MOST_NAMED) {
            0 => "",
            _ => "; the table has the others",
        };
        format!("{begin}, {}{more}.", named.collect::<Vec<_>>().join("; "))
    };
    let unexplained = (why.unexplained_us / whole).abs();
    let rest = (unexplained >= TOLD_UNEXPLAINED).then(|| {
        let time = write::write_time(why.unexplained_us.abs());
        format!("{time} ({}) is unexplained.", percent(unexplained))
    });
    let said = [Some(sentence), equal_sentence(why), rest].into_iter().flatten();
    let with = differs_sentence(why);
    let step = causes.first().map(|of| format!("Next: {}.", of.part.next_step()));
    let first = said.collect::<Vec<_>>().join(" ");
    std::iter::once(first).chain(agents).chain(with).chain(step).collect()
}

/// Says why no cause is named; `None` if the median response times were not compared.
fn no_cause(result: &ComparisonResult) -> Option<String> {
    let median = Metric::Time(TimedPhase::Response, TimePoint::P50);
    let of = result.comparison.metrics.iter().find(|of| of.metric == median)?;
    let said = match of.verdict {
        Verdict::Equivalent => {
            "the median responses are equivalent, so that there is no cause to name"
        }
        Verdict::Inconclusive => {
            "the difference of the median responses is not decided, so that no cause is named"
        }
        _ => return None,
    };
    Some(format!("WHY: {said}."))
}

/// Says what differs together with the times; `None` if nothing does.
fn differs_sentence(why: &DividedDifference) -> Option<String> {
    let facts = why.differs_with.iter();
    let facts: Vec<String> =
        facts.map(|of| format!("{} ({} against {})", of.what, of.a, of.b)).collect();
    (!facts.is_empty()).then(|| format!("Differs together with: {}.", facts.join(", ")))
}

/// Returns a text like `9.8 ms (95 %, 9.1 ms to 10.4 ms) is the round trip: 40.3 ms against 30.2 ms`.
fn cause_phrase(why: &DividedDifference, of: &PartOfDifference, confidence: &str) -> String {
    let Estimate { value, low, high } = of.difference_us;
    let mut ends = [low.abs(), high.abs()];
    ends.sort_by(f64::total_cmp);
    let [value, low, high] = [value.abs(), ends[0], ends[1]].map(write::write_time);
    let [a, b] = match (of.part, why.round_trip_us) {
        (WhyPart::RoundTrips, Some(trips)) => trips,
        _ => [of.a_us, of.b_us],
    };
    let [a, b] = [a, b].map(|us| write::write_time(us.max(0.0)));
    format!("{value} ({confidence}, {low} to {high}) is {}: {a} against {b}", of.part.noun())
}

/// Returns a sentence about the parts that take equally long on both sides; `None` if there are none.
fn equal_sentence(why: &DividedDifference) -> Option<String> {
    let equal: Vec<&str> = why.equal_parts().into_iter().map(WhyPart::noun).collect();
    let (last, others) = equal.split_last()?;
    let said = match others {
        [] => format!("{last} takes equally long"),
        _ => format!("{} and {last} take equally long", others.join(", ")),
    };
    Some(format!("{}.", write::capitalised(&said)))
}

/// Returns the parts of the difference, which add up to it, as steps from one side's time to the
/// other's.
pub(super) fn why_part(result: &ComparisonResult) -> Option<Part> {
    let why = result.comparison.divided_difference()?;
    let [a, b] = [&result.comparison.a, &result.comparison.b].map(|name| shown(name));
    let confidence = write::write_percent(result.comparison.settings.confidence);
    let columns = vec![
        Column::words("Part"),
        Column::number(&a),
        Column::number(&b),
        Column::number("Difference"),
        Column::number(format!("{confidence} interval")),
        Column::number("Share"),
        Column::number("p (Holm)").off_terminal(),
        Column::drawn(format!("From {b} to {a}")),
    ];
    let waterfall = Waterfall::of(why);
    let mut rows = vec![waterfall.whole_row(1, &b)];
    let mut reached = waterfall.wholes[1];
    for of in &why.parts {
        let after = reached + of.difference_us.value;
        rows.push(part_row(of, waterfall.step([reached, after], step_of(of))));
        reached = after;
    }
    let rest = waterfall.step([reached, reached + why.unexplained_us], StepOf::Part);
    rows.extend([rest_row(why, rest), waterfall.whole_row(0, &a)]);
    let caption = format!("The median response of {a} less that of {b}, divided among its parts");
    let definitions = why.parts.iter().map(|of| {
        let noun = write::capitalised(of.part.noun());
        Block::Text(format!("{noun}: {}", of.part.definition()))
    });
    let blocks = vec![
        Block::Table(Table::new(caption, columns, rows)),
        Block::Aside(
            "The parts are those of the exchanges around each block’s median, and add up to it. A part \
             is named as a cause if it passes a test of its own (Holm’s correction over all parts) and \
             is at least a tenth of the difference."
                .to_owned(),
        ),
        Block::Folded("Definitions".to_owned(), definitions.collect()),
    ];
    Part::new("Why", blocks).map(Part::open)
}

/// The drawing of the steps from the time of side B to that of side A, in microseconds.
struct Waterfall {
    wholes: [f64; 2],
    most: f64,
}

impl Waterfall {
    fn of(why: &DividedDifference) -> Waterfall {
        let b: f64 = why.parts.iter().map(|of| of.b_us).sum();
        let wholes = [b + why.difference_us.value, b];
        let sums = why.parts.iter().scan(b, |sum, of| {
            *sum += of.difference_us.value;
            Some(*sum)
        });
        Waterfall { wholes, most: sums.chain(wholes).fold(0.0, f64::max) }
    }

    fn step(&self, ends: [f64; 2], of: StepOf) -> SheetCell {
        SheetCell::Step { ends: ends.map(|us| us / self.most), of }
    }

    fn whole_row(&self, side: usize, name: &str) -> Row {
        let us = self.wholes[side];
        let mut cells = vec![SheetCell::none(); 7];
        cells[side] = SheetCell::Number(write::write_time(us), us);
        cells[6] = self.step([0.0, us], StepOf::Whole(side));
        Row::new(format!("Median response of {name}"), cells).off_terminal()
    }
}

fn step_of(of: &PartOfDifference) -> StepOf {
    if of.is_cause { StepOf::Cause } else { StepOf::Part }
}

fn signed_time(us: f64) -> String {
    let sign = if us < 0.0 { "\u{2212}" } else { "+" };
    format!("{sign}{}", write::write_time(us.abs()))
}

fn part_row(of: &PartOfDifference, step: SheetCell) -> Row {
    let time = |us: f64| SheetCell::Number(write::write_time(us.max(0.0)), us);
    let Estimate { value, low, high } = of.difference_us;
    Row::new(
        write::capitalised(of.part.noun()),
        vec![
            time(of.a_us),
            time(of.b_us),
            SheetCell::Number(signed_time(value), value),
            SheetCell::Text(format!("{} to {}", signed_time(low), signed_time(high))),
            SheetCell::Number(write::write_percent(of.share), of.share),
            SheetCell::Number(
                if of.p_holm < 0.001 { "< 0.001".into() } else { format!("{:.3}", of.p_holm) },
                of.p_holm,
            ),
            step,
        ],
    )
}

fn rest_row(why: &DividedDifference, step: SheetCell) -> Row {
    let (rest, share) = (why.unexplained_us, why.unexplained_us / why.difference_us.value);
    Row::new(
        "Unexplained",
        vec![
            SheetCell::none(),
            SheetCell::none(),
            SheetCell::Number(signed_time(rest), rest),
            SheetCell::none(),
            SheetCell::Number(write::write_percent(share), share),
            SheetCell::none(),
            step,
        ],
    )
}
