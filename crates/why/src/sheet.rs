//! Why the response times differ: a sentence, and the parts of the difference.

use crate::divided_difference::{DividedDifference, PartOfDifference};
use crate::part::WhyPart;
use sixmark_document::verdict::Estimate;
use sixmark_sheet::table::{Column, Row, SheetCell, StepOf, Table};
use sixmark_sheet::{Block, write};
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

/// The most causes that the sentence names; the table has all.
const MOST_NAMED: usize = 3;
/// Less than this is rounding, in microseconds.
const LEAST_REST_US: f64 = 0.005;
/// What the parts leave is said from this share of the difference on.
const TOLD_UNEXPLAINED: f64 = 0.1;

/// The words of a division that it does not hold itself.
#[derive(Clone, Copy, Debug)]
pub struct WhySides<'a> {
    /// The names of side A and of side B.
    pub names: [&'a str; 2],
    /// The confidence of the intervals (0 to 1).
    pub confidence: f64,
}

impl WhySides<'_> {
    /// Returns sentences: what the causes are, what takes equally long, what is unexplained.
    pub fn cause_sentences(&self, why: &DividedDifference) -> String {
        let [a, b] = self.names;
        let confidence = write::write_percent(self.confidence);
        let whole = why.difference_us.value;
        let slow = if whole > 0.0 { a } else { b };
        let begin = format!(
            "WHY: of the {} by which {slow} is slower ({})",
            write::write_time(whole.abs()),
            figure_word(why.metric),
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
            format!("{time} ({}) is unexplained.", write::write_percent(unexplained))
        });
        let said = [Some(sentence), equal_sentence(why), rest].into_iter().flatten();
        said.collect::<Vec<_>>().join(" ")
    }

    /// Returns the parts of the difference, which add up to it, as steps from one side's time to the
    /// other's, with their definitions.
    pub fn part_blocks(&self, why: &DividedDifference) -> Vec<Block> {
        let [a, b] = self.names;
        let confidence = write::write_percent(self.confidence);
        let columns = vec![
            Column::words("Part"),
            Column::number(a),
            Column::number(b),
            Column::number("Difference"),
            Column::number(format!("{confidence} interval")),
            Column::number("Share"),
            Column::number("p (Holm)").off_terminal(),
            Column::drawn(format!("From {b} to {a}")),
        ];
        let waterfall = Waterfall::of(why);
        let mut rows = vec![waterfall.whole_row(1, b, why.metric)];
        let mut reached = waterfall.wholes[1];
        for of in &why.parts {
            let after = reached + of.difference_us.value;
            rows.push(part_row(of, waterfall.step([reached, after], step_of(of))));
            reached = after;
        }
        let rest = waterfall.step([reached, reached + why.unexplained_us], StepOf::Part);
        rows.extend([rest_row(why, rest), waterfall.whole_row(0, a, why.metric)]);
        let response = capitalised_figure(why.metric);
        let caption = format!("{response} of {a} less that of {b}, divided among its parts");
        let definitions = why.parts.iter().map(|of| {
            let noun = write::capitalised(of.part.noun());
            Block::Text(format!("{noun}: {}", of.part.definition()))
        });
        vec![
            Block::Table(Table::new(caption, columns, rows)),
            Block::Aside(
                "The parts are those of the exchanges of the figure, and add up to it. A part \
                 is named as a cause if it passes a test of its own (Holm’s correction over all parts) and \
                 is at least a tenth of the difference."
                    .to_owned(),
            ),
            Block::Folded("Definitions".to_owned(), definitions.collect()),
        ]
    }
}

/// Returns the word of the figure whose difference is divided.
fn figure_word(metric: Metric) -> &'static str {
    match metric {
        Metric::Time(TimedPhase::Response, TimePoint::P50) => "median",
        Metric::Time(TimedPhase::Response, TimePoint::P99) => "99th percentile",
        _ => "mean",
    }
}

/// Returns a text like `Median response`.
fn capitalised_figure(metric: Metric) -> String {
    let word = write::capitalised(figure_word(metric));
    match metric {
        Metric::Time(TimedPhase::Response, TimePoint::P99) => format!("{word} of the responses"),
        _ => format!("{word} response"),
    }
}

/// Returns what shows the largest cause again, as a sentence; `None` without a cause.
pub fn next_sentence(why: &DividedDifference) -> Option<String> {
    why.causes().first().map(|of| format!("Next: {}.", of.part.next_step()))
}

/// Returns what differs together with the times, as a sentence; `None` if nothing does.
pub fn differs_sentence(why: &DividedDifference) -> Option<String> {
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

    fn whole_row(&self, side: usize, name: &str, metric: Metric) -> Row {
        let us = self.wholes[side];
        let mut cells = vec![SheetCell::none(); 7];
        cells[side] = SheetCell::Number(write::write_time(us), us);
        cells[6] = self.step([0.0, us], StepOf::Whole(side));
        Row::new(format!("{} of {name}", capitalised_figure(metric)), cells).off_terminal()
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
    // Rounding alone leaves no sign.
    let rest = if why.unexplained_us.abs() < LEAST_REST_US { 0.0 } else { why.unexplained_us };
    let share = rest / why.difference_us.value;
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
