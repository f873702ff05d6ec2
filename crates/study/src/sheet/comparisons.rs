//! The comparisons in a study's report.

use super::{interval, turned};
use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::{At, ComparisonEntry, MeanRatio, RatioFinding, StudyComparison};
use sixmark_document::verdict::Estimate;
use sixmark_report::sheet::families::change_of;
use sixmark_sheet::Block;
use sixmark_sheet::table::{Column, EffectScale, Group, Row, SheetCell, Table};
use sixmark_sheet::write::{write_ratio, write_sentence};
use sixmark_why::divided_difference::DividedDifference;
use sixmark_why::sheet::WhySides;

/// The highest change that an interval makes the scale show, a ratio of 10; the lowest is a ratio of
/// 1/10.
const FURTHEST: f64 = 9.0;
/// The confidence of the intervals of comparisons.
const CONFIDENCE: f64 = 0.95;

/// Returns the table of a comparison, with published entries about the same, and the notes below
/// it.
pub(super) fn comparison_blocks(of: &StudyComparison, labels: &LevelLabels) -> Vec<Block> {
    let by: Vec<&str> = of.paired_by.iter().map(|factor| labels.factor(factor)).collect();
    let paired =
        if by.is_empty() { String::new() } else { format!(", paired by {}", by.join(" and ")) };
    let at = |factor: &str, level: &str| At { factor: factor.to_owned(), level: level.to_owned() };
    let with = of.interaction.as_ref().map_or(String::new(), |with| {
        let [one, other] = [&with.of, &with.over].map(|level| at(&with.factor, level));
        format!(", with {} vs {}", labels.with_factor(&one), labels.under_factor(&other))
    });
    let [a, b] = [&of.a, &of.b].map(|level| labels.level(&at(&of.factor, level)));
    let title = of.title.to_lowercase();
    let named = [of.measure.noun(), format!("{a} vs {b}")].into_iter();
    // Only what the title does not say already is added to it.
    let more = named.filter(|words| !title.contains(&words.to_lowercase()));
    let more: Vec<String> = std::iter::once(of.title.clone()).chain(more).collect();
    let caption = format!("{}{with}: geometric mean of the ratios{paired}", more.join(", "));
    let few = if of.paired_by.iter().any(|by| by == "repetition") {
        "too few repetitions"
    } else {
        "too few pairs"
    };
    let mut groups = vec![Group { name: None, rows: entries(&of.entries, few) }];
    if !of.published.is_empty() {
        groups[0].name = Some("Measured".into());
        let name = Some("Published figures, recomputed".into());
        groups.push(Group { name, rows: entries(&of.published, "too few pairs") });
    }
    let all: Vec<&ComparisonEntry> = of.entries.iter().chain(&of.published).collect();
    let scale = Some(scale(&all));
    let table = Block::Table(Table { caption, columns: entry_columns(), groups, scale });
    let notes = unlike_notes(&of.entries).into_iter().chain(turned::notes(of));
    let why = why_blocks(&of.entries, [&a, &b]);
    std::iter::once(table).chain(notes.map(Block::Text)).chain(why).collect()
}

/// Returns why the response times of each entry differ: a sentence, and the parts of the difference.
fn why_blocks(all: &[ComparisonEntry], names: [&str; 2]) -> Vec<Block> {
    let sides = WhySides { names, confidence: CONFIDENCE };
    let explained = all.iter().filter_map(|entry| Some((entry, entry.why.as_ref()?)));
    let of_entry = |(entry, why): (&ComparisonEntry, &DividedDifference)| {
        let said = sides.cause_sentences(why);
        let (said, title) = match entry.label.as_str() {
            "" => (said, "Parts of the difference".to_owned()),
            label => (format!("{label}: {said}"), format!("Parts of the difference: {label}")),
        };
        [Block::Text(said), Block::Folded(title, sides.part_blocks(why))]
    };
    explained.flat_map(of_entry).collect()
}

/// Returns a note for each entry that is not comparable, because a column has no room for the
/// reason.
fn unlike_notes(all: &[ComparisonEntry]) -> Vec<String> {
    let unlike = all.iter().filter(|entry| entry.finding == RatioFinding::NotComparable);
    let note = |entry: &ComparisonEntry| match entry.label.as_str() {
        "" => write_sentence(&entry.sentence),
        label => format!("{label}: {}.", entry.sentence),
    };
    unlike.map(note).collect()
}

pub(super) fn entry_columns() -> Vec<Column> {
    vec![
        Column::words(""),
        Column::words("Finding"),
        Column::number("Higher in"),
        Column::number("Ratio"),
        Column::number("Interval"),
        Column::drawn("Ratio, logarithmic"),
    ]
}

/// Returns a row for each entry. `few` replaces an interval that is too wide to be shown.
pub(super) fn entries(all: &[ComparisonEntry], few: &str) -> Vec<Row> {
    let row = |entry: &ComparisonEntry| {
        let finding = match entry.finding {
            RatioFinding::Higher => "▲\u{a0}higher",
            RatioFinding::Lower => "▼\u{a0}lower",
            RatioFinding::Equivalent => "≈\u{a0}equivalent",
            RatioFinding::Unshown => "?\u{a0}inconclusive",
            RatioFinding::NotComparable => "≠\u{a0}not\u{a0}comparable",
        };
        // Where the two can't be compared, neither is marked as the higher one.
        let higher = Some(entry.higher).filter(|_| entry.finding != RatioFinding::NotComparable);
        let of_pairs = |n: u32| SheetCell::Number(format!("{n} of {}", entry.pairs), n.into());
        let ratio = |ratio: MeanRatio| SheetCell::Number(write_ratio(ratio.value), ratio.value);
        let interval = |ratio: MeanRatio| interval::of_ratio(ratio, few);
        let drawn = |ratio: MeanRatio| {
            let (low, high) = (ratio.low.unwrap_or(ratio.value), ratio.high.unwrap_or(ratio.value));
            let estimate = change_of(Estimate { value: ratio.value, low, high });
            SheetCell::Effect { estimate, margin: None }
        };
        let cells = vec![
            finding.into(),
            higher.map_or_else(SheetCell::none, of_pairs),
            entry.ratio.map_or_else(SheetCell::none, ratio),
            entry.ratio.and_then(interval).unwrap_or_default().into(),
            entry.ratio.map_or_else(SheetCell::none, drawn),
        ];
        Row::new(if entry.label.is_empty() { "all" } else { entry.label.as_str() }, cells)
    };
    all.iter().map(row).collect()
}

/// Returns a logarithmic scale of ratios that is wide enough for all ratios and their intervals,
/// except intervals that are too wide to be shown. What is beyond [`FURTHEST`] and every ratio is
/// cut off.
pub(super) fn scale(entries: &[&ComparisonEntry]) -> EffectScale {
    let ratios = || entries.iter().filter_map(|entry| entry.ratio);
    let furthest = ratios().map(|r| EffectScale::distance(r.value - 1.0)).fold(0.0, f64::max);
    let ends = ratios().flat_map(|r| {
        if interval::is_too_wide(r) {
            [r.value; 3]
        } else {
            [r.value, r.low.unwrap_or(1.0), r.high.unwrap_or(1.0)]
        }
    });
    let most = FURTHEST.max((1.08 * furthest).exp_m1());
    EffectScale::around(ends.map(|ratio| ratio - 1.0), most, 0.0).of_ratios()
}
