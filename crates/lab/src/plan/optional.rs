//! Optional services: those that are omitted where they can't run.

use sixmark_document::fields::FileFields;

use super::placeholders::known;

/// How to find out whether an optional service can run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionalService {
    /// A program and its arguments that ends with a status other than 0 if the service can't run here,
    /// after printing the reason; empty if only its program must be there.
    pub probe: Vec<String>,
}

/// Reads whether a service is optional. `allowed` are the names in braces of its probe.
pub(super) fn optional(fields: &mut FileFields<'_>, allowed: &[&str]) -> Option<OptionalService> {
    let is_optional = fields.take("optional").and_then(|field| field.flag()).unwrap_or(false);
    let Some(field) = fields.take("probe") else {
        return is_optional.then(OptionalService::default);
    };
    if !is_optional {
        field.wrong("decides whether an optional service is omitted: add optional = true");
    }
    let words = field.items();
    let probe: Vec<String> = words.iter().filter_map(|word| known(word, allowed)).collect();
    if words.is_empty() {
        field.wrong("expected a program and its arguments: [\"sh\", \"{dir}/probe\"]");
    }
    Some(OptionalService { probe })
}
