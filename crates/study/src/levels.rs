//! Names of levels for people.

use crate::study_result::At;
use sixmark_units::family::spoken;

/// Levels that many factors have, so that they are not understood without the factor's name.
const COMMON: [&str; 8] = ["on", "off", "yes", "no", "none", "true", "false", "default"];

/// Returns the label of a level for a place that does not show its factor. If the level is a number
/// or a word such as `on`, the factor's name comes first: `backlog 0`, `offload on`.
pub fn label_level(at: &At) -> String {
    let level = at.level.as_str();
    let starts_with_letter = level.starts_with(char::is_alphabetic);
    match starts_with_letter && !COMMON.contains(&level) {
        true => spoken(level),
        false => format!("{} {level}", at.factor).trim_end().to_owned(),
    }
}

/// Returns several levels, separated by commas; empty for none.
pub fn label_levels(at: &[At]) -> String {
    at.iter().map(label_level).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_is_not_understood_alone_has_its_factor() {
        let of = |factor: &str, level: &str| {
            label_level(&At { factor: factor.into(), level: level.into() })
        };
        for (factor, level, label) in [
            ("family", "ipv6", "IPv6"),
            ("server", "nginx", "nginx"),
            ("backlog", "0", "backlog 0"),
            ("ratio", "1:4", "ratio 1:4"),
            ("block", "64K", "block 64K"),
            ("offload", "on", "offload on"),
            ("remedy", "none", "remedy none"),
            ("level", "C1B", "C1B"),
        ] {
            assert_eq!(of(factor, level), label);
        }
    }
}
