//! What a study does without, and why.

use crate::levels::label_level;
use crate::study_result::OmittedService;
use sixmark_sheet::Block;

/// Returns a line for each omitted service.
pub(super) fn list(all: &[OmittedService]) -> Vec<Block> {
    all.iter().map(|omitted| Block::Text(describe_omitted(omitted))).collect()
}

/// Describes an omitted service: `tomcat is omitted: java is not installed.`
pub fn describe_omitted(omitted: &OmittedService) -> String {
    let OmittedService { service, reason, levels } = omitted;
    let others = levels.iter().map(label_level).filter(|label| label != service);
    let others: Vec<String> = others.collect();
    let with = match others.is_empty() {
        true => String::new(),
        false => format!(", with {}", others.join(", ")),
    };
    format!("{service} is omitted{with}: {reason}.")
}
