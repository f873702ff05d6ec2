//! The claims of several studies together: which of the papers' claims still hold.

use super::{claims, headline};
use crate::study_result::{ClaimAnswer, ClaimResult, StudyResult};
use sixmark_sheet::write::write_time;
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, setting};

/// Returns the report of the claims of several studies.
pub(super) fn papers_sheet(studies: &[StudyResult]) -> Sheet {
    let blocks = studies.iter().flat_map(study_blocks).collect();
    Sheet {
        kind: "Claims",
        title: match studies.len() {
            1 => "1 study, run again".to_owned(),
            n => format!("{n} studies, run again"),
        },
        headline: SheetHeadline { sentence: headline_of(studies), ..SheetHeadline::default() },
        parts: Part::new("Studies", blocks).map(Part::open).into_iter().collect(),
        ..Sheet::default()
    }
}

/// Counts the answers to the claims of all papers or, without any paper, the claims that hold.
fn headline_of(studies: &[StudyResult]) -> String {
    let claims: Vec<ClaimResult> =
        studies.iter().flat_map(|study| &study.claims).cloned().collect();
    let papers = studies.iter().filter(|study| study.published.is_some()).count();
    let held = claims.iter().filter(|claim| claim.measured.answer == ClaimAnswer::Holds).count();
    let said = || format!("{held} of {} claims hold", claims.len());
    headline::tally(&claims, papers).unwrap_or_else(said) + "."
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
