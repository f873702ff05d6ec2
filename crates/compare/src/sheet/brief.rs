//! The report on comparisons as short as a comment on a change: the verdicts, what has none, and how
//! often such a report is wrong.

use crate::Compared;
use crate::comparison_result::{BlockOrder, ComparedSide, ComparisonResult};
use sixmark_document::provenance::Warning;
use sixmark_document::verdict::Verdict;
use sixmark_report::sheet::failed::{failed_altogether, name_failed_gates};
use sixmark_report::sheet::families::SATURATED;
use sixmark_report::sheet::redirected::describe_redirected;
use sixmark_report::sheet::side::shown;
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, setting, write};
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::TimePoint;
use sixmark_units::family::Family;
use sixmark_units::quantity::counted;

use super::next_step::{names_of_metrics, noise_sentence, primary_step};
use super::repeated::Repeated;
use super::silent::{is_given_up, name_silent_sides};
use super::why::why_notes;
use super::{comparison_title, effects, sides_of, verdict};

/// Metric, verdict, change, both sides and the interval: the columns of the table of verdicts that a
/// short report has.
const COLUMNS: usize = 6;

/// Returns the report with verdicts only.
pub fn brief_sheet(result: &ComparisonResult) -> Sheet {
    Sheet {
        kind: "Comparison",
        title: brief_title(result),
        when: setting::when(&result.started),
        about: about(result),
        headline: brief_headline(result),
        warnings: warnings(result),
        parts: (!is_given_up(result))
            .then(|| verdicts_part(result))
            .flatten()
            .into_iter()
            .collect(),
        ..Sheet::default()
    }
}

/// Returns the title: the sides, and the family if both have only one and the same, else what was
/// loaded.
fn brief_title(result: &ComparisonResult) -> String {
    let sides = [&result.sides.a, &result.sides.b];
    let [a, b] = sides.map(|side| shown(&side.name));
    match sides.map(only_family) {
        [Some(one), Some(other)] if one == other => format!("{a} vs {b} over {one}"),
        _ => format!("{a} vs {b}, {}", comparison_title(result)),
    }
}

/// Returns the family of all exchanges of a side. `None` if it has both.
fn only_family(side: &ComparedSide) -> Option<Family> {
    let other = |family: &Family| side.plan.ratio.uses(family.other());
    Family::BOTH.into_iter().find(|family| !other(family))
}

/// Returns the warnings, without those about quantiles that rest on few responses: such quantiles have
/// no verdict, and the report has no figures of them.
fn warnings(result: &ComparisonResult) -> Vec<Warning> {
    let kept = result.warnings.iter().filter(|warning| warning.code != "few_samples");
    kept.cloned().collect()
}

fn about(result: &ComparisonResult) -> Vec<String> {
    let [a, b] = [&result.sides.a, &result.sides.b]
        .map(|side| write::write_count(side.figures.requests.sent));
    let end = setting::describe_end(result.ended).to_owned();
    let pairs = counted(result.comparison.pairs as u64, "pair", "pairs");
    let pairs = format!("{pairs} of blocks");
    let said = [format!("{:.0} s", result.elapsed_s), format!("{a} and {b} requests"), pairs, end];
    said.into_iter().filter(|phrase| !phrase.is_empty()).collect()
}

/// Returns the verdict on the primary metric, without the notes that the table repeats. If the sides
/// can't be compared, that is why whatever else failed did, and a note names the gates.
fn brief_headline(result: &ComparisonResult) -> SheetHeadline {
    let saturated = result.generator.saturated || result.blocks.iter().any(|block| block.saturated);
    let redirected = describe_redirected(&sides_of(result)).into_iter();
    let notes = why_notes(result).into_iter().chain(redirected).chain(primary_step(result));
    let notes = notes.chain(noise_sentence(result).filter(|_| !saturated));
    let notes = notes.chain(saturated.then(|| SATURATED.to_owned()));
    let headline =
        SheetHeadline { notes: notes.collect(), ..verdict::comparison_verdict(&result.comparison) };
    let mut headline = name_silent_sides(headline, result);
    match headline.verdict {
        Some(Verdict::NotComparable) => headline.notes.extend(name_failed_gates(&result.gates)),
        _ => headline.failed = failed_altogether(&sides_of(result), &result.gates),
    }
    headline
}

/// Returns the table of the metrics with a verdict and of those whose figures need none to be read:
/// medians and rates of both sides. One line names those of both without a verdict.
fn verdicts_part(result: &ComparisonResult) -> Option<Part> {
    let comparison = &result.comparison;
    let repeated = Repeated::of(comparison);
    let listed = |of: &Compared| !repeated.has(of.metric) && is_listed(of);
    let mut blocks = Vec::new();
    if comparison.metrics.iter().any(listed) {
        let mut table = effects::verdicts(comparison, &listed);
        table.columns.truncate(COLUMNS);
        let rows = table.groups.iter_mut().flat_map(|group| &mut group.rows);
        rows.for_each(|row| row.cells.truncate(COLUMNS - 1));
        blocks.push(Block::Table(table));
    }
    let line = |verdict: Verdict, begin: &str| {
        let of = comparison.metrics.iter().filter(|of| of.verdict == verdict && !is_listed(of));
        let names =
            names_of_metrics(of.map(|of| of.metric).filter(|metric| !repeated.has(*metric)));
        (!names.is_empty()).then(|| Block::Text(format!("{begin}: {names}.")))
    };
    blocks.extend(line(Verdict::Inconclusive, "Inconclusive"));
    blocks.extend(line(Verdict::NotComparable, "Not compared"));
    Part::new("Verdicts", blocks).map(Part::open)
}

fn is_listed(of: &Compared) -> bool {
    let is_tail = matches!(of.metric, Metric::Time(_, point) if point != TimePoint::P50);
    match of.verdict {
        Verdict::Better | Verdict::Worse | Verdict::Equivalent => true,
        Verdict::Inconclusive => !is_tail && of.a.is_some() && of.b.is_some(),
        Verdict::NotComparable => false,
    }
}

/// Returns a sentence about how often reports on as many comparisons are wrong about equal sides.
pub fn false_alarms_sentence(results: &[&ComparisonResult]) -> String {
    if results.iter().any(|result| result.schedule.order != BlockOrder::Random) {
        return "How often such a report is wrong is not known: the blocks were not in random order \
                (`--order random`)."
            .to_owned();
    }
    // Boole's inequality: it needs no assumption about how the comparisons depend on each other.
    let all: f64 = results.iter().map(|result| result.comparison.settings.false_alarms).sum();
    let together = match results.len() {
        1 => String::new(),
        many => format!(" in any of its {many} comparisons"),
    };
    format!(
        "False alarms: at most {} calls equal sides better, worse or not comparable{together}.",
        one_in(all)
    )
}

/// Returns a text like `1 in 100 such reports (1 %)`. It is never less than the rate.
fn one_in(rate: f64) -> String {
    let share = write::write_percent(rate);
    match rate.recip() {
        reports if reports >= 2.0 => {
            // Rounding must not lower the result for an exact quotient.
            let reports = write::write_count((reports + 1e-6) as u64);
            format!("1 in {reports} such reports ({share})")
        }
        _ => format!("{share} of such reports"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::comparison_result;
    use sixmark_sheet::table::SheetCell;

    fn random(false_alarms: f64) -> ComparisonResult {
        let mut result = comparison_result();
        result.schedule.order = BlockOrder::Random;
        result.comparison.settings.false_alarms = false_alarms;
        result
    }

    #[test]
    fn the_false_alarms_of_all_comparisons_add_up() {
        let said = |results: &[ComparisonResult]| {
            let results: Vec<&ComparisonResult> = results.iter().collect();
            false_alarms_sentence(&results).replace('\u{a0}', " ")
        };
        let third = random(0.01 / 3.0);
        let of_three = said(&[third.clone(), third.clone(), third]);
        assert!(of_three.contains("at most 1 in 100 such reports (1 %) calls"), "{of_three}");
        assert!(of_three.ends_with("comparable in any of its 3 comparisons."), "{of_three}");
        let one = said(&[random(0.06)]);
        assert!(one.contains("at most 1 in 16 such reports (6 %)"), "{one}");
        let many = said(&[random(0.9)]);
        assert!(many.contains("at most 90 % of such reports"), "{many}");
        assert!(said(&[random(0.06), comparison_result()]).contains("is not known"));
    }

    #[test]
    fn a_brief_report_keeps_the_medians_without_a_verdict() {
        let mut result = comparison_result();
        let metrics = &mut result.comparison.metrics;
        (metrics[0].verdict, metrics[0].a, metrics[0].b) =
            (Verdict::Inconclusive, Some(1_200.0), Some(1_000.0));
        let sheet = brief_sheet(&result);
        let Block::Table(table) = &sheet.parts[0].blocks[0] else { panic!("{:?}", sheet.parts) };
        let median = &table.groups[0].rows[0];
        assert_eq!(median.label.text(), "response median");
        let cells: Vec<&str> = median.cells[1..4].iter().map(SheetCell::text).collect();
        assert_eq!(cells.join("|").replace('\u{a0}', " "), "+20.0 %|1.20 ms|1.00 ms");
    }

    #[test]
    fn brief_report_lists_rows_only_for_metrics_with_a_verdict() {
        let sheet = brief_sheet(&comparison_result());
        let [part] = sheet.parts.as_slice() else { panic!("{:?}", sheet.parts) };
        let [Block::Table(table), Block::Text(rest)] = part.blocks.as_slice() else {
            panic!("{:?}", part.blocks)
        };
        let rows: Vec<&str> = table.groups[0].rows.iter().map(|row| row.label.text()).collect();
        assert_eq!(rows, ["response median", "failures"]);
        assert!(table.groups[0].rows.iter().all(|row| row.cells.len() == COLUMNS - 1));
        assert_eq!(rest.replace('\u{a0}', " "), "Inconclusive: response p99.9, goodput.");
    }
}
