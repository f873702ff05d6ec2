//! The claims of several studies together: which of the papers' claims still hold.

use super::{claims, headline};
use sixmark_design::study_result::{ClaimAnswer, ClaimResult, StudyResult};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write::{write_count, write_time};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, setting};

/// Returns the report of the claims of several studies.
pub(super) fn papers_sheet(studies: &[StudyResult]) -> Sheet {
    let blocks = studies.iter().flat_map(study_blocks).collect();
    let parts = [("In short", overview(studies)), ("Studies", blocks)];
    let parts = parts.into_iter().filter_map(|(title, blocks)| Part::new(title, blocks));
    Sheet {
        kind: "Claims",
        title: match studies.len() {
            1 => "1 study, run again".to_owned(),
            n => format!("{n} studies, run again"),
        },
        headline: SheetHeadline { sentence: headline_of(studies), ..SheetHeadline::default() },
        parts: parts.map(Part::open).collect(),
        ..Sheet::default()
    }
}

/// Returns the claims of a study, without those that only another form of it could test.
fn claims_asked<'a>(
    study: &'a StudyResult,
    studies: &'a [StudyResult],
) -> impl Iterator<Item = &'a ClaimResult> {
    let is_tested = |claim: &ClaimResult| claim.measured.answer != ClaimAnswer::NotTested;
    let elsewhere = move |claim: &ClaimResult| {
        let forms = studies.iter().filter(|other| other.name == study.name);
        forms.flat_map(|other| &other.claims).any(|other| other.id == claim.id && is_tested(other))
    };
    study.claims.iter().filter(move |claim| is_tested(claim) || !elsewhere(claim))
}

/// Counts the answers to the claims of all papers or, without any paper, the claims that hold.
fn headline_of(studies: &[StudyResult]) -> String {
    let asked = studies.iter().flat_map(|study| claims_asked(study, studies));
    let claims: Vec<ClaimResult> = asked.cloned().collect();
    let papers = studies.iter().filter(|study| study.published.is_some()).count();
    let held = claims.iter().filter(|claim| claim.measured.answer == ClaimAnswer::Holds).count();
    let said = || format!("{held} of {} claims hold", claims.len());
    headline::tally(&claims, papers).unwrap_or_else(said) + "."
}

/// Returns a table of the answers to each paper's claims, and what the main ones say; nothing for a
/// single study.
fn overview(studies: &[StudyResult]) -> Vec<Block> {
    if studies.len() < 2 {
        return Vec::new();
    }
    let columns = ["Claims", "Testable", "Hold", "Hold in part", "Do not hold", "Undecided"];
    let columns = std::iter::once(Column::words("Study")).chain(columns.map(Column::number));
    let row = |study: &StudyResult| {
        let claims = || claims_asked(study, studies).filter(|claim| claim.source.is_some());
        claims().next()?;
        let count = |is: fn(ClaimAnswer) -> bool| {
            let number = claims().filter(|claim| is(claim.measured.answer)).count();
            SheetCell::Number(write_count(number as u64), number as f64)
        };
        let cells = vec![
            count(|_| true),
            count(|answer| answer != ClaimAnswer::NotTested),
            count(|answer| answer == ClaimAnswer::Holds),
            count(|answer| {
                matches!(answer, ClaimAnswer::HoldsInPart | ClaimAnswer::HoldsInDirection)
            }),
            count(ClaimAnswer::denies),
            count(|answer| matches!(answer, ClaimAnswer::Undecided | ClaimAnswer::NotComparable)),
        ];
        Some(Row::new(study.name.as_str(), cells))
    };
    let rows = studies.iter().filter_map(row).collect();
    let table = Table::new("The papers' claims by study", columns.collect(), rows);
    std::iter::once(Block::Table(table)).chain(studies.iter().filter_map(say_main)).collect()
}

/// The number of claims that the overview says of each paper.
const MOST_SAID: usize = 3;

/// Says the first decided claims of a paper, its main findings first; `None` without any.
fn say_main(study: &StudyResult) -> Option<Block> {
    let decided = |claim: &&ClaimResult| {
        claim.source.is_some() && claim.derived_from.is_none() && claim.measured.answer.is_decided()
    };
    let mut claims: Vec<&ClaimResult> = study.claims.iter().filter(decided).collect();
    claims.sort_by_key(|claim| !claim.main);
    let said: Vec<String> = claims.into_iter().take(MOST_SAID).map(claims::say_briefly).collect();
    (!said.is_empty()).then(|| Block::Text(format!("{}: {}.", study.name, said.join("; "))))
}

fn study_blocks(study: &StudyResult) -> Vec<Block> {
    let heading = study.published.as_ref().map_or(&study.title, |of| &of.title);
    let source = study.published.iter().map(|of| of.source.clone());
    let took_s: f64 = study.measured().map(|cell| cell.took_s).sum();
    let form = study.form().options();
    let facts = [
        format!("sixmark study run {} {form}", study.name).trim_end().to_owned(),
        setting::when(&study.started),
        study.environment.kernel.clone(),
        format!(
            "{} of {} cells in {}",
            study.measured().count(),
            study.cells_planned,
            write_time(took_s * 1e6)
        ),
    ];
    let about = source.chain(facts).collect::<Vec<_>>().join("; ");
    let sentence = headline::study_headline(study).sentence;
    let mut blocks =
        vec![Block::Heading(heading.clone()), Block::Text(about + "."), Block::Text(sentence)];
    // How each claim was tested is on the study's own page.
    let table = claims::claims_table(&study.claims).into_iter();
    blocks.extend(table.filter(|block| !matches!(block, Block::Folded(..))));
    blocks
}
