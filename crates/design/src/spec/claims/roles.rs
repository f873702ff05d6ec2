//! Roles: levels of a claim that a pattern names, so that imported levels answer it.
//!
//! ```toml
//! a = { system = "*windows*" }
//! ```

use super::tests_of_kinds::{ClaimTest, OrderedLevels};
use super::{ClaimSpec, SideLevels};

/// Returns true if the name of a level is a pattern: `*` stands for any characters.
pub fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// Returns true if a level matches a pattern. Upper and lower case are the same.
pub(super) fn matches_pattern(pattern: &str, level: &str) -> bool {
    let [pattern, level] = [pattern, level].map(str::to_lowercase);
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, inner @ .., last] = parts.as_slice() else { return pattern == level };
    let Some(rest) = level.strip_prefix(*first) else { return false };
    let Some(mut rest) = rest.strip_suffix(*last) else { return false };
    // The first place at which a part occurs leaves most room for the parts after it.
    inner.iter().all(|part| match rest.find(*part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// Returns the levels that a list names, with those that its patterns match in place of these. A
/// pattern that matches none is omitted if others of the list remain.
fn resolve_levels(named: &[String], levels: &[String]) -> Vec<String> {
    let is_level = |name: &String| levels.contains(name);
    let mut found: Vec<String> = Vec::new();
    for name in named {
        let matching: Vec<&String> = if is_pattern(name) && !is_level(name) {
            levels.iter().filter(|level| matches_pattern(name, level)).collect()
        } else {
            vec![name]
        };
        for level in matching {
            if !found.contains(level) {
                found.push(level.clone());
            }
        }
    }
    if found.is_empty() { named.to_vec() } else { found }
}

impl ClaimSpec {
    /// Returns the claim with the levels that its patterns match; `levels` returns the names of a
    /// factor's levels. A list whose patterns match none of them keeps these.
    pub fn with_roles(&self, levels: impl Fn(&str) -> Vec<String>) -> ClaimSpec {
        let resolve = |factor: &str, named: &mut Vec<String>| {
            if named.iter().any(|name| is_pattern(name)) {
                *named = resolve_levels(named, &levels(factor));
            }
        };
        let side = |side: &mut SideLevels| {
            side.iter_mut().for_each(|(factor, named)| resolve(factor, named));
        };
        let over = |over: &mut OrderedLevels| resolve(&over.factor, &mut over.levels);
        let mut spec = self.clone();
        side(&mut spec.only);
        if let Some(precondition) = &mut spec.precondition {
            side(&mut precondition.a);
        }
        match &mut spec.test {
            ClaimTest::Sides(of) => {
                side(&mut of.a);
                side(&mut of.b);
                of.each.iter_mut().for_each(over);
            }
            ClaimTest::Share(of) => side(&mut of.a),
            ClaimTest::Trend(of) => {
                side(&mut of.a);
                over(&mut of.over);
            }
            ClaimTest::Order(of) => {
                side(&mut of.a);
                of.b.iter_mut().for_each(side);
                resolve(&of.over.factor, &mut of.at);
                over(&mut of.over);
            }
            ClaimTest::Independent(of) => {
                side(&mut of.a);
                over(&mut of.over);
            }
            ClaimTest::Counted { a, .. } => side(a),
            ClaimTest::Exact(of) => side(&mut of.a),
        }
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters_in_either_case() {
        for (pattern, level) in [
            ("*windows*", "Windows XP"),
            ("*WINDOWS*", "a windows"),
            ("windows*", "Windows 11"),
            ("*bsd", "FreeBSD"),
            ("*", ""),
            ("w*s*p", "Windows XP"),
            ("**bsd**", "NetBSD 10"),
            ("a*b*b", "abb"),
        ] {
            assert!(matches_pattern(pattern, level), "{pattern} {level}");
        }
        for (pattern, level) in [
            ("*windows", "Windows XP"),
            ("windows*", "Old Windows"),
            ("*bsd*", "Linux"),
            ("a*a", "a"),
            ("a*bb*b", "abb"),
        ] {
            assert!(!matches_pattern(pattern, level), "{pattern} {level}");
        }
    }

    #[test]
    fn patterns_that_match_nothing_are_omitted_where_others_remain() {
        let levels = ["Windows XP", "SuSE Linux", "NetBSD"].map(str::to_owned);
        let resolved = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
            resolve_levels(&named, &levels).join(", ")
        };
        assert_eq!(resolved(&["*linux*", "*suse*", "*freebsd*"]), "SuSE Linux");
        assert_eq!(resolved(&["*bsd*", "Solaris"]), "NetBSD, Solaris");
        assert_eq!(resolved(&["*solaris*"]), "*solaris*");
    }
}
