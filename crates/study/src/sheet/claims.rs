//! The table of claims, in the report of a study and in that of its published figures alone.

use sixmark_design::study_result::{
    ClaimAnswer, ClaimEstimate, ClaimEvidence, ClaimResult, ClaimScale,
};

use super::interval;
use sixmark_sheet::Block;
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write::{write_count, write_percent, write_ratio};
use sixmark_units::quantity::write_about;

const CAPTION: &str = "Compared figures are geometric means over the repetitions (of differences, means); \
                       counts are sums. An answer needs p of at most 0.05 after Holm's correction \
                       over the paper's claims that were tested, whose main findings have half of the level, \
                       or over this study's own, and that for the looks of --until decided; intervals are of 95 %";

/// What a sign before published figures means.
const SIGNS: &str =
    "✓ or ✗ before published figures: they show the claim themselves, or contradict it.";

/// Why packets answer claims about times.
const INSTRUMENTS: &str = "Where the client's figures are listed separately, the packets at the server answer the claim: \
                           the client's own times include those in which it handled other connections.";

/// Returns the table of claims with published and measured figures, and the reasons for those that
/// are not decided.
pub(super) fn claims_table(claims: &[ClaimResult]) -> Vec<Block> {
    if claims.is_empty() {
        return Vec::new();
    }
    let published = claims.iter().any(|claim| claim.source.is_some());
    let mut columns = vec![Column::words("Claim")];
    columns.extend(published.then(|| Column::words("Published")));
    columns.extend([Column::words("Measured"), Column::words("Answer")]);
    let row = |claim: &ClaimResult| {
        let measured = &claim.measured;
        let mut cells = Vec::new();
        cells.extend(published.then(|| SheetCell::from(published_cell(claim))));
        let answer = followed(claim, measured_answer(measured));
        let client = claim.by_client.as_ref();
        let said = with_client(figures(measured), client.map(figures));
        let parts = client.filter(|client| client.answer != measured.answer);
        let answer = with_client(answer, parts.map(|client| self::answer(client.answer)));
        cells.extend([said.into(), answer.into()]);
        Row::new(text_of(claim, published), cells)
    };
    let table = Block::Table(Table::new(CAPTION, columns, claims.iter().map(row).collect()));
    let measured = claims.iter().map(|claim| (claim, &claim.measured)).collect();
    let signs = published.then(|| SIGNS.to_owned());
    let by_packets = claims.iter().any(|claim| claim.by_client.is_some());
    let instruments = by_packets.then(|| INSTRUMENTS.to_owned());
    let notes = signs.into_iter().chain(instruments).chain(reasons(measured)).map(Block::Text);
    let tests = tests_table(claims, |claim| Some(&claim.measured));
    std::iter::once(table).chain(notes).chain([tests]).collect()
}

/// Returns the table of claims of the published figures alone, and the places at which the text and
/// its own figures part.
pub(super) fn published_claims_table(claims: &[ClaimResult]) -> Vec<Block> {
    if claims.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::words("Claim"),
        Column::words("Stands in").off_terminal(),
        Column::words("Printed"),
        Column::words("Recomputed"),
        Column::words("Answer"),
    ];
    let row = |claim: &ClaimResult| {
        let of = claim.published.as_ref();
        let words = |said: Option<String>| SheetCell::from(said.unwrap_or_default());
        let cells = vec![
            words(claim.source.clone()),
            words(claim.printed.clone()),
            words(of.map(figures)),
            of.map_or("no figures".to_owned(), |of| followed(claim, published_answer(of))).into(),
        ];
        Row::new(text_of(claim, false), cells)
    };
    let rows = claims.iter().map(row).collect();
    let table = Block::Table(Table::new("Claims, tested on the published figures", columns, rows));
    let notes = partings(claims).into_iter().map(Block::Text);
    let tests = tests_table(claims, |claim| claim.published.as_ref());
    std::iter::once(table).chain(notes).chain([tests]).collect()
}

/// Returns the folded table of the tests behind the answers. A terminal does not show it.
fn tests_table(
    claims: &[ClaimResult],
    evidence: impl Fn(&ClaimResult) -> Option<&ClaimEvidence>,
) -> Block {
    let columns = vec![
        Column::words("Claim"),
        Column::number("p"),
        Column::number("p, corrected"),
        Column::number("Blocks"),
        Column::words("Test"),
    ];
    let row = |claim: &ClaimResult| {
        let of = evidence(claim);
        let blocks =
            |of: &ClaimEvidence| SheetCell::Number(write_count(of.blocks.into()), of.blocks.into());
        let cells = vec![
            of.and_then(|of| of.p).map_or_else(SheetCell::none, p),
            of.and_then(|of| of.p_adjusted).map_or_else(SheetCell::none, p),
            of.map_or_else(SheetCell::none, blocks),
            claim.method.as_str().into(),
        ];
        Row::new(claim.id.as_str(), cells)
    };
    let table = Table::new("Tests of the claims", columns, claims.iter().map(row).collect());
    Block::Folded("How each claim was tested".into(), vec![Block::Table(table)])
}

/// Returns a sentence for each claim that the published figures themselves contradict.
pub(super) fn partings(claims: &[ClaimResult]) -> Vec<String> {
    let parting = |claim: &ClaimResult| {
        let of = claim.published.as_ref().filter(|of| contradicts(of))?;
        let by = match of.answer {
            answer if answer.denies() => "contradict",
            _ => "do not show",
        };
        Some(format!("The published figures {by} \"{}\": {}.", claim.text, figures(of)))
    };
    claims.iter().filter_map(parting).collect()
}

/// Returns true if published figures say something else than the claim.
fn contradicts(of: &ClaimEvidence) -> bool {
    match of.answer {
        ClaimAnswer::Holds => false,
        answer if answer.denies() => true,
        _ => of.agrees == Some(false),
    }
}

/// Adds what the client's own figures say to what the packets say.
fn with_client(packets: String, client: Option<String>) -> String {
    match client.filter(|client| !client.is_empty()) {
        Some(client) => format!("{packets}; by the client's figures: {client}"),
        None => packets,
    }
}

/// Adds to an answer the claim that it follows from.
fn followed(claim: &ClaimResult, answer: String) -> String {
    match &claim.derived_from {
        Some(id) => format!("{answer} (follows from {id})"),
        None => answer,
    }
}

fn text_of(claim: &ClaimResult, published: bool) -> String {
    match (published, &claim.source, claim.main) {
        (true, None, _) => format!("{} (of this study)", claim.text),
        (.., true) => format!("{} (a main finding)", claim.text),
        _ => claim.text.clone(),
    }
}

/// Returns what the paper prints, after a sign if its own figures show or contradict the claim.
fn published_cell(claim: &ClaimResult) -> String {
    if claim.source.is_none() {
        return String::new();
    }
    let of = claim.published.as_ref();
    let printed = claim.printed.clone().or_else(|| of.map(|of| of.figures.clone()));
    let sign = match of {
        Some(of) if contradicts(of) => "✗ ",
        Some(of) if of.answer == ClaimAnswer::Holds => "✓ ",
        _ => "",
    };
    match printed.filter(|printed| !printed.is_empty()) {
        Some(printed) => format!("{sign}{printed}"),
        None => "not printed".to_owned(),
    }
}

/// Returns the figures in words, with the estimate and its interval.
fn figures(of: &ClaimEvidence) -> String {
    let estimate = of.estimate.as_ref().map(estimate).unwrap_or_default();
    match (of.figures.is_empty(), estimate.is_empty()) {
        (_, true) => of.figures.clone(),
        (true, false) => estimate,
        (false, false) => format!("{}: {estimate}", of.figures),
    }
}

/// Formats an estimate that the figures in words lack; empty if they have it.
fn estimate(of: &ClaimEstimate) -> String {
    let interval = of.low.zip(of.high);
    match of.of {
        ClaimScale::Ratio => {
            let Some((low, high)) = interval else {
                return format!("× {}", write_ratio(of.value));
            };
            let ratio = sixmark_design::study_result::MeanRatio {
                value: of.value,
                low: Some(low),
                high: Some(high),
            };
            let interval = interval::of_ratio(ratio, "too few blocks").unwrap_or_default();
            format!("× {} ({interval})", write_ratio(of.value))
        }
        ClaimScale::Share => interval.map_or(String::new(), |(low, high)| {
            format!("{} to {}", write_percent(low), write_percent(high))
        }),
        ClaimScale::Difference => String::new(),
    }
}

/// Says a claim with its answer and figures: `IPv6 is slower (✓ holds: 2 ms against 1 ms)`.
pub(super) fn say_briefly(claim: &ClaimResult) -> String {
    let said = answer(claim.measured.answer);
    match figures(&claim.measured) {
        figures if figures.is_empty() => format!("{} ({said})", claim.text),
        figures => format!("{} ({said}: {figures})", claim.text),
    }
}

/// Formats an answer with a symbol, so that it does not depend on the word alone.
fn answer(answer: ClaimAnswer) -> String {
    format!("{} {}", sign(answer), answer.words())
}

/// Returns the answer of measured figures, with the repetitions that would decide it, and their time.
fn measured_answer(of: &ClaimEvidence) -> String {
    let said = answer(of.answer);
    let time = of.more_s.filter(|s| *s > 0.0);
    let time = time.map_or(String::new(), |s| format!(" ({} of its cells)", write_about(s)));
    match of.more_blocks {
        Some(1) => format!("{said}: about 1 more repetition decides it{time}"),
        Some(n) => {
            format!("{said}: about {} more repetitions decide it{time}", write_count(n.into()))
        }
        None => said,
    }
}

fn sign(answer: ClaimAnswer) -> &'static str {
    match answer {
        ClaimAnswer::Holds => "✓",
        ClaimAnswer::HoldsInDirection | ClaimAnswer::HoldsInPart => "◐",
        ClaimAnswer::DoesNotHold | ClaimAnswer::Opposite | ClaimAnswer::NoDifference => "✗",
        ClaimAnswer::Undecided => "?",
        ClaimAnswer::NotTested => "–",
        ClaimAnswer::NotComparable => "≠",
    }
}

/// Returns the answer of published figures. Without a test they may still agree with the claim.
fn published_answer(of: &ClaimEvidence) -> String {
    let said = answer(of.answer);
    match of.agrees.filter(|_| !of.answer.is_decided()) {
        Some(true) => format!("{said}; agrees as printed"),
        Some(false) => format!("{said}; disagrees as printed"),
        None => said,
    }
}

/// Returns a sentence for each reason why claims are not decided, with the claims. The p-values are
/// in the table of tests.
fn reasons(all: Vec<(&ClaimResult, &ClaimEvidence)>) -> Vec<String> {
    let mut found: Vec<(ClaimAnswer, &str, Vec<&ClaimResult>)> = Vec::new();
    let total = all.len();
    // The table says what a derived claim follows from, and the reason stands at that one.
    for (claim, evidence) in all.into_iter().filter(|(claim, _)| claim.derived_from.is_none()) {
        let Some(why) = &evidence.why else { continue };
        let why = why.split(" (p = ").next().unwrap_or(why);
        let is_same = |known: &&mut (ClaimAnswer, &str, Vec<&ClaimResult>)| {
            (known.0, known.1) == (evidence.answer, why)
        };
        match found.iter_mut().find(is_same) {
            Some((_, _, claims)) => claims.push(claim),
            None => found.push((evidence.answer, why, vec![claim])),
        }
    }
    let said = |(answer, why, claims): (ClaimAnswer, &str, Vec<&ClaimResult>)| {
        let of = match claims.as_slice() {
            [only] => only.text.clone(),
            claims if claims.len() > MOST_NAMED => format!("{} of {total} claims", claims.len()),
            claims => {
                let texts = claims.iter().map(|claim| format!("\"{}\"", claim.text));
                texts.collect::<Vec<_>>().join(", ")
            }
        };
        format!("{of}: {}: {why}.", answer.words())
    };
    found.into_iter().map(said).collect()
}

/// The number of claims with the same reason that are named rather than counted.
const MOST_NAMED: usize = 2;

fn p(p: f64) -> SheetCell {
    let written = if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") };
    SheetCell::Number(written, p)
}
