//! The headline of a study: its claims, else its first comparison.

use sixmark_design::study_result::{
    ClaimAnswer, ClaimResult, ComparisonEntry, RatioFinding, StudyComparison, StudyResult,
};
use sixmark_document::verdict::Verdict;

use sixmark_sheet::SheetHeadline;
use sixmark_sheet::write::capitalised;

/// The number of repetitions below which intervals are useless.
const FEWEST: u32 = 3;

/// Returns the headline, with a note if cells are missing.
pub(super) fn study_headline(result: &StudyResult) -> SheetHeadline {
    let mut headline = match (&result.claims[..], result.comparisons.first()) {
        ([], Some(first)) if !first.entries.is_empty() => of_comparison(result, first),
        ([], _) => sentence(format!("{} cells were measured.", result.measured().count())),
        (claims, _) => of_claims(result, claims),
    };
    let missing = (result.cells_planned as usize).saturating_sub(result.measured().count());
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
    SheetHeadline { verdict: Some(Verdict::NotComparable), sentence, ..SheetHeadline::default() }
}

fn of_claims(result: &StudyResult, claims: &[ClaimResult]) -> SheetHeadline {
    let of = |answer: ClaimAnswer| claims.iter().filter(move |c| c.measured.answer == answer);
    let unlike = of(ClaimAnswer::NotComparable).count();
    let undecided = claims.iter().filter(|c| !c.measured.answer.is_decided()).count() - unlike;
    if unlike == claims.len() {
        let mut reasons: Vec<&str> =
            claims.iter().filter_map(|claim| claim.measured.why.as_deref()).collect();
        reasons.dedup();
        return not_comparable(format!("{}.", reasons.join("; ")));
    }
    let few = claims.iter().map(|claim| claim.measured.blocks).max().unwrap_or(0);
    if unlike + undecided == claims.len() && few < FEWEST {
        return sentence(too_few(result, few, "repetition"));
    }
    let own = || claims.iter().filter(|claim| claim.source.is_none());
    let decided = own().filter_map(in_headline).collect::<Vec<_>>().join("; ");
    // A study without a paper may have no claim that is decided.
    let said = match (decided.is_empty(), tally(claims, 1)) {
        (true, None) => Some(count_claims(claims)),
        (true, Some(_)) => None,
        (false, _) => Some(capitalised(&decided)),
    };
    let all: Vec<String> =
        tally(claims, 1).into_iter().chain(said).map(|said| format!("{said}.")).collect();
    let mut headline = sentence(all.join(" "));
    let mut of_paper: Vec<&ClaimResult> = claims.iter().filter(|c| c.source.is_some()).collect();
    // Main findings are the first that a note lists.
    of_paper.sort_by_key(|claim| !claim.main);
    let own: Vec<&ClaimResult> = own().collect();
    for (answer, [one, several]) in DECIDED {
        let words =
            [format!("The paper's claim that {one}"), format!("The paper's claims that {several}")];
        headline.notes.extend(listed([&words[0], &words[1]], &of_paper, answer));
    }
    for answer in [ClaimAnswer::Undecided, ClaimAnswer::NotTested, ClaimAnswer::NotComparable] {
        let words = capitalised(answer.words());
        headline.notes.extend(listed([&words, &words], &own, answer));
    }
    headline.notes.extend(undecided_by_form(claims));
    if undecided > 0 && few < FEWEST {
        let cure = if result.quick { ": run without --quick" } else { "" };
        let decides = if few == 1 { "repetition decides" } else { "repetitions decide" };
        headline.notes.push(format!("{few} {decides} few claims{cure}."));
    }
    headline
}

/// The answers that decide a claim, for one claim and for several.
const DECIDED: [(ClaimAnswer, [&str; 2]); 6] = [
    (ClaimAnswer::Holds, ["holds", "hold"]),
    (
        ClaimAnswer::HoldsInDirection,
        ["holds in direction, not in size", "hold in direction, not in size"],
    ),
    (ClaimAnswer::HoldsInPart, ["holds in part", "hold in part"]),
    (ClaimAnswer::Opposite, ["does not hold: the opposite", "do not hold: the opposite"]),
    (
        ClaimAnswer::NoDifference,
        ["does not hold: no difference that matters", "do not hold: no difference that matters"],
    ),
    (ClaimAnswer::DoesNotHold, ["does not hold", "do not hold"]),
];

/// The number of claims that a note of the headline lists. The table has all of them.
const MOST_LISTED: usize = 4;

/// Lists the claims with this answer after the words for one or for several; `None` if there are
/// none.
fn listed(words: [&str; 2], claims: &[&ClaimResult], wanted: ClaimAnswer) -> Option<String> {
    let said = |claim: &&ClaimResult| {
        let text = within_a_sentence(&claim.text);
        // The reasons why claims can't be told are many, and below the table of claims.
        let why =
            claim.measured.why.as_deref().filter(|_| {
                matches!(wanted, ClaimAnswer::NotComparable | ClaimAnswer::HoldsInPart)
            });
        why.map_or(text.clone(), |why| format!("{text} ({why})"))
    };
    let of = claims.iter().filter(|claim| claim.measured.answer == wanted);
    let of: Vec<String> = of.map(said).collect();
    let words = words[usize::from(of.len() > 1)];
    let more = of.len().saturating_sub(MOST_LISTED);
    let first = of.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>().join("; ");
    match (of.len(), more) {
        (0, _) => None,
        (_, 0) => Some(format!("{words}: {first}.")),
        (_, more) => Some(format!("{words}: {first}; and {more} more.")),
    }
}

/// Counts the claims of a study without a paper.
fn count_claims(claims: &[ClaimResult]) -> String {
    let held = claims.iter().filter(|claim| claim.measured.answer == ClaimAnswer::Holds).count();
    format!("{held} of {} claims hold", claims.len())
}

/// Notes how many claims the short form can't decide, because it omits what they need.
fn undecided_by_form(claims: &[ClaimResult]) -> Option<String> {
    let of_form = |claim: &&ClaimResult| {
        let why = claim.measured.why.as_deref().unwrap_or_default();
        !claim.measured.answer.is_decided() && why.starts_with("--quick omits")
    };
    match claims.iter().filter(of_form).count() {
        0 => None,
        1 => Some("--quick can't decide 1 claim: it omits levels that it needs.".to_owned()),
        n => Some(format!("--quick can't decide {n} claims: it omits levels that they need.")),
    }
}

/// Says that there are too few repetitions or pairs, and what to do about it.
fn too_few(result: &StudyResult, few: u32, noun: &str) -> String {
    let cure = if result.quick { "; run without --quick" } else { "" };
    match few {
        0 => "No claim has figures yet.".to_owned(),
        1 => format!("1 {noun} is too few for a result{cure}."),
        n => format!("{n} {noun}s are too few for a result{cure}."),
    }
}

/// Says how many claims of the paper, or of several, hold; `None` if no claim is one of a paper.
pub(super) fn tally(claims: &[ClaimResult], papers: usize) -> Option<String> {
    let of_paper: Vec<_> = claims.iter().filter(|claim| claim.source.is_some()).collect();
    let of = |answer| of_paper.iter().filter(|claim| claim.measured.answer == answer).count();
    let untested = of(ClaimAnswer::NotTested);
    let testable = of_paper.len() - untested;
    let noun = match (testable, untested) {
        (1, 0) => "claim",
        (_, 0) => "claims",
        (1, _) => "testable claim",
        _ => "testable claims",
    };
    let holds = of(ClaimAnswer::Holds);
    let undecided = [
        (ClaimAnswer::Undecided, ["is undecided", "are undecided"]),
        (ClaimAnswer::NotComparable, ["is not comparable", "are not comparable"]),
    ];
    let others = DECIDED.into_iter().skip(1).chain(undecided);
    let others = others.map(|(answer, words)| (of(answer), words)).filter(|(n, _)| *n > 0);
    let others: String =
        others.map(|(n, words)| format!(", {n} {}", words[usize::from(n > 1)])).collect();
    let verb = if holds == 1 { "holds" } else { "hold" };
    let papers = if papers == 1 { "paper" } else { "papers" };
    let left = match untested {
        0 => String::new(),
        1 => "; 1 was not tested".to_owned(),
        n => format!("; {n} were not tested"),
    };
    let counted = match testable {
        0 => format!("No claim of the {papers} was tested"),
        _ => format!("{holds} of {testable} {noun} of the {papers} {verb}{others}{left}"),
    };
    (!of_paper.is_empty()).then_some(counted)
}

/// Returns the study's own sentence for the answer, else the claim with the answer; `None` if it is
/// not decided.
fn in_headline(claim: &ClaimResult) -> Option<String> {
    let text = within_a_sentence(&claim.text);
    let said = claim.said.clone();
    match claim.measured.answer {
        ClaimAnswer::Holds => Some(said.unwrap_or(text)),
        answer if answer.denies() => Some(said.unwrap_or(format!("does not hold: {text}"))),
        answer if answer.is_decided() => Some(format!("{}: {text}", answer.words())),
        _ => None,
    }
}

/// Changes the first letter to lower case, unless the second is in upper case, as in `IPv6`.
fn within_a_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|c| c.to_lowercase().collect()).unwrap_or_default();
    if letters.next().is_some_and(char::is_uppercase) {
        text.to_owned()
    } else {
        first + text.chars().next().map_or("", |c| &text[c.len_utf8()..])
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
