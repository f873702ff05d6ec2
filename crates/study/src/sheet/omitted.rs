//! What a study does without, and why.

use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::OmittedService;
use sixmark_sheet::Block;

/// Returns a line for each omitted service.
pub(super) fn list(all: &[OmittedService], labels: &LevelLabels) -> Vec<Block> {
    all.iter().map(|omitted| Block::Text(describe_omitted(omitted, labels))).collect()
}

/// Describes an omitted service: `tomcat is omitted: java is not installed.`
pub fn describe_omitted(omitted: &OmittedService, labels: &LevelLabels) -> String {
    let OmittedService { service, reason, levels } = omitted;
    let others = levels.iter().filter(|at| at.level != *service);
    let others: Vec<String> = others.map(|at| labels.level(at)).collect();
    let with =
        if others.is_empty() { String::new() } else { format!(", with {}", others.join(", ")) };
    format!("{service} is omitted{with}: {reason}.")
}
