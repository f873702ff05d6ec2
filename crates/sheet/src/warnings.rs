//! Warnings as shown to people: the most serious first, and without repetition.

use sixmark_document::provenance::Warning;
use sixmark_document::warning_codes::WARNING_CODES;

/// Returns the warnings in the order of [`WARNING_CODES`]; unknown codes come first. Warnings that
/// differ only in the family are merged into one that names both families.
pub fn condensed<'a>(all: impl IntoIterator<Item = &'a Warning>) -> Vec<Warning> {
    let mut left: Vec<Warning> = Vec::new();
    for warning in all {
        let same = |other: &&mut Warning| {
            other.code == warning.code
                && without_family(&other.message) == without_family(&warning.message)
        };
        match left.iter_mut().find(same) {
            Some(first) if first.message != warning.message => {
                first.message = naming_both(&first.message);
            }
            Some(_) => {}
            None => left.push(warning.clone()),
        }
    }
    left.sort_by_key(|warning| WARNING_CODES.iter().position(|code| *code == warning.code));
    left
}

/// Returns the message with the names of both families, in either spelling, replaced by the same
/// name.
fn without_family(message: &str) -> String {
    message.replace("IPv4", "IPv6").replace("ipv4", "ipv6")
}

/// Changes a message about one family to one about both.
fn naming_both(message: &str) -> String {
    let side = ["ipv6: ", "ipv4: "].into_iter().find_map(|side| message.strip_prefix(side));
    let message = side.unwrap_or(message);
    match ["over IPv6", "over IPv4"].into_iter().find(|family| message.contains(family)) {
        Some(family) => message.replace(family, "over each family"),
        None => format!("{message} (true of both families)"),
    }
}

#[cfg(test)]
mod tests {
    use sixmark_document::provenance::Warning;

    use super::condensed;

    fn warning(code: &str, message: &str) -> Warning {
        Warning { code: code.into(), message: message.into() }
    }

    #[test]
    fn sorts_by_severity_and_merges_warnings_of_both_families() {
        let all = [
            warning("few_samples", "ipv6: only 50 responses over IPv6"),
            warning("few_samples", "ipv4: only 50 responses over IPv4"),
            warning("few_samples", "only 7 responses over IPv4"),
            warning("status", "3 responses over IPv6 had status 503"),
            warning("status", "4 responses over IPv4 had status 503"),
            warning("hopeless", "nothing listens"),
            warning("hopeless", "nothing listens"),
            warning("new_one", "nobody knows"),
        ];
        let said: Vec<_> = condensed(&all).into_iter().map(|of| of.message).collect();
        let wanted = [
            "nobody knows",
            "nothing listens",
            "3 responses over IPv6 had status 503",
            "4 responses over IPv4 had status 503",
            "only 50 responses over each family",
            "only 7 responses over IPv4",
        ];
        assert_eq!(said, wanted);
    }
}
