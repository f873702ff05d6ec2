//! The headline of a study: its findings, else its first comparison.

use crate::study_result::{
    ComparisonEntry, FindingResult, FindingVerdict, RatioFinding, StudyComparison, StudyResult,
};
use sixmark_document::verdict::Verdict;

use sixmark_sheet::SheetHeadline;
use sixmark_sheet::write::capitalised;

/// The number of repetitions below which intervals are useless.
const FEWEST: u32 = 3;

/// Returns the headline, with a note if cells are missing.
pub(super) fn study_headline(result: &StudyResult) -> SheetHeadline {
    let mut headline = match (&result.findings[..], result.comparisons.first()) {
        ([], Some(first)) if !first.entries.is_empty() => of_comparison(result, first),
        ([], _) => sentence(format!("{} cells were measured.", result.cells.len())),
        (findings, _) => of_findings(result, findings),
    };
    let missing = (result.cells_planned as usize).saturating_sub(result.cells.len());
    if missing > 0 {
        let note = format!("{missing} of {} cells are missing.", result.cells_planned);
        headline.notes.insert(0, note);
    }
    headline
}

fn sentence(sentence: String) -> SheetHeadline {
    SheetHeadline { sentence, ..SheetHeadline::default() }
}

fn not_comparable(sentence: String) -> SheetHeadline {
    SheetHeadline { verdict: Some(Verdict::NotComparable), sentence, notes: Vec::new() }
}

fn of_findings(result: &StudyResult, findings: &[FindingResult]) -> SheetHeadline {
    let of = |verdict: FindingVerdict| findings.iter().filter(move |f| f.verdict == verdict);
    let unlike = of(FindingVerdict::NotComparable).count();
    let undecided = of(FindingVerdict::CannotTell).count();
    if unlike == findings.len() {
        let mut reasons: Vec<&str> = findings.iter().filter_map(|f| f.unlike.as_deref()).collect();
        reasons.dedup();
        return not_comparable(format!("{}.", reasons.join("; ")));
    }
    let few = findings.iter().map(|found| found.blocks).max().unwrap_or(0);
    if unlike + undecided == findings.len() && few < FEWEST {
        return sentence(too_few(result, few, "repetition"));
    }
    let said: Vec<String> = findings.iter().map(in_headline).collect();
    let said = capitalised(&said.join("; "));
    let mut headline = sentence(match tally(findings) {
        Some(tally) => format!("{tally}. {said}."),
        None => format!("{said}."),
    });
    if undecided > 0 && few < FEWEST {
        let cure = if result.quick { ": run without --quick" } else { "" };
        let note = format!("Inconclusive findings need more repetitions than {few}{cure}.");
        headline.notes.push(note);
    }
    headline
}

/// Says that there are too few repetitions or pairs, and what to do about it.
fn too_few(result: &StudyResult, few: u32, noun: &str) -> String {
    let cure = if result.quick { "; run without --quick" } else { "" };
    match few {
        0 => "No finding has figures yet.".to_owned(),
        1 => format!("1 {noun} is too few for a result{cure}."),
        n => format!("{n} {noun}s are too few for a result{cure}."),
    }
}

/// Says how many of the published findings were reproduced; `None` if none is marked as published.
fn tally(findings: &[FindingResult]) -> Option<String> {
    let published: Vec<_> = findings.iter().filter(|found| found.published).collect();
    let of = |verdict: FindingVerdict| published.iter().filter(|f| f.verdict == verdict).count();
    let all = published.len();
    let noun = if all == 1 { "finding" } else { "findings" };
    let others = [
        (of(FindingVerdict::NotBorneOut), "contradicted"),
        (of(FindingVerdict::CannotTell), "inconclusive"),
        (of(FindingVerdict::NotComparable), "not comparable"),
    ];
    let others = others.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("; {n} {word}"));
    let reproduced = of(FindingVerdict::BorneOut);
    let others: String = others.collect();
    (all > 0).then(|| format!("{reproduced} of {all} published {noun} reproduced{others}"))
}

/// Returns the study's own sentence for the verdict, else the claim with the verdict.
fn in_headline(found: &FindingResult) -> String {
    let claim = within_a_sentence(&found.text);
    let said = found.said.clone();
    match (found.verdict, found.published) {
        (FindingVerdict::BorneOut, _) => said.unwrap_or(claim),
        (FindingVerdict::NotBorneOut, true) => {
            format!("contradicted: {}", said.unwrap_or(claim))
        }
        (FindingVerdict::NotBorneOut, false) => said.unwrap_or(format!("refuted: {claim}")),
        (FindingVerdict::CannotTell, _) => {
            format!("inconclusive: {claim}, {}", found.repetitions())
        }
        (FindingVerdict::NotComparable, _) => {
            let why = found.unlike.as_deref().unwrap_or_default();
            format!("not comparable: {claim} ({why})")
        }
    }
}

/// Changes the first letter to lower case, unless the second is in upper case, as in `IPv6`.
fn within_a_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|c| c.to_lowercase().collect()).unwrap_or_default();
    match letters.next().is_some_and(char::is_uppercase) {
        true => text.to_owned(),
        false => first + text.chars().next().map_or("", |c| &text[c.len_utf8()..]),
    }
}

/// Returns the headline of the first comparison, which matters most.
fn of_comparison(result: &StudyResult, first: &StudyComparison) -> SheetHeadline {
    let entries = &first.entries;
    let is = |wanted| entries.iter().all(|entry| entry.finding == wanted);
    let few = entries.iter().map(|entry| entry.pairs).max().unwrap_or(0);
    if is(RatioFinding::Unshown) && few < FEWEST {
        let repeated = first.paired_by.iter().any(|by| by == "repetition");
        let noun = if repeated { "repetition" } else { "pair" };
        return sentence(format!("{}: {}", first.title, too_few(result, few, noun)));
    }
    let said = format!("{}: {}.", first.title, describe_entries(entries));
    // No other finding is a verdict: whether a higher figure is better depends on the measure.
    match is(RatioFinding::NotComparable) {
        // The verdict already says that they are not comparable.
        true => not_comparable(said.replace("not comparable: ", "")),
        false => sentence(said),
    }
}

/// Joins the sentences of the entries. A sentence that several entries share occurs once.
fn describe_entries(entries: &[ComparisonEntry]) -> String {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for ComparisonEntry { label, sentence, .. } in entries {
        let sentence = sentence.trim_end_matches('.');
        match all.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, labels)) => labels.push(label),
            None => all.push((sentence, vec![label])),
        }
    }
    if let [(sentence, _)] = all.as_slice() {
        return (*sentence).to_owned();
    }
    let one =
        |(sentence, labels): &(&str, Vec<&str>)| format!("{sentence} ({})", labels.join("; "));
    all.iter().map(one).collect::<Vec<_>>().join("; ")
}
