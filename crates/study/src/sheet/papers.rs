//! The claims of several studies together: which of the papers' claims still hold.

use super::{claims, headline};
use crate::study_result::{ClaimAnswer, StudyResult};
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

/// Counts the answers to the claims of all papers.
fn headline_of(studies: &[StudyResult]) -> String {
    let of_papers: Vec<_> = studies.iter().flat_map(|study| &study.claims).cloned().collect();
    let tally = headline::tally(&of_papers);
    let papers = studies.iter().filter(|study| study.published.is_some()).count();
    let noun = if papers == 1 { "paper" } else { "papers" };
    let holds = |claim: &&_| is_held(claim);
    match tally {
        None => format!("{} claims hold.", of_papers.iter().filter(holds).count()),
        Some(tally) => format!("{papers} {noun}: {tally}."),
    }
}

fn is_held(claim: &crate::study_result::ClaimResult) -> bool {
    claim.measured.answer == ClaimAnswer::Holds
}

fn study_blocks(study: &StudyResult) -> Vec<Block> {
    let heading = study.published.as_ref().map_or(&study.title, |of| &of.title);
    let source = study.published.iter().map(|of| of.source.clone());
    let took_s: f64 = study.cells.iter().map(|cell| cell.took_s).sum();
    let form = match (study.quick, study.in_lab) {
        (false, false) => "full form",
        (true, false) => "--quick",
        (false, true) => "--in-lab",
        (true, true) => "--quick --in-lab",
    };
    let facts = [
        format!("sixmark study run {} ({form})", study.name),
        setting::when(&study.started),
        study.environment.kernel.clone(),
        format!(
            "{} of {} cells in {}",
            study.cells.len(),
            study.cells_planned,
            write_time(took_s * 1e6)
        ),
    ];
    let about = source.chain(facts).collect::<Vec<_>>().join("; ");
    let sentence = headline::study_headline(study).sentence;
    let mut blocks =
        vec![Block::Heading(heading.clone()), Block::Text(about + "."), Block::Text(sentence)];
    blocks.extend(claims::claims_table(&study.claims));
    blocks
}
